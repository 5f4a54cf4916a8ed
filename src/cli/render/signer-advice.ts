import type { AssizeError } from '#base';

/** The runtime's advice about keys, which names members of its options. */
const TRUST =
  'Name the key in entryKeys if you trust it, or accept unsigned entries with changeEntryKey (assize keys change).';
const SIGN = 'Pass the signer of that key, or record a new key first (changeEntryKey, assize keys change).';

/** The message of an error about the keys of a ledger, with the options of the command line. */
export function withKeyOptions({ code, message }: AssizeError): string {
  if (code !== 'wrong_signer') return message;
  const [key] = /(?<=signed with )[0-9a-f]{64}/.exec(message) ?? [];
  const trusted =
    key === undefined
      ? 'Accept the unsigned entries with assize keys change.'
      : `Pass --entry-key ${key}, or the --signer of the ledger.`;
  return message
    .replace(TRUST, trusted)
    .replace(
      SIGN,
      'Pass the private key of the ledger with --signer, or record a new key first with assize keys change.',
    );
}
