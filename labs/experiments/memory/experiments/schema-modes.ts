import type { Table } from '../../tables/index.ts';
import { census, partThat } from '../census.ts';
import type { Experiment, Running } from '../experiment.ts';
import {
  type AssertedFact,
  audits,
  closeFact,
  insertAudit,
  insertFact,
  openFacts,
  versions,
} from '../postgres/facts.ts';
import type { Session } from '../postgres/session.ts';
import { type TestSchema, withTestSchema } from '../postgres/test-schema.ts';
import { LEVELS, type Level, transact } from '../postgres/transaction.ts';

const RUNS = 30;

/**
 * The rows that a store keeps for a resolution, next to the winner's row (C.1). Only the first mode
 * keeps the audit row.
 */
const MODES = ['audit_row', 'dual_row', 'base'] as const;
type Mode = (typeof MODES)[number];

/** The loser: an incumbent is closed, a newcomer is never inserted. */
const LOSERS = ['the newcomer', 'the incumbent'] as const;
type Loser = (typeof LOSERS)[number];

export const schemaModes: Experiment = {
  name: 'schema-modes',
  about:
    'audit erasure (N3) on a real server, in the three modes of the schema at three levels (theorem 7)',
  needs: 'postgres',
  uses: ['runs', 'postgres'],
  run: (running) =>
    withTestSchema(running.postgres ?? '', async (ground) => [await erasureTable(running, ground)]),
};

interface Found {
  readonly row: boolean;
  readonly verdict: boolean;
}

async function erasureTable(running: Running, ground: TestSchema): Promise<Table> {
  const runs = running.runs ?? RUNS;
  const cells = MODES.flatMap((mode) =>
    LOSERS.flatMap((loser) => LEVELS.map((level) => ({ mode, loser, level }))),
  );
  const found = await census(running, cells, runs, ({ mode, loser, level }) =>
    resolved(ground, mode, loser, level),
  );
  return {
    source: 'Theorem 7, C.1',
    title: 'what can’t be found any more of who lost (N3), by schema mode and level',
    keys: ['mode', 'loser', 'level'],
    columns: ['its row', 'who won over it, and why'],
    rows: cells.map(({ mode, loser, level }, i) => {
      const isErased = Number(mode !== 'audit_row');
      return {
        keys: [mode, loser, level],
        cells: [
          {
            measured: partThat(found[i]!, ({ row }) => !row),
            expected: loser === 'the newcomer' ? isErased : 0,
          },
          { measured: partThat(found[i]!, ({ verdict }) => !verdict), expected: isErased },
        ],
      };
    }),
    notes: [
      `${runs} runs a row on PostgreSQL ${ground.version}. One fact is believed, another one contradicts it, and the one with the greater confidence wins (Algorithm 1). Then the loser is looked for in all rows that there are.`,
      'A closed row of an incumbent is still there in every mode; that it lost, and to whom, stands in the audit row alone. The level makes no difference. That follows from what a mode keeps; the paper’s own figures are of schedules (Table 23).',
    ],
    plot: { sort: 'bar', x: 'mode', y: 'not to be found' },
  };
}

/** Runs the paper's write path for one contradiction, then searches for the loser. */
async function resolved(
  ground: TestSchema,
  mode: Mode,
  loser: Loser,
  level: Level,
): Promise<Found> {
  const subject = ground.subject();
  const fact = (name: string, confidence: number): AssertedFact => ({
    fact: `${subject}:${name}`,
    subject,
    object: name,
    confidence,
    provenance: `w:${subject}:${name}`,
  });
  const incumbent = fact('incumbent', loser === 'the newcomer' ? 0.9 : 0.5);
  const [session] = await ground.writers(1);
  for (const said of [incumbent, fact('newcomer', 0.7)])
    await transact(session!, level, () => ingest(session!, mode, said));
  const lost = `${subject}:${loser === 'the newcomer' ? 'newcomer' : 'incumbent'}`;
  const witnesses = (await audits(ground.judge, subject)).filter(
    (witness) => witness.loser.fact === lost,
  );
  return {
    row: witnesses.length > 0 || (await versions(ground.judge, subject)).includes(lost),
    verdict: witnesses.length > 0,
  };
}

async function ingest(session: Session, mode: Mode, said: AssertedFact): Promise<void> {
  const [incumbent] = await openFacts(session, said.subject);
  if (incumbent === undefined) return insertFact(session, said);
  const [winner, loser] =
    said.confidence > incumbent.confidence ? [said, incumbent] : ([incumbent, said] as const);
  if (loser === incumbent) {
    await closeFact(session, incumbent.fact);
    await insertFact(session, {
      ...winner,
      provenance: `${winner.provenance} + ${loser.provenance}`,
    });
  }
  if (mode === 'audit_row') await insertAudit(session, loser, winner);
}
