import { MemoryStore } from '@assize/testing/memory';
import { z } from 'zod';
import { canonicalize } from '#canon';
import { type Domain, defineDomain, escalate, pass, reject } from '#kernel';
import {
  type Batch,
  type CommitResult,
  type EntryRow,
  type Hash,
  type LedgerStore,
  type Payload,
  Replayer,
  type TrajectoryInfo,
} from '#ledger';
import { verifyStore } from '#runtime';

const deskState = z.object({
  n: z.number().int(),
  /** The requested amount, and the amount that a human approved. */
  asked: z.number().int(),
  approved: z.number().int(),
  by: z.string(),
  boxes: z.record(z.string(), z.array(z.string())),
  data: z.unknown(),
});
export type DeskState = z.infer<typeof deskState>;

/**
 * A desk. `add` is the plain case and may not exceed ten. `ask` needs an approval. `put` accesses
 * one box only. `pay` costs budget. `keep` accepts any JSON. `fail` throws.
 */
export function deskOf(freeze: 'world' | 'footprint' | 'reserve' = 'world', version = '1'): Domain {
  return defineDomain({
    name: 'desk',
    version,
    freeze,
    state: deskState,
    initial: { n: 0, asked: 0, approved: 0, by: '', boxes: {}, data: null },
    counselors: {
      md: (principal) => principal.startsWith('dr-'),
      clerk: (principal) => principal.startsWith('clerk-'),
    },
    processes: {
      counting: { writes: ['/n'] },
      asking: { writes: ['/asked'] },
      filing: { writes: ['/boxes/{box}'] },
      paying: {},
      keeping: { writes: ['/data'] },
    },
    roles: {
      worker: { processes: ['counting', 'asking', 'paying', 'keeping'] },
      asker: { processes: ['asking'] },
      filer: { params: ['box'], processes: ['filing'] },
    },
    actions: {
      add: {
        process: 'counting',
        args: z.object({ by: z.number().int() }),
        apply: (state, { by }) => {
          state.n += by;
        },
      },
      ask: {
        process: 'asking',
        args: z.object({ amount: z.number().int() }),
        apply: (state, { amount }) => {
          state.asked += amount;
        },
      },
      put: {
        process: 'filing',
        args: z.object({ paper: z.string() }),
        apply: (state, { paper }, { role }) => {
          const box = role['box'] as string;
          if (state.boxes[box] === undefined) state.boxes[box] = [];
          state.boxes[box].push(paper);
        },
      },
      pay: {
        process: 'paying',
        args: z.object({ usd: z.number().int().nonnegative() }),
        cost: ({ usd }) => ({ usd }),
        scopes: ({ usd }) => [usd > 1_000 ? 'till:large' : 'till:small'],
        apply: () => {},
      },
      keep: {
        process: 'keeping',
        args: z.object({ value: z.unknown() }),
        apply: (state, { value }, { observations }) => {
          state.data =
            observations.length === 0 ? value : (observations.map((seen) => seen.value) as never);
        },
      },
      fail: {
        process: 'keeping',
        args: z.object({}),
        apply: () => {
          throw new Error('it can’t be done');
        },
      },
    },
    invariants: ({ invariant }) => [
      invariant(
        'TEN_AT_MOST',
        ['/n'],
        ({ n }) => (n <= 10 ? pass : reject(`${n} is more than ten`)),
        {
          overridable: true,
        },
      ),
      invariant(
        'ASKED_IS_APPROVED',
        ['/asked', '/approved', '/by'],
        ({ asked, approved }) => (asked <= approved ? pass : escalate(`${asked} is asked for`)),
        {
          channel: 'md',
          onApprove: (state, { counselor }) => {
            state.approved = state.asked;
            state.by = counselor;
          },
        },
      ),
      invariant(
        'NEVER_OVER_100',
        ['/asked'],
        ({ asked }) => (asked <= 100 ? pass : reject('more than a hundred')),
        {
          overridable: true,
        },
      ),
    ],
  });
}

export const desk: Domain = deskOf();

/** The behaviour of a store in one commit. */
export type Fault =
  | 'none'
  | 'conflict'
  | 'unknown, lost'
  | 'unknown, written'
  | 'thrown, lost'
  | 'thrown, written';

/** A store that fails on demand, commit by commit; reads are those of the store below. */
export class FaultyStore implements LedgerStore {
  readonly below: LedgerStore;
  commits = 0;
  /** The fault of the n-th commit from now, starting with 1. */
  plan: ReadonlyMap<number, Fault> = new Map();
  /** Called before anything is written. */
  before: (batch: Batch) => void | Promise<void> = () => {};

  constructor(below: LedgerStore = new MemoryStore()) {
    this.below = below;
  }

  async commit(batch: Batch): Promise<CommitResult> {
    const fault = this.plan.get(++this.commits) ?? 'none';
    await this.before(batch);
    if (fault === 'conflict') {
      const [row] = batch.entries as [EntryRow];
      return { status: 'conflict', trajectory_id: row.trajectory_id, seq: row.seq };
    }
    const written = fault.endsWith('lost') ? undefined : await this.below.commit(batch);
    if (fault.startsWith('thrown')) throw new Error('the store threw');
    if (fault.startsWith('unknown')) return { status: 'unknown', cause: new Error('no reply') };
    return written as CommitResult;
  }

  resolve(id: Hash): Promise<EntryRow | undefined> {
    return this.below.resolve(id);
  }
  erasedBy(hash: Hash): Promise<Hash | undefined> {
    return this.below.erasedBy(hash);
  }
  entries(trajectoryId: string, options?: { from?: number; limit?: number }): Promise<EntryRow[]> {
    return this.below.entries(trajectoryId, options);
  }
  head(trajectoryId: string): Promise<EntryRow | undefined> {
    return this.below.head(trajectoryId);
  }
  trajectories(): Promise<TrajectoryInfo[]> {
    return this.below.trajectories();
  }
  blob(hash: Hash): Promise<string | undefined> {
    return this.below.blob(hash);
  }
  find(prefix: string): Promise<EntryRow[]> {
    return this.below.find(prefix);
  }
  close(): Promise<void> {
    return this.below.close();
  }
}

export async function allEntries(store: LedgerStore, trajectoryId: string): Promise<EntryRow[]> {
  return store.entries(trajectoryId, { limit: 100_000 });
}

export async function payloads(store: LedgerStore, trajectoryId: string): Promise<Payload[]> {
  return (await allEntries(store, trajectoryId)).map((row) => JSON.parse(row.payload) as Payload);
}

/** The world as its ledger has it, in canonical text; throws unless every trajectory verifies. */
export async function soundState(store: LedgerStore, trajectoryId: string): Promise<string> {
  for (const { fault } of await verifyStore(store))
    if (fault !== undefined) throw new Error(JSON.stringify(fault));
  return canonicalize((await new Replayer(store).replay(trajectoryId)).fold.state);
}
