import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cases } from '../../../../tests/support/cases.ts';
import { errorOf } from '../../../../tests/support/process/errors.ts';
import {
  BEGUN,
  batchesOf,
  declareTool,
  type EffectClass,
  type EffectPhase,
  type EffectRecord,
  nextStep,
  type Reversibility,
  recorded,
  type ToolSpec,
  type TransactionState,
} from './index.ts';

const at = {};
const execute = async (): Promise<[]> => [];
const spec: ToolSpec = {
  name: 'bank.pay',
  input: z.unknown(),
  class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['db:x'],
  execute: () => null,
  batch: { at, part: 1, execute },
};

test.each<[string, Partial<Record<keyof ToolSpec, unknown>>, string]>([
  [
    'that acts immediately',
    { class: { ...(spec.class as EffectClass), delivery: 'externalised' } },
    'buffered',
  ],
  ['at a blind sink', { class: { ...(spec.class as EffectClass), sink: 'blind' } }, 'keyed'],
  ['that is not an object', { batch: 'x' }, 'object'],
  ['without a place', { batch: { part: 1, execute } }, '`at` of its batch'],
  ['without an execute', { batch: { at, part: 1 } }, 'execute'],
  [
    'that is undone alone',
    {
      class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
      compensate: () => ({ undone: 'all' }),
    },
    'compensate',
  ],
])('a tool %s is not called together with others', (_, change, why) => {
  expect(declareTool(spec).name).toBe('bank.pay');
  expect(errorOf(() => declareTool({ ...spec, ...change } as never))).toMatchObject({
    reason: 'invalid_tool',
    message: expect.stringContaining(why),
  });
});

test('tools of one batch are called together, regardless of calls in between', () => {
  const [here, there, alone] = [{ batch: spec.batch! }, { batch: { ...spec.batch!, at: {} } }, {}];
  const together = batchesOf([here, alone, there, here, undefined, there]);
  expect([0, 1, 2, 3, 4, 5].map((n) => together?.(n))).toEqual([
    [0, 3],
    [1],
    [2, 5],
    [0, 3],
    [4],
    [2, 5],
  ]);
  expect(batchesOf([here])).toBeUndefined();
  expect(batchesOf([alone, undefined])).toBeUndefined();
});

