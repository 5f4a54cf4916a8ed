import type { Table } from '../../tables/index.ts';
import { census } from '../census.ts';
import type { Experiment, Running } from '../experiment.ts';
import {
  closeFact,
  FACTS,
  type FactTable,
  GUARDED_FACTS,
  insertFact,
  openFacts,
} from '../postgres/facts.ts';
import { aborted, admitted, type Outcome, runAtOnce } from '../postgres/outcome.ts';
import { type TestSchema, withTestSchema } from '../postgres/test-schema.ts';
import { type Level, Superseded } from '../postgres/transaction.ts';

const RUNS = 30;
const WRITERS: readonly number[] = [1, 2, 4, 8, 16];

/** The mechanism that limits a partition to one open row. */
interface Guard {
  readonly name: string;
  readonly level: Level;
  readonly table: FactTable;
  /** Whether a writer that closes nothing stops. */
  readonly looks: boolean;
}

const GUARDS: readonly Guard[] = [
  { name: 'none, at RC', level: 'RC', table: FACTS, looks: false },
  { name: 'a close that has to close, at RC', level: 'RC', table: FACTS, looks: true },
  { name: 'one open row by EXCLUDE, at RC', level: 'RC', table: GUARDED_FACTS, looks: false },
  { name: 'none, at RR', level: 'RR', table: FACTS, looks: false },
];

export const openRows: Experiment = {
  name: 'open-rows',
  about:
    'last writer wins on a real server: whether one row stays open, at its declared level and with guards',
  needs: 'postgres',
  uses: ['runs', 'postgres'],
  run: (running) => withTestSchema(running.postgres ?? '', (ground) => tables(running, ground)),
};

async function tables(running: Running, ground: TestSchema): Promise<readonly Table[]> {
  const runs = running.runs ?? RUNS;
  const cells = WRITERS.flatMap((writers) => GUARDS.map((guard) => ({ writers, guard })));
  const outcomes = await census(running, cells, runs, ({ writers, guard }) =>
    lastWriterWins(ground, writers, guard),
  );
  const isBare = ({ level, table, looks }: Guard): boolean =>
    level === 'RC' && table === FACTS && !looks;
  const rowsOf = (
    figure: typeof admitted,
    expected: (writers: number, guard: Guard) => number,
  ): Table['rows'] =>
    WRITERS.map((writers, w) => ({
      keys: [writers],
      cells: GUARDS.map((guard, g) => ({
        measured: figure(outcomes[w * GUARDS.length + g]!),
        expected: expected(writers, guard),
      })),
    }));
  const columns = GUARDS.map(({ name }) => name);
  return [
    {
      source: 'Algorithm 1',
      title: 'last writer wins: runs after which several rows of a partition are open',
      keys: ['writers'],
      columns,
      rows: rowsOf(admitted, (writers, guard) => Number(isBare(guard) && writers > 1)),
      notes: [
        `${runs} runs a cell on PostgreSQL ${ground.version}. Each writer reads the open row, waits until all have, closes it, and inserts its own. The operator is declared at RC (Table 1), where all do; and Algorithm 1 raises for good where a partition has more than one incumbent (line 11).`,
        'C.1 has a close that raises where nothing was open. Either that, or a constraint, or RR keeps the promise; RC by itself does not.',
      ],
      plot: { sort: 'line', x: 'writers', y: 'with several open rows' },
    },
    {
      source: 'Algorithm 1',
      title: 'last writer wins: the part of the writers that are aborted',
      digits: 4,
      keys: ['writers'],
      columns,
      rows: rowsOf(aborted, (writers, guard) => (isBare(guard) ? 0 : (writers - 1) / writers)),
      notes: [],
    },
  ];
}

async function lastWriterWins(
  ground: TestSchema,
  writers: number,
  { level, table, looks }: Guard,
): Promise<Outcome> {
  const subject = ground.subject();
  const said = (fact: string) => ({
    fact,
    subject,
    object: fact,
    confidence: 0.5,
    provenance: `w:${fact}`,
  });
  await insertFact(ground.judge, said(`${subject}:incumbent`), table);
  const ended = await runAtOnce(ground, writers, level, async (session, who, meet) => {
    const [incumbent] = await openFacts(session, subject, table);
    await meet();
    const closed = await closeFact(session, incumbent!.fact, table);
    if (looks && closed === 0) throw new Superseded(`${incumbent!.fact} is closed already`);
    await insertFact(session, said(`${subject}:${who}`), table);
  });
  return { isThere: (await openFacts(ground.judge, subject, table)).length > 1, ended };
}
