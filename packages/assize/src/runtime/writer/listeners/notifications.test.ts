import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test, vi } from 'vitest';
import type { PendingPayload } from '#ledger';
import { seededRandom } from '#oracle';
import { deskOf, FaultyStore, payloads } from '../../../../../../tests/support/ledger/desk.ts';
import {
  doctor,
  pendingOf,
  severalOf,
} from '../../../../../../tests/support/ledger/multi-approval.ts';
import {
  HandClock,
  intent,
  runtimeOver,
  writFor,
} from '../../../../../../tests/support/ledger/runtime.ts';
import type { OpenPending } from '../../approve/list-pending.ts';
import type { RuntimeError } from '../../errors.ts';
import type { AssizeOptions } from '../../options.ts';
import type { PendingNotification, ResolvedNotification } from './notifications.ts';

const worker = writFor('agent');
const careful = writFor('careful', { require_approval: ['pay'] });
const one = deskOf();
const two = severalOf(2);
const apart = severalOf(2, 'footprint');
const MINUTE = 60_000;

async function begun(options: Partial<AssizeOptions> = {}, domain = two) {
  const store = new FaultyStore();
  const clock = new HandClock();
  const told: PendingNotification[] = [];
  const resolved: ResolvedNotification[] = [];
  const failed: RuntimeError[] = [];
  const assize = runtimeOver(store, [domain], {
    onNotificationFailed: (error) => failed.push(error),
    ...options,
    ports: { clock, ...options.ports },
    approvals: {
      timeoutMs: 10 * MINUTE,
      onPending: (notice) => told.push(notice),
      onResolved: (notice) => resolved.push(notice),
      ...options.approvals,
    },
  });
  const trajectory = await assize.create(domain, { trajectoryId: 't', writs: [worker, careful] });
  return { store, clock, assize, trajectory, told, resolved, failed };
}

const ask = intent('ask', { amount: 5 }, worker);

describe('a listener', () => {
  test('is notified once of each durable pending proposal and each resolution', async () => {
    const { store, trajectory, told, resolved } = await begun();
    const durable = Promise.withResolvers<void>();
    store.before = () => durable.promise;
    const asking = trajectory.propose(ask);
    await new Promise(setImmediate);
    expect(trajectory.approvals.pending()).toHaveLength(1);
    expect(told).toEqual([]);
    durable.resolve();
    const first = await pendingOf(asking);
    const [open] = trajectory.approvals.pending();
    const { proposal, digest } = (open as { payload: PendingPayload }).payload;
    const notice = {
      id: first,
      trajectoryId: 't',
      at: '2026-03-23T09:00:00.000000Z',
      channel: 'md',
      reason: 'invariant_escalated',
      detail: '5 is asked for',
      invariantId: 'ASKED_IS_APPROVED',
      approvals: 2,
      approvedBy: [],
      freezes: 'world',
      proposal,
      digest,
      expires: '2026-03-23T09:10:00.000000Z',
    };
    expect(told).toEqual([notice]);
    const second = await pendingOf(trajectory.approvals.approve(first, doctor('a')));
    const approvedBy = [
      { principal: 'dr-a', as: 'md', method: 'test', at: '2026-03-23T09:00:00.000000Z' },
    ];
    expect(told).toEqual([notice, { ...notice, id: second, approvedBy, resolves: first }]);
    expect(resolved).toEqual([]);
    const ruling = await trajectory.approvals.approve(second, doctor('b'));
    expect(resolved).toEqual([
      { id: second, trajectoryId: 't', ruling: { ...ruling, request: undefined } },
    ]);
    expect(told).toHaveLength(2);
  });

  test('is notified of rejections and expiries, and of no immediate ruling', async () => {
    const { clock, trajectory, told, resolved } = await begun();
    for (const amount of [1, 2])
      await pendingOf(trajectory.propose(intent('ask', { amount }, worker))).then(
        async (id) =>
          amount === 1 && trajectory.approvals.reject(id, doctor('a', { reason: 'no' }) as never),
      );
    clock.forward(10 * MINUTE);
    await trajectory.propose(intent('add', { by: 1 }, worker));
    await trajectory.propose(intent('add', { by: 100 }, worker));
    expect(
      resolved.map(({ id, ruling }) => [id, ruling.ruling === 'rejected' && ruling.reason]),
    ).toEqual([
      [told[0]?.id, 'counselor_rejected'],
      [told[1]?.id, 'expired'],
    ]);
    expect(told).toHaveLength(2);
  });

  test('receives its own copy: changing the copy changes nothing', async () => {
    const { store, trajectory } = await begun({
      approvals: {
        onPending: ({ proposal }) => Object.assign(proposal.action, { args: { amount: 9 } }),
      },
    });
    const first = await pendingOf(trajectory.propose(ask));
    await trajectory.approvals.approve(
      await pendingOf(trajectory.approvals.approve(first, doctor('a'))),
      doctor('b'),
    );
    expect((await payloads(store, 't'))[3]).toMatchObject({ action: { args: { amount: 5 } } });
  });

  test('may throw, reject, and fail to hear of that: nothing else fails for it', async () => {
    const broken = new Error('the mail server is away');
    for (const listener of [
      () => {
        throw broken;
      },
      async () => Promise.reject(broken),
    ]) {
      const { trajectory, failed } = await begun({
        approvals: { onPending: listener, onResolved: listener },
      });
      const first = await pendingOf(trajectory.propose(ask));
      const second = await pendingOf(trajectory.approvals.approve(first, doctor('a')));
      await trajectory.approvals.approve(second, doctor('b'));
      await new Promise(setImmediate);
      expect(failed.map(({ code, cause, evidence }) => [code, cause, evidence['id']])).toEqual([
        ['background_failed', broken, first],
        ['background_failed', broken, second],
        ['background_failed', broken, trajectory.head],
      ]);
    }
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const { trajectory } = await begun({
      approvals: { onPending: () => Promise.reject(broken) },
      onNotificationFailed: () => {
        throw new Error('nor can this');
      },
    });
    await pendingOf(trajectory.propose(ask));
    await new Promise(setImmediate);
    expect(warn.mock.calls.map(([error]) => (error as Error).message)).toEqual(['nor can this']);
    warn.mockRestore();
  });

  test('may decide immediately', async () => {
    const decided = Promise.withResolvers<unknown>();
    const { trajectory, resolved } = await begun(
      {
        approvals: {
          onPending: ({ id }) =>
            trajectory.approvals.approve(id, doctor('a')).then(decided.resolve, decided.reject),
        },
      },
      one,
    );
    await pendingOf(trajectory.propose(ask));
    expect(await decided.promise).toMatchObject({ ruling: 'committed' });
    expect(resolved).toHaveLength(1);
  });

  test('is notified once of a write that is found durable, never of a lost one', async () => {
    for (const [fault, times] of [
      ['conflict', 1],
      ['unknown, written', 1],
      ['unknown, lost', 0],
      ['thrown, lost', 0],
    ] as const) {
      const { store, trajectory, told } = await begun();
      store.commits = 0;
      store.plan = new Map([[1, fault]]);
      await trajectory.propose(ask).catch(() => undefined);
      expect([fault, told.length]).toEqual([fault, times]);
    }
  });

  test('is not notified of entries that are opened, replayed or foreign', async () => {
    const { store, trajectory } = await begun();
    const told: unknown[] = [];
    const listeners = {
      onPending: (notice: unknown) => told.push(notice),
      onResolved: (notice: unknown) => told.push(notice),
    };
    const first = await pendingOf(trajectory.propose(ask));
    const other = runtimeOver(store, [two], {
      approvals: listeners,
      ports: { random: seededRandom('other') },
    });
    const there = await other.open('t');
    const second = await pendingOf(trajectory.approvals.approve(first, doctor('a')));
    await there.approvals.statusOf(first);
    for await (const _ of other.pending());
    expect(await there.propose(intent('add', { by: 1 }, worker))).toMatchObject({
      ruling: 'frozen',
      by: second,
    });
    expect(told).toEqual([]);
    await there.approvals.approve(second, doctor('b'));
    expect(told).toMatchObject([{ id: second, ruling: { ruling: 'committed' } }]);
  });
});

