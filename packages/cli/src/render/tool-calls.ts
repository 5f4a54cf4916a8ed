import {
  bold,
  dim,
  isLong,
  line,
  type Output,
  type Printable,
  red,
  shortJson,
  shortText,
  yellow,
} from '@assize/command';
import { canonicalize, WORLD_LIMITS } from 'assize/internal/canon';
import { shortId, type ToolCall } from 'assize/internal/views';

/** Maximum number of calls of one proposal in text; `--json` has all of them. */
const CALLS_MAX = 20;
/** Maximum number of characters of a call's scopes, in text. */
const SCOPES_SHOWN = 400;

/**
 * One call per line, each with its input. A long input is truncated. `verb`: `would call`,
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
    out.line(
      dim(
        line`and ${calls.length - CALLS_MAX} more calls; assize show ${shortId(pending)} --blobs shows them`,
      ),
    );
}

function linesOf(pending: string, verb: string, call: ToolCall, isFull: boolean): Printable[] {
  if ('erased_by' in call)
    return [line`${dim(verb)} ${yellow(line`a call erased by ${shortId(call.erased_by)}`)}`];
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
  const repeated =
    answer === undefined ? '' : isFull ? canonicalize(answer, WORLD_LIMITS) : shortJson(answer);
  const again = answer === undefined ? [] : [line`  ${dim('again, with the answer')} ${repeated}`];
  return [
    line`${dim(verb)} ${bold(tool)}${kind}, which ${touched}`,
    line`  ${dim('with')} ${given}`,
    ...again,
  ];
}
