import { setTimeout as sleep } from 'node:timers/promises';
import { ServerError } from '@assize/command/operation';
import { MemoryStore } from '@assize/testing/memory';
import type { EntryRow } from 'assize/internal/ledger';
import { type Ruling, rulingOf } from 'assize/internal/runtime';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { desk } from '../../../../tests/support/ledger/desk.ts';
import {
  ChainWriter,
  commitMembers,
  rootMembers,
  second,
} from '../../../../tests/support/ledger/rows.ts';
import { intent, runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { type EventStreamOptions, eventOf, eventStream } from './event-stream.ts';
import { LogTail } from './log-tail.ts';

/** Other work may keep the machine busy. */
const PATIENCE = { timeout: 60_000 };

const textOf = (position: number, row: EntryRow) =>
  eventOf(position, row, { at: async (one) => rulingOf(one), entry: async () => undefined });

const fail = (error: unknown): never => expect.unreachable(String(error));

interface Logged {
  readonly store: MemoryStore;
  readonly tail: LogTail;
  readonly propose: (count: number, id?: 't' | 'u') => Promise<void>;
}

/** Two trajectories whose proposals are logged, and the tail of the log. */
async function logged(): Promise<Logged> {
  const store = new MemoryStore();
  const assize = runtimeOver(store, [desk]);
  const create = (trajectoryId: string) =>
    assize.create(desk, { trajectoryId, writs: [writFor('alice')] });
  const trajectories = { t: await create('t'), u: await create('u') };
  const tail = new LogTail(store, { pollMs: 5, onFailure: fail, textOf });
  await tail.start();
  onTestFinished(() => tail.stop());
  const propose: Logged['propose'] = async (count, id = 't') => {
    for (let n = 0; n < count; n++) {
      await trajectories[id].propose(intent('keep', { value: n }, writFor('alice')));
      tail.wake();
    }
  };
  return { store, tail, propose };
}

function streamOf(tail: LogTail, options: Partial<EventStreamOptions>) {
  const ended = vi.fn();
  const cut = vi.fn();
  const leaving = new AbortController();
  const requireStanding = async (): Promise<void> => undefined;
  const fixed = {
    filter: {},
    from: 0,
    signal: leaving.signal,
    cut,
    onEnd: ended,
    onFailure: fail,
    requireStanding,
  };
  const reader = eventStream(tail, { ...fixed, ...options }).getReader();
  return { reader, ended, cut, leave: () => leaving.abort() };
}

/** Ids of the events of a text, without the first one: it says where the stream begins. */
function idsIn(text: string): number[] {
  const events = text.split('\n\n').filter((event) => !event.includes('event: ready'));
  return events.flatMap((event) => (/^id: (-?\d+)$/m.exec(event) ?? []).slice(1).map(Number));
}

/** Reads until the stream has given that many events, and then breaks off. */
async function take(stream: ReturnType<typeof streamOf>, count: number): Promise<number[]> {
  const ids: number[] = [];
  while (ids.length < count) {
    const { value, done } = await stream.reader.read();
    if (done) break;
    ids.push(...idsIn(Buffer.from(value).toString()));
  }
  await stream.reader.cancel();
  return ids;
}

test('readers that reconnect see each position of the log once, in order', async () => {
  const plans = fc.array(
    fc.record({ commits: fc.nat(6), takes: fc.integer({ min: 1, max: 12 }) }),
    { maxLength: 5 },
  );
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const { store, tail, propose } = await logged();
      const total = (await tail.size()) + plan.reduce((sum, { commits }) => sum + commits, 0);
      const committing = plan.reduce(
        (before, { commits }) => before.then(() => propose(commits)),
        Promise.resolve(),
      );
      const seen: number[] = [];
      for (const { takes } of plan) {
        if (seen.length >= total) break;
        const stream = streamOf(tail, { from: seen.length });
        seen.push(...(await take(stream, Math.min(takes, total - seen.length))));
        expect(stream.ended).toHaveBeenCalledTimes(1);
      }
      await committing;
      const rest = streamOf(tail, { from: seen.length });
      const size = await tail.size();
      if (size > seen.length) seen.push(...(await take(rest, size - seen.length)));
      rest.leave();
      expect(seen).toEqual(Array.from({ length: size }, (_, position) => position));
      expect((await store.logged(0, 1_000)).length).toBe(size);
      expect(tail.listeners).toBe(0);
      await tail.stop();
    }),
    { numRuns: cases(200) },
  );
});

