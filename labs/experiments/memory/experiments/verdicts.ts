import { type Table, yieldToEventLoop } from '../../tables/index.ts';
import { census } from '../census.ts';
import type { Experiment, Running } from '../experiment.ts';
import { PEERS, type Peer, type PeerAnswer } from '../peers/peer.ts';
import { checkPeers, runPeer } from '../peers/run-peer.ts';
import { type MemoryVerdict, NAMINGS, type Naming, runtimeVerdict } from './own-verdict.ts';

const SEEDS = 20;

/**
 * The identity of a repeated claim, as the table names it. A new assertion is a separate question,
 * and the judge is asked again (D31).
 */
const OWN: Readonly<
  Record<Naming, { readonly system: string; readonly expected: readonly string[] }>
> = {
  source: { system: 'Assize, by source', expected: ['X', 'X', 'X'] },
  key: { system: 'Assize, by key', expected: ['X', 'X', 'X'] },
  nothing: { system: 'Assize, said again', expected: ['A', 'X', 'X'] },
};

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
  about:
    'which of the three anomalies of memory Assize admits, beside what the paper reports of others (table 4)',
  uses: ['seed', 'runs', 'peers'],
  run: async (running) => [await verdictTable(running)],
};

async function verdictTable(running: Running): Promise<Table> {
  const { peers: folder } = running;
  if (folder !== undefined) checkPeers(folder);
  const seeds = running.runs ?? SEEDS;
  const shown = await census(running, NAMINGS, seeds, (naming, run) =>
    runtimeVerdict(`${running.seed} ${run}`, naming),
  );
  const others = folder === undefined ? [] : await executed(folder, running);
  return {
    source: 'Table 4',
    title: 'which anomalies are admitted (A) and excluded (X)',
    keys: ['system'],
    columns: ['N1', 'N2', 'N3'],
    rows: [
      ...NAMINGS.map((naming, i) => ownRow(OWN[naming], shown[i]!)),
      ...others.map(peerRow),
      ...PAPER.map(([system, ...paper]) => ({
        keys: [system],
        cells: paper.map((both) => ({ measured: 'not run', paper: both })),
      })),
    ],
    notes: [
      `In brackets claim and wire; - is not applicable; T and I are transcribed and imported logic. They are reported${folder === undefined ? ': no other system is run here; --peers runs some' : '; what is run here, with a stub for its model, stands above'}.`,
      `Assize: ${seeds} memories of the runtime a row. N1: a judge votes and its process ends; another one that would vote otherwise hears the same over the same log. N2: two runtimes say eight things of unequal confidence of one partition concurrently. N3: everything that lost is looked for, with who won.`,
      'By source: what is said names where it was heard, as what is extracted from messages does. By key: it is the same proposal. Said again: it has neither, so that it is another claim and another question, which nobody has voted on yet: the votes of one (R, θ) are one, and yet who says a thing twice may see another winner. A where that was seen.',
      ...others.flatMap(peerNotes),
    ],
  };
}

function ownRow(
  { system, expected }: (typeof OWN)[Naming],
  shown: readonly MemoryVerdict[],
): Table['rows'][number] {
  const seen = (['n1', 'n2', 'n3'] as const).map((anomaly) => shown.some((one) => one[anomaly]));
  return {
    keys: [system],
    cells: seen.map((isAdmitted, n) => ({
      measured: isAdmitted ? 'A' : 'X',
      expected: expected[n]!,
    })),
  };
}

interface Executed {
  readonly peer: Peer;
  readonly answer: PeerAnswer;
}

/** Runs the peers serially. The concurrent operations of a run belong to one peer. */
async function executed(folder: string, running: Running): Promise<readonly Executed[]> {
  const done: Executed[] = [];
  for (const peer of PEERS) {
    await yieldToEventLoop(running);
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
  if ('failed' in answer)
    return [`${nameOf(peer)} could not be run: ${answer.failed.replace(/\.$/, '')}.`];
  return [`${nameOf(peer)}, run here: ${answer.found.seen.join(' ')}`];
}

function nameOf({ package: name, version }: Peer): string {
  return `${name} ${version}`;
}
