import { attenuate, writId } from 'assize/internal/authority';
import { type Hash, OPEN_END } from 'assize/internal/ledger';
import type { Ruling } from 'assize/internal/runtime';
import { openStore } from 'assize/internal/stores';
import { expect, test } from 'vitest';
import { clinic } from '../../../../tests/support/clinic/clinic.ts';
import {
  desk,
  granted,
  openOf,
  pay,
  task,
  worker,
  writOf,
} from '../../../../tests/support/ledger/delegations.ts';
import { keysOf } from '../../../../tests/support/ledger/rows.ts';
import {
  HandClock,
  runtimeOver,
  START,
  writFor,
} from '../../../../tests/support/ledger/runtime.ts';
import { type BlastRadiusOptions, blastRadius, DERIVATIONS } from './blast-radius.ts';
import type { IncidentStart } from './incident-start.ts';

const nurse = keysOf(21);
const root = writFor(nurse.publicKey);
const child = attenuate(root, { subject: 'night nurse', nonce: 'n' }, nurse.privateKey);
const other = writFor('day nurse');

async function ward() {
  const store = await openStore('memory:');
  const clock = new HandClock();
  const assize = runtimeOver(store, [clinic], { ports: { clock } });
  const trajectory = await assize.create(clinic, { trajectoryId: 't', writs: [root, other] });
  const ids: Record<string, Hash> = {};
  const keep = async (name: string, ruling: Promise<Ruling>): Promise<Ruling> => {
    const made = await ruling;
    if (made.ruling !== 'frozen') ids[name] = made.entry.id;
    clock.forward(1_000);
    return made;
  };
  const night = trajectory.memory({ space: 'ward', writ: { writ: child, chain: [root] } });
  const day = trajectory.memory({ space: 'ward', writ: other });
  const drug = (object: string, source: string) => ({
    subject: 'p7',
    predicate: 'drug',
    object,
    source,
  });
  await keep('forged', night.assert(drug('aspirin', 'mail 1')));
  const { observation } = await day.recall({ subject: 'p7', predicate: 'drug' });
  await keep(
    'visit',
    trajectory.propose({
      ...{ action: 'visit', role: 'nurse', args: { patient: 'p8', weight: '70 kg' }, writ: other },
      observations: [observation as never],
    }),
  );
  await keep(
    'honest',
    day.assert({ subject: 'p9', predicate: 'drug', object: 'zinc', source: 'mail 2' }),
  );
  await keep('question', day.assert({ subject: 'p7', predicate: 'diagnosis', object: 'flu' }));
  const asked = await keep(
    'asked',
    day.assert({ subject: 'p7', predicate: 'diagnosis', object: 'cold' }),
  );
  const found = async (start: IncidentStart, options?: BlastRadiusOptions) => {
    const radius = await blastRadius(store, start, options);
    const names = Object.fromEntries(Object.entries(ids).map(([name, id]) => [id, name]));
    return { ...radius, names: radius.entries.map(({ id }) => names[id] ?? 'other') };
  };
  return { store, clock, trajectory, ids, asked, found };
}

test('a source leads to the facts and recalls of its statements', async () => {
  const { found, ids } = await ward();
  const { names, facts, pending, total } = await found({ source: 'mail 1' });
  expect(names).toEqual(['forged', 'visit']);
  expect(facts.map(({ entry, subject, object }) => [entry, subject, object])).toEqual([
    [ids['forged'], 'p7', 'aspirin'],
    [ids['visit'], 'p8', '70 kg'],
  ]);
  expect(pending).toEqual([]);
  expect(total).toBe(6);
});

test('facts of others that an affected entry ended are listed', async () => {
  const { found, ids, trajectory, clock } = await ward();
  const night = trajectory.memory({ space: 'ward', writ: { writ: child, chain: [root] } });
  expect((await found({ source: 'mail 1' })).ended).toEqual([]);
  clock.forward(1_000);
  const { ruling: withdrawn } = await night.withdraw({ source: 'mail 2' });
  if (withdrawn?.ruling !== 'committed') throw new Error(`${withdrawn?.ruling}`);
  const { ended } = await found({ principal: 'night nurse' });
  expect(ended.map(({ entry, subject, object }) => [entry, subject, object])).toEqual([
    [withdrawn.entry.id, 'p9', 'zinc'],
  ]);
  expect((await found({ entry: ids['honest']! })).ended).toEqual([]);
});

test('only the retracted fact of an author counts as ended', async () => {
  const { found, trajectory } = await ward();
  const author = { role: 'user', name: 'eve' } as const;
  const day = trajectory.memory({ space: 'ward', writ: other });
  const night = trajectory.memory({ space: 'ward', writ: { writ: child, chain: [root] } });
  const of = { subject: 'p9', predicate: 'allergy', author, valid: { from: START } };
  await day.assertMany([
    { ...of, object: 'nuts' },
    { ...of, object: 'milk' },
  ]);
  await night.retract({
    subject: 'p9',
    predicate: 'allergy',
    object: 'nuts',
    valid: { from: START, to: OPEN_END },
  });
  expect((await found({ principal: 'night nurse' })).ended.map(({ object }) => object)).toEqual([
    'nuts',
  ]);
});

test('a writ leads to the entries under it and under writs below it', async () => {
  const { found } = await ward();
  for (const writ of [writId(root), writId(child)] as Hash[])
    expect((await found({ writ })).names).toEqual(['forged', 'visit']);
  expect((await found({ principal: nurse.publicKey })).names).toEqual(['forged', 'visit']);
  expect((await found({ principal: 'night nurse' })).names).toEqual(['forged', 'visit']);
  expect((await found({ principal: 'day nurse' })).names).toEqual([
    'visit',
    'honest',
    'question',
    'asked',
  ]);
  expect((await found({ principal: 'nobody' })).entries).toEqual([]);
});

