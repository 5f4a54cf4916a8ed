import fc from 'fast-check';

// A treasury that pays over a bank, in generated versions. The versions differ in the rules and
// their order, in the scope that a pending proposal stops, in the calls and in the state.

export const PEOPLE = ['ann', 'bob', 'cem'] as const;
export const IDS = ['a', 'b', 'c', 'd', 'e'] as const;

export interface Payment {
  to: string;
  cents: number;
  invoice?: string;
  /** The managers that approved it. */
  by?: string[];
  /** Only of versions with kinds. */
  kind?: string;
}

export interface Treasury {
  payments: { [id: string]: Payment };
  limits: { [person: string]: number };
  rate: number;
  notes: { [person: string]: number };
}

export const RULES = [
  'LIMIT',
  'MANY',
  'INVOICE',
  'LARGE',
  'ORDER',
  'CALL_MOST',
  'CALL_ASK',
] as const;
export type RuleName = (typeof RULES)[number];

/** The parts of a version that the schedules generate. */
export interface Terms {
  readonly freeze: 'world' | 'footprint' | 'reserve';
  /** In the order in which they decide. */
  readonly rules: readonly RuleName[];
  readonly final: RuleName | undefined;
  /** A payment above this amount needs managers. */
  readonly large: number;
  readonly managers: number;
  /** Maximum number of payments to one person. */
  readonly most: number;
  /** A call above the first amount is refused. A call above the second one asks a director. */
  readonly callMost: number;
  readonly callAsk: number;
  /** The fee that a payment pays in a second call. */
  readonly fee: number | undefined;
  /** Whether payments make no calls. */
  readonly isSilent: boolean;
  readonly hasKinds: boolean;
}

export interface Version extends Terms {
  readonly number: number;
}

/** The state with which every trajectory starts. It passes every rule. */
export const START: Treasury = {
  payments: {},
  limits: { ann: 60, bob: 40, cem: 20 },
  rate: 1,
  notes: {},
};

function mostly<T>(usual: T, ...others: T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );
}

const rules = fc
  .shuffledSubarray([...RULES], { minLength: 3 })
  .map((some): RuleName[] =>
    some.includes('LARGE') || some.includes('CALL_ASK') ? some : [...some, 'LARGE'],
  );

function termsWith(freeze: Terms['freeze']): fc.Arbitrary<Terms> {
  return fc.record({
    freeze: mostly<Terms['freeze']>(freeze, 'world', 'footprint', 'reserve'),
    rules,
    final: mostly<RuleName | undefined>(undefined, ...RULES),
    large: fc.integer({ min: 10, max: 30 }),
    managers: fc.integer({ min: 1, max: 2 }),
    most: fc.integer({ min: 2, max: 4 }),
    callMost: fc.integer({ min: 30, max: 60 }),
    callAsk: fc.integer({ min: 10, max: 40 }),
    fee: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined, freq: 2 }),
    isSilent: mostly(false, true),
    hasKinds: fc.boolean(),
  });
}

const MEMBERS: readonly (keyof Terms)[] = [
  ...([
    'freeze',
    'rules',
    'final',
    'large',
    'managers',
    'most',
    'callMost',
    'callAsk',
    'fee',
  ] as const),
  ...(['isSilent', 'hasKinds'] as const),
];

/**
 * Two or three versions. The first one freezes as given. A later version mostly differs from
 * the first one in few members, so that pending proposals can go on under it.
 */
export function versionsWith(freeze: Terms['freeze']): fc.Arbitrary<Version[]> {
  const few = fc.subarray([...MEMBERS], { maxLength: 2 });
  const later = fc.array(
    fc.tuple(
      termsWith(freeze),
      mostly(few, fc.constant([...MEMBERS])).chain((picked) => picked),
    ),
    {
      minLength: 1,
      maxLength: 2,
    },
  );
  return fc
    .tuple(termsWith(freeze), later)
    .map(([first, others]) => [
      { ...first, freeze, number: 1 },
      ...others.map(([terms, picked], i) => ({ ...withOf(first, terms, picked), number: i + 2 })),
    ]);
}

function withOf(first: Terms, other: Terms, picked: readonly (keyof Terms)[]): Terms {
  return { ...first, ...Object.fromEntries(picked.map((name) => [name, other[name]])) };
}
