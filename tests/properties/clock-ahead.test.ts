/**
 * Hosts with clocks that differ share a trajectory. A host that is ahead of the store's clock is
 * refused, and no clock delays revocations and rejections (docs/decisions/004-time-of-an-entry.md).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { Writ } from '#authority';
import { addMicros, type Instant } from '#canon';
import type { Clock } from '#oracle';
import { type Assize, type Trajectory, verifyStore } from '#runtime';
import { openStore } from '#stores';
import { granted, task } from '../support/ledger/delegations.ts';
import { deskOf, payloads } from '../support/ledger/desk.ts';
import { HandClock, intent, runtimeOver, START, writFor } from '../support/ledger/runtime.ts';

const MINUTE = 60_000;
const MONTH = 30 * 24 * 60 * MINUTE;
const YEAR = 365 * 24 * 60 * MINUTE;
const desk = deskOf('footprint');
const worker = writFor('worker');
const guest = writFor('guest');
const office = writFor('security', {
  actions: ['assize.revoke'],
  scopes: ['writ:**'],
  nonce: 'office',
});
const dr = { principal: 'dr-who', method: 'test', reason: 'no' };

/** A store with a clock of its own, and hosts whose clocks differ from it. */
class Hosts {
  readonly clock = new HandClock();
  readonly store: MemoryStore = new MemoryStore({ clock: this.clock });

  host(aheadMs: number, more: { maxClockAheadMs?: number | 'unlimited' } = {}): Assize {
    const clock: Clock = { now: () => addMicros(this.clock.at, aheadMs * 1_000) };
    return runtimeOver(this.store, [desk], {
      maxClockAheadMs: 5 * MINUTE,
      ...more,
      ports: { clock },
    });
  }

  async begun(): Promise<Trajectory> {
    return this.host(0).create(desk, { trajectoryId: 't', writs: [worker, guest, office] });
  }

  async times(): Promise<Instant[]> {
    return (await payloads(this.store, 't')).map(({ at }) => at);
  }
}

const add = (writ: Writ = worker) => intent('add', { by: 1 }, writ);

describe('a host whose clock is ahead', () => {
  test('cannot write, and the error names its clock; other hosts go on', async () => {
    const hosts = new Hosts();
    const right = await hosts.begun();
    const ahead = await hosts.host(6 * MINUTE).open('t');
    await expect(ahead.propose(add())).rejects.toMatchObject({
      code: 'clock_ahead',
      message:
        "The clock of this host reads 2026-03-23T09:06:00.000000Z, which is more than 300 seconds ahead of the store's clock (2026-03-23T09:00:00.000000Z). Set the clock of this host.",
    });
    expect(await right.propose(add())).toMatchObject({ ruling: 'committed' });
    expect(await right.writs.revoke({ writ: worker, by: office, reason: 'stolen' })).toMatchObject({
      ruling: { ruling: 'committed' },
    });
    expect(await hosts.times()).toEqual([START, START, START]);
  });

  test('a clock ahead goes on up to the limit that the options set', async () => {
    const hosts = new Hosts();
    await hosts.begun();
    for (const [aheadMs, more] of [
      [5 * MINUTE, {}],
      [MONTH, { maxClockAheadMs: MONTH }],
      [2 * MONTH, { maxClockAheadMs: 'unlimited' }],
    ] as const) {
      const host = await hosts.host(aheadMs, more).open('t');
      expect(await host.propose(add())).toMatchObject({ ruling: 'committed' });
    }
    const strict = await hosts.host(3 * MONTH, { maxClockAheadMs: 0 }).open('t');
    await expect(strict.propose(add())).rejects.toMatchObject({ code: 'clock_ahead' });
  });

  test('creates and branches nothing', async () => {
    const hosts = new Hosts();
    const { head } = await hosts.begun();
    const ahead = hosts.host(6 * MINUTE);
    await expect(ahead.create(desk, { trajectoryId: 'u' })).rejects.toMatchObject({
      code: 'clock_ahead',
    });
    await expect(ahead.branch('t', head, { note: 'b' })).rejects.toMatchObject({
      code: 'clock_ahead',
    });
    expect(await hosts.store.trajectories()).toHaveLength(1);
  });

  test('revokes and rejects at the time of the store', async () => {
    const hosts = new Hosts();
    const right = await hosts.begun();
    const asked = await right.propose(intent('ask', { amount: 1 }, worker));
    const pending = asked.ruling === 'escalated' ? asked.pending : '';
    hosts.clock.forward(MINUTE);
    const ahead = await hosts.host(YEAR).open('t');
    expect(await ahead.approvals.reject(pending, dr)).toMatchObject({ ruling: 'rejected' });
    hosts.clock.forward(MINUTE);
    const revoked = await ahead.writs.revoke({ writ: worker, by: office, reason: 'stolen' });
    expect(revoked.ruling).toMatchObject({ ruling: 'committed' });
    expect((await hosts.times()).map((at) => at.slice(11, 16))).toEqual([
      '09:00',
      '09:00',
      '09:01',
      '09:02',
    ]);
    await expect(ahead.propose(add(guest))).rejects.toMatchObject({ code: 'clock_ahead' });
    expect(await right.propose(add(guest))).toMatchObject({ ruling: 'committed' });
  });

  test('expires no approval early', async () => {
    const hosts = new Hosts();
    await hosts.begun();
    const options = { approvals: { timeoutMs: MINUTE }, maxClockAheadMs: 5 * MINUTE };
    const clockOf = (aheadMs: number): Clock => ({
      now: () => addMicros(hosts.clock.at, aheadMs * 1_000),
    });
    const right = await runtimeOver(hosts.store, [desk], {
      ...options,
      ports: { clock: clockOf(0) },
    }).open('t');
    const ahead = await runtimeOver(hosts.store, [desk], {
      ...options,
      ports: { clock: clockOf(YEAR) },
    }).open('t');
    const asked = await right.propose(intent('ask', { amount: 1 }, worker));
    const pending = asked.ruling === 'escalated' ? asked.pending : '';
    const late = await hosts.host(YEAR).open('t');
    await expect(ahead.approvals.approve(pending, dr)).rejects.toMatchObject({
      code: 'clock_ahead',
    });
    await expect(late.propose(add())).rejects.toMatchObject({ code: 'clock_ahead' });
    expect(await ahead.approvals.reject(pending, dr)).toMatchObject({
      reason: 'counselor_rejected',
    });
  });
});

