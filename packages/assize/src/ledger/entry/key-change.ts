import type { KeyChangePayload, Payload } from './entry.ts';

/** In any payload, of a chain or not. */
export function isKeyChange(payload: Payload): payload is KeyChangePayload {
  return payload.kind === 'key_change';
}

/**
 * The public key that must sign the entries after a payload. Undefined after an unsigned entry: the
 * next entry may then be signed by any key, or unsigned.
 */
export function keyAfter(payload: Payload): string | undefined {
  return isKeyChange(payload) ? payload.to : payload.signature?.key;
}
