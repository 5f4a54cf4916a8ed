import { isInstance, type Json } from '#base';
import { hashText, parseStrict, WORLD_LIMITS } from '#canon';
import {
  type BlobRef,
  checkRow,
  type Delta,
  type EntryRow,
  type Fault,
  isBlobRef,
  LedgerFault,
  type LedgerStore,
  type Observation,
  type Patch,
  type Payload,
  type Stored,
} from '#ledger';
import { type EntryTrace, traceOf } from './trace.ts';

/** A value that a payload names by hash, because the value is large or sensitive. */
export interface NamedBlob {
  /** JSON Pointer of the reference in the payload. */
  readonly pointer: string;
  readonly hash: string;
  readonly bytes: number;
  /** The reference has a salt next to it, and the value may be erased. */
  readonly salted?: true;
}

/** A large or sensitive value, as the store has it now. */
export interface ShownBlob extends NamedBlob {
  /** The entry that erased the value. */
  readonly erased_by?: string;
  /** Absent unless requested, and if the value was erased. Null if the store does not have it. */
  readonly value?: Json;
}

/** An entry as a document. A damaged one has its fault, and its stored text for a payload. */
export type EntryView = Omit<EntryRow, 'payload'> & {
  /** The stored canonical text. It hashes to the id. */
  readonly text: string;
  readonly values: readonly ShownBlob[];
  readonly trace?: EntryTrace;
} & ({ readonly payload: Payload } | { readonly payload: string; readonly fault: Fault });

/** `traces`: the address of a trace. `values`: whether values that are stored apart are shown. */
export async function entryView(
  store: LedgerStore,
  row: EntryRow,
  { values, traces }: { readonly values: boolean; readonly traces: string | undefined },
): Promise<EntryView> {
  const { payload: text, ...place } = row;
  let payload: Payload;
  try {
    payload = checkRow(row).payload;
  } catch (error) {
    if (!isInstance(error, LedgerFault)) throw error;
    return { ...place, text, payload: text, values: [], fault: error.fault };
  }
  const shown = blobsOf(payload).map(async (blob): Promise<ShownBlob> => {
    const erasedBy = blob.salted === true ? await store.erasedBy(blob.hash) : undefined;
    if (erasedBy !== undefined) return { ...blob, erased_by: erasedBy };
    return values ? { ...blob, value: (await blobValue(store, blob)) ?? null } : blob;
  });
  const trace = traceOf(payload, traces);
  return { ...place, text, payload, values: await Promise.all(shown), ...(trace && { trace }) };
}

/**
 * All such values of a payload. References occur only at these locations: elsewhere the same fields
 * are plain data.
 */
export function blobsOf(payload: Payload): NamedBlob[] {
  return placesOf(payload).flatMap(([pointer, value]) =>
    isBlobRef(value) && value.$blob !== undefined ? [named(pointer, value)] : [],
  );
}

/**
 * The value of a blob, without its salt. Undefined if the store lacks it, or has another value
 * under that hash.
 */
export async function blobValue(
  store: LedgerStore,
  { hash, salted }: NamedBlob,
): Promise<Json | undefined> {
  const text = await store.blob(hash);
  if (text === undefined || hashText(text) !== hash) return undefined;
  const value = parseStrict(text, WORLD_LIMITS);
  return salted === true ? (value as { readonly value?: Json } | null)?.value : value;
}

function named(pointer: string, { $blob: hash, bytes, salted }: BlobRef): NamedBlob {
  return { pointer, hash, bytes, ...(salted === true ? { salted } : {}) };
}

type Place = readonly [pointer: string, value: Stored | undefined];

function placesOf(payload: Payload): Place[] {
  switch (payload.kind) {
    case 'root':
      return [
        ['/initial_state', payload.initial_state],
        ...changed('/sensitive', payload.sensitive),
      ];
    case 'branch':
    case 'key_change':
      return [];
    case 'commit':
      return [
        ['/action/args', payload.action.args],
        ['/amended/action/args', payload.amended?.action.args],
        ['/amended/difference', payload.amended?.difference],
        ...changed('/delta/state', payload.delta.state),
        ...called('/delta/effects', payload.delta),
        ...observed('/observations', payload.observations),
      ];
    case 'rejection':
      return [
        ['/intent/args', payload.intent.args],
        ...observed('/intent/observations', payload.intent.observations),
      ];
    case 'pending_approval':
      return [
        ['/proposal/action/args', payload.proposal.action.args],
        ...changed('/proposal/delta/state', payload.proposal.delta.state),
        ...called('/proposal/delta/effects', payload.proposal.delta),
        ...changed('/proposal/approval', payload.proposal.approval),
        ...observed('/proposal/observations', payload.proposal.observations),
      ];
    case 'delegation':
      return [
        ['/begins/initial_state', payload.begins?.initial_state],
        ...changed('/begins/sensitive', payload.begins?.sensitive),
        ['/final_answer', payload.final_answer],
      ];
  }
}

/** A list that is a blob, or the values of operations in an inline list. */
function changed(pointer: string, patches: Stored<readonly Patch[]> = []): Place[] {
  if (isBlobRef(patches)) return [[pointer, patches]];
  return patches.map((patch, i) => [
    `${pointer}/${i}/value`,
    (patch as { readonly value?: Stored } | null)?.value,
  ]);
}

/** The blobs of tool calls: tool, input, scopes. */
function called(pointer: string, { effects }: Delta): Place[] {
  return effects.map(({ effect }, i) => [`${pointer}/${i}/effect`, effect]);
}

function observed(pointer: string, observations: readonly Observation[]): Place[] {
  return observations.map(({ value }, i) => [`${pointer}/${i}/value`, value]);
}
