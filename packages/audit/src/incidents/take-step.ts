import { haltScope, revokeScope } from 'assize/internal/authority';
import { isAssizeError } from 'assize/internal/base';
import { BELIEVE_ACTION, BUILT_IN_ROLE, memoryScope, STATEMENTS_MAX } from 'assize/internal/kernel';
import { HALT_ACTION, REVOKE_ACTION } from 'assize/internal/ledger';
import { type Assize, type Ruling, Trajectory } from 'assize/internal/runtime';
import type { AffectedStatements } from '#blast';
import type { ResponseStep, StepOutcome } from '#incident-domain';
import type { WritFor } from './open-incident.ts';

/** The outcome of a step that was taken, before it is recorded. */
export type StepResult = Omit<StepOutcome, 'at'>;

export interface StepPorts {
  readonly assize: Assize;
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
    case 'withdraw':
      return withdraw(ports, trajectory, step);
    case 'retract':
      // Of an earlier plan: all that the entry stated there.
      return withdraw(ports, trajectory, {
        ...step,
        statements: Array.from({ length: STATEMENTS_MAX }, (_, n) => ({ entry: step.entry, n })),
      });
    case 'halt':
      return halt(ports, trajectory);
  }
}

async function revoke(
  { writFor, reason }: StepPorts,
  trajectory: Trajectory,
  writ: string,
): Promise<StepResult> {
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

/** The facts that the statements alone had displaced hold again, in the same commit. */
async function withdraw(
  { writFor }: StepPorts,
  trajectory: Trajectory,
  { space, subject, predicate, statements }: Omit<AffectedStatements, 'branch'>,
): Promise<StepResult> {
  const writ = await writFor(
    BELIEVE_ACTION,
    memoryScope({ space, subject, predicate }),
    trajectory.id,
  );
  const args = { sayings: [{ verb: 'withdraw', space, subject, predicate, statements }] };
  return outcomeOf(
    await trajectory.propose({ action: BELIEVE_ACTION, role: BUILT_IN_ROLE, args, writ }),
  );
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
