/** Each public function that takes a time takes a `Date`, any ISO instant and a day. */

import { extractFacts } from '@assize/agents/internal/agents';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { attenuate, issueWrit } from '#authority';
import { generateKeys } from '#canon';
import { readRow } from '#ledger';
import { allenRelation, asOf, OPEN_END, OPEN_START, period } from '#memory';
import { createOracle, fixedClock } from '#oracle';
import { clinic } from '../../../../tests/support/clinic/clinic.ts';
import {
  HandClock,
  operator,
  runtimeOver,
  writFor,
} from '../../../../tests/support/ledger/runtime.ts';

const INSTANT = '2026-03-23T00:00:00.000000Z';
const LATER = '2026-03-24T00:00:00.000000Z';
/** One time in all forms. */
const FORMS = [
  INSTANT,
  new Date('2026-03-23T00:00:00Z'),
  '2026-03-23',
  '2026-03-23T00:00Z',
  '2026-03-23T02:00:00.0000000+02:00',
] as const;
const WRONG = [
  '2026-03-23T00:00:00',
  new Date(Number.NaN),
  1_774_224_000_000,
  {},
] as unknown as readonly Date[];

const grant = {
  issuer: operator.publicKey,
  subject: generateKeys(new Uint8Array(32).fill(3)).publicKey,
  actions: ['**'],
  scopes: ['**'],
  max_depth: 1,
  nonce: 'n',
};

test('writs and their children have the same bytes for each form', () => {
  const key = generateKeys(new Uint8Array(32).fill(3)).privateKey;
  const writs = FORMS.map((time) =>
    issueWrit({ ...grant, not_before: time, expires: new Date(LATER) }, operator.privateKey),
  );
  expect(new Set(writs.map((writ) => JSON.stringify(writ))).size).toBe(1);
  expect(writs[0]).toMatchObject({ not_before: INSTANT, expires: LATER });
  const changes = FORMS.map((time) => ({
    subject: 'x',
    nonce: 'c',
    not_before: time,
    max_depth: 0,
  }));
  const children = changes.map((change) => attenuate(writs[0]!, change, key));
  expect(new Set(children.map((writ) => JSON.stringify(writ))).size).toBe(1);
  for (const time of WRONG) {
    const wrong = { ...grant, not_before: time, expires: LATER };
    expect(() => issueWrit(wrong, operator.privateKey)).toThrow(
      expect.objectContaining({ code: 'bad_writ', message: expect.stringContaining('not_before') }),
    );
  }
});

test('clocks and periods are the same for each form', () => {
  for (const time of FORMS) {
    expect(fixedClock(time).now()).toBe(INSTANT);
    expect(period(time, new Date(LATER))).toEqual({ from: INSTANT, to: LATER });
    expect(period(OPEN_START, time)).toEqual({ from: OPEN_START, to: INSTANT });
    expect(allenRelation({ from: time, to: LATER }, { from: INSTANT, to: OPEN_END })).toBe(
      'starts',
    );
    expect(asOf([], { valid: time, system: time })).toEqual([]);
  }
  for (const time of WRONG) {
    expect(() => fixedClock(time)).toThrow(
      expect.objectContaining({
        code: 'bad_argument',
        message: expect.stringContaining(
          'The start of the clock must be a time such as a Date, or',
        ),
      }),
    );
    expect(() => period(time, LATER)).toThrow(expect.objectContaining({ reason: 'no_instant' }));
    expect(() => asOf([], { valid: time, system: INSTANT })).toThrow(
      expect.objectContaining({ reason: 'no_instant' }),
    );
  }
});

async function ward() {
  const store = new MemoryStore();
  const assize = runtimeOver(store, [clinic], { ports: { clock: new HandClock() }, oracle: store });
  const trajectory = await assize.create(clinic, { trajectoryId: 't' });
  const memory = trajectory.memory({ space: 'ward', writ: writFor('ida') } as never);
  return { store, assize, trajectory, memory };
}

test('statements and recalls are recorded in one form', async () => {
  const lasting: string[] = [];
  for (const time of FORMS) {
    const { store, memory } = await ward();
    const said = {
      subject: 'ida',
      predicate: 'allergy',
      object: 'nuts',
      valid: { from: time, to: new Date(LATER) },
    };
    expect(await memory.assert(said)).toMatchObject({ ruling: 'committed' });
    const [, row] = await store.entries('t', { limit: 10 });
    expect(readRow(row!).payload).toMatchObject({
      delta: { beliefs: [{ insert: [{ valid_from: INSTANT, valid_to: LATER }] }] },
    });
    const { facts, observation } = await memory.recall({
      valid: time,
      system: new Date('2026-03-25'),
    });
    expect(facts).toMatchObject([{ valid_from: INSTANT, valid_to: LATER }]);
    const related = await memory.recall({
      relation: { to: { from: time, to: LATER }, is: ['equals'] },
    });
    expect(related.facts).toHaveLength(1);
    const point = { valid: time, system: new Date('2026-03-25') };
    expect(await memory.diff(point, point)).toMatchObject({ added: [], removed: [] });
    lasting.push(JSON.stringify([observation, related.observation]));
  }
  expect(new Set(lasting).size).toBe(1);
});

test('a statement or recall with another value leaves no entry', async () => {
  const { trajectory, memory } = await ward();
  for (const time of WRONG) {
    const said = {
      subject: 'ida',
      predicate: 'allergy',
      object: 'nuts',
      valid: { from: time, to: LATER },
    };
    await expect(memory.assert(said)).rejects.toMatchObject({ reason: 'no_instant' });
    await expect(memory.recall({ valid: time })).rejects.toMatchObject({
      code: expect.stringMatching(/^(no_instant|bad_argument)$/),
    });
  }
  expect(trajectory.length).toBe(1);
});

test('waits end at a time in each form', async () => {
  const { assize, trajectory } = await ward();
  for (const until of FORMS) {
    await expect(
      trajectory.approvals.awaitDecision('0'.repeat(64), { until }),
    ).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/Pass the id that a ruling|Pass the id that the ruling/),
    });
  }
  for (const until of WRONG) {
    await expect(
      trajectory.approvals.awaitDecision('0'.repeat(64), { until }),
    ).rejects.toMatchObject({
      code: 'bad_instant',
    });
  }
  await assize.close();
});

test('messages are dated in one form', async () => {
  const observed = await Promise.all(
    [INSTANT, new Date(INSTANT)].map(async (at) => {
      const store = new MemoryStore();
      const { observations } = await extractFacts(
        [{ id: 'm', author: 'ida', text: 'Hello.', at }],
        {
          oracle: createOracle({ store, clock: new HandClock(), mode: 'record' }),
          trajectory: 't',
          model: () => ({ facts: [] }),
          predicates: clinic.memory!.predicates,
          subjects: 'author',
          reference: new Date(LATER),
        },
      );
      return JSON.stringify(observations);
    }),
  );
  expect(observed[0]).toBe(observed[1]);
});
