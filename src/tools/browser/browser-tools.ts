import { z } from 'zod';
import type { Json } from '#base';
import { copyJson } from '#canon';
import { type Call, DidNothing, declareTool, EffectError, type Planned, type Tool } from '#effects';
import { readOptions } from '../options.ts';
import { webScope } from './origins.ts';
import { outlined, seenOn } from './seen.ts';
import { SITE, type SiteOptions, siteOf } from './site.ts';
import { submit } from './submit.ts';
import { type Field, field, named, only, target } from './target.ts';
import { type Site, type Visit, visit } from './visit.ts';

export interface BrowserToolsOptions extends SiteOptions {
  /** How the tools' names begin. Default `browser`. */
  readonly name?: string;
  /** Characters of a page's text that one look tells. Default 20,000. */
  readonly textMax?: number;
  /** The kind of counselor who approves what `submit` sends. Default: whom action and rules of the domain name. */
  readonly channel?: string;
  /** Whether what all of them answer is kept by salted hash, and may be erased (`ToolSpec.sensitive`). */
  readonly sensitive?: boolean;
  /** Whether branches of one transaction may use them at the same page at once (`ToolSpec.parallel`). */
  readonly parallel?: boolean;
}

const OPTIONS = z.strictObject({
  ...SITE,
  name: z.string().optional(),
  textMax: z.number().int().positive().optional(),
  channel: z.string().optional(),
  sensitive: z.boolean().optional(),
  parallel: z.boolean().optional(),
});

const NAME = 'browser';
const TEXT_MAX = 20_000;
const FIELDS_MAX = 100;

/**
 * A browser as tools: `browser.goto` and `browser.read` look at a page, `browser.fill` plans what its fields are to have, and
 * `browser.submit` presses a button of it, once, after a person has approved it. Each opens a page of its own in the context, so that what one call
 * has done to a page is not in another's way.
 *
 * What a button of an unknown page does can't be undone, and nobody can be asked about it: `browser.submit` is irreversible and blind.
 * Forms that are known are declared one by one (`submitTool`).
 *
 * @throws EffectError `invalid_tool`
 */
export function browserTools(options: BrowserToolsOptions): readonly Tool[] {
  const read = readOptions(OPTIONS, options) as BrowserToolsOptions;
  const { name = NAME, textMax = TEXT_MAX, channel, sensitive, parallel } = read;
  const kept = {
    ...(sensitive === undefined ? {} : { sensitive }),
    ...(parallel === undefined ? {} : { parallel }),
  };
  const site = siteOf(name, read);
  const drafts = new Drafts(`${name}.fill`);
  const url = z
    .string()
    .max(4096)
    .transform((text, context) => {
      try {
        return site.origins.url(text).href;
      } catch (error) {
        context.addIssue({ code: 'custom', message: (error as Error).message });
        return z.NEVER;
      }
    });
  const clicks = z.array(target).max(FIELDS_MAX).optional().describe('pressed before; what then would be sent is not');
  const fields = z.array(field).max(FIELDS_MAX);
  const scope = ({ url: of }: { readonly url: string }): string[] => [webScope(of)];
  return [
    declareTool({
      name: `${name}.goto`,
      ...kept,
      description: 'Opens a page: its title, text, links, fields and buttons.',
      input: z.strictObject({ url, clicks }),
      class: 'read',
      reads: scope,
      execute: (input, call, planned) =>
        looked(`${name}.goto`, site, input, drafts.at(input.url, planned), call, ({ page, status }) =>
          outlined(page, status, { textMax, timeoutMs: site.timeoutMs }),
        ),
    }),
    declareTool({
      name: `${name}.read`,
      ...kept,
      description: 'What elements of a page say, or what fields hold, in their order.',
      input: z.strictObject({ url, clicks, of: target, what: z.enum(['text', 'value']).default('text') }),
      class: 'read',
      reads: scope,
      execute: (input, call, planned) =>
        looked(`${name}.read`, site, input, drafts.at(input.url, planned), call, async ({ page, status }) => {
          const seen = seenOn(page, status, site.timeoutMs);
          return input.what === 'text' ? seen.texts(input.of) : seen.values(input.of);
        }),
    }),
    declareTool({
      name: `${name}.fill`,
      ...kept,
      description:
        'Plans what fields of a page are to have. Looks at that page show it filled in. Answers with all that is planned there; hand it on to submit.',
      input: z.strictObject({ url, fields: fields.min(1) }),
      class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
      reads: scope,
      writes: scope,
      plan: async (input, planned) => {
        const all = withFields(drafts.at(input.url, planned), input.fields);
        await looked(`${name}.fill`, site, { url: input.url }, all, planning(site), async () => null);
        return { url: input.url, fields: all };
      },
      // A field is filled in where it is sent, so by itself there is nothing to be done.
      execute: () => null,
      uncompensated: 'nothing has left the browser',
    }),
    declareTool({
      name: `${name}.submit`,
      ...kept,
      description: 'Fills in a form and presses its button, once a person has approved it. Cannot be undone.',
      input: z.strictObject({ url, fields: fields.default([]), button: target }),
      class: { reversibility: 'irreversible', delivery: 'externalised', sink: 'blind' },
      ...(channel === undefined ? {} : { channel }),
      reads: scope,
      writes: scope,
      plan: async (input, planned) => {
        drafts.requireSame(`${name}.submit`, input, planned);
        const look = { url: input.url };
        await looked(`${name}.submit`, site, look, input.fields, planning(site), async ({ page }) => {
          await only(page, input.button, site.timeoutMs);
          return null;
        });
        return { url: input.url, fields: input.fields };
      },
      execute: (input, call) =>
        submit(site, { ...input, url: site.origins.url(input.url) }, call, async (seen) => ({
          url: seen.url,
          status: seen.status,
          title: await seen.title(),
        })),
    }),
  ];
}