test('a period limits where the incident begins, not what derives from it', async () => {
  const { found, clock } = await ward();
  const since = '2026-03-23T09:00:01.000000Z';
  expect((await found({ principal: 'day nurse', since })).names).toEqual([
    'visit',
    'honest',
    'question',
    'asked',
  ]);
  expect((await found({ principal: 'night nurse', since })).names).toEqual([]);
  expect((await found({ principal: 'night nurse', until: since })).names).toEqual([
    'forged',
    'visit',
  ]);
  expect((await found({ principal: 'day nurse', since: clock.at })).names).toEqual([]);
  expect((await found({ principal: 'day nurse', until: since })).names).toEqual([]);
});

test('a pending proposal is listed until a person decides it', async () => {
  const { found, trajectory, asked, ids } = await ward();
  const start = { facts: { space: 'ward', subject: 'p7', predicate: 'diagnosis' } };
  expect(await found(start)).toMatchObject({ names: ['question'], pending: [] });
  expect(await found({ entry: ids['asked']! })).toMatchObject({
    names: ['asked'],
    pending: [ids['asked']],
  });
  if (asked.ruling !== 'escalated') throw new Error(asked.ruling);
  await trajectory.approvals.reject(asked.pending, {
    ...{
      principal: 'dr who',
      method: 'test',
      reason: 'no',
      digest: trajectory.approvals.pending()[0]!.payload.digest,
    },
  });
  expect(await found({ entry: ids['asked']! })).toMatchObject({
    names: ['asked', 'other'],
    pending: [],
  });
  expect((await found({ approver: 'dr who' })).names).toEqual(['other']);
});

test('a derivation that is left out is not followed', async () => {
  const { found } = await ward();
  expect((await found({ source: 'mail 1' }, { through: ['belief'] })).names).toEqual(['forged']);
});

test('a delegation leads into the trajectory that it began, and back', async () => {
  const store = await openStore('memory:');
  const trajectory = await runtimeOver(store, [desk]).create(desk, {
    trajectoryId: 't',
    writs: [granted, worker],
  });
  const begins = await trajectory.delegations.delegate(task());
  const spent = await begins.propose(pay(25, await writOf(store)));
  if (spent.ruling !== 'committed') throw new Error(spent.ruling);
  await trajectory.delegations.conclude(openOf(trajectory), { finalAnswer: 1 });
  const { entries } = await blastRadius(store, { writ: writId(granted) as Hash });
  expect(entries.map(({ trajectoryId, seq }) => `${trajectoryId} ${seq}`)).toEqual([
    't 1',
    'c 0',
    'c 1',
    'c 2',
    't 2',
  ]);
});

test('a step inside a delegation leads to its answer and conclusion', async () => {
  const store = await openStore('memory:');
  const trajectory = await runtimeOver(store, [desk]).create(desk, {
    trajectoryId: 't',
    writs: [granted, worker],
  });
  const begins = await trajectory.delegations.delegate(task());
  const bad = await begins.propose(pay(25, await writOf(store)));
  if (bad.ruling !== 'committed') throw new Error(bad.ruling);
  await trajectory.delegations.conclude(openOf(trajectory), { finalAnswer: 1 });
  const { entries } = await blastRadius(
    store,
    { entry: bad.entry.id },
    { through: ['delegation'] },
  );
  expect(entries.map(({ trajectoryId, seq }) => `${trajectoryId} ${seq}`)).toEqual([
    'c 1',
    'c 2',
    't 2',
  ]);
});

test('decisions count, also where derivations through them are not followed', async () => {
  const { found, trajectory, asked, ids } = await ward();
  if (asked.ruling !== 'escalated') throw new Error(asked.ruling);
  await trajectory.approvals.reject(asked.pending, {
    ...{
      principal: 'dr who',
      method: 'test',
      reason: 'no',
      digest: trajectory.approvals.pending()[0]!.payload.digest,
    },
  });
  const through = DERIVATIONS.filter((each) => each !== 'decision');
  expect(await found({ entry: ids['asked']! }, { through })).toMatchObject({
    names: ['asked'],
    pending: [],
  });
});

test('a start that is not one name, or not valid, is refused', async () => {
  const { store } = await ward();
  const code = (start: object): Promise<string> =>
    blastRadius(store, start).then(
      () => 'found',
      (error) => `${error.name} ${error.code}`,
    );
  expect(await code({})).toBe('RuntimeError bad_argument');
  expect(await code({ writ: 'a'.repeat(64), principal: 'p' })).toBe('RuntimeError bad_argument');
  expect(await code({ entry: 'a' })).toBe('RuntimeError bad_argument');
  expect(await code({ entry: 'a'.repeat(64) })).toBe('RuntimeError not_found');
  expect(await code({ principal: 'p', since: 'yesterday' })).toBe('RuntimeError bad_argument');
  expect(await code({ principal: 'p', until: 5 })).toBe('ArgumentError bad_argument');
  expect(await code({ principal: 'p', since: START, until: START })).toBe(
    'RuntimeError bad_argument',
  );
});

test('an altered entry ends the search, with its fault', async () => {
  const { store } = await ward();
  const unlogged = store.unlogged.bind(store);
  store.unlogged = async (limit) =>
    (await unlogged(limit)).map((row) =>
      row.seq === 2 ? { ...row, payload: row.payload.replace('t', 'x') } : row,
    );
  await expect(blastRadius(store, { principal: 'nobody' })).rejects.toMatchObject({
    fault: { code: 'tampered', seq: 2 },
  });
});
