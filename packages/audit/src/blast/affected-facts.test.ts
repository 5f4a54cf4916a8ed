import { MemoryStore } from '@assize/testing/memory';
import { tokensOf, writeIn } from 'assize/host';
import { BELIEVE_ACTION, BUILT_IN_ROLE, defineDomain } from 'assize/internal/kernel';
import type { FactRow, Strategy } from 'assize/internal/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { cases, hasUsualCases } from '../../../../tests/support/cases.ts';
import { HandClock, runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { blastRadius } from './blast-radius.ts';

const people = defineDomain({
  name: 'people',
  version: '1',
  state: z.object({}),
  initial: {},
  processes: {},
  roles: {},
  actions: {},
  invariants: [],
  memory: {
    predicates: {
      lww: { cardinality: 'single-valued', strategy: 'lww' },
      'lww-valid': { cardinality: 'single-valued', strategy: 'lww-valid' },
      evi: { cardinality: 'single-valued', strategy: 'evi' },
      drop: { cardinality: 'single-valued', strategy: 'lww', remainder: 'drop' },
      many: { cardinality: 'multi-valued', strategy: 'lww' },
    },
  },
});

const PREDICATES: readonly (Strategy | 'drop' | 'many')[] = [
  'lww',
  'lww-valid',
  'evi',
  'drop',
  'many',
];
const SOURCES = ['m1', 'm2', 'm3'];
const PEOPLE = ['ada', 'bob'];

const day = (n: number): string => `2026-01-${`${n}`.padStart(2, '0')}T00:00:00.000000Z`;
const statement = fc.record({
  verb: fc.constantFrom('assert', 'assert', 'assert', 'ends', 'change', 'correct', 'retract'),
  predicate: fc.constantFrom(...PREDICATES),
  object: fc.constantFrom('a', 'b', 'c'),
  source: fc.constantFrom(...SOURCES),
  by: fc.nat(PEOPLE.length - 1),
  from: fc.integer({ min: 1, max: 8 }),
  days: fc.integer({ min: 1, max: 8 }),
  confidence: fc.constantFrom(0.2, 0.5, 0.9),
  /** Stated in the same commit, by another source. */
  beside: fc.option(
    fc.record({ object: fc.constantFrom('d', 'e'), source: fc.constantFrom(...SOURCES) }),
  ),
});

type Statement = typeof statement extends fc.Arbitrary<infer Value> ? Value : never;

async function stated(statements: readonly Statement[]) {
  const store = new MemoryStore();
  const clock = new HandClock();
  const writs = PEOPLE.map((name) => writFor(name));
  const trajectory = await runtimeOver(store, [people], { ports: { clock } }).create(people, {
    writs,
  });
  const memories = writs.map((writ) => trajectory.memory({ space: 's', writ }));
  for (const {
    verb,
    predicate,
    object,
    source,
    by,
    from,
    days,
    confidence,
    beside,
  } of statements) {
    clock.forward(1_000);
    const memory = memories[by]!;
    const valid = { from: day(from), to: day(from + days) };
    const said = { subject: 'ida', predicate, object, source, confidence };
    if (verb === 'assert') {
      const other =
        beside === null ? [] : [{ subject: 'ida', predicate: 'many', ...beside, valid }];
      await memory.assertMany([{ ...said, valid }, ...other]);
    } else if (verb === 'ends')
      await memory.assert({ ...said, valid: { to: valid.from }, ends: true });
    else if (verb === 'change') {
      if (predicate !== 'many') await memory.change({ ...said, from: valid.from });
    } else if (verb === 'correct')
      await memory.correct({ ...said, valid, ...(predicate === 'many' && { was: 'a' }) });
    else await memory.retract({ subject: 'ida', predicate, object, valid });
  }
  clock.forward(1_000);
  return { store, memory: memories[0]!, trajectory, writ: writs[0]! };
}

const keys = (facts: readonly { readonly factId: string }[]): string[] =>
  facts.map(({ factId }) => factId).sort();
const ids = (facts: readonly FactRow[]): string[] => facts.map(({ fact_id }) => fact_id).sort();

test('the facts of a blast radius are those that rest on its start', async () => {
  let most = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(statement, { minLength: 2, maxLength: 14 }), async (statements) => {
      const { store, memory } = await stated(statements);
      const { facts } = await memory.recall({ subject: 'ida', valid: 'any' });
      const restOn = (entries: ReadonlySet<string>) =>
        facts.filter((fact) =>
          tokensOf(fact.provenance_id).some((token) => entries.has(writeIn(token)!.entry)),
        );
      for (const source of SOURCES) {
        const resting = (await memory.restingOn({ source })).map(({ fact }) => fact);
        expect(keys((await blastRadius(store, { source })).facts)).toEqual(ids(resting));
        most = Math.max(most, resting.length);
      }
      for (const principal of PEOPLE) {
        const radius = await blastRadius(store, { principal });
        const starts = radius.entries.filter(({ isStart }) => isStart).map(({ id }) => id);
        expect(keys(radius.facts)).toEqual(ids(restOn(new Set(starts))));
      }
      for (const { entry_id: entry } of facts) {
        const radius = await blastRadius(store, { entry: entry as never });
        expect(keys(radius.facts)).toEqual(ids(restOn(new Set([entry]))));
      }
    }),
    { numRuns: cases(150) },
  );
  expect(most).toBeGreaterThan(2);
});

