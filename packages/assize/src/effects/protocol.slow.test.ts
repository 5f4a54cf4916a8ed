import { afterAll, describe, expect, test } from 'vitest';
import { explore, RULES, type Rules } from '../../../../tests/support/models/explorer/explore.ts';
import { Broken } from '../../../../tests/support/models/explorer/walk.ts';
import type {
  Plan,
  PlannedEffect,
  Trouble,
} from '../../../../tests/support/models/explorer/world.ts';
import { someOf } from '../../../../tests/support/some-of.ts';
import {
  type EffectClass,
  type EffectRecord,
  type EffectState,
  isPivot,
  nextStep,
  recorded,
  type Step,
  type TransactionState,
} from './protocol.ts';

// Three transactions, two resources, a crash at any point: every order of events
// (docs/decisions/016-effect-outcomes.md).

const SINKS = ['keyed', 'queryable', 'blind'] as const;
const CLASSES: readonly EffectClass[] = (
  ['reversible', 'with_cost', 'irreversible'] as const
).flatMap((reversibility) =>
  (['buffered', 'externalised'] as const).flatMap((delivery) =>
    SINKS.map((sink) => ({ reversibility, delivery, sink })),
  ),
);
/** Some classes, of each reversibility and delivery. */
const SOME = someOf(CLASSES, inParts);
const acts: EffectClass = {
  reversibility: 'reversible',
  delivery: 'externalised',
  sink: 'queryable',
};
const keyed: EffectClass = { ...acts, sink: 'keyed' };
const held: EffectClass = { ...acts, delivery: 'buffered' };
const pivot: EffectClass = { ...keyed, reversibility: 'irreversible' };

function inParts({ reversibility, delivery }: EffectClass): string {
  return `${reversibility} ${delivery}`;
}

/** Each class with some of those beside it. */
function pairsOf(
  kinds: readonly EffectClass[],
  beside: readonly EffectClass[],
): (readonly [EffectClass, EffectClass])[] {
  return someOf(
    kinds.flatMap((kind) => beside.map((other) => [kind, other] as const)),
    ([kind]) => kind,
  );
}

/**
 * One class with an immediate effect on another resource; a body that throws, and one that commits.
 */
function around(kind: EffectClass, beside: EffectClass = keyed): Plan[] {
  return [
    {
      steps: [
        { class: kind, on: 'x' },
        { class: beside, on: 'y' },
      ],
      ends: 'commit',
    },
    { steps: [{ class: acts, on: 'x' }], ends: 'throw' },
    { steps: [{ class: held, on: 'y' }], ends: 'commit' },
  ];
}

/** Effects of these classes, by where, in that order. */
function both(of: { readonly [on in 'x' | 'y']: EffectClass }): PlannedEffect[] {
  return (Object.keys(of) as ('x' | 'y')[]).map((on) => ({ class: of[on], on }));
}

/** The same, with the first effect in a discarded branch. */
function losing(kind: EffectClass): Plan[] {
  const [first, ...others] = around(kind) as [Plan, ...Plan[]];
  return [
    { ...first, steps: [{ ...first.steps[0]!, loses: true }, ...first.steps.slice(1)] },
    ...others,
  ];
}

const TROUBLES: readonly Trouble[] = [
  { crashes: 2, losses: 0, refusals: 0 },
  { crashes: 1, losses: 1, refusals: 0 },
  { crashes: 0, losses: 1, refusals: 1 },
];
const isDeep = process.env['ASSIZE_CASES'] !== undefined;
/** Sinks that no longer answer, and deciding operators. */
const DECIDED: readonly Trouble[] = [
  { crashes: 1, losses: 0, refusals: 0, silences: 1, decisions: 2 },
  { crashes: 0, losses: 1, refusals: 0, silences: 1, decisions: 2 },
];

let states = 0;

/** The number of states. */
function explored(plans: readonly Plan[], troubles: readonly Trouble[]): number {
  const { states: more } = explore(plans, troubles);
  states += more;
  return more;
}

/**
 * Operators decide among two transactions. Among three transactions, they decide only in the deep
 * run.
 */
function amongOthers(plans: readonly Plan[]): number {
  return explored(plans, TROUBLES) + explored(isDeep ? plans : plans.slice(0, 2), DECIDED);
}

afterAll(() => {
  process.stdout.write(`protocol: ${states} states\n`);
});

