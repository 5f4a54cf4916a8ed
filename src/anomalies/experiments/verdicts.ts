import { driftGrid } from 'assize/memory/experiments';
import { seededRandom } from 'assize/oracle';
import { breath, type Table } from 'assize/tables';
import type { Experiment, Running } from '../experiment.ts';
import { PEERS, type Peer, type PeerAnswer } from '../peers/peer.ts';
import { checkPeers, runPeer } from '../peers/run-peer.ts';
import { BASELINE, deploy } from './configuration.ts';
import { runtimeVerdict } from './own-verdict.ts';

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
  const { peers: folder } = running;
  if (folder !== undefined) checkPeers(folder);
  const seeds = running.runs ?? SEEDS;
  const shown = [];
  for (let run = 0; run < seeds; run++) {
    await breath(running);
    const seed = `${running.seed} ${run}`;
    shown.push(deploy(BASELINE, seed).verdict, await runtimeVerdict(seed));
    running.progress(run + 1, seeds);
  }
  const drift = driftGrid(seededRandom(running.seed), running.runs ?? DRIFTS).rows;
  const admits = [
    shown.some(({ n1 }) => n1),
    drift.some(({ cell, found }) => cell['level'] === 'SR' && found > 0) || shown.some(({ n2 }) => n2),
    shown.some(({ n3 }) => n3),
  ];
  const others = folder === undefined ? [] : await executed(folder, running);
  return {
    source: 'Table 4',
    title: 'which anomalies are admitted (A) and excluded (X)',
    keys: ['system'],
    columns: ['N1', 'N2', 'N3'],
    rows: [
      { keys: ['Assize'], cells: admits.map((is) => ({ measured: is ? 'A' : 'X', expected: 'X' })) },
      ...others.map(peerRow),
      ...PAPER.map(([system, ...paper]) => ({
        keys: [system],
        cells: paper.map((both) => ({ measured: 'not run', paper: both })),
      })),
    ],
    notes: [
      `In brackets claim and wire; - is not applicable; T and I are transcribed and imported logic. They are reported${folder === undefined ? ': no other system is run here; --peers runs some' : '; what is run here, with a stub for its model, stands above'}.`,
      `Assize: ${seeds} memories of the runtime, and as many by the package’s own plans. N1: a judge votes and its process ends; another one, which would vote otherwise, is asked over the same log. N2: two runtimes revise one partition at once; and revisions at the level that a commit holds it at, which is SR. N3: everything that lost is looked for, with who won.`,
      ...others.flatMap(peerNotes),
    ],
  };
}

interface Executed {
  readonly peer: Peer;
  readonly answer: PeerAnswer;
}

/** One after the other: what they do at once is of one peer. */
async function executed(folder: string, running: Running): Promise<readonly Executed[]> {
  const done: Executed[] = [];
  for (const peer of PEERS) {
    await breath(running);
    done.push({ peer, answer: await runPeer(folder, peer) });
  }
  return done;
}

function peerRow({ peer, answer }: Executed): Table['rows'][number] {
  const { paper } = peer;
  const verdicts = 'found' in answer ? [answer.found.n1, answer.found.n2, answer.found.n3] : [];
  return {
    keys: [nameOf(peer)],
    cells: [0, 1, 2].map((n) => ({
      measured: verdicts[n] ?? 'not run',
      ...(paper !== undefined && { paper: paper[n] as string }),
    })),
  };
}

function peerNotes({ peer, answer }: Executed): string[] {
  if ('failed' in answer) return [`${nameOf(peer)} could not be run: ${answer.failed.replace(/\.$/, '')}.`];
  return [`${nameOf(peer)}, run here: ${answer.found.seen.join(' ')}`];
}

function nameOf({ package: name, version }: Peer): string {
  return `${name} ${version}`;
}
