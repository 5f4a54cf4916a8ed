/** The pages of the HTTP API, from the OpenAPI document and recorded examples. */
import { OPERATIONS, openApiDocument } from '#server';
import type { Example } from './recording.ts';
import { shownCurl, shownJson, shownText } from './shown-json.ts';

/** The resources of each page. The first names it. */
const PAGES = [
  'proposals approvals effects',
  'trajectories domains branches delegations entries',
  'calls hooks servers standing rules',
  'memory chat',
  'log checkpoints bundles reports',
  'backtests mining simulations',
  'agents writs incidents runs',
  'principals tokens sessions notices events metrics health',
].map((resources) => resources.split(' '));

const DOCUMENT: any = openApiDocument(OPERATIONS, 'https://assize.example.com');

interface Place {
  readonly request: string;
  readonly one: any;
}

const PLACES: readonly Place[] = Object.entries<any>(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries<any>(methods).map(([method, one]) => ({
    ...{ request: `${method.toUpperCase()} ${path}`, one },
  })),
);

/** The codes that every operation can have, by their status. */
const COMMON = PLACES.filter(({ one }) => OPERATIONS.some(({ id }) => id === one.operationId))
  .map(({ one }) => codesOf(one))
  .reduce((common, codes) => common.filter((code) => codes.includes(code)));

/** The text of each page, by its name. */
export function httpPages(examples: readonly Example[]): Record<string, string> {
  const byId = Map.groupBy(examples, ({ id }) => id);
  const pages = PAGES.map((tags) => {
    const places = tags.flatMap((tag) => PLACES.filter(({ one }) => one.tags[0] === tag));
    const name = `http-${tags[0]}`;
    const parts = places.map((place) => section(place, byId.get(place.one.operationId) ?? []));
    const title = `HTTP: ${tags.join(', ')}`;
    const text = `# ${title}\n\n${listOf(places, '')}\n\n${parts.join('\n\n')}\n`;
    return { name, text, list: `## [${title}](${name}.md)\n\n${listOf(places, `${name}.md`)}` };
  });
  return {
    http: `${INTRODUCTION}\n\n${pages.map(({ list }) => list).join('\n\n')}\n`,
    ...Object.fromEntries(pages.map(({ name, text }) => [name, text])),
  };
}

const INTRODUCTION = `# HTTP: all operations

Every operation has its parameters, a request, its answers, and the problems that it can have. The
examples were recorded from a server. An ellipsis (…) stands for the rest of a long id, text or list,
and for a token. \`$ASSIZE_URL\` is the address of the server, and \`$TOKEN\` a token of the named
principal. The guide is [the HTTP API](../../guide/http-api.md). See also [events](events.md),
[webhooks](webhooks.md) and [problems](problems.md).`;

function listOf(places: readonly Place[], page: string): string {
  const rows = places.map(({ request, one: { operationId: id, summary } }) => [
    ...[`[${id}](${page}#${id.replaceAll('.', '')})`, `\`${request}\``, cell(summary)],
  ]);
  return table(['operation', 'request', 'meaning'], rows);
}

function section({ request, one }: Place, examples: readonly Example[]): string {
  const [first] = examples;
  const body = one.requestBody?.content['application/json'].schema;
  const parameters = one.parameters.map(({ name, in: where, required, description, schema }: any) =>
    row(`\`${name}\`, ${where}`, required, { description, ...schema }),
  );
  return [
    `## ${one.operationId}\n\n\`${request}\`\n\n${one.summary}\n\n${one.description}`,
    ...[parameters.length > 0 && table(['parameter', 'type', 'meaning'], parameters)],
    body && fields('member of the body', body),
    first && `Request, as \`${first.as}\`:\n\n${block('sh', shownCurl(first))}`,
    ...(first === undefined ? formsOf(one) : examples.map(answerOf)),
    problemsOf(one),
  ]
    .filter(Boolean)
    .join('\n\n');
}

