import { MemoryStore } from '@assize/testing/memory';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Sink } from '#effects';
import { seededRandom } from '#oracle';
import type { Trajectory, Transaction, TransactionOptions, TransactionOutcome } from '#runtime';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import {
  type Fault,
  type Outside,
  OutsideSink,
  Steps,
  storeOf,
  tally,
  toolFor,
} from '../support/tools/effect-sink.ts';
import { codeOf, hanging, never } from './hanging-tools.ts';

// A transaction has acted in a scope and does not end: it does not respond, is cancelled, or its
// process is dead. Others in that scope are blocked until its deadline and no longer; others in
// other scopes are not blocked. Time stands still here, and passes when a test says so.

const writ = writFor('alice');
const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;
const DEADLINE_MS = 1_000;
const CALL_MS = 100;
/** All the time that a tool may take that never answers: three calls, and three to undo it. */
const SILENCE_MS = 6 * CALL_MS;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

async function stage(fault?: Outside['fault'], sort: Sink = 'keyed') {
  const sink = new OutsideSink(sort);
  const outside = { sink, steps: new Steps(), ...(fault && { fault }) };
  const tools = [
    toolFor(outside, 'reversible', 'externalised'),
    toolFor(outside, 'irreversible', 'buffered'),
    ...hanging,
  ];
  const assize = runtimeOver(new MemoryStore(), [tally], {
    tools,
    effects: { callTimeoutMs: CALL_MS },
  });
  return { sink, assize, trajectory: await assize.create(tally, { trajectoryId: 't' }) };
}

/** Begins one that acts once, at a place that it claims, and commits. */
function follower(
  trajectory: Trajectory,
  what: string,
  at: string,
): Promise<TransactionOutcome<unknown>> {
  return trajectory.transaction({ writ, writes: [`test:${at}`], retries: 0 }, async (tx) => {
    await tx.call('reversible.externalised', { what, at });
    tx.propose(COUNT);
  });
}

const names = (of: string): string[] => Array.from({ length: 5 }, (_, i) => `${of} ${i}`);

type Body = (tx: Transaction, hung: () => void) => Promise<unknown>;
const acted = (body: Body): Body => {
  return async (tx, hung) => {
    await tx.call('reversible.externalised', { what: 'held', at: 'r' });
    return body(tx, hung);
  };
};

/** Holders that never end by themselves: their actions after they have acted at `r`. */
const HUNG: readonly [string, Body][] = [
  [
    'a body that never returns',
    (_, hung) => {
      hung();
      return never();
    },
  ],
  [
    'a body that does not hear',
    async (tx, hung) => {
      hung();
      for (let i = 0; i < 200; i++) {
        await tx
          .call('reversible.externalised', { what: `deaf ${i}`, at: 'r' })
          .catch(() => undefined);
        await new Promise((resolve) => setImmediate(resolve));
      }
      return never();
    },
  ],
  [
    'a tool that reads for ever',
    (tx, hung) => {
      hung();
      return tx.call('hanging.read', {});
    },
  ],
  [
    'a plan that is never made',
    (tx, hung) => {
      hung();
      return tx.call('hanging.plan', {});
    },
  ],
  [
    'a plan that nobody waits for',
    (tx, hung) => {
      void tx.call('hanging.plan', {}).catch(() => undefined);
      hung();
      return never();
    },
  ],
  [
    'a branch that never returns, beside one that has acted',
    (tx, hung) =>
      tx.speculate(
        [
          (one) => one.call('reversible.externalised', { what: 'branch', at: 'r' }),
          () => {
            hung();
            return never();
          },
        ],
        () => 0,
      ),
  ],
  [
    'a choice that is never made',
    (tx, hung) =>
      tx.speculate(
        [(one) => one.call('reversible.externalised', { what: 'branch', at: 'r' })],
        () => {
          hung();
          return never();
        },
      ),
  ],
];