/** Steps of a page for which a plan has time. A runtime tells a plan no time of its own. */
const PLAN_STEPS = 4;

function planning({ timeoutMs }: Site): Pick<Call, 'signal'> {
  return { signal: AbortSignal.timeout(PLAN_STEPS * timeoutMs) };
}

/** Fields that were filled in before the commit, by the page that they are of. */
class Drafts {
  readonly #tool: string;

  constructor(tool: string) {
    this.#tool = tool;
  }

  /** The last word for each field counts. */
  at(url: string, planned: Planned): Field[] {
    const own = planned.filter(({ tool, input }) => tool === this.#tool && (input as { url: string }).url === url);
    return own.reduce<Field[]>((all, { input }) => withFields(all, (input as { fields: Field[] }).fields), []);
  }

  /** What was filled in there is sent as it was. @throws EffectError `tool_failed` */
  requireSame(tool: string, { url, fields }: { url: string; fields: readonly Field[] }, planned: Planned): void {
    const given = new Map(fields.map((each) => [named(each.field), named(each as never)]));
    const other = this.at(url, planned).find((each) => given.get(named(each.field)) !== named(each as never));
    if (other !== undefined)
      throw failed(
        tool,
        `${named(other.field)} was filled in otherwise than it is to be sent; hand on what fill answered`,
      );
  }
}

function withFields(before: readonly Field[], more: readonly Field[]): Field[] {
  const all = new Map([...before, ...more].map((each) => [named(each.field), each]));
  return [...all.values()];
}

/** A page as it will be, with what is planned for it filled in. What can't be had is told as a tool that has done nothing. */
async function looked(
  tool: string,
  site: Site,
  { url, clicks = [] }: { readonly url: string; readonly clicks?: readonly z.infer<typeof target>[] | undefined },
  fields: readonly Field[],
  call: Pick<Call, 'signal'>,
  use: (visit: Visit) => Promise<unknown>,
): Promise<Json> {
  try {
    const way = { url: site.origins.url(url), fields, clicks };
    return copyJson(await visit(site, way, call, use), { foreign: true });
  } catch (error) {
    if (error instanceof EffectError) throw error;
    throw failed(tool, (error as Error).message, error, error instanceof DidNothing && !error.isFinal);
  }
}

function failed(tool: string, what: string, cause?: unknown, retryable = false): EffectError {
  return new EffectError('tool_failed', `${tool} was not done: ${what.replace(/\.$/, '')}.`, {
    evidence: { tool },
    cause,
    retryable,
  });
}
