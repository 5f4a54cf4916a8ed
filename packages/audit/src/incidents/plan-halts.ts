import type { BlastRadius } from '#blast';
import type { ResponseStep } from '#incident-domain';
import { type AffectedTrajectories, trajectoriesOf } from './affected-trajectories.ts';

/** Halts each trajectory in which affected work goes on: a pending proposal or an open effect. */
export async function planHalts(
  radius: BlastRadius,
  trajectories: AffectedTrajectories,
): Promise<readonly Extract<ResponseStep, { kind: 'halt' }>[]> {
  const pending = new Set(radius.pending);
  const live = new Set([
    ...radius.entries.filter(({ id }) => pending.has(id)).map(({ trajectoryId }) => trajectoryId),
    ...radius.calls
      .filter(({ via, outcome }) => via === 'effect' && outcome === 'open')
      .map(({ trajectoryId }) => trajectoryId),
  ]);
  const steps = [];
  for (const trajectory of trajectoriesOf(radius)) {
    if (!live.has(trajectory)) continue;
    const { answered, halts } = (await trajectories.replayed(trajectory)).chain;
    if (answered === undefined && halts.own === undefined)
      steps.push({ kind: 'halt', trajectory } as const);
  }
  return steps;
}
