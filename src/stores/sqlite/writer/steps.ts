import type { DatabaseSync } from 'node:sqlite';
import type { FactVector, FactWrite, LogStep, SnapshotRow, Tenure } from '#ledger';
import type { OracleRow } from '#oracle';
import { factSize } from '../../facts.ts';
import {
  checkClaimKey,
  checkCount,
  checkFactWrites,
  checkLogStep,
  checkOracleRow,
  checkSnapshotRow,
  checkVectors,
} from '../../input.ts';
import type { TextWriter } from '../facts/text-writer.ts';
import { prepareIntegrate, prepareLogSize } from '../ledger/log.ts';
import { prepareOracleGet, prepareOraclePut } from '../ledger/oracle.ts';
import { prepareDropSnapshots, preparePutSnapshot } from '../ledger/snapshot.ts';
import type { Writers } from './commit.ts';

/** What a store writes beside batches: each inside a transaction, and harmless to repeat. Arguments and answers are plain values. */
export interface Steps {
  oraclePut(row: OracleRow, within?: string): OracleRow;
  integrate(step: LogStep): boolean;
  putSnapshot(row: SnapshotRow, erasures: number): void;
  dropSnapshots(): void;
  /** Raises the fence of effects. */
  raise(): Pick<Tenure, 'fence' | 'lastEpoch'>;
  claimKey(offered: Uint8Array): Uint8Array;
  putVectors(embedder: string, vectors: readonly FactVector[]): void;
  beginRebuilding(): number;
  deleteSome(run: number): boolean;
  takeIn(writes: readonly FactWrite[], run: number): void;
  endRebuilding(run: number): void;
  keepFacts(): boolean;
}

export type StepName = keyof Steps;

/** Rows and bytes that a step writes, about. */
export interface Size {
  readonly rows: number;
  readonly bytes: number;
}

const ONE_ROW: Size = { rows: 1, bytes: 0 };

interface About<Given extends readonly unknown[]> {
  /** @throws {StoreError} `store_invalid_input` */
  check(...given: Given): void;
  size(...given: Given): Size;
}

const run = { check: (run: number): void => checkCount(run, 'run'), size: () => ONE_ROW };
const nothing = { check: (): void => undefined, size: () => ONE_ROW };

const ABOUT: { readonly [Name in StepName]: About<Parameters<Steps[Name]>> } = {
  oraclePut: { check: checkOracleRow, size: ({ answer }) => ({ rows: 1, bytes: answer.length }) },
  integrate: {
    check: checkLogStep,
    size: ({ leaves, nodes }) => {
      const rows = leaves.length + nodes.length;
      return { rows, bytes: rows * 40 };
    },
  },
  putSnapshot: {
    check: (row, erasures) => {
      checkSnapshotRow(row);
      checkCount(erasures, 'erasures');
    },
    size: ({ text }) => ({ rows: 1, bytes: text.length }),
  },
  dropSnapshots: nothing,
  raise: nothing,
  claimKey: { check: checkClaimKey, size: () => ONE_ROW },
  putVectors: {
    check: checkVectors,
    size: (_, vectors) => ({
      rows: vectors.length,
      bytes: vectors.reduce((sum, { vector }) => sum + vector.byteLength, 0),
    }),
  },
  beginRebuilding: nothing,
  deleteSome: run,
  takeIn: {
    check: (writes, run) => {
      checkFactWrites(writes);
      checkCount(run, 'run');
    },
    size: (writes) => factSize(writes),
  },
  endRebuilding: run,
  keepFacts: nothing,
};

/** @throws {StoreError} `store_invalid_input` */
export function checkStep<Name extends StepName>(name: Name, given: Parameters<Steps[Name]>): void {
  ABOUT[name].check(...given);
}

export function stepSize<Name extends StepName>(name: Name, given: Parameters<Steps[Name]>): Size {
  return ABOUT[name].size(...given);
}

export function prepareSteps(db: DatabaseSync, { effects, facts, ids }: Writers, texts: TextWriter): Steps {
  return {
    oraclePut: prepareOraclePut(db, prepareOracleGet(db)),
    integrate: prepareIntegrate(db, ids, prepareLogSize(db)),
    putSnapshot: preparePutSnapshot(db),
    dropSnapshots: prepareDropSnapshots(db),
    raise: () => effects.raise(),
    claimKey: (offered) => facts.claimKey(offered),
    putVectors: (embedder, vectors) => texts.putVectors(embedder, vectors),
    beginRebuilding: () => facts.beginRebuilding(),
    deleteSome: (run) => facts.deleteSome(run),
    takeIn: (writes, run) => facts.takeIn(writes, run),
    endRebuilding: (run) => facts.endRebuilding(run),
    keepFacts: () => facts.keep(),
  };
}
