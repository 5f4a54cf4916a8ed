import type { FactVersion } from '#ledger';

/**
 * Whether what a row said was erased: its object then names the blob that it stood in. Nobody can say just that of it, since a blob's hash is
 * salted; whoever says a text that only looks like it has said something.
 */
export function isErasedRow({ object, content }: Pick<FactVersion, 'object' | 'content'>): boolean {
  return object === `{"$erased":"${content.hash}"}`;
}
