import { hkdfSync } from 'node:crypto';
import type { KeyPair } from '#canon';
import { type SignerKey, signerKey } from '#merkle';

/**
 * The key of a log that has no key of its own. Every process with the root key signs as one log.
 */
export function derivedLogKey(root: Pick<KeyPair, 'publicKey' | 'privateKey'>): SignerKey {
  const seed = hkdfSync('sha256', Buffer.from(root.privateKey, 'hex'), '', 'assize/log/v1', 32);
  return signerKey(
    `assize/${root.publicKey.slice(0, 16)}`,
    'note',
    Buffer.from(seed).toString('hex'),
  );
}