describe('transactions are atomic, once, in epoch order, and end or need a human', () => {
  test.each(SOME)('$reversibility, $delivery, $sink', (kind) => {
    expect(amongOthers(around(kind))).toBeGreaterThan(2_000);
  });

  test.each(SINKS)('a pivot next to buffered effects, with a %s sink', (sink) => {
    expect(amongOthers(around(pivot, { ...held, sink }))).toBeGreaterThan(2_000);
  });

  // A buffered effect is dropped with its branch.
  test.each(SINKS)('in a branch that is not chosen, with a %s sink', (sink) => {
    expect(amongOthers(losing({ ...acts, sink }))).toBeGreaterThan(2_000);
  });

  // Each touches both resources, and some in the other order.
  test.each(SINKS)('of three that cross, with a %s sink', (sink) => {
    const [act, hold] = [
      { ...acts, sink },
      { ...held, sink },
    ];
    const crossing: Plan[] = [
      { steps: both({ x: act, y: hold }), ends: 'commit' },
      { steps: both({ y: act, x: act }), ends: 'commit' },
      { steps: both({ x: hold, y: act }), ends: 'throw' },
    ];
    expect(explored(crossing, TROUBLES)).toBeGreaterThan(1_000);
  });
});

/**
 * `onFailure` handles permanent failures: the class next to another class, and a transaction that
 * waits for both.
 */
function answered(kind: EffectClass, beside: EffectClass): Plan[] {
  const [first] = around(kind, beside) as [Plan];
  return [
    { ...first, hasOnFailure: true },
    { steps: [{ class: held, on: 'y' }], ends: 'commit' },
  ];
}

const BESIDE: readonly EffectClass[] = [
  keyed,
  { ...keyed, delivery: 'buffered' },
  { ...held, sink: 'blind' },
  { reversibility: 'irreversible', delivery: 'buffered', sink: 'queryable' },
];
const FAILING: readonly Trouble[] = [
  { crashes: 2, losses: 0, refusals: 0, finals: 1 },
  { crashes: 1, losses: 1, refusals: 0, finals: 1 },
  { crashes: 0, losses: 1, refusals: 1, finals: 2 },
  { crashes: 1, losses: 0, refusals: 0, finals: 1, rejections: 1, decisions: 1 },
  { crashes: 0, losses: 1, refusals: 0, finals: 2, rejections: 1, decisions: 2 },
];
/** For one transaction by itself. It may meet more. */
const MUCH: readonly Trouble[] = [
  { crashes: 2, losses: 2, refusals: 0, finals: 2, rejections: 1, decisions: 2 },
  { crashes: 1, losses: 1, refusals: 1, finals: 2, silences: 1, rejections: 2, decisions: 3 },
];

describe('final failures are reverted and handled once if nothing irreversible ran', () => {
  const pairs = pairsOf(SOME, BESIDE);

  test.each(SOME)('$reversibility, $delivery, $sink', (kind) => {
    for (const [, beside] of pairs.filter(([one]) => one === kind)) {
      const plans = answered(kind, beside);
      expect(explored(plans, FAILING)).toBeGreaterThan(500);
      expect(explored(plans.slice(0, 1), MUCH)).toBeGreaterThan(100);
    }
  });
});

/**
 * Two effects of one transaction, alone and with a transaction that waits for both. Also two
 * transactions with effects on one resource.
 */
const TOGETHER: readonly ((kind: EffectClass, beside: EffectClass) => Plan[])[] = [
  (kind, beside) => [{ steps: both({ x: kind, y: beside }), ends: 'commit' }],
  (kind, beside) => [{ steps: both({ x: kind, y: beside }), ends: 'commit', hasOnFailure: true }],
];
const APART: readonly ((kind: EffectClass, beside: EffectClass) => Plan[])[] = [
  (kind, beside) => [
    { steps: both({ x: kind, y: beside }), ends: 'commit' },
    { steps: [{ class: held, on: '*' }], ends: 'commit' },
  ],
  (kind, beside) => [
    { steps: [{ class: kind, on: 'x' }], ends: 'commit' },
    { steps: [{ class: beside, on: 'x' }], ends: 'throw' },
  ],
  (kind, beside) => [
    { steps: [{ class: kind, on: 'x' }], ends: 'commit' },
    { steps: [{ class: beside, on: 'x' }], ends: 'commit' },
  ],
];
const PAIRED: readonly Trouble[] = [
  { crashes: 1, losses: 1, refusals: 0 },
  { crashes: 0, losses: 1, refusals: 1, finals: 1 },
];
const PAIRED_DECIDED: Trouble = { crashes: 1, losses: 1, refusals: 0, silences: 1, decisions: 1 };

