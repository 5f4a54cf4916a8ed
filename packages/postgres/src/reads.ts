import type { Reads } from 'assize/internal/stores/native-port.ts';
import type { FactAnswers } from 'assize/internal/stores/read-snapshot.ts';
import type { ReadRequest } from './connection/readers.ts';
import type { Connections } from './connections.ts';
import {
  prepareEffectKey,
  prepareEffectsOf,
  prepareListEffects,
  prepareOpenEffects,
  prepareWereEffectsHeld,
} from './effects/effects.ts';
import {
  prepareBranches,
  prepareBranchPartitions,
  prepareClaimKey,
  prepareFacts,
  preparePartition,
  prepareSpaces,
} from './facts/facts.ts';
import type { PartitionCache } from './facts/partition-cache.ts';
import { prepareFactsByText, prepareFactsByVector, prepareTextsToEmbed } from './facts/texts.ts';
import { prepareAdopted } from './ledger/adoption.ts';
import { prepareArchiveReads } from './ledger/archive.ts';
import { prepareBlob, prepareErasedBy } from './ledger/blob.ts';
import {
  prepareEntries,
  prepareFind,
  prepareHead,
  prepareResolve,
  prepareToReview,
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

/** The reads of facts, over any connection or pool. */
export function prepareFactAnswers(
  readers: ReadRequest,
  { schema, path }: Pick<Connections, 'schema' | 'path'>,
): FactAnswers {
  return {
    facts: prepareFacts(readers, schema, path),
    branchPartitions: prepareBranchPartitions(readers, schema, path),
    factsByText: prepareFactsByText(readers, schema, path),
    factsByVector: prepareFactsByVector(readers, schema, path),
  };
}

/** `known`: the cache of facts in a writable store. It learns from the reads. */
export function prepareReads(
  { readers, writer, schema, path }: Connections,
  known: PartitionCache | undefined,
): Reads {
  const resolve = prepareResolve(readers, schema);
  return {
    adopted: prepareAdopted(readers, schema),
    archived: prepareArchiveReads(readers, schema),
    resolve: async (id) => {
      await writer?.lostStatementsEnded();
      return resolve(id);
    },
    entries: prepareEntries(readers, schema),
    head: prepareHead(readers, schema),
    trajectories: prepareTrajectories(readers, schema),
    trajectoriesToReview: prepareToReview(readers, schema),
    blob: prepareBlob(readers, schema),
    erasedBy: prepareErasedBy(readers, schema),
    find: prepareFind(readers, schema),
    oracleGet: prepareOracleGet(readers, schema),
    oracleWithin: prepareOracleWithin(readers, schema),
    oracleErased: prepareOracleErased(readers, schema),
    logSize: prepareLogSize(readers, schema),
    unlogged: prepareUnlogged(readers, schema),
    logNodes: prepareLogNodes(readers, schema),
    logIndex: prepareLogIndex(readers, schema),
    logged: prepareLogged(readers, schema),
    snapshot: prepareSnapshot(readers, schema),
    erasures: prepareErasures(readers, schema),
    openEffects: prepareOpenEffects(readers, schema),
    listEffects: prepareListEffects(readers, schema),
    effectsOf: prepareEffectsOf(readers, schema),
    effectKey: prepareEffectKey(readers, schema),
    hasEffectLog: prepareWereEffectsHeld(readers, schema),
    partition: preparePartition(readers, schema, path, known),
    ...prepareFactAnswers(readers, { schema, path }),
    claimKey: prepareClaimKey(readers, schema),
    spaces: prepareSpaces(readers, schema, path),
    branches: prepareBranches(readers, schema, path),
    textsToEmbed: prepareTextsToEmbed(readers, schema, path),
    isSealed: prepareIsSealed(readers, schema),
    hasSeals: async () =>
      (
        await readers.run({
          text: `SELECT 1 FROM "${schema}".entry WHERE seal IS NOT NULL LIMIT 1`,
        })
      ).length > 0,
    sideGet: prepareSideGet(readers, schema),
    sideList: prepareSideList(readers, schema),
  };
}
