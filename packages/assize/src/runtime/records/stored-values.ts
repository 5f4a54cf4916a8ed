import type { Json } from '#base';
import type { PatchOperation } from '#kernel';
import { type Entry, isBlobRef, isErased, type Patch, type Replayer, type Stored } from '#ledger';
import { RuntimeError } from '../errors.ts';

/** The entry that refers to a value, for errors. */
export type EntryPosition = Pick<Entry, 'trajectory_id' | 'seq'>;

/** The value that an entry refers to. @throws LedgerFault; RuntimeError `erased` */
export async function readValue(entry: EntryPosition, stored: Stored, { values }: Replayer): Promise<Json> {
  const held = await values.read(entry, stored);
  if ('value' in held) return held.value;
  throw new RuntimeError(
    'erased',
    `${entry.trajectory_id} seq ${entry.seq} refers to a value that was erased (${held.$erased}), so the operation cannot continue.`,
    { evidence: { ...entry, hash: held.$erased } },
  );
}

/**
 * The operations that an entry records, as the kernel made them. @throws LedgerFault; RuntimeError
 * `erased`
 */
export async function readOperations(
  entry: EntryPosition,
  stored: Stored<readonly Patch[]>,
  replayer: Replayer,
): Promise<PatchOperation[]> {
  if (isBlobRef(stored)) return (await replayer.values.patches(entry, stored)) as PatchOperation[];
  return Promise.all(
    stored.map(async (patch): Promise<PatchOperation> => {
      // In a ledger that was tampered with this may not be an operation; the fold reports that.
      const value = (patch as { readonly value?: Stored } | null)?.value;
      if (!isBlobRef(value) || isErased(value)) return patch as PatchOperation;
      return {
        ...patch,
        value: await readValue(entry, value, replayer),
        ...(value.salted === true ? { sensitive: true } : {}),
      } as PatchOperation;
    }),
  );
}
