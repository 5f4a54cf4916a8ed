import {
  Assize,
  createOracle,
  defineDomain,
  generateKeys,
  issueWrit,
  openStore,
  seededRandom,
  systemClock,
} from 'assize';
import type { Judge, Memory, MemoryRuntimeOptions, Ruling } from 'assize/internal/runtime';
import { z } from 'zod';

/** A store with one memory space, in which runtimes say something as processes of their own do. */
export interface OwnMemory {
  /** The store's oracle. It records the votes and keeps them. */
  readonly oracle: Judge['oracle'];
  /**
   * The memory of a separate runtime that asserts and recalls. The first caller creates the
   * trajectory.
   */
  begin(trajectoryId: string, services?: MemoryRuntimeOptions): Promise<Memory>;
  close(): Promise<void>;
}

type Strategy = 'lww' | 'evi' | 'rule';

const SPACE = 'experiment';

/**
 * The default store is in memory. On SQLite no write waits for the disk. Predicates are
 * single-valued.
 */
export async function openOwnMemory(
  predicates: Readonly<Record<string, Strategy>>,
  seed: string,
  url = 'memory:',
): Promise<OwnMemory> {
  const domain = defineDomain({
    name: 'experiment',
    version: '1',
    state: z.object({}),
    initial: {},
    processes: {},
    roles: {},
    actions: {},
    invariants: [],
    memory: {
      predicates: Object.fromEntries(
        Object.entries(predicates).map(([name, strategy]) => [
          name,
          { cardinality: 'single-valued', strategy },
        ]),
      ),
    },
  });
  const keys = generateKeys(seededRandom(`keys ${seed}`).bytes(32));
  const writ = issueWrit(
    {
      issuer: keys.publicKey,
      subject: 'agent',
      actions: ['assize.believe'],
      scopes: [`memory:${SPACE}:**`],
      not_before: '2000-01-01T00:00:00.000000Z',
      expires: '2100-01-01T00:00:00.000000Z',
      max_depth: 0,
      nonce: seed,
    },
    keys.privateKey,
  );
  const store = await openStore(url, url === 'memory:' ? {} : { durability: 'off' });
  return {
    oracle: createOracle({ store, clock: systemClock, mode: 'record' }),
    begin: async (trajectoryId, services) => {
      const assize = new Assize({
        store,
        domains: [domain],
        anchors: [keys.publicKey],
        ...(services && { memory: services }),
      });
      const isThere = (await store.head(trajectoryId)) !== undefined;
      const trajectory = await (isThere
        ? assize.open(trajectoryId, domain)
        : assize.create(domain, { trajectoryId, writs: [writ] }));
      return trajectory.memory({ space: SPACE, writ });
    },
    close: () => store.close(),
  };
}

/**
 * Thrown for a process that ends once the judge's vote is in the log. No commit depends on that
 * vote.
 */
export class EndingOracle extends Error {
  override readonly name = 'Ended';
}

export function endingAfterVote(oracle: Judge['oracle']): Judge['oracle'] {
  return {
    ...oracle,
    consult: async (asking) => {
      await oracle.consult(asking);
      throw new EndingOracle('the process has ended');
    },
  };
}

/**
 * Whether the process ended before its assertion was committed. Otherwise the assertion is a
 * current fact, or is stored as the loser.
 */
export async function hasEnded(saying: Promise<Ruling>): Promise<boolean> {
  try {
    await committed(saying);
    return false;
  } catch (error) {
    if (error instanceof EndingOracle) return true;
    throw error;
  }
}

/** Requires that the assertion is committed. Without the commit, the experiment shows nothing. */
export async function committed(saying: Promise<Ruling>): Promise<void> {
  const { ruling } = await saying;
  if (ruling !== 'committed') throw new Error(`What was to be said is ${ruling}.`);
}
