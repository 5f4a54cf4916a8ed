import type { DatabaseSync } from 'node:sqlite';
import type { Reads } from '../native-port.ts';
import type { VectorSearch } from '../options.ts';
import {
  prepareEffectKey,
  prepareEffectsOf,
  prepareListEffects,
  prepareOpenEffects,
  prepareWereEffectsHeld,
} from './effects/effects.ts';
import { FactReader } from './facts/facts.ts';
import { RankedRows } from './facts/ranked-rows.ts';
import { TextReader } from './facts/text-reader.ts';
import { VectorReader } from './facts/vector-reader.ts';
import { prepareAdopted } from './ledger/adoption.ts';
import { prepareArchiveReads } from './ledger/archive.ts';
import { prepareBlob, prepareErasedBy } from './ledger/blob.ts';
import {
  prepareEntries,
  prepareFind,
  prepareHead,
  prepareResolve,
  prepareTrajectories,
} from './ledger/entries.ts';
import {
  prepareLogged,
  prepareLogIndex,
  prepareLogNodes,
  prepareLogSize,
  prepareUnlogged,
} from './ledger/log.ts';
import { prepareOracleErased, prepareOracleGet, prepareOracleWithin } from './ledger/oracle.ts';
import { prepareIsSealed } from './ledger/seals.ts';
import { prepareSideGet, prepareSideList } from './ledger/side.ts';
import { prepareErasures, prepareSnapshot } from './ledger/snapshot.ts';
import { prepareToReview } from './ledger/to-review.ts';
import { prepareSelfCheck } from './self-check.ts';
import type { Indexes } from './writer/commit.ts';
import type { FileWriter } from './writer/writer.ts';

/** The reads that only a SQLite store has. */
export interface SqliteReads extends Reads {
  /** Whether the queue is long enough to justify a transaction before a search. */
  isBehind(): boolean;
  /** Whether the queue contains any change. */
  isWaiting(): boolean;
  selfCheck(): string[];
}

/** `learn` receives the partitions that were read. `path` names the store in errors. */
export function prepareReads(
  db: DatabaseSync,
  { ids, blobs }: Indexes,
  learn: FileWriter['learn'],
  path: string,
  vectors: VectorSearch,
): SqliteReads {
  const facts = new FactReader(db, path);
  const rows = new RankedRows(db);
  const byText = new TextReader(db, facts, rows);
  const byVector = new VectorReader(db, facts, rows, vectors);
  return {
    adopted: prepareAdopted(db),
    archived: prepareArchiveReads(db),
    resolve: prepareResolve(db, ids),
    entries: prepareEntries(db),
    head: prepareHead(db),
    trajectories: prepareTrajectories(db),
    trajectoriesToReview: prepareToReview(db),
    blob: prepareBlob(db, blobs),
    erasedBy: prepareErasedBy(db, blobs),
    find: prepareFind(db, ids),
    oracleGet: prepareOracleGet(db),
    oracleWithin: prepareOracleWithin(db),
    oracleErased: prepareOracleErased(db),
    logSize: prepareLogSize(db),
    unlogged: prepareUnlogged(db),
    logNodes: prepareLogNodes(db),
    logIndex: prepareLogIndex(db, ids),
    logged: prepareLogged(db),
    snapshot: prepareSnapshot(db),
    erasures: prepareErasures(db),
    openEffects: prepareOpenEffects(db),
    listEffects: prepareListEffects(db),
    effectsOf: prepareEffectsOf(db),
    effectKey: prepareEffectKey(db),
    hasEffectLog: prepareWereEffectsHeld(db),
    partition: (name) => {
      const found = facts.partition(name);
      if (found !== undefined) learn(name, found);
      return found?.state;
    },
    facts: (query) => facts.facts(query),
    claimKey: () => facts.claimKey(),
    spaces: () => facts.spaces(),
    branches: () => facts.branches(),
    branchPartitions: (query) => facts.branchPartitions(query),
    factsByText: (query) => byText.byText(query),
    factsByVector: (query) => byVector.byVector(query),
    textsToEmbed: (embedder, space, limit) => byVector.toEmbed(embedder, space, limit),
    isSealed: prepareIsSealed(db),
    hasSeals: () =>
      db.prepare('SELECT 1 FROM entry WHERE seal IS NOT NULL LIMIT 1').get() !== undefined,
    sideGet: prepareSideGet(db),
    sideList: prepareSideList(db),
    isBehind: () => byText.isBehind(),
    isWaiting: () => byText.isWaiting(),
    selfCheck: prepareSelfCheck(db),
  };
}
