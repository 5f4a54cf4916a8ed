import { type UrlOf, urlMaker } from '@assize/tools/internal/http/url.ts';
import {
  ACTING_OPTIONS,
  type ActingToolOptions,
  callback,
  pickToolOptions,
  readOptions,
  zodSchema,
} from '@assize/tools/internal/options.ts';
import { errorMessage, type Json } from 'assize/internal/base';
import { copyJson } from 'assize/internal/canon';
import {
  type CallContext,
  type CompensationResult,
  DidNothing,
  declareTool,
  type ReconcileResult,
  type Tool,
  type ToolSpec,
} from 'assize/internal/effects';
import { z } from 'zod';
import { webScope } from './origins.ts';
import { type PageSeen, seenOn } from './seen.ts';
import { SITE, type SiteOptions, siteOf } from './site.ts';
import { type Submission, submit } from './submit.ts';
import { type Field, field, type Target, target } from './target.ts';
import { type Site, visit } from './visit.ts';

/** A known form, as a tool. */
export interface SubmitToolOptions<Schema extends z.ZodType = z.ZodType>
  extends SiteOptions,
    ActingToolOptions<Schema> {
  readonly input: Schema;
  /** Default: irreversible and externalised; queryable if `reconcile` is given, else blind. */
  readonly class?: Exclude<ToolSpec<Schema>['class'], 'read'>;
  /**
   * The URL of the form: a template with `{member}` for an escaped part of the input, or a function
   * of the input.
   */
  readonly url: UrlOf<[input: z.infer<Schema>]>;
  /**
   * The values of the form's fields. A form that has a field for a key receives the effect's key.
   */
  readonly fields: (input: z.infer<Schema>, key: string) => readonly Field[];
  readonly button: Target;
  /** The element that the page shows after success. Default: any 2xx answer counts as success. */
  readonly done?: Target;
  /** The element that the page shows when it refused the form and did nothing. */
  readonly refused?: Target;
  /** The answer to a dialog. Default: dialogs are dismissed. */
  readonly dialogs?: 'accept' | 'dismiss';
  /** Derives the result from the answering page. Default: the page's address and title. */
  readonly result?: (seen: PageSeen, input: z.infer<Schema>) => unknown;
  /**
   * A page that shows whether the effect happened. Required for a queryable sink, and refused for
   * other sinks.
   */
  readonly reconcile?: {
    /** A template with `{key}` for the key of the effect, or a function of input and key. */
    readonly url: UrlOf<[input: z.infer<Schema>, key: string]>;
    /**
     * The effect's result. Undefined if the page shows that the effect has not happened. Throws if
     * the page shows neither.
     */
    readonly find: (seen: PageSeen, input: z.infer<Schema>, key: string) => unknown;
  };
  /** The form that compensates the effect. */
  readonly compensate?: {
    /**
     * A template with `{member}` for a part of the result, else of the input; or a function of
     * both.
     */
    readonly url: UrlOf<[input: z.infer<Schema>, result: any]>;
    readonly fields?: (input: z.infer<Schema>, result: any, key: string) => readonly Field[];
    readonly button: Target;
    readonly done?: Target;
    readonly refused?: Target;
    /**
     * The residue that the compensation left. Undefined if the compensation reverted everything.
     */
    readonly residue?: (seen: PageSeen) => unknown;
  };
}

const URL_OF = z.union([z.string(), callback]);
const OPTIONS = z.strictObject({
  ...SITE,
  ...ACTING_OPTIONS,
  input: zodSchema,
  class: z.unknown().optional(),
  url: URL_OF,
  fields: callback,
  button: target,
  done: target.optional(),
  refused: target.optional(),
  dialogs: z.enum(['accept', 'dismiss']).optional(),
  result: callback.optional(),
  reconcile: z.strictObject({ url: URL_OF, find: callback }).optional(),
  compensate: z
    .strictObject({
      url: URL_OF,
      fields: callback.optional(),
      button: target,
      done: target.optional(),
      refused: target.optional(),
      residue: callback.optional(),
    })
    .optional(),
});
const FIELDS = z.array(field);

