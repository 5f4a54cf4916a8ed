import type { Lease } from 'assize/internal/ledger';
import type { Writes } from 'assize/internal/stores/native-port.ts';
import { rebuild } from 'assize/internal/stores/rebuild.ts';
import type { Connections } from '../connections.ts';
import { keepFacts, prepareOfferClaimKey, rebuildSteps } from '../facts/facts.ts';
import { putVectors } from '../facts/texts.ts';
import { prepareAdopt } from '../ledger/adoption.ts';
import { prepareArchiveWrites } from '../ledger/archive.ts';
import { prepareIntegrate } from '../ledger/log.ts';
import { prepareSealSome } from '../ledger/seals.ts';
import { prepareSidePut } from '../ledger/side.ts';
import { prepareDropSnapshots, preparePutSnapshot } from '../ledger/snapshot.ts';
import type { GroupCommit } from './group-commit.ts';

/** `writable` is called before each step of a rebuild, because a step can be long. */
export function prepareWrites(
  group: GroupCommit,
  { schema, path, answered }: Pick<Connections, 'schema' | 'path' | 'answered'>,
  by: {
    hold(signal: AbortSignal | undefined): Promise<Lease>;
    writable(): GroupCommit;
  },
): Writes {
  const adopt = prepareAdopt(schema);
  const integrate = prepareIntegrate(schema);
  const putSnapshot = preparePutSnapshot(schema);
  const dropSnapshots = prepareDropSnapshots(schema);
  const offerClaimKey = prepareOfferClaimKey(schema);
  const sidePut = prepareSidePut(schema);
  const sealSome = prepareSealSome(schema);
  return {
    commit: async (batch) => {
      const result = await group.commit(batch);
      if (result.status === 'committed') answered?.committed(batch);
      return result;
    },
    oraclePut: (row, within) => group.put(row, within),
    integrate: async (step) => {
      const isDone = await group.run(integrate(step));
      if (isDone) answered?.integrated(step);
      return isDone;
    },
    putSnapshot: (row, erasures) => group.run(putSnapshot(row, erasures)),
    dropSnapshots: () => group.run(dropSnapshots),
    leaseEffects: by.hold,
    adopt: (adoption) => group.run(adopt(adoption)),
    claimKey: (offered) => group.run(offerClaimKey(offered)),
    putVectors: (embedder, vectors) => putVectors(group, schema, embedder, vectors),
    rebuildFacts: (pages) => rebuild(pages, rebuildSteps(by.writable, schema, path)),
    keepFacts: () => group.run(keepFacts(schema)),
    sidePut: (changes) => group.run(sidePut(changes)),
    sealSome: (seals, after) => group.run(sealSome(seals, after)),
    archived: prepareArchiveWrites(group, schema),
  };
}
