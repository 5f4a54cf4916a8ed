import { haltScope, revokeScope } from '#authority';
import { isAssizeError } from '#base';
import type { ResponseStep, StepOutcome } from '#domains/incident';
import { BELIEVE_ACTION, memoryScope } from '#kernel';
import { type FactStore, HALT_ACTION, REVOKE_ACTION } from '#ledger';
import { type Assize, type Ruling, Trajectory } from '#runtime';
import type { WritFor } from './open-incident.ts';
import { believedRows, type Retraction } from './plan-retractions.ts';

/** The outcome of a step that was taken, before it is recorded. */
export type StepResult = Omit<StepOutcome, 'at'>;

export interface StepPorts {
  readonly assize: Assize;
  readonly store: Pick<FactStore, 'facts'>;
  readonly writFor: WritFor;
  readonly reason: string;
}

/** Takes a step, unless it was taken before. @throws the errors of the runtime */
export async function takeStep(ports: StepPorts, step: ResponseStep): Promise<StepResult> {
  const trajectory = await ports.assize.open(step.trajectory);
  await Trajectory.catchUp(trajectory);
  switch (step.kind) {
    case 'revoke':
      return revoke(ports, trajectory, step.writ);
    case 'retract':
      return retract(ports, trajectory, step);
    case 'halt':
      return halt(ports, trajectory);
  }
}

async function revoke({ writFor, reason }: StepPorts, trajectory: Trajectory, writ: string): Promise<StepResult> {
  if (trajectory.writs.revoked().includes(writ)) return { outcome: 'already' };
  const by = await writFor(REVOKE_ACTION, revokeScope(writ), trajectory.id);
  return outcomeOf((await trajectory.writs.revoke({ writ, reason, by })).ruling);
}

async function halt({ writFor, reason }: StepPorts, trajectory: Trajectory): Promise<StepResult> {
  if (trajectory.halted !== undefined) return { outcome: 'already' };
  try {
    const writ = await writFor(HALT_ACTION, haltScope(trajectory.id), trajectory.id);
    return outcomeOf((await trajectory.halt({ reason, writ })).ruling);
  } catch (error) {
    // Nothing follows its final answer, so no work goes on.
    if (isAssizeError(error, 'concluded')) return { outcome: 'already' };
    throw error;
  }
}

/** Retracts each period of the fact that is still as its entry wrote it. */
async function retract({ store, writFor }: StepPorts, trajectory: Trajectory, step: Retraction): Promise<StepResult> {
  const { space, subject, predicate } = step;
  let outcome: StepResult = { outcome: 'already' };
  for (const { object, valid_from, valid_to } of await believedRows(store, step)) {
    const writ = await writFor(BELIEVE_ACTION, memoryScope({ space, subject, predicate }), trajectory.id);
    const ruling = await trajectory
      .memory({ space, writ })
      .retract({ subject, predicate, object, valid: { from: valid_from, to: valid_to } });
    outcome = outcomeOf(ruling);
    if (outcome.outcome === 'failed') return outcome;
  }
  return outcome;
}

function outcomeOf(ruling: Ruling): StepResult {
  switch (ruling.ruling) {
    case 'committed':
      return { outcome: ruling.unchanged === true ? 'already' : 'done' };
    case 'escalated':
      return { outcome: 'failed', reason: `it needs a further approval: ${ruling.entry.id}` };
    default:
      return { outcome: 'failed', reason: ruling.detail };
  }
}
