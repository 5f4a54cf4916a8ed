import { askNodes, type Hash, type LogStore } from 'assize/internal/ledger';
import {
  type Checkpoint,
  formatProofFile,
  inclusionProof,
  leafHash,
  type NodeReader,
  verifyInclusion,
} from 'assize/internal/merkle';
import { RuntimeError } from 'assize/internal/runtime';
import type { BundledEntry } from './form.ts';
import { Turns } from './turns.ts';

/** The proof files of entries, by id. The nodes of the tree are read once for all proofs. */
export async function proofsOf(
  store: LogStore,
  entries: readonly BundledEntry[],
  checkpoint: Checkpoint,
  signed: string,
  signal?: AbortSignal,
): Promise<Map<Hash, string>> {
  const { size, root } = checkpoint;
  const proveAll = (read: NodeReader) =>
    entries.map(({ index }) => inclusionProof(index, size, read));
  const proofs = await askNodes(await inRuns(store, proveAll), proveAll);
  const files = new Map<Hash, string>();
  const turns = new Turns(signal);
  for (const [i, { id, index, text }] of entries.entries()) {
    const proof = proofs[i] as Uint8Array[];
    if (!verifyInclusion({ index, size, root, leafHash: leafHash(text) }, proof))
      throw notAsLogged(id);
    files.set(id, formatProofFile({ index, proof, signed }));
    await turns.step();
  }
  return files;
}

/** Nodes with at most this many others between them are read together. */
const GAP = 32;
const RUN_MAX = 4_000;

/** Reads the nodes that a question needs, in runs, and answers from them. */
async function inRuns(
  store: LogStore,
  question: (read: NodeReader) => unknown,
): Promise<Pick<LogStore, 'logNodes'>> {
  const wanted = new Map<number, Set<number>>();
  question((level, index) => {
    wanted.set(level, (wanted.get(level) ?? new Set()).add(index));
    return ANY_HASH;
  });
  const read = new Map<string, Uint8Array>();
  for (const [level, indices] of wanted)
    for (const [from, to] of runsOf([...indices].sort((a, b) => a - b))) {
      const nodes = await store.logNodes(level, from, to - from + 1);
      for (const [i, node] of nodes.entries())
        if (node !== undefined) read.set(`${level} ${from + i}`, node);
    }
  return {
    logNodes: async (level, from, count) => {
      const known = count === 1 ? read.get(`${level} ${from}`) : undefined;
      return known === undefined ? store.logNodes(level, from, count) : [known];
    },
  };
}

function runsOf(ascending: readonly number[]): (readonly [from: number, to: number])[] {
  const runs: [number, number][] = [];
  for (const index of ascending) {
    const last = runs.at(-1);
    if (last !== undefined && index - last[1] <= GAP && index - last[0] < RUN_MAX) last[1] = index;
    else runs.push([index, index]);
  }
  return runs;
}

const ANY_HASH: Uint8Array = new Uint8Array(32);

function notAsLogged(id: Hash): RuntimeError {
  return new RuntimeError(
    'not_checkpointed',
    `The stored entry ${id} differs from the logged entry. List the changes with assize verify --database.`,
    { evidence: { id } },
  );
}
