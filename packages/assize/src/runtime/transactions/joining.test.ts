import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import type { Membership, SharedEffectStore } from '#ledger';
import { seededRandom } from '#oracle';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { tally } from '../../../../../tests/support/tools/effect-sink.ts';
import { TransactionEngines } from './engine/engines.ts';

// Another process holds the store exclusively, and this process waits for it.
describe.each([
  ['one process at a time', false],
  ['several beside each other', true],
])('a transaction that waits for its lease, with %s', (_, shared) => {
  async function stage() {
    const store = new MemoryStore({ shared });
    const tenure = await store.leaseEffects();
    const assize = runtimeOver(store, [tally], { tools: [] });
    const trajectory = await assize.create(tally, { trajectoryId: 't' });
    const count = (signal?: AbortSignal, deadlineMs = 60_000) =>
      trajectory.transaction(
        { writ: writFor('alice'), writes: ['r:/a'], deadlineMs, ...(signal && { signal }) },
        (tx) => tx.propose({ action: 'count', role: 'counter', args: 'x' }),
      );
    return { store, tenure, assize, count };
  }

  const code = (made: Promise<unknown>): Promise<unknown> =>
    made.then(
      () => 'done',
      (error: { readonly code?: string; readonly message: string }) => error.code ?? error.message,
    );

  test('waits as long as its own signal allows, in any order of arrival', async () => {
    const { tenure, assize, count } = await stage();
    const [first, second] = [new AbortController(), new AbortController()];
    const waits = [count(first.signal), count(second.signal), count()].map(code);
    first.abort(new Error('the first has enough'));
    expect(await waits[0]).toBe('the first has enough');
    second.abort(new Error('the second has enough'));
    expect(await waits[1]).toBe('the second has enough');
    await tenure.release();
    expect(await waits[2]).toBe('done');
    await assize.close();
  });

  test('waits no longer than its deadline', async () => {
    const { tenure, assize, count } = await stage();
    const waits = code(count());
    expect(await code(count(undefined, 20))).toBe('deadline');
    await tenure.release();
    expect(await waits).toBe('done');
    await assize.close();
  });

  test('blocks no process after all waits were aborted, and may wait again', async () => {
    const { store, tenure, assize, count } = await stage();
    const giveUp = new AbortController();
    const waits = [count(giveUp.signal), count(giveUp.signal)].map(code);
    giveUp.abort(new Error('enough'));
    const again = code(count());
    expect(await Promise.all(waits)).toEqual(['enough', 'enough']);
    await tenure.release();
    expect(await again).toBe('done');
    await assize.close();
    await (await store.leaseEffects()).release();
  });

  test('fails immediately when the runtime is closed', async () => {
    const { store, tenure, assize, count } = await stage();
    const waits = [count(), count(new AbortController().signal)].map(code);
    await assize.close();
    expect(await Promise.all(waits)).toEqual(['closed', 'closed']);
    // No wait of the closed runtime remains.
    const next = store.leaseEffects();
    await tenure.release();
    await (await next).release();
  });

  test('releases a lease that was just granted when the runtime is closed', async () => {
    const { store, tenure, assize, count } = await stage();
    const wait = code(count());
    const given = tenure.release();
    const closed = assize.close();
    await Promise.all([given, closed]);
    expect(['closed', 'done', 'lease_lost']).toContain(await wait);
    await (await store.leaseEffects()).release();
  });
});

describe('several callers that find the membership lost', () => {
  async function stage() {
    const store = new MemoryStore({ shared: true }) as MemoryStore & SharedEffectStore;
    const memberships: Membership[] = [];
    const joined = store.joinEffects;
    store.joinEffects = async (options) => {
      const membership = await joined(options);
      memberships.push(membership);
      return membership;
    };
    const effects = new TransactionEngines({
      store,
      tools: [],
      entries: async () => [],
      requireSigner: async () => {},
      isElsewhere: async () => false,
      recoveryKey: new Uint8Array(32),
      random: seededRandom('joining'),
      pause: async () => {},
      callTimeoutMs: 1_000,
      blockTimeoutMs: 120_000,
      maxAttempts: 3,
      leaseMs: 600_000,
      frontier: 'derived',
      resolvers: undefined,
      blob: (hash) => store.blob(hash),
      entry: (id) => store.resolve(id),
      proposeOnFailure: async () => undefined,
      ledgerWriterOf: () => {
        throw new Error('no ledger writer is used here');
      },
    });
    const first = await effects.engine({});
    const lost = new Promise((resolve) =>
      first.coordination.lost!.addEventListener('abort', resolve),
    );
    await memberships[0]!.release();
    await first.coordination.confirmLease();
    await expect(first.coordination.adopt(1)).rejects.toMatchObject({ code: 'lease_lost' });
    await lost;
    return { effects, first, memberships };
  }

  test('concurrently: one joins again, and all have that', async () => {
    const { effects, first, memberships } = await stage();
    const all = await Promise.all([
      effects.engine({}),
      effects.restart(first, undefined).then(() => effects.engine({})),
      effects.engine({}),
      effects.restart(first, undefined).then(() => effects.engine({})),
    ]);
    expect(new Set(all).size).toBe(1);
    expect([all[0] === first, memberships.length]).toEqual([false, 2]);
    await effects.close();
  });

  test('leave an engine alone that has already rejoined', async () => {
    const { effects, first, memberships } = await stage();
    const second = await effects.engine({});
    await effects.restart(first, undefined);
    expect(await effects.engine({})).toBe(second);
    expect([second.isLeaseLost, memberships.length]).toEqual([false, 2]);
    await effects.close();
  });
});
