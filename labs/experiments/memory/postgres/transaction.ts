import type { Session } from './session.ts';

/** PostgreSQL's levels of the chain. Its repeatable read is snapshot isolation. */
export const LEVELS = ['RC', 'RR', 'SR'] as const;
export type Level = (typeof LEVELS)[number];

/** `aborted`: the server, or a guard of the schema, has refused it for the sake of another one. */
export type Ended = 'committed' | 'aborted';

/**
 * Thrown by a transaction to be counted as aborted: it has detected that another writer committed
 * first.
 */
export class Superseded extends Error {
  override readonly name = 'Outrun';
}

/**
 * Runs one transaction at that level, never with a retry: the failure rate is the measured value.
 */
export async function transact(
  session: Session,
  level: Level,
  body: () => Promise<void>,
): Promise<Ended> {
  await session.rows(`BEGIN ISOLATION LEVEL ${NAMES[level]}`);
  try {
    await body();
    await session.rows('COMMIT');
    return 'committed';
  } catch (error) {
    await session.rows('ROLLBACK');
    if (
      error instanceof Superseded ||
      OUTRUN.has(String((error as { readonly code?: unknown }).code))
    )
      return 'aborted';
    throw error;
  }
}

const NAMES: Readonly<Record<Level, string>> = {
  RC: 'READ COMMITTED',
  RR: 'REPEATABLE READ',
  SR: 'SERIALIZABLE',
};

/** serialization_failure, deadlock_detected, exclusion_violation. */
const OUTRUN: ReadonlySet<string> = new Set(['40001', '40P01', '23P01']);
