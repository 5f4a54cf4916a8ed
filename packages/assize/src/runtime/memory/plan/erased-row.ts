import type { FactVersion } from '#ledger';

/**
 * Whether a row's object was erased: its object then names its former blob. No statement can have
 * that exact text, because the blob's hash is salted. A similar text is an ordinary object.
 */
export function isErasedRow({ object, content }: Pick<FactVersion, 'object' | 'content'>): boolean {
  return object === `{"$erased":"${content.hash}"}`;
}
