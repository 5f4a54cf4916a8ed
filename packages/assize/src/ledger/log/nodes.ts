import { type NodeReader, nodeHash } from '#merkle';
import type { LogStore } from '../ports/ledger-store.ts';

/**
 * Runs a synchronous function of the tree on an asynchronous store. The function runs twice: the
 * first run finds the O(log n) nodes that it needs.
 *
 * @throws MerkleError `missing_node` if the store has lost a leaf
 */
export async function askNodes<T>(
  store: Pick<LogStore, 'logNodes'>,
  question: (read: NodeReader) => T,
): Promise<T> {
  const wanted = new Map<string, readonly [level: number, index: number]>();
  question((level, index) => {
    wanted.set(`${level} ${index}`, [level, index]);
    return ANY_HASH;
  });
  const nodes = new Map<string, Uint8Array | undefined>();
  for (const [key, [level, index]] of wanted) nodes.set(key, await nodeAt(store, level, index));
  return question((level, index) => nodes.get(`${level} ${index}`));
}

/**
 * Returns the stored node. A lost node is recomputed from its children, because the leaves
 * determine every node. Otherwise one lost node would keep the store from opening.
 */
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
