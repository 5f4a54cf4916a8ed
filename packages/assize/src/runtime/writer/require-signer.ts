import { type Chain, type EntrySigner, keyAfter, type Payload } from '#ledger';
import { RuntimeError } from '../errors.ts';

/**
 * Checks that a runtime signs with the key in force, before it makes an entry.
 *
 * @throws RuntimeError `wrong_signer`
 */
export function requireSigner({ key, trajectoryId }: Chain, signer: EntrySigner | undefined): void {
  requireKey(key, trajectoryId, signer);
}

/**
 * The same, from the last entry of a trajectory.
 *
 * @throws RuntimeError `wrong_signer`
 */
export function requireSignerAfter(last: Payload, signer: EntrySigner | undefined): void {
  requireKey(keyAfter(last), last.trajectory_id, signer);
}

function requireKey(key: string | undefined, trajectoryId: string, signer: EntrySigner | undefined): void {
  if (key === undefined || key === signer?.publicKey) return;
  const is = signer === undefined ? 'has no signer' : `signs with ${signer.publicKey}`;
  throw wrongSigner(
    `The entries of ${trajectoryId} are signed with ${key}, and this runtime ${is}. Pass the signer of that key, or record a new key first (changeEntryKey, assize keys change).`,
    trajectoryId,
  );
}

/** Whether a runtime may write the next entry of a chain. */
export function isSigner({ key }: Chain, signer: EntrySigner | undefined): boolean {
  return key === undefined || key === signer?.publicKey;
}

export function wrongSigner(message: string, trajectoryId: string, cause?: unknown): RuntimeError {
  return new RuntimeError('wrong_signer', message, {
    evidence: { trajectory_id: trajectoryId },
    ...(cause !== undefined && { cause }),
  });
}
