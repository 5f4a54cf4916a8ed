import { readOptions } from '@assize/tools/internal/options.ts';
import { isInstance, type Json } from 'assize/internal/base';
import { copyJson } from 'assize/internal/canon';
import {
  type CallContext,
  DidNothing,
  declareTool,
  EffectError,
  type PlannedCalls,
  type Tool,
} from 'assize/internal/effects';
import { z } from 'zod';
import { webScope } from './origins.ts';
import { outlined, seenOn } from './seen.ts';
import { SITE, type SiteOptions, siteOf } from './site.ts';
import { submit } from './submit.ts';
import { type Field, field, named, only, target } from './target.ts';
import { type Site, type Visit, visit } from './visit.ts';

export interface BrowserToolsOptions extends SiteOptions {
  /** Prefix of the tools' names. Default `browser`. */
  readonly name?: string;
  /** Maximum number of characters of page text in one result. Default 20,000. */
  readonly textMax?: number;
  /**
   * The kind of counselor that approves a `submit`. Default: the kind that the domain's action and
   * rules name.
   */
  readonly channel?: string;
  /**
   * Whether the results of all these tools are stored by salted hash and can be erased
   * (`ToolSpec.sensitive`).
   */
  readonly sensitive?: boolean;
  /**
   * Whether branches of one transaction may use the tools on the same page concurrently
   * (`ToolSpec.parallel`).
   */
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
 * A browser as tools. `browser.goto` and `browser.read` read a page, and `browser.fill` plans the
 * values of its fields. `browser.submit` presses one button of the page, once, after a human has
 * approved it. Each tool opens its own page in the context, so calls do not disturb each other's
 * pages.
 * The effect of a button on an unknown page cannot be compensated or queried. Therefore
 * `browser.submit` is irreversible and blind. Declare known forms one by one with `submitTool`.
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
  const clicks = z
    .array(target)
    .max(FIELDS_MAX)
    .optional()
    .describe('elements to click before; requests that the clicks would send are blocked');
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
        looked(
          `${name}.goto`,
          site,
          input,
          drafts.at(input.url, planned),
          call,
          ({ page, status }) => outlined(page, status, { textMax, timeoutMs: site.timeoutMs }),
        ),
    }),
    declareTool({
      name: `${name}.read`,
      ...kept,
      description: 'Returns the text of elements of a page, or the values of fields, in order.',
      input: z.strictObject({
        url,
        clicks,
        of: target,
        what: z.enum(['text', 'value']).default('text'),
      }),
      class: 'read',
      reads: scope,
      execute: (input, call, planned) =>
        looked(
          `${name}.read`,
          site,
          input,
          drafts.at(input.url, planned),
          call,
          async ({ page, status }) => {
            const seen = seenOn(page, status, site.timeoutMs);
            return input.what === 'text' ? seen.texts(input.of) : seen.values(input.of);
          },
        ),
    }),
    declareTool({
      name: `${name}.fill`,
      ...kept,
      description:
        'Plans values for fields of a page. Later reads of the page show them filled in. Returns all planned fields, to pass to submit.',
      input: z.strictObject({ url, fields: fields.min(1) }),
      class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
      reads: scope,
      writes: scope,
      plan: async (input, planned) => {
        const all = withFields(drafts.at(input.url, planned), input.fields);
        await looked(
          `${name}.fill`,
          site,
          { url: input.url },
          all,
          planning(site),
          async () => null,
        );
        return { url: input.url, fields: all };
      },
      // `submit` fills the field in, so the fill call alone does nothing.
      execute: () => null,
      uncompensated: 'nothing has left the browser',
    }),
    declareTool({
      name: `${name}.submit`,
      ...kept,
      description:
        'Fills in a form and presses its button after a human has approved it. Cannot be undone.',
      input: z.strictObject({ url, fields: fields.default([]), button: target }),
      class: { reversibility: 'irreversible', delivery: 'externalised', sink: 'blind' },
      ...(channel === undefined ? {} : { channel }),
      reads: scope,
      writes: scope,
      plan: async (input, planned) => {
        drafts.requireSame(`${name}.submit`, input, planned);
        const look = { url: input.url };
        await looked(
          `${name}.submit`,
          site,
          look,
          input.fields,
          planning(site),
          async ({ page }) => {
            await only(page, input.button, site.timeoutMs);
            return null;
          },
        );
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

/** Number of page steps that a plan has time for. The runtime passes no time limit to a plan. */
const PLAN_STEPS = 4;

function planning({ timeoutMs }: Site): Pick<CallContext, 'signal'> {
  return { signal: AbortSignal.timeout(PLAN_STEPS * timeoutMs) };
}

/** Fields that were filled in before the commit, by the URL of their page. */
class Drafts {
  readonly #tool: string;

  constructor(tool: string) {
    this.#tool = tool;
  }

  /** The last value for each field counts. */
  at(url: string, planned: PlannedCalls): Field[] {
    const own = planned.filter(
      ({ tool, input }) => tool === this.#tool && (input as { url: string }).url === url,
    );
    return own.reduce<Field[]>(
      (all, { input }) => withFields(all, (input as { fields: Field[] }).fields),
      [],
    );
  }

  /**
   * Checks that the fields filled in for a page are sent unchanged.
   * @throws EffectError `tool_failed`
   */
  requireSame(
    tool: string,
    { url, fields }: { url: string; fields: readonly Field[] },
    planned: PlannedCalls,
  ): void {
    const given = new Map(fields.map((each) => [named(each.field), named(each as never)]));
    const other = this.at(url, planned).find(
      (each) => given.get(named(each.field)) !== named(each as never),
    );
    if (other !== undefined)
      throw failed(
        tool,
        `${named(other.field)} was planned with another value than the submitted one. Pass the fields that fill returned`,
      );
  }
}

function withFields(before: readonly Field[], more: readonly Field[]): Field[] {
  const all = new Map([...before, ...more].map((each) => [named(each.field), each]));
  return [...all.values()];
}

/**
 * The page with its planned field values filled in. A page that is unavailable is reported as a
 * tool that did nothing.
 */
async function looked(
  tool: string,
  site: Site,
  {
    url,
    clicks = [],
  }: { readonly url: string; readonly clicks?: readonly z.infer<typeof target>[] | undefined },
  fields: readonly Field[],
  call: Pick<CallContext, 'signal'>,
  use: (visit: Visit) => Promise<unknown>,
): Promise<Json> {
  try {
    const way = { url: site.origins.url(url), fields, clicks };
    return copyJson(await visit(site, way, call, use), { foreign: true });
  } catch (error) {
    if (isInstance(error, EffectError)) throw error;
    throw failed(
      tool,
      (error as Error).message,
      error,
      isInstance(error, DidNothing) && !error.isFinal,
    );
  }
}

function failed(tool: string, what: string, cause?: unknown, retryable = false): EffectError {
  return new EffectError('tool_failed', `${tool} was not done: ${what.replace(/\.$/, '')}.`, {
    evidence: { tool },
    cause,
    retryable,
  });
}
