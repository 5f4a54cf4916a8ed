import { afterAll, describe, expect, test } from 'vitest';
import { explore, RULES, type Rules } from '../../../../tests/support/models/explorer/explore.ts';
import { Broken } from '../../../../tests/support/models/explorer/walk.ts';
import type {
  Plan,
  PlannedEffect,
  Together,
  Trouble,
} from '../../../../tests/support/models/explorer/world.ts';
import {
  type EffectClass,
  isUnresolved,
  nextStep,
  type Reversibility,
  type Step,
} from './protocol.ts';

// Several effects of one transaction in one batch of their sink, in every order of events: every
// reader, at any time and after any crash, sees all of them or none, except after an operator's
// decision about one of them.

const of = (reversibility: Reversibility): EffectClass => ({
  reversibility,
  delivery: 'buffered',
  sink: 'keyed',
});
const acts: EffectClass = { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' };
const blind: EffectClass = { reversibility: 'reversible', delivery: 'buffered', sink: 'blind' };
const mail: EffectClass = {
  reversibility: 'irreversible',
  delivery: 'buffered',
  sink: 'queryable',
};
const pivot: EffectClass = { ...acts, reversibility: 'irreversible' };

const PAIRS: readonly (readonly [Reversibility, Reversibility])[] = [
  ['reversible', 'reversible'],
  ['with_cost', 'reversible'],
  ['reversible', 'irreversible'],
  ['irreversible', 'with_cost'],
];

function at(place: Together, reversibility: Reversibility): PlannedEffect {
  return { class: of(reversibility), on: 'x', with: place };
}

/** A batch of two effects, with a separate effect between them. */
function around(kind: EffectClass, one: Reversibility, other: Reversibility): Plan {
  return { steps: [at('a', one), { class: kind, on: 'y' }, at('a', other)], ends: 'commit' };
}

/** Another transaction that acts on the same resources. */
const NEXT: Plan = { steps: [{ class: acts, on: 'x' }], ends: 'throw' };
const BESIDE: readonly EffectClass[] = [acts, of('reversible'), blind, mail, pivot];
const isDeep = process.env['ASSIZE_CASES'] !== undefined;

const NONE: Trouble = { crashes: 0, losses: 0, refusals: 0 };
const TROUBLES: readonly Trouble[] = [
  { ...NONE, crashes: 1, losses: 1 },
  { ...NONE, crashes: 1, finals: 1 },
];
/** For one transaction by itself. It may meet more. */
const MUCH: readonly Trouble[] = [
  { ...NONE, crashes: 1, losses: 1, finals: 1, silences: 1, decisions: 2 },
  { ...NONE, refusals: 2, finals: 1, decisions: 2 },
];

const OTHERS: Readonly<Record<string, readonly Plan[]>> = {
  'two steps of two each, beside each other': [
    {
      steps: [
        at('a', 'reversible'),
        at('b', 'reversible'),
        at('a', 'irreversible'),
        at('b', 'with_cost'),
      ],
      ends: 'commit',
      hasOnFailure: true,
    },
  ],
  'three that are one step': [
    {
      steps: [
        at('a', 'reversible'),
        at('a', 'with_cost'),
        { class: blind, on: 'y' },
        at('a', 'reversible'),
      ],
      ends: 'commit',
      hasOnFailure: true,
    },
  ],
  'beside what is of a branch that is not chosen': [
    {
      steps: [
        at('a', 'reversible'),
        { ...at('a', 'reversible'), loses: true },
        at('a', 'reversible'),
      ],
      ends: 'commit',
    },
    NEXT,
  ],
  'and somebody who reads there': [
    { ...around(acts, 'reversible', 'reversible'), hasOnFailure: true },
    { steps: [{ reads: 'x' }, at('a', 'reversible'), at('a', 'reversible')], ends: 'commit' },
  ],
};

let states = 0;
function explored(plans: readonly Plan[], troubles: readonly Trouble[], processes = 1): number {
  const { states: more } = explore(plans, troubles, RULES, processes);
  states += more;
  return more;
}

afterAll(() => {
  process.stdout.write(`together: ${states} states\n`);
});

describe('a batch is all or nothing, once, with any calls in between', () => {
  test.each(PAIRS)('%s and %s', (one, other) => {
    for (const kind of BESIDE) {
      const plan = around(kind, one, other);
      const answered: Plan = { ...plan, hasOnFailure: true };
      expect(explored([answered, NEXT], TROUBLES)).toBeGreaterThan(500);
      if (isDeep) explored([plan, NEXT], [...TROUBLES, ...MUCH]);
      for (const alone of [plan, answered]) expect(explored([alone], MUCH)).toBeGreaterThan(100);
    }
  });

  test.each(Object.entries(OTHERS))('%s', (_, plans) => {
    expect(explored(plans, plans.length === 1 ? MUCH : TROUBLES)).toBeGreaterThan(500);
  });

  test.each([
    { ...NONE, crashes: 1, losses: 1 },
    { ...NONE, lapses: 1 },
  ])('in two processes: %o', (trouble) => {
    const plan: Plan = { ...around(acts, 'reversible', 'irreversible'), hasOnFailure: true };
    expect(explored([plan, { ...NEXT, by: 1 }], [trouble], 2)).toBeGreaterThan(500);
  });
});

/** The violation found; '' if there is none. */
function found(plans: readonly Plan[], rules: Partial<Rules>): string {
  try {
    explore(plans, plans.length === 1 ? MUCH : TROUBLES, { ...RULES, ...rules });
  } catch (error) {
    expect(error).toBeInstanceOf(Broken);
    return (error as Broken).message;
  }
  return '';
}

describe('a planted fault is found', () => {
  const stepping = (
    change: (step: Step, ...given: Parameters<typeof nextStep>) => Step,
  ): Partial<Rules> => ({
    nextStep: (state, knowing) => change(nextStep(state, knowing), state, knowing),
  });
  const answered: Plan = {
    ...around(of('reversible'), 'reversible', 'reversible'),
    hasOnFailure: true,
  };
  const PLANTED: readonly [
    what: string,
    plans: readonly Plan[],
    rules: Partial<Rules>,
    says: RegExp,
  ][] = [
    [
      'each is called by itself',
      [answered],
      { oneStep: (_, n) => [n] },
      /a part of 0 at a is seen/,
    ],
    [
      'each is undone by itself',
      [{ ...around(of('irreversible'), 'reversible', 'reversible'), hasOnFailure: true }],
      { oneStep: (ns, n, how) => (how === 'call' ? ns : [n]) },
      /a part of 0 at a is seen/,
    ],
    [
      'the others are called while one waits for a person',
      [answered],
      { nextStep: (state, { batchOf: _, ...knowing }) => nextStep(state, knowing) },
      /waits for a person$|is sent again/m,
    ],
    [
      'what is one step has the place of what would come first of it',
      [around(of('with_cost'), 'reversible', 'irreversible')],
      stepping((step, state, { batchOf: _, ...knowing }) =>
        state.effects.some(({ phase, failures }) => isUnresolved(phase) || failures > 0)
          ? step
          : nextStep(state, knowing),
      ),
      /is not last/,
    ],
    [
      'where one is refused, the others are taken for done',
      [answered],
      { spared: (n) => ({ is: 'applied', n }) },
      /is there 0 times, not 1|is undone|is there -1/,
    ],
    [
      'one that was refused for good is called again with another one',
      [answered],
      stepping((step, { effects }) => {
        const isGivenUp =
          step.do === 'log' && (step.record.is === 'unresolved' || step.record.is === 'failing');
        const n = effects.findIndex(({ phase, isFinal }) => phase === 'due' && isFinal !== true);
        return isGivenUp && n !== -1 ? { do: 'log', record: { is: 'applying', n } } : step;
      }),
      /is sent again/,
    ],
    [
      'what was called with one that waits for a person is called by itself',
      [answered],
      stepping((step, { phase, effects }) => {
        const n = effects.findIndex((effect) => effect.phase === 'applying');
        const isLeft = step.do === 'wait' && step.for === 'needs_human' && phase === 'committed';
        return isLeft && n !== -1 ? { do: 'call', n } : step;
      }),
      /is sent, and 0.\d waits for a person/,
    ],
  ];

  test.each(PLANTED)('%s', (_, plans, rules, says) => {
    expect(found(plans, rules)).toMatch(says);
  });
});