describe('the pending proposals of a store', () => {
  async function all(found: AsyncIterable<OpenPending>): Promise<OpenPending[]> {
    const list = [];
    for await (const pending of found) list.push(pending);
    return list;
  }

  test('are found by a new runtime without the domain, by trajectory and channel', async () => {
    const { store, assize } = await begun({}, apart);
    const ids: [string, string, string][] = [];
    for (const name of ['u', 'v']) {
      const trajectory = await assize.create(apart, {
        trajectoryId: name,
        writs: [worker, careful],
      });
      ids.push([name, await pendingOf(trajectory.propose(ask)), 'md']);
      ids.push([
        name,
        await pendingOf(trajectory.propose(intent('pay', { usd: 0 }, careful))),
        'any',
      ]);
      const done = await pendingOf(trajectory.propose(intent('pay', { usd: 0 }, careful)));
      await trajectory.approvals.reject(done, doctor('a', { reason: 'no' }) as never);
    }
    const half = await (await assize.open('v')).approvals.approve(
      ids[2]?.[1] as string,
      doctor('a'),
    );
    ids.splice(2, 2, ids[3] as never, ['v', await pendingOf(half), 'md']);
    const stranger = runtimeOver(store, []);
    const found = async (query?: object) =>
      (await all(stranger.pending(query))).map(({ trajectoryId, id, payload }) => [
        trajectoryId,
        id,
        payload.channel,
      ]);
    expect(await found()).toEqual(ids);
    expect(await found({ trajectoryId: 'v' })).toEqual(ids.slice(2));
    expect(await found({ channel: 'any' })).toEqual(
      ids.filter(([, , channel]) => channel === 'any'),
    );
    expect(await found({ channel: 'md', trajectoryId: 'u' })).toEqual([ids[0]]);
    expect(await found({ channel: 'none' })).toEqual([]);
    await expect(all(stranger.pending({ trajectoryId: 'none' }))).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('are read one trajectory at a time, while the caller iterates', async () => {
    const below = new MemoryStore();
    const assize = runtimeOver(below, [one]);
    for (const name of ['a', 'b', 'c']) {
      const trajectory = await assize.create(one, { trajectoryId: name, writs: [worker] });
      await trajectory.propose(ask);
    }
    const read = new Set<string>();
    const entries = below.entries.bind(below);
    below.entries = (name, options) => {
      read.add(name);
      return entries(name, options);
    };
    for await (const { trajectoryId } of runtimeOver(below, []).pending()) {
      expect(trajectoryId).toBe('a');
      break;
    }
    expect([...read]).toEqual(['a']);
  });
});