test('a reader of one trajectory sees its entries once, between others', async () => {
  const plans = fc.array(
    fc.record({ id: fc.constantFrom('t' as const, 'u' as const), commits: fc.nat(3) }),
  );
  await fc.assert(
    fc.asyncProperty(plans, plans, fc.nat(3), async (early, late, from) => {
      const { store, tail, propose } = await logged();
      const stream = streamOf(tail, { from, filter: { trajectory: 't' } });
      const seen: number[] = [];
      const read = async () => {
        for (let part = await stream.reader.read(); !part.done; part = await stream.reader.read())
          seen.push(...idsIn(Buffer.from(part.value).toString()));
      };
      for (const { id, commits } of early) await propose(commits, id);
      const reading = read();
      for (const { id, commits } of late) await propose(commits, id);
      await propose(1, 't');
      await tail.size();
      const rows = await store.logged(0, 1_000);
      const own = rows.flatMap(({ trajectory_id }, at) =>
        trajectory_id === 't' && at >= from ? [at] : [],
      );
      await vi.waitFor(() => expect(seen.at(-1)).toBe(own.at(-1)), PATIENCE);
      stream.leave();
      await reading;
      expect(seen).toEqual(own);
      await tail.stop();
    }),
    { numRuns: cases(100) },
  );
});

test('an idle stream reads nothing for the entries of other trajectories', async () => {
  const { tail, propose } = await logged();
  let heard = 0;
  onTestFinished(tail.listen(({ to }) => (heard = to)));
  const stream = streamOf(tail, { from: await tail.size(), filter: { trajectory: 'other' } });
  await stream.reader.read();
  const waiting = stream.reader.read();
  await propose(1);
  await vi.waitFor(async () => expect(heard).toBe(await tail.size()), PATIENCE);
  const read = vi.spyOn(tail, 'read');
  await propose(3);
  await vi.waitFor(async () => expect(heard).toBe(await tail.size()), PATIENCE);
  expect(read).not.toHaveBeenCalled();
  stream.leave();
  expect((await waiting).done).toBe(true);
});

test('a filter passes only entries of its trajectory and kind', async () => {
  const { tail, propose } = await logged();
  await propose(3);
  await tail.size();
  const other = streamOf(tail, { filter: { trajectory: 'other' }, keepAliveMs: 20 });
  const commits = streamOf(tail, { filter: { kind: 'commit' } });
  expect(await take(commits, 3)).toHaveLength(3);
  const texts = [await other.reader.read(), await other.reader.read()].map(
    ({ value }) => `${Buffer.from(value!)}`,
  );
  expect(texts[0]).toContain('event: ready');
  expect(texts[1]).toBe('event: alive\ndata: {}\n\n');
  other.leave();
  expect((await other.reader.read()).done).toBe(true);
  expect(other.ended).toHaveBeenCalledTimes(1);
});

test('a reader that takes nothing is cut, and nothing is read ahead', async () => {
  const { store, tail, propose } = await logged();
  const read = vi.spyOn(store, 'logged');
  const stream = streamOf(tail, { keepAliveMs: 10 });
  await stream.reader.read();
  await propose(5);
  await vi.waitFor(() => expect(stream.cut).toHaveBeenCalledTimes(1), PATIENCE);
  expect(stream.ended).toHaveBeenCalledTimes(1);
  expect(tail.listeners).toBe(0);
  read.mockClear();
  await sleep(30);
  expect(read).not.toHaveBeenCalled();
  expect((await stream.reader.read()).done).toBe(true);
});

test('a stream ends with a failed read, and says so', async () => {
  const { store, tail } = await logged();
  const onFailure = vi.fn();
  const failing = new LogTail(store, { pollMs: 1_000, onFailure: () => undefined, textOf });
  vi.spyOn(failing, 'read').mockRejectedValue(new Error('the disk is gone'));
  const stream = streamOf(failing, { onFailure });
  await stream.reader.read();
  expect((await stream.reader.read()).done).toBe(true);
  expect(onFailure).toHaveBeenCalledTimes(1);
  expect(stream.ended).toHaveBeenCalledTimes(1);
  await tail.stop();
});

/** A check of the reader that can be changed while the stream is open. */
function standing() {
  const check = { asked: 0, error: undefined as unknown };
  const requireStanding = async (): Promise<void> => {
    check.asked += 1;
    if (check.error !== undefined) throw check.error;
  };
  return { check, requireStanding };
}

const REVOKED = new ServerError('unauthenticated', 'The token is revoked.');

