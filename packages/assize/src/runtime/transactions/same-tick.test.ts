import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool, type Resolvers } from '#effects';
import type { Transaction } from '#runtime';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { tally } from '../../../../../tests/support/tools/effect-sink.ts';

// Claims that change in the same tick as a call that needs them: each call is checked against the
// calls before it.

const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;
const PLACE = { writes: ['test:r'] } as const;
const ELSEWHERE = { writes: ['test:s'] } as const;

/** `expand` and `release` of one claim, and calls that need it. */
const STEPS = ['expand', 'release', 'act', 'hold', 'read'] as const;
type Step = (typeof STEPS)[number];

/** A step at one of two places. */
interface StepAt {
  readonly step: Step;
  readonly at: 'r' | 's';
}

/** The caller: the transaction itself or one of its branches. Branches share its claims. */
type By = 'itself' | 'a branch';

async function stage({
  shared = false,
  names = false,
  store = new MemoryStore({ shared }),
}: {
  readonly shared?: boolean;
  readonly names?: boolean;
  readonly store?: MemoryStore;
} = {}) {
  const acting = { r: 0, s: 0 };
  /** The maximum number of concurrent calls at one place. */
  const seen = { most: 0 };
  const log: string[] = [];
  /** Additional actions of a call, by its name. */
  const hooks: Record<string, () => Promise<unknown>> = {};
  const input = z.strictObject({
    at: z.enum(['r', 's']).optional(),
    by: z.string().optional(),
    fails: z.boolean().optional(),
  });
  type Input = z.infer<typeof input>;
  const place = ({ at = 'r' }: Input): string[] => [`test:${at}`];
  const lasting = async (what: string | undefined): Promise<void> => {
    if (what !== undefined) log.push(`${what} begins`);
    for (let turn = 0; turn < 4; turn++) await nextTurn();
    await hooks[what ?? '']?.();
    if (what !== undefined) log.push(`${what} ends`);
  };
  const tools = [
    declareTool({
      name: 'act',
      input,
      class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
      writes: place,
      execute: async ({ at = 'r', by }) => {
        seen.most = Math.max(seen.most, ++acting[at]);
        await lasting(by);
        acting[at]--;
      },
      compensate: async () => ({ undone: 'all' as const }),
    }),
    declareTool({
      name: 'hold',
      input,
      class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
      writes: place,
      plan: ({ fails }) => {
        if (fails === true) throw new Error('there is no plan');
      },
      execute: async () => undefined,
    }),
    declareTool({
      name: 'read',
      input,
      class: 'read',
      reads: place,
      execute: async ({ by }) => {
        await lasting(by);
        return null;
      },
    }),
  ];
  const resolvers: Resolvers = { test: async (scope) => [scope] };
  const assize = runtimeOver(store, [tally], { tools, ...(names && { effects: { resolvers } }) });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const run = (
    writes: readonly string[],
    body: (tx: Transaction) => Promise<unknown>,
    deadlineMs?: number,
  ) =>
    trajectory.transaction(
      { writ: writFor('alice'), writes, retries: 0, ...(deadlineMs && { deadlineMs }) },
      async (tx) => {
        const value = await body(tx);
        tx.propose(COUNT);
        return value;
      },
    );

  /**
   * The result of each step, called in one tick; with `isBeside`, next to a younger transaction
   * that acts at the first place. Excludes a claim after a release, because it is stale or not,
   * depending on the timing.
   */
  async function inOneTick(
    steps: readonly (Step | StepAt)[],
    isClaimed: boolean,
    by: By,
    isBeside = true,
  ): Promise<string[]> {
    const body = async (tx: Transaction): Promise<string[]> => {
      const all = async (caller: Transaction) => {
        const made = steps.map((each) => {
          const { step, at } = typeof each === 'string' ? { step: each, at: 'r' as const } : each;
          return step === 'expand' || step === 'release'
            ? tx[step]({ writes: [`test:${at}`] })
            : caller.call(step, { at });
        });
        return (await Promise.allSettled(made)).map((each) =>
          each.status === 'fulfilled' ? 'done' : String(each.reason.reason),
        );
      };
      return by === 'itself' ? all(tx) : tx.nested(all);
    };
    const old = run(isClaimed ? [...PLACE.writes, ...ELSEWHERE.writes] : ['test:other'], body);
    const isAgain = steps
      .map((each) => (typeof each === 'string' ? each : each.step))
      .join()
      .match(/release.*expand/);
    const young =
      isBeside && isAgain === null ? run(PLACE.writes, (tx) => tx.call('act', {})) : undefined;
    const [{ value }] = await Promise.all([old, young?.catch(() => undefined)]);
    return value as string[];
  }
  return { seen, log, hooks, run, inOneTick };
}

/** The result of each step if each one ends before the next is called. */
function inOrder(steps: readonly Step[], isClaimed: boolean): string[] {
  let claims = isClaimed ? 1 : 0;
  let isNeeded = false;
  return steps.map((step) => {
    if (step === 'expand') claims++;
    else if (claims === 0 || (step === 'release' && claims === 1 && isNeeded))
      return 'scope_exceeded';
    else if (step === 'release') claims--;
    else if (step !== 'read') isNeeded = true;
    return 'done';
  });
}

