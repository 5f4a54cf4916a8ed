import type { Delivery, Reversibility, Sink } from '#effects';
import { type ActionSpec, defineDomain } from '#kernel';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { clinic } from '../support/clinic/clinic.ts';
import { writFor } from '../support/ledger/runtime.ts';
import { attended } from '../support/tools/ledger-with-effects.ts';

// Definitions that the mixed processes share with the test that kills them.

export const TRAJECTORIES = ['t0', 't1'];
export const SPACE = 'ward';
export const DOCTOR = { principal: 'doc', method: 'test' };
/** The error message of a body that fails by itself. */
export const ON_PURPOSE = 'on purpose';
/** The argument of a proposal that is rejected. */
export const FORBIDDEN = 'forbidden';

/** Named by sink, reversibility and delivery. */
export const TOOLS: readonly (readonly [name: string, Sink, Reversibility, Delivery])[] = [
  ['keyed.re', 'keyed', 'reversible', 'externalised'],
  ['keyed.wb', 'keyed', 'with_cost', 'buffered'],
  ['keyed.ib', 'keyed', 'irreversible', 'buffered'],
  ['queryable.rb', 'queryable', 'reversible', 'buffered'],
  ['queryable.we', 'queryable', 'with_cost', 'externalised'],
  ['queryable.ie', 'queryable', 'irreversible', 'externalised'],
  ['blind.ib', 'blind', 'irreversible', 'buffered'],
];
/** It can't be undone once it was called, so what is rejected does without it. */
const PIVOT = 'queryable.ie';

const count = attended.declared.actions['count'] as ActionSpec;

/** Counts what was committed and says so, with a doctor and a memory of each strategy. */
export const mixed = defineDomain<any, any>({
  ...(attended.declared as any),
  name: 'mixed',
  actions: {
    count: {
      ...count,
      beliefs: (name: string) =>
        name === FORBIDDEN
          ? []
          : [{ verb: 'assert', space: SPACE, ...aboutOf(name), predicate: predicateOf(name) }],
    },
  },
  memory: (clinic.declared as any).memory,
});

export function writOf(trajectory: string) {
  return writFor('alice', { trajectory, budget: { usd: 1_000_000 } });
}

export interface Call {
  readonly tool: string;
  /** The sink's name for the effect. */
  readonly what: string;
  /** The resource that it writes. */
  readonly at: string;
}

/** One order, the same for every process. */
export interface Plan {
  readonly kind: 'transaction' | 'count' | 'say' | 'triage' | 'diagnosis' | 'change';
  readonly name: string;
  readonly number: number;
  readonly trajectory: string;
  /** Its tool calls, in that order. */
  readonly calls: readonly Call[];
  /** Two branches that are tried. The first is chosen, or none. */
  readonly branches: readonly (readonly Call[])[];
  readonly isChosen: boolean;
  readonly isForbidden: boolean;
  readonly throws: boolean;
}

export function planOf(seed: number, number: number): Plan {
  const next = seededNumbers(seed + number * 7_919);
  const kinds = [
    'transaction',
    'transaction',
    'transaction',
    'count',
    'say',
    'triage',
    'diagnosis',
    'change',
  ] as const;
  const kind = kinds[next(kinds.length)]!;
  const isTransaction = kind === 'transaction';
  const name = `order-${number}`;
  const isForbidden = isTransaction && next(8) === 0;
  return {
    kind,
    name,
    number,
    trajectory: TRAJECTORIES[next(TRAJECTORIES.length)]!,
    calls: isTransaction ? callsOf(name, isForbidden, next) : [],
    branches: isTransaction && next(2) === 0 ? branchesOf(name) : [],
    isChosen: next(3) > 0,
    isForbidden,
    throws: isTransaction && next(10) === 0,
  };
}

/**
 * Some calls share a scope with other orders, except calls to blind sinks: an effect in doubt there
 * would block all others.
 */
function callsOf(name: string, isForbidden: boolean, next: (below: number) => number): Call[] {
  const drawn = new Set(Array.from({ length: 1 + next(4) }, () => TOOLS[next(TOOLS.length)]![0]));
  if (next(2) === 0) drawn.add('blind.ib');
  if (isForbidden) drawn.delete(PIVOT);
  return [...drawn].map((tool) => {
    const isShared = next(3) === 0 && !tool.startsWith('blind');
    return { tool, what: `${tool} ${name}`, at: isShared ? `shared-${next(2)}` : name };
  });
}

function branchesOf(name: string): Call[][] {
  const branches = [
    ['queryable.we', 'keyed.wb'],
    ['keyed.re', 'keyed.wb', 'blind.ib'],
  ];
  return branches.map((tools, n) =>
    tools.map((tool) => ({ tool, what: `${tool} ${name} branch ${n}`, at: `${name}-${n}` })),
  );
}

/** The effects that stand outside after the commit of the plan. */
export function standingOf({ calls, branches, isChosen }: Plan): string[] {
  return [...calls, ...(isChosen ? (branches[0] ?? []) : [])].map(({ what }) => what);
}

/** The fact that an order asserts, without its predicate. */
export function aboutOf(name: string): { subject: string; object: string; source: string } {
  return { subject: `p${numberOf(name) % 5}`, object: `of ${name}`, source: name };
}

function predicateOf(name: string): string {
  return ['drug', 'weight', 'allergy'][numberOf(name) % 3]!;
}

function numberOf(name: string): number {
  return Number(name.split('-').at(-1));
}

/** One line of a process's output. */
export type ProcessLine =
  | { readonly open: true }
  | { readonly number: number; readonly ruling: string }
  | { readonly number: number; readonly failed: string }
  | {
      readonly left: readonly {
        readonly epoch: number;
        readonly n: number;
        readonly tool: string;
      }[];
    };
