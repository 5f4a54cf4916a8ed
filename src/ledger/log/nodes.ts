import { type NodeReader, nodeHash } from '#merkle';
import type { LogStore } from '../ports/ledger-store.ts';

/**
 * Answers a question about the tree, whose functions read at once, from a store that answers later: the question is asked
 * twice, first to learn which nodes it needs. There are O(log n) of them.
 *
 * @throws MerkleError `missing_node` where the store has lost a leaf
 */
export async function askNodes<T>(store: Pick<LogStore, 'logNodes'>, question: (read: NodeReader) => T): Promise<T> {
  const wanted = new Map<string, readonly [level: number, index: number]>();
  question((level, index) => {
    wanted.set(`${level} ${index}`, [level, index]);
    return ANY_HASH;
  });
  const nodes = new Map<string, Uint8Array | undefined>();
  for (const [key, [level, index]] of wanted) nodes.set(key, await nodeAt(store, level, index));
  return question((level, index) => nodes.get(`${level} ${index}`));
}

/** As it is kept, or, where it was lost, of those below it: the leaves say all of it, and without it nobody could open the store. */
async function nodeAt(
  store: Pick<LogStore, 'logNodes'>,
  level: number,
  index: number,
): Promise<Uint8Array | undefined> {
  const [kept] = await store.logNodes(level, index, 1);
  if (kept !== undefined || level === 0) return kept;
  const left = await nodeAt(store, level - 1, 2 * index);
  const right = left && (await nodeAt(store, level - 1, 2 * index + 1));
  return left && right && nodeHash(left, right);
}

const ANY_HASH: Uint8Array = new Uint8Array(32);