describe('every class beside every other', () => {
  const pairs = pairsOf(CLASSES, CLASSES);

  test.each(CLASSES)('$reversibility, $delivery, $sink', (kind) => {
    for (const [, beside] of pairs.filter(([one]) => one === kind)) {
      const least = isPivot(kind) && isPivot(beside) ? 3 : 30;
      for (const plans of TOGETHER)
        expect(explored(plans(kind, beside), [...PAIRED, PAIRED_DECIDED])).toBeGreaterThan(least);
      for (const plans of APART)
        expect(explored(plans(kind, beside), PAIRED)).toBeGreaterThan(least);
    }
  });

  test.runIf(isDeep)('and beside two more transactions', { timeout: 3_600_000 }, () => {
    for (const kind of CLASSES) {
      for (const beside of CLASSES) {
        explored(around(kind, beside), TROUBLES);
        for (const plans of APART) explored(plans(kind, beside), [PAIRED_DECIDED]);
      }
    }
  });
});

/** The violation found; '' if there is none. */
function found(plans: readonly Plan[], troubles: readonly Trouble[], rules: Rules): string {
  try {
    explore(plans, troubles, rules);
  } catch (error) {
    expect(error).toBeInstanceOf(Broken);
    return (error as Broken).message;
  }
  return '';
}

test('a fault planted in branches is found', () => {
  const kept: Rules = {
    ...RULES,
    nextStep: (state, knowing) => {
      const step = nextStep(state, knowing);
      const isUndone = state.phase === 'open' && step.do === 'log' && step.record.is === 'undoing';
      return isUndone ? { do: 'wait', for: 'body' } : step;
    },
    recorded: (state, record) => {
      const all =
        record.is === 'committed'
          ? state.effects.map(({ isDiscarded: _, ...effect }) => effect)
          : state.effects;
      return recorded({ ...state, effects: all }, record);
    },
  };
  expect(() => explore(losing(keyed), [TROUBLES[0]!], kept)).toThrow(/is there 1 times, not 0/);
});

test('a pivot that does not wait for an unresolved effect is found', () => {
  const hasty: Rules = {
    ...RULES,
    nextStep: (state, knowing) => {
      const step = nextStep(state, knowing);
      const n = state.effects.findIndex(
        (effect) => isPivot(effect.class) && effect.phase === 'due',
      );
      const isHeldUp =
        step.do === 'wait' && step.for === 'needs_human' && state.phase === 'committed' && n !== -1;
      return isHeldUp ? { do: 'log', record: { is: 'applying', n } } : step;
    },
  };
  const plans = around(pivot, { ...held, sink: 'blind' });
  expect(() => explore(plans, [TROUBLES[0]!], hasty)).toThrow(/may still fail/);
});

