import { partOf, type Table } from '../../tables/index.ts';
import { census } from '../census.ts';
import type { Experiment, Running } from '../experiment.ts';
import { openFacts, overwrite } from '../postgres/facts.ts';
import { aborted, admitted, type Outcome, partition, runAtOnce } from '../postgres/outcome.ts';
import { type TestSchema, withTestSchema } from '../postgres/test-schema.ts';
import { type Ended, LEVELS, type Level, transact } from '../postgres/transaction.ts';

/** As many as the paper has (E.6). */
const RUNS = 30;
const WRITERS: readonly number[] = [1, 2, 4, 8, 16];

/** Table 24: commits a second, by writers. */
const THROUGHPUT: Readonly<Record<Level, readonly number[]>> = {
  RC: [6.76, 13.92, 26.26, 42.07, 44.81],
  RR: [7.13, 6.99, 6.72, 5.03, 3.07],
  SR: [7.23, 7.02, 6.68, 5.16, 3.05],
};

export const lattice: Experiment = {
  name: 'lattice',
  about:
    'lost update by 1 to 16 writers, read skew, write skew, phantom, on a real server (table 24, figure 9)',
  needs: 'postgres',
  uses: ['runs', 'postgres'],
  run: (running) =>
    withTestSchema(running.postgres ?? '', async (ground) => [
      ...(await lostUpdates(partOf(running, 0, 2), ground)),
      ...(await companions(partOf(running, 1, 2), ground)),
    ]),
};

async function lostUpdates(running: Running, ground: TestSchema): Promise<readonly Table[]> {
  const runs = running.runs ?? RUNS;
  const cells = WRITERS.flatMap((writers) => LEVELS.map((level) => ({ writers, level })));
  const outcomes = await census(running, cells, runs, ({ writers, level }) =>
    lostUpdate(ground, writers, level),
  );
  const notes = [
    `${runs} runs a cell on PostgreSQL ${ground.version}; the paper’s are on 17.10. Each writer reads the row, waits until all have read it, adds its own token to the provenance that it has read, and commits. Admit: runs after which the token of one that has committed is missing from the row.`,
  ];
  return [
    {
      source: 'Table 24',
      title: 'lost update (P4), by writers and level',
      digits: 4,
      keys: ['writers', 'level'],
      columns: ['admit', 'aborted'],
      rows: cells.map(({ writers, level }, i) => {
        const isLost = Number(level === 'RC' && writers > 1);
        const refused = level === 'RC' ? 0 : (writers - 1) / writers;
        return {
          keys: [writers, level],
          cells: [
            { measured: admitted(outcomes[i]!), expected: isLost, paper: isLost },
            { measured: aborted(outcomes[i]!), expected: refused, paper: refused },
          ],
        };
      }),
      notes: [
        ...notes,
        'Aborted: the part of all writers. With w of them, (w − 1)/w wherever not all may commit.',
      ],
    },
    {
      source: 'Table 24',
      title: 'commits of writers to one row',
      unit: 'a second',
      keys: ['writers'],
      columns: [...LEVELS],
      rows: WRITERS.map((writers, w) => ({
        keys: [writers],
        cells: LEVELS.map((level, l) => ({
          measured: throughput(outcomes[w * LEVELS.length + l]!),
          paper: THROUGHPUT[level][w]!,
        })),
      })),
      notes: ['Of this machine, and of what else it does meanwhile; nothing is expected.'],
      plot: { sort: 'line', x: 'writers', y: 'commits', log: true },
    },
  ];
}

interface Timed extends Outcome {
  readonly seconds: number;
}

async function lostUpdate(ground: TestSchema, writers: number, level: Level): Promise<Timed> {
  const subject = await partition(ground, [0.5]);
  // Connections are not what is measured.
  await ground.writers(writers);
  const started = performance.now();
  const ended = await runAtOnce(ground, writers, level, async (session, who, meet) => {
    const [row] = await openFacts(session, subject);
    await meet();
    await overwrite(session, row!.fact, { provenance: `${row!.provenance} + w:${who}` });
  });
  const seconds = (performance.now() - started) / 1_000;
  const [row] = await openFacts(ground.judge, subject);
  const tokens = row!.provenance.split(' + ');
  return {
    isThere: ended.some((end, who) => end === 'committed' && !tokens.includes(`w:${who}`)),
    ended,
    seconds,
  };
}

