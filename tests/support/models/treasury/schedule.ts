import fc from 'fast-check';
import type { BankFault } from './bank.ts';
import type { PayArgs } from './naive.ts';
import { IDS, PEOPLE, type Terms, type Version, versionsWith } from './versions.ts';

// Schedules in which everything happens in one ledger: declared calls, amendments, several
// approvers, reservations, upgrades, halts, branches, revocations, expiry, a second process and
// crashes.

/** `bob` needs an approval for everything. `manager-z` is a counselor too, and has no budget. */
export const AGENTS = ['alice', 'bob', 'manager-z'] as const;
/** Two managers, a director, the agent that is a manager, and a principal without a right. */
export const DECIDERS = ['manager-x', 'director-x', 'manager-y', 'manager-z', 'stranger'] as const;

/** An action before its proposal has a number. */
export type DrawnAction =
  | { readonly name: 'pay'; readonly args: Omit<PayArgs, 'ref'> }
  | { readonly name: 'drop'; readonly args: { readonly id: string } }
  | {
      readonly name: 'plan';
      readonly args: { readonly to?: string; readonly most?: number; readonly rate?: number };
    }
  | { readonly name: 'note'; readonly who: string };

/** `on`: the number of the trajectory. `process`: 0 or 1. */
interface Place {
  readonly on: number;
  readonly process: number;
}

export interface Ask extends Place {
  readonly do: 'ask';
  readonly agent: number;
  readonly action: DrawnAction;
  readonly key: number | undefined;
  /** With a transaction body that may make its own call. */
  readonly body: { readonly tip: number | undefined } | undefined;
  /** Under the writ that was revoked last, if there is one. */
  readonly isRevoked: boolean;
}

export interface Decide extends Place {
  readonly do: 'approve' | 'reject';
  readonly nth: number;
  readonly who: number;
  /** Whether the next approver follows immediately, if the proposal needs several. */
  readonly isFollowed: boolean;
  readonly override: boolean;
  readonly amend: { readonly cents: number; readonly person: string } | undefined;
}

export interface Upgrading extends Place {
  readonly do: 'upgrade';
  readonly to: number;
  /** Added to every limit by the migration. */
  readonly raise: number;
  /** The counselor that overrides. */
  readonly who: number | undefined;
  readonly dryRun: boolean;
  /** By a process that has only the new version. */
  readonly isElsewhere: boolean;
}

export type Act =
  | Ask
  | Decide
  | Upgrading
  | (Place & { readonly do: 'halt' | 'resume' })
  | (Place & { readonly do: 'revoke'; readonly agent: number })
  /** Repeats a proposal with its key. */
  | (Place & { readonly do: 'repeat'; readonly nth: number });

export type Step =
  | { readonly do: 'act'; readonly acts: readonly Act[] }
  /** The process of the act ends at a step of it. */
  | { readonly do: 'crash'; readonly act: Act; readonly at: number }
  | (Place & { readonly do: 'branch'; readonly back: number })
  | { readonly do: 'reopen'; readonly process: number }
  | { readonly do: 'wait'; readonly seconds: number };

export interface Schedule {
  readonly versions: readonly Version[];
  readonly steps: readonly Step[];
  readonly faults: readonly BankFault[];
}

const place = { on: fc.nat(3), process: fc.nat(1) };
const person = fc.constantFrom(...PEOPLE);
const id = fc.constantFrom(...IDS);
/** A value in one of `oneIn` cases. */
function sometimes<T>(oneIn: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof(
    { weight: oneIn - 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: value },
  );
}

const rarely = (oneIn: number): fc.Arbitrary<boolean> =>
  fc.nat(oneIn - 1).map((n) => n === oneIn - 1);
const agent = fc.oneof(
  { weight: 4, arbitrary: fc.nat(1) },
  { weight: 1, arbitrary: fc.constant(2) },
);

const drawnAction: fc.Arbitrary<DrawnAction> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      name: fc.constant('pay' as const),
      args: fc
        .record({
          id,
          to: person,
          cents: fc.oneof(
            { weight: 5, arbitrary: fc.integer({ min: 1, max: 24 }) },
            { weight: 2, arbitrary: fc.integer({ min: -10, max: 45 }) },
          ),
          invoice: sometimes(3, fc.constantFrom('i', 'j')),
        })
        .map(({ invoice, ...rest }) => (invoice === undefined ? rest : { ...rest, invoice })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ name: fc.constant('drop' as const), args: fc.record({ id }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      name: fc.constant('plan' as const),
      args: fc.oneof(
        fc.record({ rate: fc.integer({ min: 1, max: 2 }) }),
        fc.record({ to: person, most: fc.integer({ min: 20, max: 120 }) }),
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ name: fc.constant('note' as const), who: person }) },
);

const ask: fc.Arbitrary<Ask> = fc.record({
  do: fc.constant('ask' as const),
  ...place,
  agent,
  action: drawnAction,
  key: sometimes(3, fc.nat(3)),
  body: sometimes(5, fc.record({ tip: sometimes(2, fc.integer({ min: 1, max: 45 })) })),
  isRevoked: rarely(10),
});

const decide: fc.Arbitrary<Decide> = fc.record({
  do: fc.oneof(
    { weight: 5, arbitrary: fc.constant('approve' as const) },
    { weight: 1, arbitrary: fc.constant('reject' as const) },
  ),
  ...place,
  nth: fc.nat(4),
  who: fc.oneof(
    { weight: 8, arbitrary: fc.nat(2) },
    { weight: 1, arbitrary: fc.nat(DECIDERS.length - 1) },
  ),
  isFollowed: fc.boolean(),
  override: fc.boolean(),
  amend: sometimes(3, fc.record({ cents: fc.integer({ min: 0, max: 30 }), person })),
});

const upgrade: fc.Arbitrary<Upgrading> = fc.record({
  do: fc.constant('upgrade' as const),
  ...place,
  to: fc.nat(2),
  raise: fc.oneof(fc.constant(0), fc.integer({ min: -40, max: 40 })),
  who: sometimes(2, fc.nat(DECIDERS.length - 1)),
  dryRun: rarely(5),
  isElsewhere: rarely(4),
});

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 13, arbitrary: ask },
  { weight: 9, arbitrary: decide },
  { weight: 2, arbitrary: upgrade },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('halt' as const), ...place }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('resume' as const), ...place }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('revoke' as const),
      ...place,
      agent: fc.nat(AGENTS.length - 1),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('repeat' as const), ...place, nth: fc.nat(5) }),
  },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 16, arbitrary: fc.record({ do: fc.constant('act' as const), acts: fc.tuple(act) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('act' as const),
      acts: fc.array(act, { minLength: 2, maxLength: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      act,
      at: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('branch' as const), ...place, back: fc.nat(8) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const), process: fc.nat(1) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      seconds: fc.integer({ min: 10, max: 70 }),
    }),
  },
);

/** Schedules of up to this number of steps. Most of their versions have `freeze: 'reserve'`. */
export function schedulesOf(steps: number): fc.Arbitrary<Schedule> {
  const freeze = fc.constantFrom<Terms['freeze']>(
    'reserve',
    'reserve',
    'reserve',
    'footprint',
    'world',
  );
  return fc.record({
    versions: freeze.chain(versionsWith),
    steps: fc.array(step, { minLength: 6, maxLength: steps, size: 'max' }),
    faults: fc.array(fc.constantFrom<BankFault[]>('none', 'none', 'none', 'refuse', 'lose'), {
      maxLength: 12,
    }),
  });
}