test('the answer to a forged fact leaves the true one out', async () => {
  const { store, memory } = await stated([]);
  const lives = (object: string, source: string, from: string) =>
    memory.assert({ subject: 'ida', predicate: 'lww', object, source, valid: { from } });
  await lives('Bonn', 'letter', day(1));
  const forged = await lives('Moscow', 'forged', day(8));
  const march = await memory.recall({ subject: 'ida', valid: day(3) });
  expect(march.facts.map(({ object }) => object)).toEqual(['Bonn']);
  const used = await memory.assert(
    { subject: 'ida', predicate: 'many', object: 'x' },
    { observations: [march.observation as never] },
  );
  if (forged.ruling !== 'committed' || used.ruling !== 'committed') throw new Error(used.ruling);
  const radius = await blastRadius(store, { source: 'forged' });
  expect(radius.facts.map(({ object }) => object)).toEqual(['Moscow']);
  expect(radius.entries.map(({ id }) => id)).toEqual([forged.entry.id]);
  const { entries } = await blastRadius(store, { source: 'letter' });
  expect(entries.at(-1)).toMatchObject({ id: used.entry.id, from: [{ how: 'recall' }] });
});

test('without its statements the facts are as without their source', async () => {
  let most = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(statement, { minLength: 2, maxLength: 14 }),
      fc.constantFrom(...SOURCES),
      async (statements, source) => {
        const [world, other] = [await stated(statements), await stated(statements)];
        const radius = await blastRadius(world.store, { source });
        const { restored } = await other.memory.withdraw({ source });
        const sayings = radius.statements.map((each) => ({ verb: 'withdraw', ...each }));
        if (sayings.length > 0)
          await world.trajectory.propose({
            ...{ action: BELIEVE_ACTION, role: BUILT_IN_ROLE, args: { sayings }, writ: world.writ },
          } as never);
        const believed = async ({ memory }: typeof world) =>
          (await memory.recall({ subject: 'ida', valid: 'any' })).facts.map(
            ({ predicate, object, valid_from, valid_to }) => [
              predicate,
              object,
              valid_from,
              valid_to,
            ],
          );
        expect(await believed(world)).toEqual(await believed(other));
        for (const { store } of [world, other]) {
          const after = await blastRadius(store, { source });
          expect([after.facts, after.ended]).toEqual([[], []]);
        }
        expect((await blastRadius(world.store, { source })).statements).toEqual([]);
        most = Math.max(most, restored.length);
      },
    ),
    { numRuns: cases(150) },
  );
  if (hasUsualCases()) expect(most).toBeGreaterThan(1);
});