describe('a planted fault is found', () => {
  const at = (state: TransactionState, step: Step): EffectState =>
    state.effects['n' in step ? step.n : 0]!;
  const protocol = (change: (step: Step, state: TransactionState) => Step): Rules => ({
    ...RULES,
    nextStep: (state, knowing) => change(nextStep(state, knowing), state),
  });
  const recording = (
    change: (record: EffectRecord, state: TransactionState) => EffectRecord,
  ): Rules => ({
    ...RULES,
    recorded: (state, record) => recorded(state, change(record, state)),
  });
  const PLANTED: readonly [what: string, kind: EffectClass, rules: Rules, says: RegExp][] = [
    [
      'nobody waits for who is older',
      acts,
      { ...RULES, isClear: () => true },
      /is not done yet|which is younger/,
    ],
    [
      'a blind sink is sent it again',
      { ...acts, sink: 'blind' },
      protocol((step) =>
        step.do === 'log' && step.record.is === 'in_doubt'
          ? { do: 'call', n: step.record.n }
          : step,
      ),
      /has happened twice/,
    ],
    [
      'a sink that can be asked is not asked',
      acts,
      protocol((step) => (step.do === 'ask' ? { do: 'call', n: step.n } : step)),
      /has happened twice/,
    ],
    [
      'what a crash leaves open is taken for not done',
      acts,
      protocol((step, state) =>
        step.do === 'ask' && at(state, step).phase === 'intended'
          ? { do: 'log', record: { is: 'absent', n: step.n } }
          : step,
      ),
      /is there 1 times, not 0/,
    ],
    [
      'an abort undoes nothing',
      acts,
      protocol((step) =>
        step.do === 'log' && step.record.is === 'undoing'
          ? { do: 'log', record: { is: 'aborted' } }
          : step,
      ),
      /is there 1 times, not 0/,
    ],
    [
      'a commit applies nothing',
      held,
      protocol((step) =>
        step.do === 'log' && step.record.is === 'applying'
          ? { do: 'log', record: { is: 'settled' } }
          : step,
      ),
      /is there 0 times, not 1/,
    ],
    [
      'who is in doubt is forgotten',
      { ...acts, sink: 'blind' },
      protocol((step) =>
        step.do === 'log' && step.record.is === 'in_doubt' ? { do: 'nothing' } : step,
      ),
      /never ends/,
    ],
    [
      'an undo whose answer is lost is taken for done',
      acts,
      protocol((step, state) =>
        step.do === 'ask' && at(state, step).phase === 'undoing'
          ? { do: 'log', record: { is: 'undone', n: step.n } }
          : step,
      ),
      /is there 1 times, not 0/,
    ],
    [
      'what a person finds there is let be, where it should not be there',
      { ...acts, sink: 'blind' },
      recording((record, { phase }) =>
        record.is === 'resolved' && record.as === 'applied' && phase === 'aborting'
          ? { is: 'applied', n: record.n }
          : record,
      ),
      /is there 1 times, not 0/,
    ],
    [
      'what a person lets be is tried again',
      { ...held, sink: 'blind' },
      recording((record) =>
        record.is === 'resolved' && record.as === 'residue'
          ? { is: 'resolved', n: record.n, as: 'retry' }
          : record,
      ),
      /has happened twice/,
    ],
    [
      'what is tried again is sent, where it could be asked for',
      held,
      {
        ...RULES,
        recorded: (state, record) => {
          const to = recorded(state, record);
          if (record.is !== 'resolved' || record.as !== 'retry') return to;
          const effects = to.effects.map((effect, n) =>
            n === record.n && effect.phase === 'applying'
              ? { ...effect, phase: 'due' as const }
              : effect,
          );
          return { ...to, effects };
        },
      },
      /has happened twice/,
    ],
  ];

  const isFailing = (step: Step): boolean => step.do === 'log' && step.record.is === 'failing';
  const irreversible: EffectClass = {
    reversibility: 'irreversible',
    delivery: 'buffered',
    sink: 'queryable',
  };
  const IN_FAILING: readonly [
    what: string,
    kind: EffectClass,
    beside: EffectClass,
    rules: Rules,
    says: RegExp,
  ][] = [
    [
      'what has failed is settled as it is',
      held,
      keyed,
      protocol((step) => (isFailing(step) ? { do: 'log', record: { is: 'settled' } } : step)),
      /is there 0 times, not 1/,
    ],
    [
      'nothing answers for it',
      held,
      keyed,
      protocol((step) => (step.do === 'propose' ? { do: 'log', record: { is: 'settled' } } : step)),
      /nothing answers for it/,
    ],
    [
      'it is answered for before all is undone',
      held,
      keyed,
      protocol((step, { phase }) =>
        phase === 'failing' && step.do === 'log' ? { do: 'propose' } : step,
      ),
      /acts after what it did is answered for|is there 1 times, not 0/,
    ],
    [
      'it fails after the pivot',
      irreversible,
      irreversible,
      {
        ...RULES,
        nextStep: (state, knowing) => {
          const step = nextStep(state, knowing);
          const isGivenUp =
            state.phase === 'committed' && step.do === 'log' && step.record.is === 'unresolved';
          return isGivenUp ? { do: 'log', record: { is: 'failing', n: step.record.n } } : step;
        },
      },
      /is undone|which can't be undone|waits for a person/,
    ],
    [
      'what is refused is proposed again under its key',
      held,
      keyed,
      recording((record) => (record.is === 'refused' ? { is: 'unresolved', n: record.n } : record)),
      /has happened twice/,
    ],
  ];

  test('what did nothing is undone, where it is tried again', () => {
    const rules: Rules = {
      ...RULES,
      recorded: (state, record) => {
        const to = recorded(state, record);
        if (record.is !== 'failing') return to;
        return { ...to, effects: to.effects.map(({ isAbsent: _, ...effect }) => effect) };
      },
    };
    // Only a pivot that is still to come keeps the right to compensate the others after a decision.
    const letters = (['blind', 'keyed', 'keyed'] as const).map((sink) => ({
      class: { ...irreversible, sink },
      on: 'x' as const,
    }));
    const pivot = {
      class: { ...irreversible, delivery: 'externalised' as const },
      on: 'y' as const,
    };
    const plan: Plan = { steps: [...letters, pivot], ends: 'commit', hasOnFailure: true };
    const trouble = { crashes: 0, losses: 1, refusals: 0, finals: 3, decisions: 3 };
    expect(found([plan], [trouble], RULES)).toBe('');
    expect(found([plan], [trouble], rules)).toMatch(/^0\.2 is undone/);
  });

  test.each(IN_FAILING)('%s', (_, kind, beside, rules, says) => {
    expect(found(answered(kind, beside).slice(0, 1), [...FAILING, ...MUCH], rules)).toMatch(says);
  });

  test.each(PLANTED)('%s', (_, kind, rules, says) => {
    expect(found(around(kind), [...TROUBLES, ...DECIDED], rules)).toMatch(says);
  });
});
