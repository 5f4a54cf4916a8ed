import type { NodeReader } from '#merkle';
import type { LogStore } from '../store.ts';

/**
 * Answers a question about the tree, whose functions read at once, from a store that answers later: the question is asked
 * twice, first to learn which nodes it needs. There are O(log n) of them.
 *
 * @throws MerkleError `missing_node` where the store has lost one
 */
export async function askNodes<T>(store: Pick<LogStore, 'logNodes'>, question: (read: NodeReader) => T): Promise<T> {
  const wanted = new Map<string, readonly [level: number, index: number]>();
  question((level, index) => {
    wanted.set(`${level} ${index}`, [level, index]);
    return ANY_HASH;
  });
  const nodes = new Map<string, Uint8Array | undefined>();
  for (const [key, [level, index]] of wanted) nodes.set(key, (await store.logNodes(level, index, 1))[0]);
  return question((level, index) => nodes.get(`${level} ${index}`));
}

const ANY_HASH: Uint8Array = new Uint8Array(32);
