import { partOf, type Table } from '../../tables/index.ts';
import { census } from '../census.ts';
import type { Experiment, Running } from '../experiment.ts';
import { aborted, runAtOnce } from '../postgres/outcome.ts';
import type { Session } from '../postgres/session.ts';
import { type TestSchema, withTestSchema } from '../postgres/test-schema.ts';
import { type Ended, LEVELS, type Level } from '../postgres/transaction.ts';

const QUESTIONS = 50;
const RUNS = 30;
const WRITERS = 16;

/**
 * How a vote is recorded in the log. Its own transaction ends before the operator's transaction
 * begins.
 */
interface Discipline {
  readonly name: string;
  readonly levels: readonly Level[];
  /** Reads the log, and adds its own vote if the log has no vote. Returns the vote that counts. */
  readonly judge: (
    session: Session,
    key: string,
    own: number,
    looked: () => Promise<void>,
  ) => Promise<string>;
  /** The part of the questions where different votes were acted on. */
  readonly divergent: (level: Level) => number;
  readonly aborted: (level: Level) => number;
}

const DISCIPLINES: readonly Discipline[] = [
  {
    name: 'a row for each question, the first vote wins',
    // Above RC, a transaction that begins before the first commit may or may not be too early.
    levels: ['RC'],
    judge: async (session, key, own, looked) => {
      await looked();
      await session.rows('INSERT INTO judge_log VALUES ($1, $2) ON CONFLICT DO NOTHING', [
        key,
        own,
      ]);
      return vote(await session.rows('SELECT vote FROM judge_log WHERE key = $1', [key]));
    },
    divergent: () => 0,
    aborted: () => 0,
  },
  {
    name: 'the same, after all have looked and found none',
    levels: LEVELS,
    judge: async (session, key, own, looked) => {
      await session.rows('SELECT vote FROM judge_log WHERE key = $1', [key]);
      await looked();
      await session.rows('INSERT INTO judge_log VALUES ($1, $2) ON CONFLICT DO NOTHING', [
        key,
        own,
      ]);
      return vote(await session.rows('SELECT vote FROM judge_log WHERE key = $1', [key]));
    },
    divergent: () => 0,
    aborted: (level) => (level === 'RC' ? 0 : (WRITERS - 1) / WRITERS),
  },
  {
    name: 'a log that votes are appended to, after all have looked',
    levels: LEVELS,
    judge: async (session, key, own, looked) => {
      const before = await session.rows('SELECT vote FROM appended_log WHERE key = $1 LIMIT 1', [
        key,
      ]);
      await looked();
      if (before.length > 0) return vote(before);
      await session.rows('INSERT INTO appended_log VALUES ($1, $2)', [key, own]);
      return String(own);
    },
    divergent: (level) => (level === 'SR' ? 0 : 1),
    aborted: (level) => (level === 'SR' ? (WRITERS - 1) / WRITERS : 0),
  },
];

export const judgeRows: Experiment = {
  name: 'judge-log',
  about:
    'replay inconsistency (N1) on a real server: 16 judges of 50 questions, with a keyed log and without',
  needs: 'postgres',
  uses: ['runs', 'postgres'],
  run: (running) =>
    withTestSchema(running.postgres ?? '', async (ground) => [
      await votesTable(partOf(running, 0, 2), ground),
      await rollbackTable(partOf(running, 1, 2), ground),
    ]),
};

function vote(rows: readonly (readonly (string | null)[])[]): string {
  return rows[0]![0]!;
}

interface Judged {
  readonly votes: ReadonlySet<string>;
  readonly ended: readonly Ended[];
}

async function votesTable(running: Running, ground: TestSchema): Promise<Table> {
  const questions = running.runs ?? QUESTIONS;
  const cells = DISCIPLINES.flatMap((discipline) =>
    discipline.levels.map((level) => ({ discipline, level })),
  );
  const judged = await census(running, cells, questions, ({ discipline, level }) =>
    judgedByAll(ground, discipline, level),
  );
  return {
    source: 'Corollary 6, C.5',
    title: `${WRITERS} concurrent judges of one question, each with its own vote`,
    digits: 4,
    keys: ['log', 'level'],
    columns: ['questions acted on differently', 'aborted'],
    rows: cells.map(({ discipline, level }, i) => ({
      keys: [discipline.name, level],
      cells: [
        {
          measured: judged[i]!.filter(({ votes }) => votes.size > 1).length,
          expected: discipline.divergent(level) * questions,
        },
        {
          measured: aborted(judged[i]!.map((one) => ({ ...one, isThere: false }))),
          expected: discipline.aborted(level),
        },
      ],
    })),
    notes: [
      `${questions} questions a row on PostgreSQL ${ground.version}. Judges vote 0 and 1 in turn, so that no two neighbours agree. A judge acts on the vote that its transaction ends with, if it commits; who is aborted asks again.`,
      'With a key the level makes no difference for what is acted on: at RC the first vote is what all find, above it those who have looked too early are aborted. Without a key only SR helps.',
    ],
    plot: { sort: 'bar', x: 'log', y: 'questions', columns: ['questions acted on differently'] },
  };
}

async function judgedByAll(
  ground: TestSchema,
  { judge }: Discipline,
  level: Level,
): Promise<Judged> {
  const key = ground.subject();
  const acted = new Map<number, string>();
  const ended = await runAtOnce(ground, WRITERS, level, async (session, who, meet) => {
    acted.set(who, await judge(session, key, who % 2, meet));
  });
  return {
    votes: new Set(ended.flatMap((end, who) => (end === 'committed' ? [acted.get(who)!] : []))),
    ended,
  };
}

/** Whether a vote outlives the operator that asked for it (H1; C.5). */
async function rollbackTable(running: Running, ground: TestSchema): Promise<Table> {
  const runs = running.runs ?? RUNS;
  const places = ['in the operator’s transaction', 'in one before it'] as const;
  const lost = await census(running, places, runs, async (place) => {
    const key = ground.subject();
    const [session] = await ground.writers(1);
    const log = () =>
      session!.rows('INSERT INTO judge_log VALUES ($1, 1) ON CONFLICT DO NOTHING', [key]);
    if (place === 'in one before it') await log();
    await session!.rows('BEGIN');
    if (place === 'in the operator’s transaction') await log();
    await session!.rows('ROLLBACK');
    return (
      (await ground.judge.rows('SELECT vote FROM judge_log WHERE key = $1', [key])).length === 0
    );
  });
  return {
    source: 'C.5',
    title: 'votes that are gone after the operator was rolled back, and are asked for again',
    keys: ['where the vote is logged'],
    columns: ['gone', 'of'],
    rows: places.map((place, i) => ({
      keys: [place],
      cells: [
        { measured: lost[i]!.filter(Boolean).length, expected: i === 0 ? runs : 0 },
        { measured: runs },
      ],
    })),
    notes: [
      'The judge is asked before the operator’s transaction begins, and no transaction is open while it is.',
    ],
  };
}
