import { type GatewayState, specOf } from '@assize/gate/internal/gateway';
import type { Patch } from 'assize/internal/ledger';
import type { Trajectory } from 'assize/internal/runtime';
import type { ToolCall } from 'assize/internal/views';

/** Whether calls can be undone after the approval, and by what. */
export interface Undo {
  readonly can: boolean;
  readonly by?: string;
}

interface Asked {
  readonly tools: readonly ToolCall[];
  /** Null after an erasure. */
  readonly changes: readonly Patch[] | null;
}

/** Of the calls of a proposal, or of the call that its agent makes. Undefined for none. */
export function undoOf(
  { tools, changes }: Asked,
  trajectory: Trajectory | undefined,
): Undo | undefined {
  const made = tools.flatMap((call): Undo[] => {
    if (!('tool' in call) || call.class === undefined) return [];
    return [byHand(call.class.reversibility !== 'irreversible')];
  });
  const all = made.length > 0 ? made : gatedIn(changes ?? [], trajectory);
  if (all.length === 0) return undefined;
  const by = [...new Set(all.flatMap((one) => one.by ?? []))].join(', ');
  return { can: all.every((one) => one.can), ...(by !== '' && { by }) };
}

/** The runtime compensates no call whose transaction has ended. */
function byHand(can: boolean): Undo {
  return can ? { can, by: 'hand' } : { can };
}

/** The row of a call in the state of the gateway, with the class that the rules gave it. */
function gatedIn(changes: readonly Patch[], trajectory: Trajectory | undefined): Undo[] {
  if (trajectory?.domain?.name !== 'gateway') return [];
  const state = trajectory.state() as unknown as GatewayState;
  return changes.flatMap((patch) => {
    const isRow = 'value' in patch && patch.path.startsWith('/calls/');
    const row = isRow ? (patch.value as Record<string, unknown> | null) : null;
    if (typeof row?.['tool'] !== 'string' || row['class'] === 'read') return [];
    if (typeof row['class'] !== 'string') return [];
    const by = specOf(state, row['tool'])?.undo?.tool;
    if (by !== undefined) return [{ can: true, by }];
    return [byHand(row['class'] === 'reversible')];
  });
}
