import { MemoryStore } from '@assize/testing/memory';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { type BundleScope, makeBundle } from '#bundle';
import { hashBytes } from '#canon';
import { integrateLog, type LedgerStore, type LogStore, logHead } from '#ledger';
import { cosign } from '../../../packages/assize/src/merkle/cosignature.ts';
import { formatSignatures, parseNote } from '../../../packages/assize/src/merkle/note.ts';
import { addCosignatures } from '../../../packages/assize/src/merkle/open-checkpoint.ts';
import { signCheckpoint } from '../../../packages/assize/src/merkle/sign-checkpoint.ts';
import { ledgerWithEffects } from '../tools/ledger-with-effects.ts';
import { amendmentCases } from './amendment-cases.ts';
import { approvalCases } from './approval-cases.ts';
import { type ErasureCase, erasureCases, type Ledger, verdictsOf } from './erasure-cases.ts';
import { haltCases } from './halt-cases.ts';
import { importedStore } from './inherited-cases.ts';
import { keyCases } from './key-cases.ts';
import { LOG, WITNESSES } from './merkle-fixtures.ts';
import { revocationCases } from './revocation-cases.ts';
import { everyKind, keysOf } from './rows.ts';
import { honestSettlements } from './settlement-cases.ts';

export const WITNESS = WITNESSES[0]!;
export const WITNESSED_AT = 1_774_256_400;
export const MADE_AT = '2026-03-24T09:00:00.000000Z';

/** A valid ledger, by name. */
export interface BundleLedger {
  readonly name: string;
  make(): Promise<MemoryStore>;
}

/** Ledgers with every kind of entry, decision, effect, erasure, halt and change of keys. */
export async function bundleLedgers(): Promise<BundleLedger[]> {
  const written = [...amendmentCases(), ...approvalCases(), ...erasureCases()];
  const sound: ErasureCase[] = [];
  for (const one of written) if (await isSound(one.ledger)) sound.push(one);
  const cases = [...haltCases, ...revocationCases].filter(({ faults }) => faults.length === 0);
  const keys = keyCases.filter(({ faults }) => faults.length === 0);
  return [
    { name: 'every kind', make: () => storeOf(everyKind(keysOf(5))) },
    { name: 'effects', make: async () => (await ledgerWithEffects()).store },
    { name: 'settlements', make: async () => (await honestSettlements()).store },
    ...cases,
    ...keys.map(({ name, rows }) => ({ name, make: () => storeOf({ rows, blobs: [] }) })),
    ...sound.map(({ name, ledger }) => ({ name, make: () => importedStore(ledger) })),
  ];
}

async function isSound(ledger: Ledger): Promise<boolean> {
  return Object.values(await verdictsOf(ledger)).every((verdict) => verdict === 'valid');
}

async function storeOf({ rows, blobs }: Pick<Ledger, 'rows' | 'blobs'>): Promise<MemoryStore> {
  const store = new MemoryStore();
  for (const row of rows) await store.commit({ entries: [row], blobs });
  return store;
}

/** A checkpoint of all entries, cosigned by the witness. */
export async function signedCheckpoint(
  store: LedgerStore & LogStore,
  isWitnessed = true,
): Promise<string> {
  await integrateLog(store);
  const signed = signCheckpoint(await logHead(store), LOG);
  if (!isWitnessed) return signed;
  const cosignature = cosign(parseNote(signed).text, WITNESS, WITNESSED_AT);
  return addCosignatures(signed, formatSignatures([cosignature]), [WITNESS]);
}

/** A bundle of a store, up to a checkpoint of all entries. */
export async function bundleOf(
  store: LedgerStore & LogStore,
  scope: BundleScope,
  more: Partial<Parameters<typeof makeBundle>[1]> = {},
) {
  const checkpoint = more.checkpoint ?? (await signedCheckpoint(store));
  return makeBundle(store, {
    scope,
    logKey: LOG,
    witnesses: [WITNESS],
    madeAt: MADE_AT,
    ...more,
    checkpoint,
  });
}

/** The texts of the files of a bundle. */
export type Texts = Record<string, string>;

export function textsOf(zip: Uint8Array): Texts {
  return Object.fromEntries(
    Object.entries(unzipSync(zip)).map(([name, bytes]) => [name, strFromU8(bytes)]),
  );
}

/** A zip of these files. `isListed`: with a manifest that agrees with them. */
export function zipOf(texts: Texts, isListed = true): Uint8Array {
  const files = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, strToU8(text)]),
  );
  if (isListed && files['manifest.json'] !== undefined) {
    const listed = Object.entries(files)
      .filter(([name]) => name !== 'manifest.json' && name !== 'verify.html')
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, bytes]) => [
        name,
        { bytes: bytes.length, sha256: Buffer.from(hashBytes(bytes)).toString('hex') },
      ]);
    const manifest = {
      ...JSON.parse(texts['manifest.json'] as string),
      files: Object.fromEntries(listed),
    };
    files['manifest.json'] = strToU8(`${JSON.stringify(sorted(manifest))}\n`);
  }
  return zipSync(files);
}

/** The value with the members of its objects in canonical order. */
export function sorted(value: any): any {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}
