import fc from 'fast-check';
import { canonicalize, escapeSegment } from '#canon';
import { count, type Index, type Invariant, type InvariantResult, sum, unique } from '#kernel';
import { digest } from './digest.ts';
import {
  type Answer,
  at,
  expand,
  fill,
  insideOf,
  type Otherwise,
  othersOf,
  otherwise,
  type RuleSpec,
  refuses,
} from './generated-domain.ts';

// Rules over whole collections, made of data. A walk over plain objects computes the expected
// answers.

const PATHS = [
  '/n/*',
  '/orders/*',
  '/orders/*',
  '/users/*',
  '/deep/*',
  '/deep/*/*',
  '/log/*',
  '/orders/*/tags/*',
];
/** Groups are named as users are, so that a group can be judged with one. */
const GROUPS = ['a', 'length', 'a/b'];

const common = {
  reads: fc.constantFrom(...PATHS).map((path) => [path]),
  refuses: fc.integer({ min: 1, max: 5 }),
  salt: fc.nat(1000),
  odd: fc.boolean(),
  per: fc.boolean(),
};

export const groupSpec: fc.Arbitrary<RuleSpec> = fc.oneof(
  fc.record({
    kind: fc.constant('unique' as const),
    with: fc.constant('nothing' as const),
    otherwise: fc.constantFrom<Otherwise[]>('reject', 'escalate', 'throw', 'nonsense'),
    ...common,
  }),
  fc.record({
    kind: fc.constantFrom('sum' as const, 'count' as const),
    with: fc.constantFrom<RuleSpec['with'][]>(
      'nothing',
      'nothing',
      'user',
      'user',
      'inside',
      'outside',
    ),
    otherwise: fc.constantFrom<Otherwise[]>('reject', 'escalate', 'throw', 'nonsense'),
    ...common,
  }),
);

/** An index for a plain rule: its path, and how it counts. */
export interface IndexSpec {
  readonly path: string;
  readonly per: boolean;
  readonly odd: boolean;
}

export const indexSpec: fc.Arbitrary<IndexSpec> = fc.record({
  path: fc.constantFrom(...PATHS),
  per: fc.boolean(),
  odd: fc.boolean(),
});

type Measuring = Pick<RuleSpec, 'salt' | 'odd' | 'per'>;

/** Two numbers below 16 that follow from the member alone. */
function dice({ salt }: Measuring, member: unknown, keys: readonly string[]): [number, number] {
  const bits = digest([salt, 'measure', member ?? null, keys]);
  return [bits >>> 28, (bits >>> 24) & 15];
}

function groupOf(spec: Measuring, member: unknown, keys: readonly string[]): string | undefined {
  const [odd, one] = dice(spec, member, keys);
  if (spec.odd === true && odd === 15) throw new Error('no measure');
  if (spec.odd === true && odd === 14) return 5 as never;
  return one < 3 ? undefined : GROUPS[one % GROUPS.length];
}

function amountOf(spec: Measuring, member: unknown, keys: readonly string[]): number {
  const [odd, one] = dice(spec, member, keys);
  if (spec.odd === true && odd === 13) return 0.5;
  return odd === 12 ? 2 ** 53 - 1 : one - 5;
}

function distinct(spec: RuleSpec, member: any, keys: readonly string[]): unknown {
  const [odd, one] = dice(spec, member, keys);
  if (spec.odd === true && odd === 15) throw new Error('no measure');
  if (one < 3) return undefined;
  // A part of the state itself, or something that is made of it.
  if (spec.salt % 2 === 1) return spec.reads[0] === '/orders/*' ? member.tags : member;
  return [one % 7, 'v'];
}

function counts(spec: Measuring, member: unknown, keys: readonly string[]): boolean {
  const [odd, one] = dice(spec, member, keys);
  if (spec.odd === true && odd === 11) throw new Error('no idea whether');
  if (spec.odd === true && odd === 10) return Promise.resolve(true) as never;
  return one > 4;
}

