import { driftGrid } from 'assize/memory/experiments';
import { seededRandom } from 'assize/oracle';
import { breath, type Table } from 'assize/tables';
import type { Experiment, Running } from '../experiment.ts';
import { BASELINE, deploy } from './configuration.ts';

const SEEDS = 20;
const DRIFTS = 200;

/** Table 4: claim and wire, for N1, N2 and N3. */
const PAPER: readonly (readonly [system: string, n1: string, n2: string, n3: string])[] = [
  ['mem0 v2-T', '- -', '- -', 'A A'],
  ['mem0 v3-T', 'A A', 'A A', 'A A'],
  ['mem0 v3-I', 'A -', 'A X', 'A A'],
  ['Graphiti-T', 'A A', '- -', 'A A'],
  ['Graphiti-I', 'A -', '- -', 'A A'],
  ['Letta-T', '- -', 'A A', 'A A'],
  ['Letta-I', '- -', 'A -', 'A A'],
  ['Zep-T', '- -', 'A A', 'A A'],
  ['Zep-I', '- -', 'A A', 'A A'],
  ['MIRIX-T', 'A A', 'A A', '- -'],
  ['WorldDB-T', 'X X', 'X X', 'X X'],
  ['Toki-I', 'X X', 'X X', 'X X'],
];

export const verdicts: Experiment = {
  name: 'verdicts',
  about: 'which of the three anomalies of memory Assize admits, beside what the paper reports of others (table 4)',
  run: async (running) => [await verdictTable(running)],
};

async function verdictTable(running: Running): Promise<Table> {
  const seeds = running.runs ?? SEEDS;
  const deployed = [];
  for (let run = 0; run < seeds; run++) {
    await breath(running);
    deployed.push(deploy(BASELINE, `${running.seed} ${run}`).verdict);
    running.progress(run + 1, seeds);
  }
  const drift = driftGrid(seededRandom(running.seed), running.runs ?? DRIFTS).rows;
  const admits = [
    deployed.some(({ n1 }) => n1),
    drift.some(({ cell, found }) => cell['level'] === 'SR' && found > 0) || deployed.some(({ n2 }) => n2),
    deployed.some(({ n3 }) => n3),
  ];
  return {
    source: 'Table 4',
    title: 'which anomalies are admitted (A) and excluded (X)',
    keys: ['system'],
    columns: ['N1', 'N2', 'N3'],
    rows: [
      { keys: ['Assize'], cells: admits.map((is) => ({ measured: is ? 'A' : 'X', expected: 'X' })) },
      ...PAPER.map(([system, ...paper]) => ({
        keys: [system],
        cells: paper.map((both) => ({ measured: 'not run', paper: both })),
      })),
    ],
    notes: [
      'In brackets claim and wire; - is not applicable; T and I are transcribed and imported logic. They are reported: no other system is run here.',
      `Assize: ${seeds} memories, each written by the package’s own plans with one judge, and once more with another one over the same log (N1); every row that lost is looked for (N3); revisions of a partition at the level that a commit holds it at, which is SR (N2).`,
    ],
  };
}
