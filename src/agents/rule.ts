import { isAssizeError } from '#base';
import { KernelError, type PatchOperation } from '#kernel';
import { nameOfTurn } from '#oracle';
import type { ApprovalInput, Ruling, Trajectory } from '#runtime';
import type { Agent } from './agent.ts';
import type { Decided } from './decide.ts';
import { type Counsel, portsOf, type RecordedTurn } from './turn.ts';

/** What came of a turn. */
export interface Outcome {
  /** Of what was proposed or resolved; undefined when nothing was. */
  readonly ruling?: Ruling;
  /** Why what a counselor said is not done; nothing was recorded then but the turn. */
  readonly refused?: Error;
}

/**
 * Proposes what an agent decided, as its turn says: of its time, with its chance, under its key, so that the same turn again is
 * the same proposal. What it consulted are observations of it; so is the turn, which the ledger pins by that.
 *
 * @throws as `Trajectory.propose`
 */
export async function proposeIn(
  trajectory: Trajectory,
  { role, writ }: Agent,
  decided: Decided,
  recorded: RecordedTurn,
): Promise<Outcome> {
  const { intent } = decided;
  if (intent === undefined) return {};
  const { number, key, value, turn } = recorded;
  const ruling = await trajectory.during(portsOf(turn), () =>
    trajectory.propose({
      ...intent,
      role,
      writ,
      observations: [...decided.observations, { name: nameOfTurn(number), value, oracle_key: key }],
      idempotencyKey: `assize.turn/${decided.agent}/${number}`,
    }),
  );
  return { ruling };
}

/**
 * Does what a counselor said. That they may not say it, or that it can't be done, is an outcome, which the same turn again has
 * too.
 *
 * @throws as `Trajectory.approve`, but not what refuses the counselor
 */
export async function resolveIn(trajectory: Trajectory, counsel: Counsel, recorded: RecordedTurn): Promise<Outcome> {
  if (counsel.do === 'later') return {};
  try {
    return { ruling: await trajectory.during(portsOf(recorded.turn), () => resolve(trajectory, counsel)) };
  } catch (error) {
    if (isRefusal(error)) return { refused: error as Error };
    throw error;
  }
}

function resolve(trajectory: Trajectory, counsel: Exclude<Counsel, { do: 'later' }>): Promise<Ruling> {
  const { pending, digest, principal, method, reason } = counsel;
  const by = { principal, method, digest };
  if (counsel.do === 'reject') return trajectory.reject(pending, { ...by, reason: counsel.reason });
  const { override, replacement } = counsel;
  const approval: ApprovalInput = {
    ...by,
    ...(override === undefined ? {} : { override }),
    ...(reason === undefined ? {} : { reason }),
    ...(replacement === undefined ? {} : { replacement: replacement as unknown as PatchOperation[] }),
  };
  return trajectory.approve(pending, approval);
}

function isRefusal(error: unknown): boolean {
  const codes = ['bad_intent', 'not_pending', 'digest_mismatch', 'effect_waits'];
  return error instanceof KernelError || codes.some((code) => isAssizeError(error, code));
}
