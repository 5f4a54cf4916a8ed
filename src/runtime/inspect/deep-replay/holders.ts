import type { WritChain } from '../../authority/writs.ts';

/** Who holds a writ, and those above them who passed it on: none of them decides on what was asked under it. */
export function holdersOf(chain: WritChain | undefined): string[] {
  return chain === undefined ? [] : [chain.writ, ...chain.chain].map(({ subject }) => subject);
}
