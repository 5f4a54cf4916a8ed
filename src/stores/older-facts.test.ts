import { describe, expect, test } from 'vitest';
import { createOracle, seededRandom } from '#oracle';
import { type Assize, checkMemory, type Memory, rebuildMemory, type Trajectory, verifyStore } from '#runtime';
import { clinic } from '../../tests/support/clinic.ts';
import { allEntries } from '../../tests/support/ledger-runtime.ts';
import { olderPostgres, olderSqlite } from '../../tests/support/older-store.ts';
import { withPostgres } from '../../tests/support/postgres/index.ts';
import { HandClock, runtimeOver, writFor } from '../../tests/support/runtime.ts';
import { closedAfterEach, type Place, postgresPlace, sqlitePlaces } from '../../tests/support/stores.ts';
import { committed, told, WHO } from '../../tests/support/told-of-her.ts';
import type { Store } from './index.ts';

// What is believed in a store that an older version wrote. A store is written by this one, and another is made of its rows as they were
// before a migration. From then on, both have to say the same, whatever is done with them. On each kind of store: the first version that
// has facts, and the first that has those of branches.

const writ = writFor('nurse');
const eraser = writFor('eraser', { actions: ['assize.erase'], scopes: ['**'] });
const day = (n: number): string => `2026-03-0${n}T00:00:00.000000Z`;
const TEXTS = ['penizillin', 'amoxicillin forte', 'kg', WHO, 'red cats', 'said in a branch', 'gone for good'];
const FAR = 100_000;

/** The same for two stores, as far as what they hold is the same. */
function processOver(store: Store, n: number): { readonly runtime: Assize; readonly clock: HandClock } {
  const clock = new HandClock();
  clock.forward(n * 1_000_000);
  const oracle = createOracle({ store, clock, mode: 'record' });
  const judge = { oracle, choose: ({ members }: { members: readonly { claim: string }[] }) => members[0]!.claim };
  return {
    runtime: runtimeOver(store, [clinic], { clock, oracle: store, random: seededRandom(`${n}`), judge }),
    clock,
  };
}

/** Facts of each kind, of several trajectories and spaces: contradictions, votes, decisions, what is erased. */
async function live(store: Store, hasBranches: boolean): Promise<void> {
  const { runtime, clock } = processOver(store, 0);
  const t = (await runtime.create(clinic, { trajectoryId: 't', writs: [writ] })) as Trajectory;
  const u = (await runtime.create(clinic, { trajectoryId: 'u', writs: [writ] })) as Trajectory;
  const ward = t.memory({ space: 'ward', writ });
  await told({ clock, trajectory: t, memory: ward });
  for (const object of ['red', 'green', 'blue'])
    await committed(ward.assert({ subject: 'p7', predicate: 'triage', object, valid: { from: day(3) } }));
  const archive = u.memory({ space: 'archive', writ });
  for (const object of ['cats', 'red cats'])
    await committed(archive.assert({ subject: 'p7', predicate: 'allergy', object }));
  await committed(
    u.memory({ space: 'ward', writ }).assert({ subject: WHO, predicate: 'drug', object: 'of another one' }),
  );
  const gone = { subject: 'gone', predicate: 'drug', valid: { from: day(1) } };
  for (const object of ['gone for good', 'gone as well']) await committed(archive.assert({ ...gone, object }));
  if (hasBranches) await tryOut(runtime, t, 'early');
  await erased(u, 'archive', 'gone');
  await runtime.close();
}

async function tryOut(runtime: Assize, t: Trajectory, id: string): Promise<void> {
  const branch = await runtime.branch(t.id, t.head, { trajectoryId: id, note: 'try', writs: [writ] });
  const memory = branch.memory({ space: 'ward', writ });
  const drug = { subject: WHO, predicate: 'drug', valid: { from: day(2), to: day(7) } };
  await committed(memory.assert({ ...drug, object: `said in a branch, ${id}` }));
  await committed(memory.retract({ subject: WHO, predicate: 'weight', valid: { from: day(1), to: day(9) } }));
}

async function erased(trajectory: Trajectory, space: string, subject: string): Promise<void> {
  const asked = { beliefs: [{ space, subject }], reason: 'as asked', writ: eraser };
  await committed(trajectory.erase(asked));
}

/** What anybody may do with it: say what contradicts, have it voted on, try it in a branch, erase what was said long ago. */
async function goOn(store: Store): Promise<void> {
  const { runtime } = processOver(store, 1);
  const t = (await runtime.open('t', clinic)) as Trajectory;
  const ward = t.memory({ space: 'ward', writ });
  const of = (predicate: string, object: string) => ({ subject: WHO, predicate, object });
  await committed(ward.assert({ ...of('drug', 'said now'), valid: { from: day(4) } }));
  await committed(ward.assert({ ...of('weight', '81.3 kg'), confidence: 1 }));
  await committed(ward.assert({ subject: 'p7', predicate: 'triage', object: 'white', valid: { from: day(2) } }));
  await tryOut(runtime, t, 'late');
  await runtime.close();
}

async function eraseAll(store: Store): Promise<void> {
  const { runtime } = processOver(store, 2);
  const open = async (id: string) => (await runtime.open(id, clinic)) as Trajectory;
  for (const { trajectory_id } of await store.trajectories()) await erased(await open(trajectory_id), 'ward', WHO);
  await erased(await open('t'), 'ward', 'p7');
  await runtime.close();
}

