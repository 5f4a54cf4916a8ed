import type { Json } from '#base';
import { canonicalize, WORLD_LIMITS } from '#canon';
import type { EffectClass, EffectPayload } from '#effects';
import type { LedgerStore } from '#ledger';
import { type Delta, type Hash, isBlobRef } from '#ledger';
import { blobValue } from '../store/blobs.ts';
import { shortId } from '../store/entries.ts';
import { isLong } from '../terminal/outline.ts';
import type { Output } from '../terminal/output.ts';
import { bold, dim, line, type Printable, red, yellow } from '../terminal/printable.ts';
import { shortJson, shortText } from '../terminal/short-json.ts';

/** A planned or executed tool call, as far as the store has it. */
export type ToolCall =
  | {
      readonly id: Hash;
      readonly tool: string;
      /** The class at the time of the call. Missing in entries of earlier versions. */
      readonly class?: EffectClass;
      readonly scopes: EffectPayload['claims'];
      readonly input: Json;
      /**
       * The call executed immediately and was compensated. After an approval it runs again, and
       * must return this answer.
       */
      readonly answer?: Json;
    }
  | { readonly id: Hash; readonly erased_by: string }
  /** The store has no such value under that hash, so the entry was written by hand. */
  | { readonly id: Hash; readonly missing: true };

/** Maximum number of calls of one proposal in text; `--json` has all of them. */
const CALLS_MAX = 20;
/** Maximum number of characters of a call's scopes, in text. */
const SCOPES_SHOWN = 400;

/**
 * The calls of a commit or of a pending proposal, in order. Tool, scopes and input are in blobs,
 * some of which may be erased.
 */
export function toolCalls(store: LedgerStore, { effects }: Pick<Delta, 'effects'>): Promise<ToolCall[]> {
  return Promise.all(
    effects.map(async ({ id, effect }): Promise<ToolCall> => {
      if (!isBlobRef(effect) || effect.$blob === undefined) return { id, missing: true };
      const { $blob: hash, bytes } = effect;
      const erasedBy = await store.erasedBy(hash);
      if (erasedBy !== undefined) return { id, erased_by: erasedBy };
      const made = await blobValue(store, { pointer: '', hash, bytes, salted: true });
      if (!isCall(made)) return { id, missing: true };
      const { tool, class: sort, claims: scopes, input, answer } = made;
      const more = { ...(sort !== undefined && { class: sort }), ...(answer !== undefined && { answer }) };
      return { id, tool, ...more, scopes, input };
    }),
  );
}

/** The entry does not describe the blob's content, so a handwritten entry may contain anything. */
function isCall(value: unknown): value is EffectPayload {
  const { tool, claims, input } = (value ?? {}) as Partial<EffectPayload>;
  return typeof tool === 'string' && Array.isArray(claims) && input !== undefined;
}

/**
 * One call per line, each with its input, which is truncated if long. `verb`: `would call`,
 * `called`.
 */
export function printCalls(
  out: Output,
  pending: string,
  verb: string,
  calls: readonly ToolCall[],
  isFull = false,
): void {
  const shown = isFull ? calls : calls.slice(0, CALLS_MAX);
  for (const call of shown) for (const text of linesOf(pending, verb, call, isFull)) out.line(text);
  if (calls.length > shown.length)
    out.line(dim(line`and ${calls.length - CALLS_MAX} more calls; assize show ${shortId(pending)} --blobs shows them`));
}

function linesOf(pending: string, verb: string, call: ToolCall, isFull: boolean): Printable[] {
  if ('erased_by' in call) return [line`${dim(verb)} ${yellow(line`a call erased by ${shortId(call.erased_by)}`)}`];
  if ('missing' in call) return [line`${dim(verb)} ${red('a call that the store does not have')}`];
  const { tool, class: sort, scopes, input, answer } = call;
  const kind = sort === undefined ? '' : ` (${sort.reversibility}, ${sort.delivery}, ${sort.sink})`;
  const all = scopes.map(({ access, scope }) => `${access}s ${scope}`).join(', ');
  const touched = isFull ? all : shortText(all, SCOPES_SHOWN);
  // A readable input is shown in full: an approver must see everything.
  const given =
    isLong(input) && !isFull
      ? line`${shortJson(input)}; assize show ${shortId(pending)} --blobs shows it`
      : line`${canonicalize(input, WORLD_LIMITS)}`;
  const repeated = answer === undefined ? '' : isFull ? canonicalize(answer, WORLD_LIMITS) : shortJson(answer);
  const again = answer === undefined ? [] : [line`  ${dim('again, with the answer')} ${repeated}`];
  return [line`${dim(verb)} ${bold(tool)}${kind}, which ${touched}`, line`  ${dim('with')} ${given}`, ...again];
}
