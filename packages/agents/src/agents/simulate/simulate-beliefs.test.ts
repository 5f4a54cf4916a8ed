import { MemoryStore } from '@assize/testing/internal/memory';
import type { Json } from 'assize/internal/base';
import { generateKeys } from 'assize/internal/canon';
import { BELIEVE_ACTION } from 'assize/internal/kernel';
import { checkRow } from 'assize/internal/ledger';
import { createOracle, seededRandom } from 'assize/internal/oracle';
import { expect, test } from 'vitest';
import { clinic } from '../../../../../tests/support/clinic/clinic.ts';
import { allEntries } from '../../../../../tests/support/ledger/desk.ts';
import {
  HandClock,
  operator,
  runtimeOver,
  START,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import { type Agent, runAgents, simulate } from '../index.ts';
import { SimulationStore } from './simulation-store.ts';

const others = writFor('nurse');

const said = (predicate: string, object: string) => ({
  ...{
    verb: 'assert' as const,
    space: 'ward',
    subject: 'p7',
    predicate,
    object,
    valid: { from: START },
  },
});

const TURNS = [
  [said('drug', 'aspirin')],
  [said('drug', 'ibuprofen'), said('weight', '70 kg'), said('allergy', 'nuts')],
  [said('drug', 'aspirin'), said('allergy', 'dust')],
];

/** States the facts of a turn by the number of rulings that it has seen in the log. */
function scribe(from: number, meanwhile: () => Promise<void> = async () => undefined): Agent {
  let turn = from;
  return {
    name: 'scribe',
    role: { name: 'nurse', params: {} },
    writ: writFor('scribe', {
      actions: ['assize.believe'],
      scopes: ['memory:ward:**', 'role:nurse'],
    }),
    decide: async () => {
      const sayings = TURNS[turn++];
      await meanwhile();
      return sayings === undefined
        ? 'done'
        : { action: BELIEVE_ACTION, args: { sayings } as unknown as Json };
    },
  };
}

async function recorded(meanwhile = false) {
  const [store, clock] = [new MemoryStore(), new HandClock()];
  const oracle = createOracle({ store, clock, mode: 'record' });
  const assize = runtimeOver(store, [clinic], { ports: { clock }, oracle: store });
  const trajectory = await assize.create(clinic, { trajectoryId: 't' });
  const other = await assize.create(clinic, { trajectoryId: 'other', writs: [others] });
  const memory = other.memory({ space: 'ward', writ: others });
  const speak = async (): Promise<void> => {
    clock.forward(1_000);
    if (meanwhile) await memory.assert(said('drug', `salt ${clock.now()}`));
  };
  await runAgents(trajectory, [scribe(0, speak)], { oracle, clock, random: seededRandom('run') });
  const source = { store, oracleStore: store, trajectoryId: 't' };
  const of = (at: number) =>
    simulate(source, {
      ...{ domain: clinic, anchors: [operator.publicKey], at },
      variants: [{ name: 'same', agents: [scribe(at)] }],
    });
  return { store, of };
}

test('a variant states the facts of the record, from any entry on', async () => {
  const { store, of } = await recorded();
  const entries = await allEntries(store, 't');
  expect(entries).toHaveLength(TURNS.length + 1);
  for (const { seq } of entries) {
    const [sample] = (await of(seq)).variants[0]?.samples ?? [];
    expect(sample).toMatchObject({ outcome: 'done', head: entries.at(-1)?.id });
  }
});

test('facts of other trajectories are those of the shared entry', async () => {
  const { store, of } = await recorded(true);
  const [before, facts] = [
    await allEntries(store, 'other'),
    await store.facts({ space: 'ward', limit: 100 } as never),
  ];
  const { variants } = await of(1);
  expect(variants[0]?.samples[0]).toMatchObject({ outcome: 'done', difference: [] });
  const shared = (await allEntries(store, 't')).slice(0, 2).map(checkRow);
  const copy = new SimulationStore({ store, trajectoryId: 't' }, shared);
  await copy.begin((await allEntries(store, 't')).slice(0, 2));
  copy.seek({ at: shared[1]!.payload.at, id: shared[1]!.id });
  const drugs = await copy.facts({
    space: 'ward',
    subject: 'p7',
    predicate: 'drug',
    limit: 100,
  } as never);
  // The other trajectory had spoken once by then, and three times in the end.
  expect(drugs.filter(({ object }) => String(object).includes('salt'))).toHaveLength(1);
  expect(await allEntries(store, 'other')).toEqual(before);
  expect(await store.facts({ space: 'ward', limit: 100 } as never)).toEqual(facts);
});

test('a signed record needs its key, and an unsigned one no key', async () => {
  const { store } = await recorded();
  const source = { store, oracleStore: store, trajectoryId: 't' };
  const signer = generateKeys(new Uint8Array(32).fill(5));
  const options = {
    domain: clinic,
    anchors: [operator.publicKey],
    variants: [{ name: 'v', agents: [scribe(0)] }],
  };
  await expect(simulate(source, { ...options, signer })).rejects.toMatchObject({
    code: 'signer_needed',
  });
  const signed = new MemoryStore();
  const assize = runtimeOver(signed, [clinic], { signer });
  await assize.create(clinic, { trajectoryId: 't' });
  const there = { store: signed, oracleStore: signed, trajectoryId: 't' };
  await expect(simulate(there, options)).rejects.toMatchObject({
    code: 'signer_needed',
    evidence: { seq: 0 },
  });
  const { variants } = await simulate(there, { ...options, signer });
  expect(variants[0]?.samples[0]).toMatchObject({ outcome: 'done' });
});
