import type { DatabaseSync } from 'node:sqlite';
import type { FactVector, FactWrite, Lease, LogStep, SideChange, SnapshotRow } from '#ledger';
import type { OracleRow } from '#oracle';
import type { Adoption } from '../../adoption.ts';
import type { EntrySeals } from '../../entry-seals.ts';
import { factSize } from '../../facts.ts';
import type { SealedPage } from '../../native-port.ts';
import type { Retirement } from '../../retirement.ts';
import type { TextWriter } from '../facts/text-writer.ts';
import { prepareAdopt, prepareRefuseCopied } from '../ledger/adoption.ts';
import { type ArchiveOperations, prepareArchiveOperations } from '../ledger/archive.ts';
import { prepareIntegrate, prepareLogSize } from '../ledger/log.ts';
import { prepareOracleGet, prepareOraclePut } from '../ledger/oracle.ts';
import { prepareRetire } from '../ledger/retirement.ts';
import { prepareSealSome } from '../ledger/seals.ts';
import { prepareSidePut } from '../ledger/side.ts';
import { prepareDropSnapshots, preparePutSnapshot } from '../ledger/snapshot.ts';
import type { Writers } from './commit.ts';

/**
 * The writes of a store other than batches. Each runs inside a transaction.
 */
export interface WriteOperations extends ArchiveOperations {
  oraclePut(row: OracleRow, within?: string): OracleRow;
  integrate(step: LogStep): boolean;
  putSnapshot(row: SnapshotRow, erasures: number): void;
  dropSnapshots(): void;
  retire(retirement: Retirement): void;
  adopt(adoption: Adoption): void;
  /** Raises the fence of effects. */
  raise(): Pick<Lease, 'fence' | 'lastEpoch'>;
  claimKey(offered: Uint8Array): Uint8Array;
  putVectors(embedder: string, vectors: readonly FactVector[]): void;
  beginRebuilding(): number;
  deleteSome(run: number): boolean;
  takeIn(writes: readonly FactWrite[], run: number): void;
  endRebuilding(run: number): void;
  keepFacts(): boolean;
  sidePut(changes: readonly SideChange[]): boolean;
  sealSome(seals: EntrySeals, after: number): SealedPage;
}

export type WriteOperationName = keyof WriteOperations;

/** The approximate number of rows and bytes that a step writes. */
export interface Size {
  readonly rows: number;
  readonly bytes: number;
}

const ONE_ROW: Size = { rows: 1, bytes: 0 };

const SIZES: {
  readonly [Name in WriteOperationName]: (...given: Parameters<WriteOperations[Name]>) => Size;
} = {
  oraclePut: ({ answer }) => ({ rows: 1, bytes: answer.length }),
  integrate: ({ leaves, nodes }) => {
    const rows = leaves.length + nodes.length;
    return { rows, bytes: rows * 40 };
  },
  putSnapshot: ({ text }) => ({ rows: 1, bytes: text.length }),
  dropSnapshots: () => ONE_ROW,
  retire: () => ONE_ROW,
  adopt: ({ roots = [] }) => ({ rows: roots.length + 1, bytes: 0 }),
  raise: () => ONE_ROW,
  claimKey: () => ONE_ROW,
  putVectors: (_, vectors) => ({
    rows: vectors.length,
    bytes: vectors.reduce((sum, { vector }) => sum + vector.byteLength, 0),
  }),
  beginRebuilding: () => ONE_ROW,
  deleteSome: () => ONE_ROW,
  takeIn: (writes) => factSize(writes),
  endRebuilding: () => ONE_ROW,
  keepFacts: () => ONE_ROW,
  sidePut: (changes) => ({
    rows: changes.length,
    bytes: changes.reduce((sum, { body }) => sum + (body?.length ?? 0), 0),
  }),
  sealSome: () => ({ rows: 1_000, bytes: 0 }),
  beginFiles: (_, files) => ({ rows: files.length + 1, bytes: 0 }),
  archiveSegment: ({ files, letters, blobs }) => ({
    rows: files.length + letters.length + blobs.length,
    bytes: 0,
  }),
  replaceFile: () => ({ rows: 2, bytes: 0 }),
  discardFiles: () => ONE_ROW,
  forgetFiles: (files) => ({ rows: files.length, bytes: 0 }),
};

export function operationSize<Name extends WriteOperationName>(
  name: Name,
  given: Parameters<WriteOperations[Name]>,
): Size {
  return SIZES[name](...given);
}

export function prepareOperations(
  db: DatabaseSync,
  { effects, facts, ids, blobs }: Writers,
  texts: TextWriter,
): WriteOperations {
  const path = db.location();
  const refuseCopied = prepareRefuseCopied(db, path);
  return {
    oraclePut: prepareOraclePut(db, prepareOracleGet(db)),
    integrate: prepareIntegrate(db, ids, prepareLogSize(db)),
    putSnapshot: preparePutSnapshot(db),
    dropSnapshots: prepareDropSnapshots(db),
    retire: prepareRetire(db),
    adopt: prepareAdopt(db, path),
    raise: () => {
      refuseCopied();
      return effects.raise();
    },
    claimKey: (offered) => facts.claimKey(offered),
    putVectors: (embedder, vectors) => texts.putVectors(embedder, vectors),
    beginRebuilding: () => facts.beginRebuilding(),
    deleteSome: (run) => facts.deleteSome(run),
    takeIn: (writes, run) => facts.takeIn(writes, run),
    endRebuilding: (run) => facts.endRebuilding(run),
    keepFacts: () => facts.keep(),
    sidePut: prepareSidePut(db),
    sealSome: prepareSealSome(db),
    ...prepareArchiveOperations(db, blobs),
  };
}