const ofLength = (length: number): Step[][] =>
  length === 0
    ? [[]]
    : ofLength(length - 1).flatMap((before) => STEPS.map((step) => [...before, step]));

describe.each(['itself', 'a branch'] as const)('called by %s', (by) => {
  test('a released scope is not accessed, and two never act there concurrently', async () => {
    const { seen, inOneTick } = await stage();
    expect(await inOneTick(['release', 'act'], true, by)).toEqual(['done', 'scope_exceeded']);
    expect(seen.most).toBe(1);
  });

  test('a scope claimed before may be accessed', async () => {
    const { inOneTick } = await stage();
    for (const call of ['act', 'hold', 'read'] as const)
      expect(await inOneTick(['expand', call], false, by)).toEqual(['done', 'done']);
  });

  test('a needed scope is not released after a call; two never act concurrently', async () => {
    const { seen, inOneTick } = await stage();
    for (const call of ['act', 'hold'] as const)
      expect(await inOneTick([call, 'release'], true, by)).toEqual(['done', 'scope_exceeded']);
    expect(seen.most).toBe(1);
  });

  test('up to three steps have their sequential outcome', async () => {
    const { seen, inOneTick } = await stage();
    for (const steps of [...ofLength(1), ...ofLength(2), ...ofLength(3)])
      for (const isClaimed of [true, false])
        expect([steps, isClaimed, await inOneTick(steps, isClaimed, by)]).toEqual([
          steps,
          isClaimed,
          inOrder(steps, isClaimed),
        ]);
    expect(seen.most).toBe(1);
  });
});

describe('the claim of a call that failed before it accessed the scope', () => {
  test('is released if its plan threw, but not if another call needs it', async () => {
    const { run } = await stage();
    await run(PLACE.writes, async (tx) => {
      await expect(tx.call('hold', { fails: true })).rejects.toThrow('there is no plan');
      await tx.release(PLACE);
    });
    await run(PLACE.writes, async (tx) => {
      await tx.call('hold', {});
      await expect(tx.call('hold', { fails: true })).rejects.toThrow('there is no plan');
      await expect(tx.release(PLACE)).rejects.toMatchObject({ reason: 'scope_exceeded' });
    });
  });
});

// A release takes effect some time after its call.
test.each(['awaited', 'together', 'after a call'] as const)(
  'in shared mode nothing acts under a released claim: %s',
  async (order) => {
    const { seen, run } = await stage({ shared: true });
    const old = run(PLACE.writes, async (tx) => {
      if (order === 'awaited') await tx.release(PLACE);
      const made =
        order === 'awaited'
          ? [tx.call('act', {})]
          : order === 'together'
            ? [tx.release(PLACE), tx.call('act', {})]
            : [tx.call('act', {}), tx.release(PLACE)];
      return (await Promise.allSettled(made)).map((each) =>
        each.status === 'fulfilled' ? 'done' : each.reason.reason,
      );
    });
    const young = run(PLACE.writes, (tx) => tx.call('act', {}));
    const [{ value }] = await Promise.all([old, young]);
    const refused = 'scope_exceeded';
    expect(value).toEqual(
      { awaited: [refused], together: ['done', refused], 'after a call': ['done', refused] }[order],
    );
    expect(seen.most).toBe(1);
  },
);

const stepsAt = fc.array(
  fc.record({ step: fc.constantFrom(...STEPS), at: fc.constantFrom<StepAt['at']>('r', 's') }),
  {
    maxLength: 6,
  },
);

test.each([
  { shared: false, names: false },
  { shared: true, names: false },
  { shared: false, names: true },
  { shared: true, names: true },
])(
  'on two scopes outcomes are sequential: shared $shared, aliases $names',
  async ({ shared, names }) => {
    const { seen, inOneTick } = await stage({ shared, names });
    await fc.assert(
      fc.asyncProperty(
        stepsAt,
        fc.boolean(),
        fc.constantFrom<By>('itself', 'a branch'),
        async (steps, isClaimed, by) => {
          const expected = new Map<StepAt, string>();
          for (const at of ['r', 's'] as const) {
            const there = steps.filter((each) => each.at === at);
            const outcomes = inOrder(
              there.map(({ step }) => step),
              isClaimed,
            );
            for (const [n, each] of there.entries()) expected.set(each, outcomes[n]!);
          }
          expect(await inOneTick(steps, isClaimed, by, isClaimed)).toEqual(
            steps.map((each) => expected.get(each)),
          );
        },
      ),
      { numRuns: 60 },
    );
    expect(seen.most).toBe(1);
  },
);

const WHILE = ['in its tick', 'while it is made', 'while it waits for its turn'] as const;