function answerOf({ status, type, text }: Example): string {
  if (/\bjson$/.test(type))
    return `Answer, ${status}, \`${type}\`:\n\n${block('json', shownJson(JSON.parse(text)))}`;
  if (type !== 'application/jsonl') return `Answer, ${status}: a file of the type \`${type}\`.`;
  const lines = text.trimEnd().split('\n');
  const shown = lines.slice(0, 2).map((line) => shownJson(JSON.parse(line)));
  const all = [...shown, `… ${lines.length - 2} more lines`].join('\n');
  return `Answer, ${status}, \`${type}\`. Here a line is shown as several:\n\n${block('json', all)}`;
}

/** The forms of the answers, where no answer was recorded. */
function formsOf({ responses }: any): string[] {
  return Object.entries<any>(responses[200].content).map(
    ([type, { schema }]) =>
      `Answer, 200, \`${type}\`.\n\n${fields('member of the answer', schema)}`,
  );
}

function problemsOf(one: any): string {
  const codes = codesOf(one);
  const hasCommon = COMMON.every((code) => codes.includes(code));
  const own = codes.filter((code) => !hasCommon || !COMMON.includes(code));
  const common = hasCommon ? ' [those of every operation](problems.md#of-every-operation)' : '';
  return `Problems:${common}${own.length > 0 ? `\n\n${codesTable(own)}` : ''}`;
}

/** The codes of the problems of an operation, each after its status: `400 bad_input`. */
function codesOf({ responses }: any): string[] {
  return Object.entries<any>(responses).flatMap(([status, { description }]) => {
    const [, codes] = /^Codes: (.*)\.$/.exec(description) ?? [];
    return codes?.split(', ').map((code) => `${status} ${code}`) ?? [];
  });
}

function codesTable(codes: readonly string[]): string {
  const pairs = codes.map((each) => each.split(' ') as [string, string]);
  const rows = [...Map.groupBy(pairs, ([status]) => status)].map(([status, all]) => {
    const links = all.map(([, code]) => `[\`${code}\`](../../errors.md#${code})`);
    return [status, links.join(', ')];
  });
  return table(['status', 'codes'], rows);
}

/** The table of the codes that every operation can have. */
export const commonCodes: string = codesTable(COMMON);

/** The members of an object, or those of each of its kinds. */
function fields(head: string, schema: any): string {
  const rows = (form: any): string[][] => {
    const { properties = {}, required = [], anyOf, oneOf } = resolved(form);
    const own = Object.entries<any>(properties).map(([name, member]) =>
      row(`\`${name}\``, required.includes(name), member),
    );
    return [...own, ...(anyOf ?? oneOf ?? []).flatMap(rows)];
  };
  const all = new Map(rows(schema).map((each) => [each.join(), each]));
  return all.size === 0 ? '' : table([head, 'type', 'meaning'], [...all.values()]);
}

function row(name: string, isRequired: boolean | undefined, schema: any): string[] {
  const { description = '' } = resolved(schema);
  return [isRequired === true ? `${name}, required` : name, typeOf(schema), cell(description)];
}

function typeOf(schema: any): string {
  const { type, anyOf, oneOf, enum: words, const: word, items, maximum } = resolved(schema);
  const kinds = anyOf ?? oneOf;
  if (kinds !== undefined) return [...new Set(kinds.map(typeOf))].join(' or ');
  if (type === 'array') return `list of ${typeOf(items ?? {})}`;
  const values = words ?? (word === undefined ? [] : [word]);
  if (values.length === 0) return `${type ?? 'any JSON'}${most(maximum)}`;
  return values.map((each: unknown) => `\`${JSON.stringify(each)}\``).join(', ');
}

/** Integers without a limit of their own have the greatest safe one. */
function most(maximum: number | undefined): string {
  return maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? '' : ` up to ${maximum}`;
}

function resolved(schema: any): any {
  const [, name] = /^#\/components\/schemas\/(.+)$/.exec(schema.$ref ?? '') ?? [];
  return name === undefined ? schema : { ...DOCUMENT.components.schemas[name], ...schema };
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((each) => `| ${each.join(' | ')} |`).join('\n');
}

function cell(text: string): string {
  return shownText(text).replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').replaceAll(/[<{]/g, '\\$&');
}

export function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}