test('an idle stream ends when its reader has lost its authority', async () => {
  const { tail } = await logged();
  const { check, requireStanding } = standing();
  const from = await tail.size();
  const stream = streamOf(tail, { from, requireStanding, standingMs: 5 });
  await stream.reader.read();
  const next = stream.reader.read();
  await vi.waitFor(() => expect(check.asked).toBeGreaterThan(2), PATIENCE);
  expect(stream.ended).not.toHaveBeenCalled();
  check.error = REVOKED;
  expect((await next).done).toBe(true);
  expect(stream.ended).toHaveBeenCalledTimes(1);
  // The reader gets the end in order, so its connection stays whole.
  expect(stream.cut).not.toHaveBeenCalled();
  expect(tail.listeners).toBe(0);
});

test('no event is sent to a reader that has lost its authority', async () => {
  const { tail, propose } = await logged();
  const { check, requireStanding } = standing();
  const stream = streamOf(tail, { from: await tail.size(), requireStanding });
  await stream.reader.read();
  await propose(1);
  expect(idsIn(`${Buffer.from((await stream.reader.read()).value!)}`)).toHaveLength(1);
  expect(check.asked).toBe(1);
  check.error = REVOKED;
  const next = stream.reader.read();
  await propose(1);
  expect(await next).toEqual({ done: true, value: undefined });
  expect(check.asked).toBe(2);
  expect(stream.ended).toHaveBeenCalledTimes(1);
});

test('a reader that takes nothing and lost its authority is cut', async () => {
  const { tail } = await logged();
  const { check, requireStanding } = standing();
  const stream = streamOf(tail, { requireStanding, standingMs: 5 });
  await stream.reader.read();
  check.error = REVOKED;
  await vi.waitFor(() => expect(stream.cut).toHaveBeenCalledTimes(1), PATIENCE);
  expect((await stream.reader.read()).done).toBe(true);
});

test('a check without an answer ends no idle stream, and is reported once', async () => {
  const { tail } = await logged();
  const { check, requireStanding } = standing();
  const onFailure = vi.fn();
  const from = await tail.size();
  const stream = streamOf(tail, { from, requireStanding, standingMs: 5, onFailure });
  await stream.reader.read();
  const next = stream.reader.read();
  for (let outage = 1; outage <= 2; outage++) {
    check.error = new Error('the disk is gone');
    const before = check.asked;
    await vi.waitFor(() => expect(check.asked).toBeGreaterThan(before + 3), PATIENCE);
    expect(onFailure).toHaveBeenCalledTimes(outage);
    check.error = undefined;
    const after = check.asked;
    await vi.waitFor(() => expect(check.asked).toBeGreaterThan(after + 1), PATIENCE);
  }
  expect(stream.ended).not.toHaveBeenCalled();
  stream.leave();
  expect((await next).done).toBe(true);
});

test('events without an answer about their reader are not sent', async () => {
  const { tail } = await logged();
  const { check, requireStanding } = standing();
  check.error = new Error('the disk is gone');
  const onFailure = vi.fn();
  const stream = streamOf(tail, { requireStanding, onFailure });
  await stream.reader.read();
  expect((await stream.reader.read()).done).toBe(true);
  expect(onFailure).toHaveBeenCalledTimes(1);
  expect(stream.ended).toHaveBeenCalledTimes(1);
});

test('an event has the changed keys of the memory and the calls of a commit', async () => {
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({}));
  const held = { $blob: 'a'.repeat(64), bytes: 1, salted: true };
  const times = { cardinality: 'single-valued', system_time: second(0) };
  const change = { partition: held, version: 1, insert: [], close: [], ...times };
  const effect = (digit: string) => ({ id: digit.repeat(64), effect: held });
  writer.add(
    'commit',
    commitMembers([], {
      delta: { state: [], effects: [effect('b'), effect('c')], beliefs: [change] },
    }),
  );
  writer.add('commit', commitMembers());
  const calls = ['b', 'c'].map(
    (digit) => ({ id: digit.repeat(64), tool: 'pay', phase: 'applied' }) as const,
  );
  const at = async (row: EntryRow) => ({ ...rulingOf(row), effects: 'settled', calls }) as Ruling;
  const rulings = { at, entry: async () => undefined };
  const texts = writer.rows.map((row, position) => eventOf(position, row, rulings));
  const whole = await Promise.all(texts.map((text) => (typeof text === 'string' ? text : text())));
  const told = whole.map((text) => JSON.parse(/^data: (.*)$/m.exec(text)![1]!));
  expect(told.map(({ beliefs, effects, calls }) => [beliefs, effects, calls])).toEqual([
    [undefined, undefined, undefined],
    [1, 'settled', calls],
    [undefined, undefined, undefined],
  ]);
});
