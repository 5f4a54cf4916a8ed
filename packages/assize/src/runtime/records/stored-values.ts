import type { Json } from '#base';
import type { EffectPayload } from '#effects';
import type { InputCall, Observed, PatchOperation, ProposedCall } from '#kernel';
import {
  type Delta,
  type Entry,
  isBlobRef,
  isErased,
  type Patch,
  type Replayer,
  type Stored,
} from '#ledger';
import { RuntimeError } from '../errors.ts';

/** The entry that refers to a value, for errors. */
export type EntryPosition = Pick<Entry, 'trajectory_id' | 'seq'>;

/** The value that an entry refers to. @throws LedgerFault; RuntimeError `erased` */
export async function readValue(
  entry: EntryPosition,
  stored: Stored,
  { values }: Replayer,
): Promise<Json> {
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

/**
 * The changing calls that a commit or a pending proposal records, as they were judged.
 *
 * @throws LedgerFault for a missing blob; RuntimeError `erased`
 */
export function readCalls(
  entry: EntryPosition,
  effects: Delta['effects'],
  observed: readonly Observed[],
  replayer: Replayer,
): Promise<InputCall[]> {
  return Promise.all(
    effects.map(async ({ effect }) => {
      const payload = (await readValue(entry, effect, replayer)) as unknown as EffectPayload;
      const { tool, input, declared } = payload;
      const result = resultOf(payload, observed);
      return {
        tool,
        input,
        ...(result === undefined ? {} : { result }),
        ...(declared === true && { isDeclared: true }),
      };
    }),
  );
}

/**
 * The calls of a pending proposal for counselor predicates, without results. An erased call has no
 * tool, and its input is `{"$erased": hash}`.
 *
 * @throws LedgerFault for a missing blob
 */
export function readSeenCalls(
  entry: EntryPosition,
  effects: Delta['effects'],
  { values }: Replayer,
): Promise<Pick<ProposedCall, 'tool' | 'input'>[]> {
  return Promise.all(
    effects.map(async ({ effect }) => {
      const held = await values.read(entry, effect);
      if (!('value' in held)) return { tool: '', input: { $erased: held.$erased } };
      const { tool, input } = held.value as unknown as EffectPayload;
      return { tool, input };
    }),
  );
}

/** The same for a rejection. Rejections name no effects. @throws as `readCalls` */
export async function readRefusedCalls(
  entry: EntryPosition,
  calls: Stored | undefined,
  replayer: Replayer,
): Promise<InputCall[]> {
  return calls === undefined
    ? []
    : ((await readValue(entry, calls, replayer)) as unknown as InputCall[]);
}

function resultOf(
  { answer, observed: name }: EffectPayload,
  observed: readonly Observed[],
): Json | undefined {
  if (answer !== undefined || name === undefined) return answer;
  return observed.find((each) => each.name === name)?.value as Json | undefined;
}
