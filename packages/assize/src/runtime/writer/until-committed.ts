import { isAssizeError } from '#base';
import type { Needs } from '../records/needs.ts';
import { COMMIT_ATTEMPTS_MAX, type PreparedCommit } from './prepared.ts';
import type { Writer } from './writer.ts';

/**
 * Reads what a ruling needs: returns the ruling step, or the answer of an entry that exists
 * already. Undefined if memory turned out to be stale.
 */
export type Plan<Answer> = () => Planned<Answer> | Promise<Planned<Answer>>;

export type Planned<Answer> = RulingStep<Answer> | { readonly answer: Answer } | undefined;

/**
 * Rules on the current state and moves memory, without a wait before the append. Undefined if the
 * plan no longer fits.
 */
export type RulingStep<Answer> = () => Ruled<Answer>;

export type Ruled<Answer> = PreparedCommit<Answer> | Unrecorded<Answer> | Needs | undefined;

/**
 * An answer without an entry. No append would show that it was based on stale memory, so the loop
 * checks it.
 */
export interface Unrecorded<Answer> {
  readonly unrecorded: Answer;
}

/** The synchronous ruling as a step. It waits for another step that holds the writer. */
export function whenFree<Answer>(writer: Writer, rule: () => Ruled<Answer>): RulingStep<Answer> {
  return () => {
    const { busy } = writer;
    return busy === undefined ? writer.runRuling(rule) : { needs: () => busy };
  };
}

/**
 * Plans, rules and appends until an entry is durable: the one loop of every entry that an open
 * trajectory writes. It plans again after another writer appended first, at most
 * `COMMIT_ATTEMPTS_MAX` times. A read that a ruling needs is not counted. The plan stays if nothing
 * was appended during that read: a new plan would let writers that never pause win each time.
 *
 * `isOvertaken`: whether an error of the append shows that another writer appended first.
 *
 * @throws RuntimeError `conflict`, the errors of the plan, the ruling step and the store
 */
export async function untilCommitted<Answer>(
  writer: Writer,
  plan: Plan<Answer>,
  isOvertaken: (error: unknown) => boolean = () => false,
): Promise<Answer> {
  let kept:
    | { readonly step: RulingStep<Answer>; readonly generation: number; readonly seq: number }
    | undefined;
  for (let tries = 0; tries < COMMIT_ATTEMPTS_MAX; tries++) {
    if (writer.stale) await writer.ready();
    const { generation } = writer;
    let { parts } = writer;
    const { seq } = parts.chain;
    let ruled: Ruled<Answer>;
    let step = kept?.generation === generation && kept.seq === seq ? kept.step : undefined;
    kept = undefined;
    try {
      if (step === undefined) {
        const planning = plan();
        const planned = planning instanceof Promise ? await planning : planning;
        if (planned !== undefined && typeof planned !== 'function') return planned.answer;
        // Another caller may have read memory again, after the plan had read it.
        if (planned === undefined || writer.stale || writer.generation !== generation) continue;
        step = planned;
      }
      ({ parts } = writer);
      ruled = step();
      if (ruled !== undefined && 'needs' in ruled) {
        kept = { step, generation, seq };
        await ruled.needs();
        tries--;
        continue;
      }
    } catch (error) {
      if (!isAssizeError(error) || writer.isAppendError(error)) throw error;
      // An error is not recorded, so no append would show that it was based on stale memory.
      if (!(await writer.isBehind(parts))) throw error;
      continue;
    }
    if (ruled === undefined) continue;
    if ('unrecorded' in ruled) {
      if (!(await writer.isBehind(parts))) return ruled.unrecorded;
    } else {
      try {
        const answer = await writer.commit(ruled);
        if (answer !== undefined) return answer;
      } catch (error) {
        if (!isOvertaken(error)) throw error;
      }
    }
  }
  throw await writer.conflictError();
}