describe.each([false, true])(
  'a read before a release precedes all later access: shared %s',
  (shared) => {
    test.each(WHILE)('released %s', async (when) => {
      const { log, run } = await stage({ shared });
      const others =
        when === 'while it waits for its turn'
          ? [run(PLACE.writes, (tx) => tx.call('act', { by: 'old' }))]
          : [];
      const own = run(PLACE.writes, async (tx) => {
        const read = tx.call('read', { by: 'own' });
        if (when === 'while it is made') while (!log.includes('own begins')) await nextTurn();
        await Promise.all([read, tx.release(PLACE)]);
        log.push('given up');
        await young;
      });
      const young: Promise<unknown> = run(PLACE.writes, (tx) => tx.call('act', { by: 'young' }));
      await Promise.all([...others, own, young]);
      const before = others.length === 0 ? [] : ['old begins', 'old ends'];
      expect(log).toEqual([
        ...before,
        'own begins',
        'own ends',
        'given up',
        'young begins',
        'young ends',
      ]);
    });
  },
);

/** Long compared with the steps of a test, and short compared with its timeout. */
const SOON_MS = 300;

describe.each([false, true])('no deadlock between waiters: shared %s', (shared) => {
  test('a tool that claims more while another call waits for its turn', async () => {
    const { log, hooks, run } = await stage({ shared });
    await run(PLACE.writes, async (tx) => {
      hooks['first'] = () => tx.expand(ELSEWHERE);
      await Promise.all([tx.call('act', { by: 'first' }), tx.call('act', { by: 'second' })]);
      await tx.call('act', { at: 's' });
    });
    expect(log).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
  });

  test('a body that expands before it lets a call go on, next to a queued call', async () => {
    const { hooks, run } = await stage({ shared });
    await run(PLACE.writes, async (tx) => {
      const go = Promise.withResolvers<void>();
      hooks['first'] = () => go.promise;
      const calls = [tx.call('act', { by: 'first' }), tx.call('act', { by: 'second' })];
      await tx.expand(ELSEWHERE);
      go.resolve();
      await Promise.all(calls);
    });
  });

  test('a release by a branch that ends during the release takes effect', async () => {
    const { hooks, run } = await stage({ shared });
    const go = Promise.withResolvers<void>();
    hooks['slow'] = () => go.promise;
    let young: Promise<unknown> | undefined;
    await run(PLACE.writes, async (tx) => {
      let released: Promise<void> | undefined;
      const tried = tx.nested(async (branch) => {
        branch.call('read', { by: 'slow' }).catch(() => undefined);
        released = branch.release(PLACE);
        released.catch(() => undefined);
        await nextTurn();
        throw new Error('it comes to nothing');
      });
      await expect(tried).rejects.toThrow('it comes to nothing');
      go.resolve();
      await released;
      young = run(PLACE.writes, (tx) => tx.call('act', {}));
      await young;
    });
    await young;
  });

  test('a release does not wait for reads of another release', async () => {
    const { log, hooks, run } = await stage({ shared });
    await run([...PLACE.writes, ...ELSEWHERE.writes], async (tx) => {
      const go = Promise.withResolvers<void>();
      hooks['slow'] = () => go.promise;
      const read = tx.call('read', { at: 's', by: 'slow' });
      const other = tx.release(ELSEWHERE).then(() => log.push('s is given up'));
      await tx.release(PLACE);
      log.push('r is given up');
      go.resolve();
      await Promise.all([read, other]);
    });
    expect(log).toEqual(['slow begins', 'r is given up', 'slow ends', 's is given up']);
  });
});

test('a wait for a claim without an answer ends at its deadline', async () => {
  const store = new MemoryStore({ shared: true });
  const share = store.joinEffects!;
  let isDead = false;
  Object.assign(store, {
    joinEffects: async (...given: Parameters<typeof share>) => {
      const membership = await share(...given);
      const exchange: typeof membership.exchange = (heard, said, look) => {
        if (said.some(({ is }) => is === 'grown')) isDead = true;
        return isDead ? new Promise(() => undefined) : membership.exchange(heard, said, look);
      };
      return { ...membership, exchange };
    },
  });
  const { run } = await stage({ store });
  const made = run(
    PLACE.writes,
    async (tx) => {
      const expanded = tx.expand(ELSEWHERE);
      expanded.catch(() => undefined);
      await tx.call('hold', {});
      await expanded;
    },
    SOON_MS,
  );
  await expect(made).rejects.toMatchObject({ code: 'deadline' });
});

test('claims and releases copy their scope list at the call', async () => {
  const { run } = await stage();
  const has: string[] = [];
  await run(PLACE.writes, async (tx) => {
    const writes = ['test:a'];
    const changes = [tx.expand({ writes })];
    for (const next of ['test:b', 'test:c']) {
      writes[0] = next;
      changes.push(tx.expand({ writes }));
    }
    writes[0] = 'test:b';
    changes.push(tx.release({ writes }));
    writes[0] = 'test:nowhere';
    await Promise.all(changes);
    has.push(...tx.claims.map(({ scope }) => scope.text).sort());
  });
  expect(has).toEqual(['test:a', 'test:c', 'test:r']);
});