describe('a ledger that is ahead of the store', () => {
  test('goes on at its last time, for every host', async () => {
    const hosts = new Hosts();
    const right = await hosts.begun();
    const wild = await hosts.host(MONTH, { maxClockAheadMs: 'unlimited' }).open('t');
    expect(await wild.propose(add())).toMatchObject({ ruling: 'committed' });
    const last = (await hosts.times()).at(-1);
    const asked = await right.propose(intent('ask', { amount: 1 }, worker));
    const pending = asked.ruling === 'escalated' ? asked.pending : '';
    expect(await right.approvals.approve(pending, dr)).toMatchObject({ ruling: 'committed' });
    const behind = await hosts.host(-YEAR).open('t');
    expect(
      (await behind.writs.revoke({ writ: guest, by: office, reason: 'r' })).ruling.ruling,
    ).toBe('committed');
    expect(new Set((await hosts.times()).slice(1))).toEqual(new Set([last]));
  });

  test('takes a revocation of a clock that is further ahead', async () => {
    const hosts = new Hosts();
    await hosts.begun();
    const wild = await hosts.host(MONTH, { maxClockAheadMs: 'unlimited' }).open('t');
    await wild.propose(add());
    const wilder = await hosts.host(YEAR).open('t');
    expect(
      (await wilder.writs.revoke({ writ: worker, by: office, reason: 'r' })).ruling.ruling,
    ).toBe('committed');
    const times = await hosts.times();
    expect(times.at(-1)).toBe(times.at(-2));
  });
});

describe('a delegated trajectory', () => {
  test('adopts a revocation on a host that is ahead, and gives no answer there', async () => {
    const hosts = new Hosts();
    const parent = await hosts
      .host(0)
      .create(desk, { trajectoryId: 't', writs: [granted, office] });
    await parent.delegations.delegate(task());
    const wild = hosts.host(MONTH);
    const ahead = await wild.open('t');
    await expect(
      ahead.delegations.delegate(task({ childTrajectoryId: 'd', budget: { usd: 1 } })),
    ).rejects.toMatchObject({
      code: 'clock_ahead',
    });
    await expect((await wild.open('c')).delegations.answer()).rejects.toMatchObject({
      code: 'clock_ahead',
    });
    hosts.clock.forward(MINUTE);
    const { ruling, propagated } = await ahead.writs.revoke({
      writ: granted,
      by: office,
      reason: 'r',
    });
    expect([ruling.ruling, propagated]).toEqual(['committed', [{ trajectoryId: 'c' }]]);
    const adopted = (await payloads(hosts.store, 'c')).at(-1);
    expect(adopted).toMatchObject({
      kind: 'commit',
      at: hosts.clock.at,
      action: { name: 'assize.revoke' },
    });
    expect(await parent.delegations.conclude(parent.delegations.open()[0]!.id)).toMatchObject({
      kind: 'delegation',
    });
    for (const { fault } of await verifyStore(hosts.store)) expect(fault).toBeUndefined();
  });
});

