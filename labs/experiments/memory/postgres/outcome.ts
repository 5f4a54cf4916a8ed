import { partThat } from '../census.ts';
import { insertFact } from './facts.ts';
import type { Session } from './session.ts';
import type { TestSchema } from './test-schema.ts';
import { type Barrier, runTogether } from './together.ts';
import { type Ended, type Level, transact } from './transaction.ts';

/** The result of one run of several transactions. */
export interface Outcome {
  /** Whether the anomaly is there, as the rows say afterwards. */
  readonly isThere: boolean;
  readonly ended: readonly Ended[];
}

/** The part of the runs that have the anomaly. */
export function admitted(made: readonly Outcome[]): number {
  return partThat(made, ({ isThere }) => isThere);
}

/** The part of the transactions of all runs that were aborted. */
export function aborted(made: readonly Outcome[]): number {
  return partThat(
    made.flatMap(({ ended }) => ended),
    (end) => end === 'aborted',
  );
}

/** Runs `count` concurrent transactions at that level, on a connection each. */
export async function runAtOnce(
  ground: TestSchema,
  count: number,
  level: Level,
  body: (session: Session, who: number, meet: Barrier) => Promise<void>,
): Promise<readonly Ended[]> {
  const sessions = await ground.writers(count);
  return runTogether(count, (who, meet) =>
    transact(sessions[who]!, level, () => body(sessions[who]!, who, meet)),
  );
}

/**
 * A partition with open rows of these confidences, unused by other runs. The n-th row is
 * `{subject}:n`.
 */
export async function partition(
  ground: TestSchema,
  confidences: readonly number[],
): Promise<string> {
  const subject = ground.subject();
  for (const [i, confidence] of confidences.entries()) {
    const fact = `${subject}:${i}`;
    await insertFact(ground.judge, {
      fact,
      subject,
      object: `object ${i}`,
      confidence,
      provenance: `w:${fact}`,
    });
  }
  return subject;
}
