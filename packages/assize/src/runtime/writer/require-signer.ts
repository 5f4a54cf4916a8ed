import { type Chain, type EntrySigner, keyAfter, type Payload } from '#ledger';
import { RuntimeError } from '../errors.ts';

/**
 * Checks that a runtime signs with the key in force, before it makes an entry.
 *
 * @throws RuntimeError `wrong_signer`
 */
export function requireSigner(
  { key, trajectoryId }: Pick<Chain, 'key' | 'trajectoryId'>,
  signer: EntrySigner | undefined,
): void {
  if (key === undefined || key === signer?.publicKey) return;
  const is = signer === undefined ? 'has no signer' : `signs with ${signer.publicKey}`;
  throw wrongSigner(
    `The entries of ${trajectoryId} are signed with ${key}, and this runtime ${is}. Pass the signer of that key, or record a new key first (changeEntryKey, assize keys change).`,
    trajectoryId,
  );
}

/** The same, from the last entry of a trajectory. @throws RuntimeError `wrong_signer` */
export function requireSignerAfter(last: Payload, signer: EntrySigner | undefined): void {
  requireSigner({ key: keyAfter(last), trajectoryId: last.trajectory_id }, signer);
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
