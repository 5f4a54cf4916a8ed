import type { WritChain } from './writs.ts';

/**
 * The holder of a writ, and the holders of its ancestors. None of them may approve a proposal under
 * it.
 */
export function holdersOf(chain: WritChain | undefined): string[] {
  return chain === undefined ? [] : [chain.writ, ...chain.chain].map(({ subject }) => subject);
}
