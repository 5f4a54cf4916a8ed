import type { Payload } from '../entries/payloads.ts';
import type { ChainState } from './chain-state.ts';

/** The key that signs an entry (5.2, rules 6 and 8): '' or the reason, as a sentence. */
export function wrongKey(payload: Payload, { key }: ChainState): string {
  const signer = payload.signature?.key;
  if (key !== undefined && signer !== key) return 'It is not signed by the key of its trajectory.';
  if (payload.kind !== 'key_change') return '';
  if (signer === undefined) return 'It changes the key, and is not signed.';
  const fits = key === undefined ? payload.to === signer : payload.to !== key;
  return fits ? '' : 'It changes the key to one that does not follow.';
}
