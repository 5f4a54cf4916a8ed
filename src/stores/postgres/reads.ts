import type { Reads } from '../access.ts';
import type { FactAnswers } from '../moment.ts';
import { prepareBlob, prepareErasedBy } from './blob.ts';
import {
  prepareEffectKey,
  prepareEffectsOf,
  prepareListEffects,
  prepareOpenEffects,
  prepareWereEffectsHeld,
} from './effects.ts';
import { prepareEntries } from './entries.ts';
import {
  prepareBranches,
  prepareBranchPartitions,
  prepareClaimKey,
  prepareFacts,
  preparePartition,
  prepareSpaces,
} from './facts.ts';
import { prepareFind } from './find.ts';
import { prepareHead } from './head.ts';
import type { KnownFacts } from './known-facts.ts';
import { prepareLogged, prepareLogIndex, prepareLogNodes, prepareLogSize, prepareUnlogged } from './log.ts';
import { prepareOracleErased, prepareOracleGet, prepareOracleWithin } from './oracle.ts';
import type { Asking } from './readers.ts';
import { prepareResolve } from './resolve.ts';
import { prepareErasures, prepareSnapshot } from './snapshot.ts';
import type { Connections } from './store.ts';
import { prepareFactsByText, prepareFactsByVector, prepareTextsToEmbed } from './texts.ts';
import { prepareTrajectories } from './trajectories.ts';

/** Facts as whoever is asked sees them. */
export function prepareFactAnswers(
  readers: Asking,
  { schema, path }: Pick<Connections, 'schema' | 'path'>,
): FactAnswers {
  return {
    facts: prepareFacts(readers, schema, path),
    branchPartitions: prepareBranchPartitions(readers, schema, path),
    factsByText: prepareFactsByText(readers, schema, path),
    factsByVector: prepareFactsByVector(readers, schema, path),
  };
}

/** `known`: what a store that writes remembers of facts, and learns from what is read. */
export function prepareReads({ readers, writer, schema, path }: Connections, known: KnownFacts | undefined): Reads {
  const resolve = prepareResolve(readers, schema);
  return {
    resolve: async (id) => {
      await writer?.settled();
      return resolve(id);
    },
    entries: prepareEntries(readers, schema),
    head: prepareHead(readers, schema),
    trajectories: prepareTrajectories(readers, schema),
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
    wereEffectsHeld: prepareWereEffectsHeld(readers, schema),
    partition: preparePartition(readers, schema, path, known),
    ...prepareFactAnswers(readers, { schema, path }),
    claimKey: prepareClaimKey(readers, schema),
    spaces: prepareSpaces(readers, schema, path),
    branches: prepareBranches(readers, schema, path),
    textsToEmbed: prepareTextsToEmbed(readers, schema, path),
  };
}
