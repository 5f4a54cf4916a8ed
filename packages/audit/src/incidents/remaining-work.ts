import { writId } from 'assize/internal/authority';
import type { AffectedCall, BlastRadius } from '#blast';
import { OBJECT_SHOWN_MAX, type RemainingItem, type ResponseStep } from '#incident-domain';
import type { AffectedTrajectories } from './affected-trajectories.ts';
import { isDisplaced } from './plan-withdrawals.ts';

/** The decisions of the approver of the start. The response does not reverse them. */
export function approverItems({ start: { approver } }: BlastRadius): readonly RemainingItem[] {
  if (approver === undefined) return [];
  return [
    {
      what: `the right of ${approver} to decide`,
      why: 'the configuration gives it, and not the ledger',
      advice:
        'remove the principal from the configuration, end its sessions, and start the server again',
    },
  ];
}

/** The tool or its definition. It can be called again. */
export function toolItems({ start: { tool, definition } }: BlastRadius): readonly RemainingItem[] {
  const named = tool ?? (definition && `the definition ${definition}`);
  if (named === undefined) return [];
  return [
    {
      what: `further calls of ${named}`,
      why: 'no step stops a tool',
      advice: 'deny it in the rules of the gateway, or remove it from the configuration',
    },
  ];
}

/** The affected proposals that are pending. A revoked writ ends some of them. */
export async function pendingItems(
  { pending, entries }: BlastRadius,
  steps: readonly ResponseStep[],
  trajectories: AffectedTrajectories,
): Promise<readonly RemainingItem[]> {
  const revoked = new Set(steps.flatMap((step) => (step.kind === 'revoke' ? [step.writ] : [])));
  const open = new Set(pending);
  const items = [];
  for (const entry of entries) {
    const { id, trajectoryId, action } = entry;
    if (!open.has(id)) continue;
    const used = await trajectories.writOf(entry);
    const isDead =
      used !== undefined &&
      [used.id, ...used.chain.map((each) => writId(each))].some((one) => revoked.has(one));
    const what = `the pending proposal ${action ?? ''} in ${trajectoryId}`.replace('  ', ' ');
    items.push(
      isDead
        ? {
            ...{
              what,
              entry: id,
              why: 'its writ is revoked by a step, so its approval is refused',
            },
            advice: 'reject it, so that it leaves the inbox',
          }
        : {
            what,
            entry: id,
            why: 'it derives from the incident, and can be approved',
            advice: 'reject it',
          },
    );
  }
  return items;
}

/** The facts of other entries that no step gives back, because an entry retracted them. */
export function endedItems({ ended, statements }: BlastRadius): readonly RemainingItem[] {
  const items = ended
    .filter((fact) => !isDisplaced(fact, statements))
    .map(({ entry, space, subject, predicate, object }) => ({
      what: `the fact ${subject} ${predicate} ${object.slice(0, OBJECT_SHOWN_MAX).toWellFormed()} in ${space}`,
      ...{ entry, why: 'an affected entry retracted it, or withdrew its source' },
      advice: 'state it again if it holds: assize memory assert',
    }));
  return [...new Map(items.map((item) => [`${item.what} ${item.entry}`, item])).values()];
}

/** The effects of registered tools. The engine compensates no effect after its transaction. */
export function effectItems({ calls }: BlastRadius): readonly RemainingItem[] {
  return calls
    .filter(({ via, outcome }) => via === 'effect' && outcome !== 'undone')
    .map(effectItem);
}

function effectItem({
  entry,
  tool = 'an erased tool',
  reversibility,
  outcome,
  id,
  trajectoryId,
}: AffectedCall): RemainingItem {
  const what = `the call ${id} of ${tool} in ${trajectoryId}`;
  if (outcome === 'open')
    return {
      ...{ what, entry, why: 'its outcome is not recorded yet' },
      advice: 'wait for its end, or decide about it: assize effects',
    };
  return {
    ...{
      what,
      entry,
      why: `the call was made (${reversibility ?? 'its class is unknown'}), and its transaction has ended`,
    },
    advice:
      reversibility === 'irreversible' || reversibility === undefined
        ? 'repair its consequences by hand'
        : `propose an action that undoes ${tool}`,
  };
}
