/**
 * A clock that is set back, on every store: time in the ledger only goes forward, and expired items
 * stay expired.
 */
import { expect, test } from 'vitest';
import { addMicros, instantFromMillis } from '#canon';
import { deskOf, payloads, soundState } from '../support/ledger/desk.ts';
import { HandClock, intent, runtimeOver, START, writFor } from '../support/ledger/runtime.ts';
import { onEveryStore } from '../support/ledger/stores.ts';
import { begun, CallerReport, expectOnce, file, processOver } from './callers.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

onEveryStore((stores) => {
  test('fault: a clock set back by five minutes: ledger time waits, no refusal', async () => {
    const place = stores.newPlace();
    const store = await place.open();
    const clock = new HandClock();
    const trajectory = await begun(store, { ports: { clock } });
    const told = new CallerReport();
    clock.forward(10 * MINUTE);
    await told.hear('first', file(trajectory, 'first'));
    clock.forward(-5 * MINUTE);
    await told.hear('second', file(trajectory, 'second'));
    // Another process with a clock that is also behind.
    await told.hear(
      'third',
      file(await processOver(await place.open(), { ports: { clock } }).open('t'), 'third'),
    );
    clock.forward(6 * MINUTE);
    await told.hear('fourth', file(trajectory, 'fourth'));
    expect(told.errors).toEqual([]);
    await expectOnce(store, told, ['first', 'second', 'third', 'fourth']);
    const times = (await payloads(store, 't')).map(({ at }) => at.slice(11, 16));
    expect(times).toEqual(['09:00', '09:10', '09:10', '09:10', '09:11']);
  });

  test('fault: a clock set back by an hour: ledger time waits, no refusal', async () => {
    const place = stores.newPlace();
    const store = await place.open();
    const clock = new HandClock();
    const trajectory = await begun(store, { ports: { clock } });
    const told = new CallerReport();
    await told.hear('first', file(trajectory, 'first'));
    clock.forward(-60 * MINUTE);
    await told.hear('second', file(trajectory, 'second'));
    await told.hear(
      'third',
      file(await processOver(await place.open(), { ports: { clock } }).open('t'), 'third'),
    );
    expect(told.errors).toEqual([]);
    await expectOnce(store, told, ['first', 'second', 'third']);
    const times = (await payloads(store, 't')).map(({ at }) => at.slice(11, 16));
    expect(times).toEqual(['09:00', '09:00', '09:00', '09:00']);
  });

  test('fault: a clock years ahead: clock_ahead, and others go on', async () => {
    const place = stores.newPlace();
    const store = await place.open();
    const here = new HandClock();
    // The machine's clock. Every store agrees with it.
    here.at = instantFromMillis(Date.now());
    const there = new HandClock();
    there.at = addMicros(here.at, 1_000 * 24 * 60 * MINUTE * 1_000);
    const writ = {
      not_before: '2020-01-01T00:00:00.000000Z',
      expires: '2999-01-01T00:00:00.000000Z',
    };
    const worker = writFor('agent', writ);
    const office = writFor('security', {
      ...writ,
      actions: ['assize.revoke'],
      scopes: ['writ:**'],
    });
    const desk = deskOf('footprint');
    const options = (clock: HandClock) => ({ ports: { clock }, maxClockAheadMs: 5 * MINUTE });
    const right = await runtimeOver(store, [desk], options(here)).create(desk, {
      trajectoryId: 't',
      writs: [worker],
    });
    const ahead = await runtimeOver(await place.open(), [desk], options(there)).open('t');
    await expect(ahead.propose(intent('add', { by: 1 }, worker))).rejects.toMatchObject({
      code: 'clock_ahead',
    });
    expect(await right.propose(intent('add', { by: 1 }, worker))).toMatchObject({
      ruling: 'committed',
    });
    const { ruling } = await ahead.writs.revoke({ writ: worker, by: office, reason: 'stolen' });
    expect(ruling).toMatchObject({ ruling: 'committed' });
    expect(await right.propose(intent('add', { by: 1 }, worker))).toMatchObject({
      ruling: 'rejected',
    });
    const times = (await payloads(store, 't')).map(({ at }) => at);
    expect(times).toEqual(times.toSorted());
    expect((times.at(-1) as string) < addMicros(here.at, 60 * MINUTE * 1_000)).toBe(true);
  });

  test('fault: a clock set back after an expiry: writ and approval stay expired', async () => {
    const place = stores.newPlace();
    const store = await place.open();
    const clock = new HandClock();
    const worker = writFor('agent');
    const brief = writFor('guest', {
      expires: START.replace('09:00:00', '09:01:00'),
      nonce: 'brief',
    });
    const desk = deskOf('footprint');
    const options = { ports: { clock }, approvals: { timeoutMs: MINUTE } };
    const assize = runtimeOver(store, [desk], options);
    const trajectory = await assize.create(desk, { trajectoryId: 't', writs: [worker, brief] });
    const asked = await trajectory.propose(intent('ask', { amount: 5 }, worker));
    const pending = asked.ruling === 'escalated' ? asked.pending : '';
    expect(await trajectory.propose(intent('add', { by: 1 }, brief))).toMatchObject({
      ruling: 'committed',
    });
    clock.forward(MINUTE);
    const late = { ruling: 'rejected', reason: 'invalid_authority' };
    expect(await trajectory.propose(intent('add', { by: 1 }, brief))).toMatchObject(late);
    clock.forward(-30 * SECOND);
    const again = await runtimeOver(await place.open(), [desk], options).open('t');
    for (const open of [trajectory, again]) {
      expect(await open.propose(intent('add', { by: 1 }, brief))).toMatchObject(late);
      const approving = open.approvals.approve(pending, { principal: 'dr-who', method: 'test' });
      await expect(approving).rejects.toMatchObject({ code: 'not_pending' });
    }
    expect(JSON.parse(await soundState(store, 't'))).toMatchObject({ n: 1, asked: 0 });
    const entries = await payloads(store, 't');
    expect(
      entries.filter((payload) => payload.kind === 'rejection' && payload.reason === 'expired'),
    ).toHaveLength(1);
    expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).toSorted());
  });
});
