import {
  bold,
  dim,
  isLong,
  line,
  type Output,
  type Printable,
  shortJson,
  shownWords,
  yellow,
} from '@assize/command';
import type { Json } from 'assize/internal/base';
import { canonicalize, WORLD_LIMITS } from 'assize/internal/canon';
import {
  type EffectPendingPayload,
  isBlobRef,
  type Patch,
  type PendingPayload,
  pendingEffectOf,
  type Stored,
} from 'assize/internal/ledger';
import {
  overridesIn,
  overrideText,
  type Shown,
  shortId,
  type ToolCall,
} from 'assize/internal/views';
import { changeLines, changeTable } from './changes.ts';
import { printCalls } from './tool-calls.ts';

/** Maximum number of changes of one proposal in text; `assize show` has all of them. */
const CHANGES_MAX = 40;

/**
 * The effect of an approval: the recorded arguments, and the changes next to the current values. A
 * decision should rest on these alone: the agent's description of its proposal is left out.
 * `isFull`: values are never shortened.
 */
export function printProposal(
  out: Output,
  id: string,
  payload: PendingPayload,
  calls: readonly ToolCall[],
  state: Json,
  shown: Shown | undefined,
  isFull = false,
): void {
  const { proposal } = payload;
  const { action, budget_cost, observations } = proposal;
  const { name, role } = action;
  const as =
    Object.keys(role.params).length === 0 ? role.name : `${role.name} ${canonicalize(role.params)}`;
  out.line(line``);
  out.line(line`${bold(shortId(id))} proposes ${bold(name)} as ${as}`);
  if (shown !== undefined) out.line(bold(shownWords(shown.title)));
  if (shown?.confirm !== undefined)
    out.line(line`${dim('an approval')} ${shownWords(shown.confirm)}`);
  out.line(line`${dim('arguments')} ${argsText(action.args, id, isFull)}`);
  if (observations.length > 0)
    out.line(line`${dim('observed')} ${observations.map((seen) => seen.name).join(', ')}`);
  if (Object.keys(budget_cost).length > 0)
    out.line(line`${dim('cost')} ${canonicalize(budget_cost)}`);
  for (const override of overridesIn(payload)) out.line(yellow(line`${overrideText(override)}`));
  printCalls(out, id, 'would call', calls, isFull);
  printChanges(out, 'changes', id, proposal.delta.state, state, isFull);
  printChanges(out, 'an approval adds', id, proposal.approval, state, isFull);
}

/** An unresolved effect, with the command that resolves it: it has no approval. */
export function printEffect(
  out: Output,
  id: string,
  payload: EffectPendingPayload,
  calls: readonly ToolCall[],
  isFull = false,
): void {
  const { epoch, n, tool, id: key } = pendingEffectOf(payload);
  const is = payload.reason === 'in_doubt' ? 'in doubt' : 'unresolved';
  out.line(line``);
  out.line(line`${bold(shortId(id))} is an effect of ${bold(tool)} that is ${is}`);
  out.line(line`${dim('key')} ${key}`);
  printCalls(out, id, 'called', calls, isFull);
  out.line(
    dim(
      line`Resolve it with: assize effects resolve ${epoch} ${n} --as DECISION --by OPERATOR --evidence TEXT`,
    ),
  );
}

function argsText(value: Stored, id: string, isFull: boolean): Printable {
  if (isBlobRef(value))
    return line`are ${value.bytes} bytes; assize show ${shortId(id)} --blobs shows them`;
  return isLong(value) && !isFull
    ? line`${shortJson(value)}; assize show ${shortId(id)} shows them`
    : line`${canonicalize(value, WORLD_LIMITS)}`;
}

function printChanges(
  out: Output,
  title: string,
  id: string,
  patches: Stored<readonly Patch[]>,
  state: Json,
  isFull: boolean,
): void {
  if (isBlobRef(patches)) {
    out.line(line`${dim(title)} ${argsText(patches, id, isFull)}`);
    return;
  }
  if (patches.length === 0) {
    out.line(line`${dim(title)} nothing`);
    return;
  }
  if (isFull) {
    out.line(line`${dim(title)}`);
    for (const patch of patches) for (const text of changeLines(patch, state)) out.line(text);
    return;
  }
  changeTable(out, title, patches.slice(0, CHANGES_MAX), state);
  if (patches.length > CHANGES_MAX)
    out.line(
      dim(line`and ${patches.length - CHANGES_MAX} more; assize show ${shortId(id)} shows them`),
    );
}
