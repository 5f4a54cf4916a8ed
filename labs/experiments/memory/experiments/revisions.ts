import type { Table } from '../../tables/index.ts';
import { census } from '../census.ts';
import type { Experiment, Running } from '../experiment.ts';
import { openFacts, overwrite } from '../postgres/facts.ts';
import { aborted, admitted, type Outcome, partition, runAtOnce } from '../postgres/outcome.ts';
import type { Session } from '../postgres/session.ts';
import { type TestSchema, withTestSchema } from '../postgres/test-schema.ts';
import { runTogether } from '../postgres/together.ts';
import { LEVELS, type Level, transact } from '../postgres/transaction.ts';

const RUNS = 30;

/** Where a lock of the partition is taken. */
type Lock = 'none' | 'first in the transaction' | 'before the transaction';

/** Two concurrent transactions on a partition and its current fact, with the expected result. */
interface Case {
  readonly what: string;
  readonly level: Level;
  readonly broken: number;
  readonly aborted: number;
  readonly once: (ground: TestSchema) => Promise<Outcome>;
}

const CASES: readonly Case[] = [
  ...LEVELS.map((level): Case => {
    const isSerial = level === 'SR';
    return {
      what: 'two revisions',
      level,
      broken: isSerial ? 0 : 1,
      aborted: isSerial ? 0.5 : 0,
      once: (ground) => twoRevisions(ground, level, 'none'),
    };
  }),
  locked('RC', 'first in the transaction', 0),
  locked('RR', 'first in the transaction', 1),
  locked('RR', 'before the transaction', 0),
  ...LEVELS.map(
    (level): Case => ({
      what: 'as printed: a query and a revision',
      level,
      broken: 1,
      aborted: 0,
      once: (ground) => asPrinted(ground, level),
    }),
  ),
];

function locked(level: Level, lock: Lock, broken: number): Case {
  return {
    what: `two revisions, a lock ${lock}`,
    level,
    broken,
    aborted: 0,
    once: (ground) => twoRevisions(ground, level, lock),
  };
}

export const revisions: Experiment = {
  name: 'revisions',
  about:
    'belief drift (N2) on a real server: two revisions of confidence, with and without locks, and the printed schedule',
  needs: 'postgres',
  uses: ['runs', 'postgres'],
  run: (running) =>
    withTestSchema(running.postgres ?? '', async (ground) => [await driftTable(running, ground)]),
};

async function driftTable(running: Running, ground: TestSchema): Promise<Table> {
  const runs = running.runs ?? RUNS;
  const outcomes = await census(running, CASES, runs, ({ once }) => once(ground));
  return {
    source: 'Corollary 5',
    title: 'belief drift (N2) by two concurrent transactions',
    keys: ['transactions', 'level'],
    columns: ['admit', 'aborted'],
    rows: CASES.map(({ what, level, broken, aborted: refused }, i) => ({
      keys: [what, level],
      cells: [
        { measured: admitted(outcomes[i]!), expected: broken },
        { measured: aborted(outcomes[i]!), expected: refused },
      ],
    })),
    notes: [
      `${runs} runs a row on PostgreSQL ${ground.version}. A partition has two facts, and a row beside it says which is believed: it has to be the one with the greater confidence. Admit: runs after which it is not.`,
      'Two revisions: one takes the confidence of the believed fact down, the other that of the other one up. Each reads the partition and sets the belief right if its own revision makes it wrong; either alone leaves it right.',
      'The lock is an advisory one, of the partition. At RR its own statement takes the snapshot before it waits, so that a lock within the transaction comes too late.',
      'As printed, a query sets the belief by what it reads while one revision turns the order round and leaves the belief alone. The query and then the revision is a serial order that ends so, and no level refuses it: that SR excludes it, as Corollary 5 says without a figure, can’t be had.',
    ],
    plot: { sort: 'bar', x: 'transactions', y: 'part of the runs' },
  };
}

const BELIEVED = 0.9;

/** The first is believed, with .9 to .5. */
async function believing(ground: TestSchema): Promise<string> {
  const subject = await partition(ground, [BELIEVED, 0.5]);
  await ground.judge.rows('INSERT INTO belief VALUES ($1, $2)', [subject, `${subject}:0`]);
  return subject;
}