// ── as the kernel gets them ──

export function groupRule(
  spec: RuleSpec,
  id: string,
  answer: (spec: RuleSpec) => InvariantResult,
  pass: InvariantResult,
): Invariant<any> {
  const path = spec.reads[0] as string;
  if (spec.kind === 'unique') {
    const by = (member: unknown, keys: readonly string[]): any => distinct(spec, member, keys);
    return unique<any, string>(id, path, { by }, saysItself(spec) ? () => answer(spec) : undefined);
  }
  const options: any = {
    ...(spec.per === true
      ? { per: (member: unknown, keys: readonly string[]) => groupOf(spec, member, keys) }
      : {}),
    ...(spec.with === 'nothing'
      ? {}
      : { reads: othersOf(spec), with: (group: string) => ({ other: otherOf(spec, group) }) }),
  };
  const check = (figure: number, { other }: any, group: string): InvariantResult =>
    refuses(spec, [figure, other ?? null, group]) ? answer(spec) : pass;
  if (spec.kind === 'sum') {
    const of = (member: unknown, keys: readonly string[]): number => amountOf(spec, member, keys);
    return sum<any, string, any>(
      id,
      path,
      { ...options, ...(sumsItself(spec) ? {} : { of }) },
      check,
    );
  }
  const where = (member: unknown, keys: readonly string[]): boolean => counts(spec, member, keys);
  return count<any, string, any>(
    id,
    path,
    { ...options, ...(spec.salt % 2 === 0 ? { where } : {}) },
    check,
  );
}

export function indexOf(spec: RuleSpec): Readonly<Record<string, Index>> {
  const { path, per, odd } = spec.index as IndexSpec;
  const measuring = { salt: spec.salt, per, odd };
  return {
    x: {
      path,
      of: (member, keys) => amountOf(measuring, member, keys),
      ...(per ? { per: (member, keys) => groupOf(measuring, member, keys) } : {}),
    },
  };
}

const saysItself = ({ salt }: RuleSpec): boolean => salt % 2 === 0;
/** Members of these are numbers. */
const sumsItself = ({ reads, salt }: RuleSpec): boolean =>
  ['/n/*', '/log/*'].includes(reads[0] as string) && salt % 3 === 0;

function otherOf(spec: RuleSpec, group: string): string {
  if (spec.with === 'inside') return insideOf(spec, group);
  return spec.with === 'outside' ? '/secret/place' : `/users/${escapeSegment(group)}`;
}

// ── as they are judged by hand ──

interface Measured {
  readonly place: string;
  readonly group?: string;
  readonly amount: number;
  readonly why?: string;
}

/** Of those that take part, in order. */
function measuredAll(
  path: string,
  state: object,
  measure: (member: unknown, keys: readonly string[]) => Partial<Measured> | undefined,
): Measured[] {
  return expand(state, path.split('/').slice(1)).flatMap(({ keys, value }): Measured[] => {
    const place = fill(path, keys);
    try {
      const found = measure(value, keys);
      if (found === undefined) return [];
      if (typeof found.group !== 'string')
        return [{ place, amount: 0, why: 'its group is not a string' }];
      if (!Number.isSafeInteger(found.amount ?? 0))
        return [{ place, amount: 0, why: 'its amount is not a whole number within 2^53 - 1' }];
      return [{ place, group: found.group, amount: found.amount ?? 0 }];
    } catch (error) {
      return [{ place, amount: 0, why: `it threw: ${(error as Error).message}` }];
    }
  });
}