/**
 * A tool that fills in one form and sends it. Its default scope is the form's page (`webScope`).
 * The declaration describes the effect: the tool infers nothing from the page.
 *
 * @throws EffectError `invalid_tool`
 */
export function submitTool<Schema extends z.ZodType>(options: SubmitToolOptions<Schema>): Tool {
  const read = readOptions(OPTIONS, options) as unknown as SubmitToolOptions;
  const form = new Form(read);
  const { input, reconcile, compensate } = read;
  const sink = reconcile === undefined ? 'blind' : 'queryable';
  const { class: sort = { reversibility: 'irreversible', delivery: 'externalised', sink } } = read;
  const { writes = (given: unknown) => [webScope(form.url(given))] } = read;
  return declareTool({
    ...pickToolOptions(read),
    input,
    class: sort,
    writes,
    ...(reconcile === undefined ? {} : { reconcile: form.reconciler(reconcile) }),
    ...(compensate === undefined ? {} : { compensate: form.compensator(compensate) }),
    execute: (given, call) => form.execute(given, call),
  });
}

class Form {
  readonly #options: SubmitToolOptions;
  readonly #site: Site;
  readonly #hosts: readonly string[];
  readonly url: (input: unknown) => URL;

  constructor(options: SubmitToolOptions) {
    const { name, url, allow } = options;
    this.#options = options;
    this.#site = siteOf(name, options);
    this.#hosts = allow.map((origin) => new URL(origin).host);
    const urlOf = urlMaker(name, url, this.#hosts);
    this.url = (input) => this.#allowed(urlOf(input, input));
  }

  async execute(input: unknown, call: CallContext): Promise<Json> {
    const { fields, button, done, refused, dialogs, result } = this.#options;
    const form = await prepared(() => ({
      url: this.url(input),
      fields: FIELDS.parse(fields(input, call.key)),
      ...{ button, done, refused, dialogs },
    }));
    return submit(this.#site, form, call, async (seen) =>
      jsonOf(
        result === undefined
          ? { url: seen.url, title: await seen.title() }
          : await result(seen, input),
      ),
    );
  }

  reconciler({ url, find }: NonNullable<SubmitToolOptions['reconcile']>) {
    const urlOf = urlMaker(this.#options.name, url, this.#hosts);
    return async (input: unknown, call: CallContext): Promise<ReconcileResult> => {
      const { key } = call;
      const page = this.#allowed(urlOf({ ...(input as object), key }, input, key));
      return visit(this.#site, { url: page }, call, async ({ page, status }) => {
        const found = await find(seenOn(page, status, this.#site.timeoutMs), input, key);
        return found === undefined
          ? { happened: false }
          : { happened: true, result: jsonOf(found) };
      });
    };
  }

  compensator({ url, fields, residue, ...rest }: NonNullable<SubmitToolOptions['compensate']>) {
    const urlOf = urlMaker(this.#options.name, url, this.#hosts);
    return async (
      input: unknown,
      result: unknown,
      call: CallContext,
    ): Promise<CompensationResult> => {
      const form: Submission = await prepared(() => ({
        ...rest,
        url: this.#allowed(urlOf({ ...(input as object), ...(result as object) }, input, result)),
        fields: FIELDS.parse(fields?.(input, result, call.key) ?? []),
      }));
      return submit(this.#site, form, call, async (seen) => {
        const left = await residue?.(seen);
        return left === undefined ? { undone: 'all' } : { undone: 'partly', residue: jsonOf(left) };
      });
    };
  }

  #allowed(url: URL): URL {
    return this.#site.origins.url(url.href);
  }
}

/** @throws DidNothing because no page was opened yet */
async function prepared<T>(make: () => T): Promise<T> {
  try {
    return make();
  } catch (cause) {
    throw new DidNothing(errorMessage(cause) ?? 'it could not be prepared', { final: true, cause });
  }
}

function jsonOf(value: unknown): Json {
  return copyJson(value ?? null, { foreign: true });
}