async function isWrong({ judge }: TestSchema, subject: string): Promise<boolean> {
  const [strongest] = await openFacts(judge, subject);
  const [[believed] = []] = await judge.rows('SELECT fact_id FROM belief WHERE subject = $1', [
    subject,
  ]);
  return believed !== strongest!.fact;
}

/** Of the n-th fact of the subject: either alone leaves the first the strongest. */
const REVISED: readonly number[] = [0.7, 0.8];

async function twoRevisions(ground: TestSchema, level: Level, lock: Lock): Promise<Outcome> {
  const subject = await believing(ground);
  const revise = async (
    session: Session,
    who: number,
    read: () => Promise<void>,
  ): Promise<void> => {
    const rows = await openFacts(session, subject);
    const [[before] = []] = await session.rows('SELECT fact_id FROM belief WHERE subject = $1', [
      subject,
    ]);
    await read();
    const fact = `${subject}:${who}`;
    await overwrite(session, fact, { confidence: REVISED[who]! });
    const after = rows.map((row) =>
      row.fact === fact ? { ...row, confidence: REVISED[who]! } : row,
    );
    const strongest = after.reduce((best, row) =>
      row.confidence > best.confidence ? row : best,
    ).fact;
    if (strongest !== before)
      await session.rows('UPDATE belief SET fact_id = $2 WHERE subject = $1', [subject, strongest]);
  };
  const ended =
    lock === 'none'
      ? await runAtOnce(ground, 2, level, (session, who, meet) => revise(session, who, meet))
      : await inTurn(ground, level, lock, subject, (session, who) =>
          revise(session, who, () => Promise.resolve()),
        );
  return { isThere: await isWrong(ground, subject), ended };
}

/**
 * Runs two transactions. The second waits for the lock that the first holds. The first commits only
 * after the second has started to wait.
 */
async function inTurn(
  ground: TestSchema,
  level: Level,
  lock: Exclude<Lock, 'none'>,
  subject: string,
  body: (session: Session, who: number) => Promise<void>,
): Promise<Outcome['ended']> {
  const sessions = await ground.writers(2);
  const isBefore = lock === 'before the transaction';
  return runTogether(2, async (who, meet) => {
    const session = sessions[who]!;
    // `hashtext` turns a text into a number. One run has one partition, so no collision occurs
    // within a run.
    const take = () =>
      session.rows(`SELECT pg_advisory${isBefore ? '' : '_xact'}_lock(hashtext($1))`, [subject]);
    const waited = async (): Promise<void> => {
      if (who === 1) await meet();
      await take();
      if (who === 1) return;
      await meet();
      await untilSomebodyWaits(ground, subject);
    };
    if (isBefore) await waited();
    const end = await transact(session, level, async () => {
      if (!isBefore) await waited();
      await body(session, who);
    });
    if (isBefore) await session.rows('SELECT pg_advisory_unlock(hashtext($1))', [subject]);
    return end;
  });
}

async function untilSomebodyWaits({ judge }: TestSchema, subject: string): Promise<void> {
  const waiting = `SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND NOT granted AND objid::bigint = (hashtext($1)::bigint & 4294967295)`;
  const late = performance.now() + WAIT_MS;
  while ((await judge.rows(waiting, [subject])).length === 0)
    if (performance.now() > late) throw new Error('Nobody has come to wait for the lock.');
}

/** No more than a statement may take. */
const WAIT_MS = 30_000;

async function asPrinted(ground: TestSchema, level: Level): Promise<Outcome> {
  const subject = await believing(ground);
  const ended = await runAtOnce(ground, 2, level, async (session, who, meet) => {
    const [strongest] = await openFacts(session, subject);
    await meet();
    if (who === 0)
      await session.rows('UPDATE belief SET fact_id = $2 WHERE subject = $1', [
        subject,
        strongest!.fact,
      ]);
    else await overwrite(session, `${subject}:1`, { confidence: 0.95 });
  });
  return { isThere: await isWrong(ground, subject), ended };
}