test('a call batched with an unresolved one waits too, even after a failure', () => {
  const kind: EffectClass = { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' };
  const together = batchesOf([spec, spec, {}]);
  const knowing = { hasBody: false, isInFlight: () => false, maxAttempts: 3, batchOf: together! };
  // As a crash leaves it, between what is said of the one and of the other.
  const records: EffectRecord[] = [
    { is: 'committed', planned: [kind, kind, kind], hasOnFailure: true },
    { is: 'applying', n: 0 },
    { is: 'applying', n: 1 },
    { is: 'in_doubt', n: 0 },
    { is: 'applying', n: 2 },
    { is: 'failed', n: 2, final: true },
  ];
  const state = records.reduce(recorded, BEGUN);
  expect(nextStep(state, knowing)).toEqual({ do: 'wait', for: 'needs_human' });
  const decided = recorded(state, { is: 'resolved', n: 0, as: 'applied' });
  expect(nextStep(decided, knowing)).toEqual({ do: 'call', n: 1 });
  expect(nextStep(recorded(decided, { is: 'applied', n: 1 }), knowing)).toEqual({
    do: 'log',
    record: { is: 'failing', n: 2 },
  });
});

describe('the order of calls', () => {
  const of = (reversibility: Reversibility): EffectClass => ({
    reversibility,
    delivery: 'buffered',
    sink: 'keyed',
  });
  const due = (...sorts: Reversibility[]): TransactionState =>
    recorded(BEGUN, { is: 'committed', planned: sorts.map(of) });

  /** Places in call order, one letter each. */
  function called(state: TransactionState, places: string): string {
    const specs = [...places].map((place) =>
      place === '-' ? undefined : { batch: { ...spec.batch!, at: AT[place]! } },
    );
    const together = batchesOf(specs);
    const knowing = {
      hasBody: false,
      isInFlight: () => false,
      maxAttempts: 3,
      ...(together && { batchOf: together }),
    };
    const order: number[][] = [];
    for (let now = state; ; ) {
      const step = nextStep(now, knowing);
      if (step.do !== 'log' || step.record.is !== 'applying')
        return order.map((ns) => ns.join('')).join(' ');
      const ns = together?.(step.record.n) ?? [step.record.n];
      order.push([...ns]);
      for (const n of ns)
        for (const is of ['applying', 'applied'] as const)
          now = recorded(now, { is, n } as EffectRecord);
    }
  }
  const AT: Readonly<Record<string, object>> = { a: {}, b: {} };

  test.each<[string, Reversibility[], string]>([
    ['-a-a-', Array(5).fill('reversible'), '0 2 13 4'],
    ['abab', Array(4).fill('reversible'), '02 13'],
    ['abba', Array(4).fill('reversible'), '12 03'],
    ['a-a', ['reversible', 'with_cost', 'irreversible'], '1 02'],
    ['a-a', ['irreversible', 'with_cost', 'reversible'], '1 02'],
    [
      'ab-ab',
      ['irreversible', 'reversible', 'irreversible', 'reversible', 'reversible'],
      '14 03 2',
    ],
  ])('of %s is that of the last call of each batch', (places, sorts, order) => {
    expect(called(due(...sorts), places)).toBe(order);
  });
});

const elsewhere = {};
const PHASES: readonly EffectPhase[] = [
  'due',
  'applying',
  'applied',
  'executed',
  'undoing',
  'undone',
  'unresolved',
  'in_doubt',
];
const effect = fc.record({
  class: fc.record({
    reversibility: fc.constantFrom<Reversibility>('reversible', 'with_cost', 'irreversible'),
    delivery: fc.constant('buffered' as const),
    sink: fc.constant('keyed' as const),
  }),
  phase: fc.constantFrom(...PHASES),
  failures: fc.nat(3),
  place: fc.constantFrom<object | undefined>(elsewhere, at, undefined),
});

test('the next step is the same whether batch members share one list or not', () => {
  const phase = fc.constantFrom('committed' as const, 'failing' as const, 'aborting' as const);
  fc.assert(
    fc.property(fc.array(effect, { maxLength: 12 }), phase, (all, phase) => {
      const mates = batchesOf(
        all.map(({ place }) => place && { batch: { at: place, part: 1, execute } }),
      );
      const state: TransactionState = {
        phase,
        effects: all,
        hasOnFailure: true,
        failing: { n: 0, refusals: 0 },
      };
      const knowing = { hasBody: false, isInFlight: () => false, maxAttempts: 3 };
      const next = nextStep(state, { ...knowing, ...(mates && { batchOf: mates }) });
      expect(next).toEqual(
        nextStep(state, { ...knowing, ...(mates && { batchOf: (n) => [...mates(n)] }) }),
      );
    }),
    { numRuns: cases(1_000) },
  );
});

test.each(['committed', 'aborting'] as const)(
  'of many that are one step each is looked at a few times: %s',
  (phase) => {
    const looks = [100, 1_000].map((count) => {
      let looked = 0;
      const is = phase === 'committed' ? 'due' : 'undone';
      const effects = Array.from({ length: count }, () => ({
        class: spec.class as EffectClass,
        failures: 0,
        get phase(): EffectPhase {
          looked++;
          return is;
        },
      }));
      const together = batchesOf(effects.map(() => spec)) as NonNullable<
        ReturnType<typeof batchesOf>
      >;
      nextStep(
        { phase, effects },
        { hasBody: false, isInFlight: () => false, maxAttempts: 3, batchOf: together },
      );
      return looked / count;
    });
    expect(Math.max(...looks)).toBeLessThan(12);
  },
);