/** All that it says, to whoever asks. */
async function sayings(store: Store): Promise<unknown> {
  const { runtime } = processOver(store, 3);
  const said: unknown[] = [await store.spaces(), await store.branches(), await allFacts(store)];
  for (const { trajectory_id } of await store.trajectories()) {
    said.push(await allEntries(store, trajectory_id));
    const trajectory = await runtime.open(trajectory_id, clinic);
    for (const space of trajectory_id === 'u' ? ['ward', 'archive'] : ['ward'])
      said.push(await recalled(trajectory.memory({ space, writ })));
  }
  await runtime.close();
  return said;
}

async function recalled(memory: Memory): Promise<unknown[]> {
  const { facts } = await memory.recall({ valid: 'any', system: 'any', kind: 'all' });
  const moments = facts.map((row) => row.system_time_start).filter((_, n) => n % 9 === 0);
  return Promise.all([
    facts,
    ...moments.map((system) => memory.recall({ system, valid: 'any', kind: 'all' })),
    ...TEXTS.map((text) => memory.recall({ text, valid: 'any', kind: 'all' })),
    ...moments.slice(1, 3).map((system) => memory.recall({ system, text: TEXTS.join(' '), valid: 'any' })),
    memory.history({ subject: WHO, predicate: 'drug', kind: 'all' }),
  ]);
}

async function allFacts(store: Store): Promise<unknown[]> {
  const memories = [...(await store.spaces()).map((space) => ({ space })), ...(await store.branches())];
  return Promise.all(memories.map((memory) => store.facts({ ...memory, kind: 'all', limit: FAR })));
}

/** `age` makes a place of the rows of another one, as they were before. */
async function expectSame(
  newPlace: () => Place,
  hasBranches: boolean,
  age: (today: Place, older: Place) => Promise<void> | void,
): Promise<void> {
  const [today, older, rebuilt] = [newPlace(), newPlace(), newPlace()];
  const first = await today.open();
  await live(first, hasBranches);
  await first.close();
  for (const place of [older, rebuilt]) await age(today, place);
  const [right, left] = [await today.open(), await older.open({ mode: 'existing' })];
  await expectRebuiltSame(await rebuilt.open({ mode: 'existing' }));
  for (const step of [async () => undefined, goOn, eraseAll]) {
    for (const store of [right, left]) await step(store);
    expect(await sayings(left)).toEqual(await sayings(right));
  }
  await expectRebuiltSame(left);
}

async function expectRebuiltSame(store: Store): Promise<void> {
  for (const report of await verifyStore(store)) expect(report).toMatchObject({ valid: true });
  expect(await checkMemory(store)).toMatchObject({ valid: true, differences: [], changedMeanwhile: 0 });
  expect((await store.selfCheck?.()) ?? []).toEqual([]);
  const before = [await allFacts(store), await found(store)];
  await rebuildMemory(store);
  expect([await allFacts(store), await found(store)]).toEqual(before);
}

/** By words, past what a trajectory sees. */
async function found(store: Store): Promise<unknown[]> {
  const spaces = await store.spaces();
  const text = TEXTS.join(' ');
  return Promise.all(spaces.map((space) => store.factsByText({ space, text, kind: 'all', limit: FAR })));
}

/** `age`: makes a store of a version before facts were awaited. */
async function expectInterrupted(
  newPlace: () => Place,
  age: (today: Place, older: Place) => Promise<void> | void,
): Promise<void> {
  const [today, older, interrupted] = [newPlace(), newPlace(), newPlace()];
  const store = await today.open();
  const { runtime } = processOver(store, 0);
  const t = (await runtime.create(clinic, { trajectoryId: 't', writs: [writ] })) as Trajectory;
  await committed(t.memory({ space: 'ward', writ }).assert({ subject: 'p7', predicate: 'drug', object: 'x' }));
  await runtime.close();
  await store.close();
  for (const place of [older, interrupted]) await age(today, place);
  await interrupted.sql('UPDATE fact_rebuild SET whole = NOT whole');
  const [whole, part] = [await older.open(), await interrupted.open()];
  expect([await whole.spaces(), await whole.keepFacts()]).toEqual([['ward'], true]);
  // What there is of it may be a part.
  expect(await part.keepFacts()).toBe(false);
  await expect(part.spaces()).rejects.toMatchObject({ code: 'store_facts_incomplete' });
  await rebuildMemory(part);
  expect(await part.spaces()).toEqual(['ward']);
}

describe('SQLite', () => {
  const newPlace = sqlitePlaces();
  test.for([7, 9])('what is believed in a store of version %i', async (version) => {
    const path = ({ url }: Place): string => url.slice('sqlite:'.length);
    await expectSame(newPlace, version >= 9, (today, older) => olderSqlite(path(today), path(older), version));
  });

  test('facts that an older version has made only a part of are incomplete', async () => {
    const path = ({ url }: Place): string => url.slice('sqlite:'.length);
    await expectInterrupted(newPlace, (today, older) => olderSqlite(path(today), path(older), 9));
  });
});

withPostgres('PostgreSQL', (postgres) => {
  const close = closedAfterEach();
  test.for([8, 9])('what is believed in a store of version %i', async (version) => {
    const newPlace = (): Place => postgresPlace(postgres, postgres.url(), close);
    await expectSame(newPlace, version >= 9, (today, older) => olderPostgres(postgres, today.url, older.url, version));
  });

  test('facts that an older version has made only a part of are incomplete', async () => {
    const newPlace = (): Place => postgresPlace(postgres, postgres.url(), close);
    await expectInterrupted(newPlace, (today, older) => olderPostgres(postgres, today.url, older.url, 22));
  });
});
