/**
 * Writes docs/errors.md: every error code of the package, from the unions of codes in the sources.
 * Run `npm run errors` after a change of a code or its comment. A test compares the page
 * with the output of this script.
 *
 * A class of errors is declared as `class X extends AssizeError<XCode>`, and has the codes of
 * `GeneralCode` too. The doc comment before each member of a union explains the code: the first
 * sentence states the failure, and the rest states the remedy. `Evidence {…}` may follow. A code
 * is declared once; classes share it by naming its union.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** More codes are too many: a new code must replace one. Lower it when codes go. */
export const CODES_MAX = 176;

/** One code. */
export interface IndexedCode {
  readonly code: string;
  /** The classes that have it. Undefined for a code of every class. */
  readonly classes: readonly string[] | undefined;
  /** The first sentence of the doc comment. */
  readonly meaning: string;
  /** The sentences after it. */
  readonly remedy: string;
  /** The content of the error's `evidence`, where the doc comment states it. */
  readonly evidence: string;
}

/** One class of errors. */
export interface IndexedClass {
  readonly name: string;
  readonly doc: string;
}

export interface ErrorIndex {
  readonly codes: readonly IndexedCode[];
  readonly classes: readonly IndexedClass[];
}

const CLASS = /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?export class (\w+) extends AssizeError<(\w+)>/g;
const GENERAL = 'GeneralCode';
const UNION = /^export type (\w+Code) =$|^export type (\w+Code) = .*;$/gm;
const MEMBER = /\/\*\*([\s\S]*?)\*\/|'([a-z0-9_]+)'|\b([A-Z]\w+)\b|(;)/g;

/**
 * The errors that the sources under `root` declare.
 * @throws Error for a code without an explanation, naming the code
 */
export function readErrors(root: string): ErrorIndex {
  const texts = globSync('packages/*/src/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(root, file), 'utf8'));
  const unions = new Map(
    texts.flatMap((text) => [...text.matchAll(UNION)].map((found) => unionAt(text, found))),
  );
  const classes = texts.flatMap((text) =>
    [...text.matchAll(CLASS)].map(([, doc = '', name = '', union = '']) => ({
      name,
      union,
      doc: proseOf(doc),
    })),
  );
  const general = membersOf('AssizeError', GENERAL, unions).map((one) => ({
    ...one,
    classes: undefined,
  }));
  const own = classes.flatMap(({ name, union }) =>
    union === 'never' ? [] : membersOf(name, union, unions),
  );
  const codes = [...general, ...own].reduce(merged, new Map<string, IndexedCode>());
  return {
    codes: [...codes.values()].sort((a, b) => order(a.code, b.code)),
    classes: classes.map(({ name, doc }) => ({ name, doc })).sort((a, b) => order(a.name, b.name)),
  };
}

/** Adds a code, or its class to the code of an earlier class that has the same union. */
function merged(codes: Map<string, IndexedCode>, one: IndexedCode): Map<string, IndexedCode> {
  const { code, classes = [], meaning } = one;
  const before = codes.get(code);
  if (before === undefined) return codes.set(code, one);
  if (before.classes === undefined || before.meaning !== meaning)
    throw new Error(
      `The code ${code} of ${classes.join()} is declared twice. Name the union that declares it.`,
    );
  return codes.set(code, { ...before, classes: [...before.classes, ...classes].sort(order) });
}

/** The whole page. */
export function errorPage({ codes, classes }: ErrorIndex): string {
  const rows = codes.map(({ code, classes = [], meaning, remedy, evidence }) => {
    const names = classes.map((name) => `\`${name}\``).join(', ');
    return row([
      `\`${code}\``,
      names,
      evidence === '' ? meaning : `${meaning} ${evidence}`,
      remedy,
    ]);
  });
  return `${INTRODUCTION}
## Classes

The class of an error is its \`name\`. Programs compare the code.

${row(['class', 'thrown for'])}
|---|---|
${classes.map(({ name, doc }) => row([`\`${name}\``, doc])).join('\n')}

## Codes

Every class has the codes without a class. The message names the value at fault, and what to do about it.

${row(['code', 'class', 'what failed', 'what to do'])}
|---|---|---|---|
${rows.join('\n')}
`;
}

const INTRODUCTION = `# Errors

<!-- Written by scripts/error-index.ts from the sources: npm run errors. -->

Every error of the package is an \`AssizeError\` with a stable \`code\`, a \`message\` that says what failed and what to do, and
\`evidence\` for programs. \`retryable\` is true where the same call may succeed later. \`cause\` holds the error underneath. \`reason\` is the code, or
a finer name of the failure that entries store. \`isAssizeError\` takes both.

\`\`\`ts
import { isAssizeError } from 'assize';

try {
  await trajectory.propose(intent);
} catch (error) {
  if (!isAssizeError(error, 'conflict')) throw error;
  await trajectory.propose(intent); // Other writers were faster; nothing was recorded.
}
\`\`\`

A refused proposal is not an error: \`propose\` returns a ruling with a reason ([the kernel](reference/kernel.md)).

The command \`assize\` prints the message of an error, and with \`--json\` also its code. The command has three more kinds of code:
\`interrupted\` (a signal ended it), \`internal\` (a fault in Assize), and those of the operating system, such as \`ENOENT\`.
`;

/** A union's name, and its text from the equals sign on. */
function unionAt(text: string, found: RegExpExecArray): [name: string, body: string] {
  const name = found[1] ?? found[2]!;
  return [name, text.slice(text.indexOf('=', found.index) + 1)];
}

/** Members of a union, those of the unions that it names included. */
function membersOf(
  name: string,
  union: string,
  unions: ReadonlyMap<string, string>,
): IndexedCode[] {
  const body = unions.get(union);
  if (body === undefined)
    throw new Error(`${name} has the codes ${union}, but no source declares them as a union.`);
  const members: IndexedCode[] = [];
  let doc = '';
  for (const [, comment, code, other, end] of body.matchAll(MEMBER)) {
    if (end !== undefined) break;
    if (comment !== undefined) doc = proseOf(comment);
    if (code !== undefined) members.push(explained(name, code, doc));
    if (other !== undefined) members.push(...membersOf(name, other, unions));
    if (comment === undefined) doc = '';
  }
  return members;
}

function explained(name: string, code: string, prose: string): IndexedCode {
  const [, text = prose, evidence = ''] = /^([\s\S]*?)(?: (Evidence `[\s\S]*))?$/.exec(prose) ?? [];
  const [, meaning = '', remedy = ''] = /^(.+?\.) ((?:[A-Z`])[\s\S]*)$/.exec(text) ?? [];
  if (meaning === '' || remedy === '')
    throw new Error(
      `${name} ${code} is not explained. Write what failed and what to do in a doc comment before it.`,
    );
  return { code, classes: [name], meaning, remedy, evidence };
}

/** A doc comment as one line of prose. */
function proseOf(comment: string): string {
  return comment
    .replace(/^\/\*\*|\*\/\s*$/g, '')
    .replace(/^\s*\* ?/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const index = readErrors(root);
  writeFileSync(join(root, 'docs/errors.md'), errorPage(index));
  console.log(`docs/errors.md has ${index.codes.length} codes of ${index.classes.length} classes.`);
  if (index.codes.length > CODES_MAX)
    throw new Error(`At most ${CODES_MAX} codes (scripts/error-index.ts).`);
}