function membersOf(spec: RuleSpec, state: object): Measured[] {
  return measuredAll(spec.reads[0] as string, state, (member, keys) => {
    if (spec.kind === 'unique') {
      const value = distinct(spec, member, keys);
      if (value === undefined) return undefined;
      return { group: typeof value === 'string' ? `"${value}` : canonicalize(value) };
    }
    if (spec.kind === 'count' && spec.salt % 2 === 0) {
      const counted: unknown = counts(spec, member, keys);
      if (counted instanceof Promise)
        throw new Error(
          '`where` returned a promise; make it synchronous and pass external results as observations',
        );
      if (typeof counted !== 'boolean') throw new Error('its `where` must return true or false');
      if (!counted) return undefined;
    }
    const group = spec.per === true ? groupOf(spec, member, keys) : '';
    if (group === undefined) return undefined;
    if (spec.kind === 'count') return { group };
    return { group, amount: sumsItself(spec) ? (member as number) : amountOf(spec, member, keys) };
  });
}

export function groupPlaces(spec: RuleSpec, state: object): string[][] {
  if (spec.kind !== 'unique' && spec.per !== true) return [[], ['']];
  const groups = membersOf(spec, state).flatMap(({ group }) => group ?? []);
  return [[], ...[...new Set(groups)].sort().map((group) => [group])];
}

export function groupAnswer(spec: RuleSpec, state: object, keys: readonly string[]): Answer {
  const members = membersOf(spec, state);
  const [group] = keys;
  if (group === undefined) {
    const unfit = members.find(({ why }) => why !== undefined);
    if (unfit === undefined) return { result: 'pass' };
    return {
      result: 'reject',
      detail: `the invariant cannot be checked: ${unfit.place} cannot be counted: ${unfit.why}`,
    };
  }
  const inGroup = members.filter((member) => member.group === group);
  if (spec.kind === 'unique') {
    if (inGroup.length < 2) return { result: 'pass' };
    if (saysItself(spec)) return otherwise(spec);
    const [first, second, ...more] = inGroup as [Measured, Measured];
    const rest = more.length === 0 ? '' : ` (and ${more.length} more)`;
    return {
      result: 'reject',
      detail: `${first.place} and ${second.place}${rest} have the same value, which must be unique`,
    };
  }
  if (spec.with === 'outside') {
    return {
      result: 'reject',
      detail: 'the check of the invariant failed: /secret/place is outside the footprint',
    };
  }
  const figure = spec.kind === 'count' ? inGroup.length : sumOf(inGroup);
  if (typeof figure === 'string')
    return { result: 'reject', detail: `the check of the invariant failed: it threw: ${figure}` };
  const other = spec.with === 'nothing' ? undefined : at(state, otherOf(spec, group));
  return refuses(spec, [figure, other ?? null, group]) ? otherwise(spec) : { result: 'pass' };
}

/** Exact, or why there is none. */
function sumOf(members: readonly Measured[]): number | string {
  const total = members.reduce((all, { amount }) => all + BigInt(amount), 0n);
  return Number.isSafeInteger(Number(total))
    ? Number(total)
    : `the sum ${total} is beyond 2^53 - 1`;
}

/** The figures that a rule reads from its index, or the error that it throws instead. */
export function naiveFigures(
  spec: RuleSpec,
  state: object,
): readonly number[] | { readonly thrown: string } {
  const { path, per, odd } = spec.index as IndexSpec;
  const measuring = { salt: spec.salt, per, odd };
  const members = measuredAll(path, state, (member, keys) => {
    const group = per ? groupOf(measuring, member, keys) : '';
    return group === undefined ? undefined : { group, amount: amountOf(measuring, member, keys) };
  });
  const unfit = members.find(({ why }) => why !== undefined);
  if (unfit !== undefined) return { thrown: `${unfit.place} cannot be counted: ${unfit.why}` };
  const figures: number[] = [];
  for (const group of ['', ...GROUPS]) {
    const inGroup = members.filter((member) => member.group === group);
    const total = sumOf(inGroup);
    if (typeof total === 'string') return { thrown: total };
    figures.push(inGroup.length, total);
  }
  return figures;
}

export function figuresOf(index: any): readonly number[] {
  return ['', ...GROUPS].flatMap((group) =>
    group === '' ? [index.x.count(), index.x.sum()] : [index.x.count(group), index.x.sum(group)],
  );
}