describe.each(HUNG)('%s', (_, body) => {
  test.each(['its deadline', 'its caller'])(
    'blocks only later transactions in its scope, until %s ends it',
    async (end) => {
      const { sink, trajectory } = await stage();
      const cancel = new AbortController();
      const { promise: isHung, resolve: hung } = Promise.withResolvers<void>();
      const options: TransactionOptions = {
        writ,
        writes: ['test:r'],
        retries: 0,
        deadlineMs: DEADLINE_MS,
      };
      const holder = codeOf(
        trajectory.transaction({ ...options, signal: cancel.signal }, (tx) =>
          acted(body)(tx, hung),
        ),
      );
      await isHung;
      const here = Promise.all(names('here').map((what) => follower(trajectory, what, 'r')));
      // No time passes.
      await Promise.all(
        names('there').map((what) => follower(trajectory, what, what.replace(' ', ''))),
      );
      expect(sink.log.some(({ what }) => what.startsWith('here'))).toBe(false);
      if (end === 'its caller') cancel.abort(new Error('enough'));
      else await vi.advanceTimersByTimeAsync(DEADLINE_MS);
      expect(await holder).toBe('deadline');
      const done = await here;
      expect(done.map(({ effects }) => effects)).toEqual(Array(5).fill('settled'));
      // The holder's effects are compensated first, and none of them follows.
      const log = sink.log.map(({ did, what }) => `${did} ${what}`);
      const undone = log.lastIndexOf('undo held');
      expect(log.slice(undone + 1)).toEqual(names('do here'));
      expect([sink.standing('held'), sink.standing('branch')]).toEqual([0, 0]);
    },
  );
});

test('a gate wait for a hung transaction ends at its deadline, without effect', async () => {
  const { sink, trajectory } = await stage();
  const { promise: isHung, resolve: hung } = Promise.withResolvers<void>();
  const holder = codeOf(
    trajectory.transaction({ writ, writes: ['test:r'], deadlineMs: 10 * DEADLINE_MS }, () => {
      hung();
      return never();
    }),
  );
  await isHung;
  const { promise: isAtGate, resolve: atGate } = Promise.withResolvers<void>();
  const waiting = codeOf(
    trajectory.transaction(
      { writ, writes: ['test:r', 'test:s'], retries: 0, deadlineMs: DEADLINE_MS },
      async (tx) => {
        await tx.call('irreversible.buffered', { what: 'gated', at: 'r' });
        tx.propose(COUNT);
        atGate();
      },
    ),
  );
  await isAtGate;
  const behind = follower(trajectory, 'behind', 's');
  await vi.advanceTimersByTimeAsync(DEADLINE_MS);
  expect(await waiting).toBe('deadline');
  expect((await behind).effects).toBe('settled');
  await vi.advanceTimersByTimeAsync(9 * DEADLINE_MS);
  expect(await holder).toBe('deadline');
  expect(sink.log.map(({ what }) => what)).toEqual(['behind']);
});

/**
 * Sinks that never answer: a later transaction in the scope gets a named error as soon as the doubt
 * is certain, and does not run.
 */
describe.each<[string, Sink, (of: string) => Fault]>([
  ['to a call, of a keyed sink', 'keyed', (of) => (of === 'do' ? 'hang' : 'none')],
  ['to a call, of a blind sink', 'blind', (of) => (of === 'do' ? 'hang' : 'none')],
  ['to a question, of a queryable sink', 'queryable', (of) => (of === 'undo' ? 'none' : 'hang')],
  ['to what undoes it', 'keyed', (of) => (of === 'undo' ? 'hang' : 'none')],
])('no answer %s', (_, sort, fault) => {
  test('blocks others for no longer than calls can take', async () => {
    const { sink, assize, trajectory } = await stage(
      (of, what) => (what === 'held' || of === 'ask' ? fault(of) : 'none'),
      sort,
    );
    const { promise: isAt, resolve: at } = Promise.withResolvers<void>();
    const holder = codeOf(
      trajectory.transaction(
        { writ, writes: ['test:r'], retries: 0, deadlineMs: DEADLINE_MS },
        async (tx) => {
          at();
          await tx.call('reversible.externalised', { what: 'held', at: 'r' });
          throw new Error('undo it');
        },
      ),
    );
    await isAt;
    const here = Promise.all(names('here').map((what) => codeOf(follower(trajectory, what, 'r'))));
    await Promise.all(
      names('there').map((what) => follower(trajectory, what, what.replace(' ', ''))),
    );
    await vi.advanceTimersByTimeAsync(SILENCE_MS);
    expect(['outcome_unknown', 'undo it']).toContain(await holder);
    expect(await here).toEqual(Array(5).fill('resource_in_doubt'));
    expect(sink.log.some(({ what }) => what.startsWith('here'))).toBe(false);
    expect(await assize.recoverEffects()).toMatchObject([{ phase: 'in_doubt' }]);
  });
});