function throughput(made: readonly Timed[]): number {
  const commits = made.flatMap(({ ended }) => ended).filter((end) => end === 'committed').length;
  return commits / made.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** One of the three others of the lattice, with where it is there and where it costs an abort. */
interface Companion {
  readonly anomaly: string;
  readonly once: (ground: TestSchema, level: Level) => Promise<Outcome>;
  readonly admitting: readonly Level[];
  readonly aborting: readonly Level[];
}

const COMPANIONS: readonly Companion[] = [
  { anomaly: 'A5A read skew', once: readSkew, admitting: ['RC'], aborting: [] },
  { anomaly: 'A5B write skew', once: writeSkew, admitting: ['RC', 'RR'], aborting: ['SR'] },
  { anomaly: 'P3 phantom', once: phantom, admitting: ['RC', 'RR'], aborting: ['SR'] },
];

async function companions(running: Running, ground: TestSchema): Promise<readonly Table[]> {
  const runs = running.runs ?? RUNS;
  const cells = COMPANIONS.flatMap((of) => LEVELS.map((level) => ({ of, level })));
  const outcomes = await census(running, cells, runs, ({ of, level }) => of.once(ground, level));
  const rowsOf = (
    figure: typeof admitted,
    expected: (of: Companion, level: Level) => number,
  ): Table['rows'] =>
    COMPANIONS.map((of, c) => ({
      keys: [of.anomaly],
      cells: LEVELS.map((level, l) => ({
        measured: figure(outcomes[c * LEVELS.length + l]!),
        expected: expected(of, level),
        paper: expected(of, level),
      })),
    }));
  return [
    {
      source: 'Figure 9',
      title: 'two concurrent transactions: runs that admit it',
      keys: ['anomaly'],
      columns: [...LEVELS],
      rows: rowsOf(admitted, ({ admitting }, level) => Number(admitting.includes(level))),
      notes: [
        `${runs} runs a cell. A5A: one reads a row, another writes it and a second one and commits, and the first reads the second. A5B: both read two competitors, and each promotes another one if none is promoted yet. P3: both scan a policy for a primary rule, and each inserts one if there is none. What was read, or what stands afterwards, is judged.`,
      ],
      plot: { sort: 'bar', x: 'anomaly', y: 'admitted' },
    },
    {
      source: 'Figure 9',
      title: 'two concurrent transactions: the part of them that is aborted',
      keys: ['anomaly'],
      columns: [...LEVELS],
      rows: rowsOf(aborted, ({ aborting }, level) => (aborting.includes(level) ? 0.5 : 0)).map(
        (row) =>
          // Of aborts the paper prints one figure alone, that of A5B at SR.
          ({
            ...row,
            cells: row.cells.map(({ paper, ...cell }, l) =>
              row.keys[0] === 'A5B write skew' && LEVELS[l] === 'SR'
                ? { ...cell, paper: paper! }
                : cell,
            ),
          }),
      ),
      notes: [],
    },
  ];
}

async function readSkew(ground: TestSchema, level: Level): Promise<Outcome> {
  const subject = await partition(ground, [0.5, 0.5]);
  const [reader, writer] = await ground.writers(2);
  const objectOf = async (nth: number): Promise<string> =>
    (await openFacts(reader!, subject)).find(({ fact }) => fact === `${subject}:${nth}`)!.object;
  const seen: string[] = [];
  const ended: Ended[] = [];
  ended.push(
    await transact(reader!, level, async () => {
      seen.push(await objectOf(0));
      ended.push(
        await transact(writer!, level, async () => {
          for (const nth of [0, 1])
            await overwrite(writer!, `${subject}:${nth}`, { object: 'new' });
        }),
      );
      seen.push(await objectOf(1));
    }),
  );
  return { isThere: seen.filter((object) => object === 'new').length === 1, ended };
}

async function writeSkew(ground: TestSchema, level: Level): Promise<Outcome> {
  const subject = await partition(ground, [0.5, 0.5]);
  const ended = await runAtOnce(ground, 2, level, async (session, who, meet) => {
    const rows = await openFacts(session, subject);
    await meet();
    if (rows.every(({ confidence }) => confidence < PROMOTED))
      await overwrite(session, `${subject}:${who}`, { confidence: PROMOTED });
  });
  const rows = await openFacts(ground.judge, subject);
  return { isThere: rows.filter(({ confidence }) => confidence === PROMOTED).length > 1, ended };
}

const PROMOTED = 0.9;

async function phantom(ground: TestSchema, level: Level): Promise<Outcome> {
  const subject = ground.subject();
  const scan = 'SELECT rule FROM policy WHERE subject = $1 AND is_primary';
  const ended = await runAtOnce(ground, 2, level, async (session, who, meet) => {
    const primary = await session.rows(scan, [subject]);
    await meet();
    if (primary.length === 0)
      await session.rows('INSERT INTO policy VALUES ($1, $2, true)', [subject, `rule ${who}`]);
  });
  return { isThere: (await ground.judge.rows(scan, [subject])).length > 1, ended };
}
