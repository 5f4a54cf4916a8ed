import { arg, checkArgument } from '#base';
import { assertPublicKey } from '#canon';
import {
  type Chain,
  type EntrySigner,
  type Hash,
  type KeyChangePayload,
  type LedgerStore,
  Replayer,
} from '#ledger';
import { reasonFault } from './delegate/stops.ts';
import { RuntimeError } from './errors.ts';
import { NAMES } from './option-names.ts';
import { requirePair } from './options.ts';
import { type ClosedLedgerPorts, ClosedLedgers } from './transactions/settle/closed-ledgers.ts';
import { requireSigner } from './writer/require-signer.ts';

/** The record of a changed key. */
export interface KeyChangeOptions {
  /** The reason; it stays in the ledger. */
  readonly reason: string;
  /**
   * The signer with the key in force. It signs the record. Leave it out for a trajectory without a
   * signed entry: the record then accepts all its entries.
   */
  readonly from?: EntrySigner;
}

const KEY_CHANGE_OPTIONS = arg.options<KeyChangeOptions>({
  reason: arg.text,
  from: arg.optional(arg.members({ publicKey: arg.text, privateKey: arg.text })),
});

/** @throws RuntimeError `bad_intent`, `bad_argument`; ArgumentError `bad_argument` */
export function checkKeyChange(options: KeyChangeOptions): void {
  checkArgument(KEY_CHANGE_OPTIONS, options, 'options');
  const fault = reasonFault(options.reason);
  if (fault !== undefined)
    throw new RuntimeError('bad_intent', `The change of the key is not valid: ${fault}.`);
  if (options.from !== undefined) requirePair(options.from, 'signer `from`');
}

/** The entry that changed the key. */
export interface KeyChange {
  readonly id: Hash;
  readonly seq: number;
}

/**
 * One of these public keys must sign the first entry of a trajectory. Undefined if none is
 * named.
 *
 * @throws RuntimeError `bad_argument` for an empty list; KeyError for a text without a public key;
 * ArgumentError `bad_argument`
 */
export function namedKeys(
  entryKeys: readonly string[] | undefined,
  signer?: EntrySigner,
): ReadonlySet<string> | undefined {
  if (entryKeys !== undefined) checkArgument(NAMES, entryKeys, 'entryKeys');
  if (entryKeys?.length === 0 && signer === undefined)
    throw new RuntimeError(
      'bad_argument',
      'The options are not valid: `entryKeys` names no key. Name at least one.',
    );
  if (entryKeys === undefined && signer === undefined) return undefined;
  for (const key of entryKeys ?? []) assertPublicKey(key);
  return new Set([...(entryKeys ?? []), ...(signer === undefined ? [] : [signer.publicKey])]);
}

/**
 * Records that `signer` signs every later entry of a trajectory. Undefined if its key is in force.
 *
 * @throws RuntimeError `wrong_signer` if `from` is not the key in force; `concluded`,
 * `invalid_ledger`, `not_found`
 */
export async function changeKey(
  trajectoryId: string,
  signer: EntrySigner,
  { from, reason }: KeyChangeOptions,
  ports: Omit<ClosedLedgerPorts, 'signer' | 'read'> & {
    readonly named: ReadonlySet<string>;
    readonly chainOf: (trajectoryId: string, replayer: Replayer) => Promise<Chain>;
    readonly store: LedgerStore;
  },
): Promise<KeyChange | undefined> {
  const trusted = from === undefined ? undefined : new Set([...ports.named, from.publicKey]);
  const replayer = new Replayer(ports.store, undefined, trusted);
  const ledgers = new ClosedLedgers({
    ...ports,
    signer: from ?? signer,
    read: (name) => ports.chainOf(name, replayer),
  });
  let made: number | undefined;
  const isMade = await ledgers.writerOf(trajectoryId).write(({ chain, place }) => {
    if (chain.key === signer.publicKey) return undefined;
    requireSigner(chain, from ?? signer);
    made = chain.seq;
    const payload: KeyChangePayload = {
      kind: 'key_change',
      ...place,
      to: signer.publicKey,
      reason,
    };
    return { payload, blobs: [], effects: undefined };
  });
  if (!isMade || made === undefined) return undefined;
  const [row] = await ports.store.entries(trajectoryId, { from: made, limit: 1 });
  return { id: row!.id, seq: made };
}
