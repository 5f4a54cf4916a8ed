import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import type { EffectStore, Lease, Membership, SharedEffectStore } from '#ledger';
import { seededRandom } from '#oracle';
import type { Trajectory, Transaction } from '#runtime';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { unhandledIn } from '../../../../../tests/support/process/errors.ts';
import {
  type Outside,
  OutsideSink,
  Steps,
  storeOf,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';

// A process that loses its lease gets the error from awaited calls only. An unhandled rejection
// would end the process.

const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;
const options = { writ: writFor('alice'), writes: ['test:**'], retries: 0, deadlineMs: 5_000 };
const acts = (tx: Transaction, what: string) => tx.call('reversible.externalised', { what });
const holds = (tx: Transaction, what: string) => tx.call('irreversible.buffered', { what });

type Bodies = (trajectory: Trajectory) => Promise<unknown>;

const BODIES: readonly [name: string, does: Bodies][] = [
  [
    'commits',
    (trajectory) =>
      trajectory.transaction(options, async (tx) => {
        await Promise.all([acts(tx, 'a'), acts(tx, 'b'), holds(tx, 'c')]);
        tx.propose(COUNT);
      }),
  ],
  [
    'throws',
    (trajectory) =>
      trajectory.transaction(options, async (tx) => {
        await acts(tx, 'a');
        throw new Error('it has had enough');
      }),
  ],
  [
    'tries branches',
    (trajectory) =>
      trajectory.transaction(options, async (tx) => {
        await tx.speculate(
          [(branch) => acts(branch, 'a'), (branch) => holds(branch, 'b')],
          () => 1,
        );
        tx.propose(COUNT);
      }),
  ],
  [
    'comes several times',
    (trajectory) =>
      Promise.all(
        ['1', '1', '2'].map((name) =>
          trajectory.transaction({ ...options, name }, async (tx) => {
            await acts(tx, `a${name}`);
            tx.propose(COUNT);
          }),
        ),
      ),
  ],
];

/** A transaction of a process that ends in the middle of it, for the next process. */
async function leave(store: Store, outside: Outside): Promise<void> {
  const steps = new Steps(5);
  const random = seededRandom('left');
  const dying = await runtimeOver(storeOf(store, steps), [tally], {
    tools: toolsOf({ ...outside, steps }),
    ports: { random },
  }).open('t');
  await Promise.race([
    // However slow the machine is.
    dying.transaction({ ...options, deadlineMs: 60_000 }, async (tx) => {
      await acts(tx, 'left');
      await acts(tx, 'left too');
    }),
    steps.ended,
  ]);
  expect(await store.openEffects()).toHaveLength(1);
}

const toolsOf = (outside: Outside) => [
  toolFor(outside, 'reversible', 'externalised'),
  toolFor(outside, 'irreversible', 'buffered'),
];

type Held = Pick<Lease | Membership, 'release'>;
type Store = MemoryStore & EffectStore & Partial<SharedEffectStore>;

/** A store that runs a step before or after one of its writes. */
function doing(store: Store, at: number, what: (held: Held) => Promise<void>) {
  let held: Held | undefined;
  const seen = { steps: 0 };
  const step = async (): Promise<void> => {
    if (++seen.steps === at && held !== undefined) await what(held);
  };
  const own = new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== 'function') return member;
      const call = (...given: unknown[]): Promise<any> => Reflect.apply(member, target, given);
      if (name === 'leaseEffects' || name === 'joinEffects')
        return async (...given: unknown[]) => (held = (await call(...given)) as Held);
      if (name !== 'commit' && name !== 'logEffects') return call;
      return async (...given: unknown[]) => {
        await step();
        const answer = await call(...given);
        await step();
        return answer;
      };
    },
  });
  return { own, seen };
}

/** Another process has the lease from now on. */
async function taken(store: Store, held: Held): Promise<void> {
  await held.release();
  const next =
    store.joinEffects === undefined
      ? store.leaseEffects()
      : store.joinEffects({ leaseMs: 600_000 });
  await (await next).release();
}

describe.each([
  ['one process at a time', false],
  ['several beside each other', true],
])('of %s', (_, shared) => {
  describe.each<[string, readonly string[], (store: Store, held: Held) => Promise<void>]>([
    ['loses its place', ['lease_lost'], taken],
    // A closed store also ends memberships.
    ['loses its store', ['store_closed', 'lease_lost'], async (store) => void store.close()],
  ])('a process that %s at any write', (_, codes, loses) => {
    test.each(BODIES)('and %s receives the error, and continues', async (_, does) => {
      const told = new Set<unknown>();
      for (let at = 1; ; at++) {
        const store = new MemoryStore({ shared }) as Store;
        await runtimeOver(store, [tally]).create(tally, { trajectoryId: 't' });
        const outside = { sink: new OutsideSink('keyed'), steps: new Steps() };
        await leave(store, outside);
        const { own, seen } = doing(store, at, (held) => loses(store, held));
        const assize = runtimeOver(own, [tally], { tools: toolsOf(outside) });
        const unhandled = await unhandledIn(async () => {
          const trajectory = await assize.open('t');
          const [done] = await Promise.allSettled([does(trajectory)]);
          if (done.status === 'rejected') {
            told.add(done.reason.code);
            if (done.reason.code === 'lease_lost')
              expect([at, done.reason.cause]).toEqual([at, expect.any(Error)]);
          }
          await Promise.allSettled([assize.close(), store.close()]);
        });
        expect([at, unhandled]).toEqual([at, []]);
        if (seen.steps < at) break;
      }
      expect(codes.some((code) => told.has(code))).toBe(true);
    });
  });
});