describe('each store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-clock-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  for (const [name, open] of [
    ['memory', (clock: Clock) => openStore('memory:', { clock })],
    ['SQLite', (clock: Clock) => openStore(`sqlite:${join(folder, 'store.db')}`, { clock })],
  ] as const)
    test(`with ${name}: an injected clock decides`, async () => {
      const clock = new HandClock();
      const store = await open(clock);
      const host = new HandClock();
      host.forward(5 * MINUTE + 1);
      const assize = runtimeOver(store, [desk], {
        maxClockAheadMs: 5 * MINUTE,
        ports: { clock: host },
      });
      await expect(assize.create(desk, { trajectoryId: 't' })).rejects.toMatchObject({
        code: 'clock_ahead',
      });
      clock.forward(1);
      expect(await assize.create(desk, { trajectoryId: 't' })).toMatchObject({ length: 1 });
      await store.close();
    });

  test('a clock or a limit of another type is refused', async () => {
    await expect(openStore('memory:', { clock: {} as never })).rejects.toMatchObject({
      code: 'store_invalid_input',
    });
    for (const maxClockAheadMs of [-1, 0.5, Number.NaN, '5', 10 ** 12])
      expect(() => new Hosts().host(0, { maxClockAheadMs: maxClockAheadMs as never })).toThrow(
        /maxClockAheadMs/,
      );
  });
});

describe('property', () => {
  const step = fc.record({
    host: fc.nat({ max: 3 }),
    does: fc.constantFrom('propose', 'ask', 'approve', 'reject', 'revoke', 'wait', 'setBack'),
    ms: fc.integer({ min: 1, max: 20 * MINUTE }),
  });
  const leads = fc.array(fc.integer({ min: -YEAR, max: YEAR }), { minLength: 4, maxLength: 4 });

  test('no clock moves the ledger beyond the limit, or stops another host', async () => {
    await fc.assert(
      fc.asyncProperty(leads, fc.array(step, { maxLength: 25 }), async (aheadMs, steps) => {
        const hosts = new Hosts();
        await hosts.begun();
        const open = await Promise.all(aheadMs.map((ms) => hosts.host(ms).open('t')));
        /** The latest time that a host within the limit could have given an entry. */
        let most = START;
        let revoked = false;
        const pending: string[] = [];
        for (const { host, does, ms } of steps) {
          if (does === 'wait') hosts.clock.forward(ms);
          if (does === 'setBack') hosts.clock.forward(-ms);
          const limit = addMicros(hosts.clock.at, 5 * MINUTE * 1_000);
          most = most < limit ? limit : most;
          const trajectory = open[host] as Trajectory;
          const lead = aheadMs[host] as number;
          const here = addMicros(hosts.clock.at, lead * 1_000);
          const head = (await hosts.times()).at(-1) as Instant;
          const isRefused = lead > 5 * MINUTE && here > head;
          const answer = await attempt(trajectory, does, pending.at(-1)).catch(
            (error: { code: string }) => error.code,
          );
          if (does === 'wait' || does === 'setBack') continue;
          if (does === 'propose')
            expect(answer).toBe(isRefused ? 'clock_ahead' : revoked ? 'rejected' : 'committed');
          if (does === 'ask') {
            const ruling = revoked ? 'rejected' : 'escalated';
            // A refused host may not know the open approval of another host.
            if (isRefused) expect(['frozen', 'clock_ahead']).toContain(answer);
            else expect(answer).toBe(pending.length > 0 ? 'frozen' : ruling);
          }
          if (does === 'approve') expect(answer).not.toBe(isRefused ? 'committed' : 'clock_ahead');
          if (does === 'reject')
            expect(answer).toBe(pending.length > 0 ? 'rejected' : 'not_pending');
          if (does === 'revoke') expect(answer).toBe('committed');
          revoked ||= does === 'revoke';
          pending.splice(0, pending.length, ...(await openPendings(hosts)));
        }
        const times = await hosts.times();
        expect(times).toEqual(times.toSorted());
        for (const at of times) expect(at <= most).toBe(true);
        for (const { fault } of await verifyStore(hosts.store)) expect(fault).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  async function attempt(
    trajectory: Trajectory,
    does: string,
    pending = 'a'.repeat(64),
  ): Promise<string | undefined> {
    if (does === 'propose') return (await trajectory.propose(add())).ruling;
    if (does === 'ask')
      return (await trajectory.propose(intent('ask', { amount: 1 }, worker))).ruling;
    if (does === 'approve') return (await trajectory.approvals.approve(pending, dr)).ruling;
    if (does === 'reject') return (await trajectory.approvals.reject(pending, dr)).ruling;
    if (does === 'revoke')
      return (await trajectory.writs.revoke({ writ: worker, by: office, reason: 'r' })).ruling
        .ruling;
    return undefined;
  }

  async function openPendings(hosts: Hosts): Promise<Set<string>> {
    const found = new Set<string>();
    for await (const { id } of hosts.host(0).pending({ trajectoryId: 't' })) found.add(id);
    return found;
  }
});
