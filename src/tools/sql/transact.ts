import { type Call, DidNothing, NoAnswer } from '#effects';
import { EFFECTS_TABLE, type EffectRow, type EffectRows } from './effect-rows.ts';
import type { SqlConnection, SqlDatabase } from './port.ts';
import { refusal } from './refusal.ts';
import { TransactionEnded } from './still-open.ts';
import { cutOffWith, rollBack, type Use, used } from './use.ts';

/** What is done under a key, once. */
export interface SqlWork {
  readonly call: Call;
  /** Before it is looked for: of two who do the same at once, one waits there. */
  readonly lock?: (rows: EffectRows) => Promise<void>;
  /** Whether there is nothing to be done any more. */
  isDone(row: EffectRow | undefined): boolean;
  make(connection: SqlConnection, rows: EffectRows): Promise<void>;
  /** Whether the database may do it another time. */
  isPassing(error: unknown): boolean;
}

/**
 * Does all of these in one transaction of the database, or nothing; what is done already is not done again. Answers with the rows of
 * them, in their order.
 *
 * @throws DidNothing where the database has nothing of it, with the key of the work that has failed, if it was that; another error
 * where nobody knows
 */
export async function transact(
  database: SqlDatabase,
  works: readonly SqlWork[],
): Promise<readonly (EffectRow | undefined)[]> {
  const { signal, epoch } = works[0]!.call;
  const use = await unless(works, () => used(database, 'ruled', signal, { epoch }));
  const isHeard = cutOffWith(signal, use);
  try {
    await unless(works, () => begun(database, use, signal));
    return await done(use, works);
  } catch (error) {
    lookAgain(database);
    throw error;
  } finally {
    isHeard();
    // What came of it is known, whatever comes of the connection.
    await use.over().catch(() => undefined);
  }
}

/** Databases that were seen to have the table of effects, and where nothing has failed since. */
const withTable = new WeakSet<SqlDatabase>();

/** Begins a transaction, where there is the table of effects. @throws the signal's reason; what the database throws */
export async function begin(database: SqlDatabase, { connection }: Use, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (!withTable.has(database)) await prepareTable(connection);
  withTable.add(database);
  await connection.begin();
}

/** Something has failed there, and be it that its table was taken away: it is looked for again. */
export function lookAgain(database: SqlDatabase): void {
  withTable.delete(database);
}

/** A table that is there asks for no right to make one; and of several that make it at once all but one may be refused. */
async function prepareTable(connection: SqlConnection): Promise<void> {
  if (await hasTable(connection)) return;
  try {
    await connection.query(EFFECTS_TABLE, []);
  } catch (error) {
    if (!(await hasTable(connection))) throw error;
  }
}

async function hasTable(connection: SqlConnection): Promise<boolean> {
  try {
    await connection.query('SELECT undone FROM assize_effects WHERE 1 = 0', []);
    return true;
  } catch {
    return false;
  }
}

/** Nothing of it is left open where it did not come to be. */
async function begun(database: SqlDatabase, use: Use, signal: AbortSignal): Promise<void> {
  try {
    await begin(database, use, signal);
  } catch (error) {
    await rollBack(use);
    throw error;
  }
}

async function done(use: Use, works: readonly SqlWork[]): Promise<readonly (EffectRow | undefined)[]> {
  const { connection, rows } = use;
  let found: readonly (EffectRow | undefined)[];
  let at: SqlWork | undefined;
  try {
    for (const work of works) {
      at = work;
      await work.lock?.(rows);
      if (!work.isDone(await rows.of(work.call.key))) await work.make(connection, rows);
    }
    at = undefined;
    found = await rowsOf(works, rows);
    // Whoever has waited too long is told that nothing was done, and not that nobody knows.
    for (const { call } of works) call.signal.throwIfAborted();
  } catch (error) {
    // Where even this fails, the connection goes, and its transaction with it: nothing was committed.
    await rollBack(use);
    if (error instanceof TransactionEnded) throw error;
    throw nothing(at === undefined ? works : [at], error);
  }
  try {
    await connection.commit();
    return found;
  } catch (error) {
    // It may have come after the deed. Who has the connection still can ask.
    if (!(await rollBack(use)))
      throw new NoAnswer('nobody knows whether it was committed', { cause: error, why: 'commit_unknown' });
    const known = await rowsOf(works, rows);
    if (works.every((work, i) => work.isDone(known[i]))) return known;
    throw nothing(works, error);
  }
}

async function rowsOf(works: readonly SqlWork[], rows: EffectRows): Promise<readonly (EffectRow | undefined)[]> {
  const found: (EffectRow | undefined)[] = [];
  for (const { call } of works) found.push(await rows.of(call.key));
  return found;
}

/** Whatever keeps a transaction from beginning may be gone another time: no statement of the tool has failed. */
async function unless<T>(works: readonly SqlWork[], make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    throw nothing(works, error, false);
  }
}

/** Of one of several, it says of which. `isFinal`: by default, what the tools say of the error. */
function nothing(works: readonly SqlWork[], error: unknown, isFinal?: boolean): DidNothing {
  const [work, ...others] = works as [SqlWork, ...SqlWork[]];
  const key = others.length === 0 ? work.call.key : undefined;
  const what = error instanceof Error ? error.message : 'the database refused it';
  const why = refusal(error);
  if (error instanceof DidNothing)
    return new DidNothing(what, { final: error.isFinal, key, answer: error.answer, cause: error, why });
  const final = isFinal ?? works.every(({ isPassing }) => !isPassing(error));
  return new DidNothing(what, { final, key, cause: error, why });
}