describe.each<Sink>(['keyed', 'queryable', 'blind'])(
  'a process that died, with a %s sink',
  (sort) => {
    test('does not block later transactions of its scope, after any last step', async () => {
      const ends = { waited: 0, refused: 0 };
      let processes = 0;
      for (let endAt = 1; ; endAt++) {
        const sink = new OutsideSink(sort);
        const store = new MemoryStore();
        await runtimeOver(store, [tally]).create(tally, { trajectoryId: 't' });
        const processOf = (steps: Steps) => {
          const outside = { sink, steps };
          const tools = [
            toolFor(outside, 'reversible', 'externalised'),
            toolFor(outside, 'irreversible', 'buffered'),
          ];
          // No process shares the randomness of another: not even its names and salts.
          const random = seededRandom(`process ${++processes}`);
          return runtimeOver(storeOf(store, steps), [tally], { tools, ports: { random } });
        };
        const steps = new Steps(endAt);
        const dying = await Promise.race([processOf(steps).open('t'), steps.ended]);
        const holder = dying?.transaction({ writ, writes: ['test:r'], retries: 0 }, async (tx) => {
          await tx.call('reversible.externalised', { what: 'old acted', at: 'r' });
          await tx.call('irreversible.buffered', { what: 'old held', at: 'r' });
          tx.propose(COUNT);
        });
        await Promise.race([holder, steps.ended]);
        if (!steps.isDead) break;
        const next = await processOf(new Steps()).open('t');
        const [here, there] = await Promise.all([
          Promise.all(names('here').map((what) => codeOf(follower(next, what, 'r')))),
          Promise.all(
            names('there').map((what) => codeOf(follower(next, what, what.replace(' ', '')))),
          ),
        ]);
        expect(there).toEqual(Array(5).fill('done'));
        const log = sink.log
          .filter(({ what }) => !what.startsWith('there'))
          .map(({ what }) => what);
        if (here.includes('done')) {
          expect(here).toEqual(Array(5).fill('done'));
          // All that was left to do of the dead one comes first.
          expect(log.slice(-5)).toEqual(names('here'));
          ends.waited++;
        } else {
          expect(here).toEqual(Array(5).fill('resource_in_doubt'));
          expect(log.some((what) => what.startsWith('here'))).toBe(false);
          ends.refused++;
        }
      }
      expect(ends.waited).toBeGreaterThan(2);
      expect(ends.refused > 0).toBe(sort === 'blind');
    });
  },
);

describe.each<[string, Fault, 'commit' | 'throw']>([
  ['is refused for good after the commit', 'fail_for_good', 'commit'],
  ['is refused again and again after the commit', 'fail', 'commit'],
  ['can’t be undone', 'fail', 'throw'],
  ['is never answered', 'hang', 'commit'],
])('one poisoned effect among 100 %s', (_, fault, ends) => {
  test('does not block the 99, is unresolved, and is named to later callers', async () => {
    const poisoned = 37;
    const { sink, assize, trajectory } = await stage((of, what) =>
      what === `one ${poisoned}` && (of === 'undo') === (ends === 'throw') ? fault : 'none',
    );
    const tool = ends === 'throw' ? 'reversible.externalised' : 'irreversible.buffered';
    const one = (i: number) =>
      trajectory.transaction({ writ, writes: [`test:r${i}`], retries: 0 }, async (tx) => {
        await tx.call(tool, { what: `one ${i}`, at: `r${i}` });
        if (i === poisoned && ends === 'throw') throw new Error('undo it');
        tx.propose(COUNT);
      });
    const all = Array.from({ length: 100 }, (_, i) => i);
    const made = all.map(one);
    const poison = codeOf(made[poisoned]!);
    // Behind it, at its place.
    const behind = Promise.all(
      names('here').map((what) => codeOf(follower(trajectory, what, `r${poisoned}`))),
    );
    const others = await Promise.all(made.filter((_, i) => i !== poisoned));
    expect(others.every(({ effects }) => effects === 'settled')).toBe(true);
    for (const i of all) if (i !== poisoned) expect(sink.times('do', `one ${i}`)).toBe(1);
    if (fault === 'hang') await vi.advanceTimersByTimeAsync(SILENCE_MS);
    await poison;
    expect(await behind).toEqual(Array(5).fill('resource_in_doubt'));
    expect(await codeOf(follower(trajectory, 'later', `r${poisoned}`))).toBe('resource_in_doubt');
    expect(await codeOf(follower(trajectory, 'elsewhere', 'r-other'))).toBe('done');
    expect(await assize.recoverEffects()).toHaveLength(1);
  });
});
