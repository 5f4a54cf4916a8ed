import { copyJson, parsePointer, toPointer, WORLD_LIMITS } from '#canon';
import type { Change } from '../domain/change.ts';
import type { Rule } from '../domain/domain.ts';
import { EVERYTHING, type Pattern, patternText } from '../domain/footprint.ts';
import { type Keys, NO_KEYS } from '../domain/keys.ts';
import { changesOf } from '../state/changes.ts';
import { Draft } from '../state/draft.ts';
import { memberAt, overlapsPattern } from '../state/members.ts';
import { applyOperation } from '../state/operations.ts';
import { type PatchOperation, patchesOf } from '../state/patches.ts';
import type { Finding } from './finding.ts';
import type { World } from './world.ts';

type Operations = readonly PatchOperation[];

/** A waiting proposal: the operations that its approval commits, the approval mark included. */
export interface Reservation {
  readonly operations: Operations;
}

/** A waiting proposal by the places that it would change. */
export interface Waiting {
  readonly places: readonly Keys[];
}

/**
 * The waiting proposals that a rule sees together with a change of these places. The change cannot
 * spoil the others, so the runtime does not read their values.
 */
export function waitingNear<One extends Waiting>(
  { domain: { rules }, state }: World,
  changed: readonly Keys[],
  waiting: readonly One[],
): One[] {
  const met = rules.flatMap((rule) => {
    const own = touchOf(rule, changed);
    if (own === undefined) return [];
    // A change of a list can move its other members.
    const isWhole = own === 'all' || [...own].some((place) => isInList(state, parsePointer(place)));
    return [{ rule, own: isWhole ? 'all' : own } as const];
  });
  return waiting.filter(({ places }) =>
    met.some(({ rule, own }) => {
      const other = knownTouch(rule, places);
      return other !== undefined && areTogether(own, other);
    }),
  );
}

/** The members that a rule checks each on its own, or all that it reads. */
type Touch = ReadonlySet<string> | 'all';

function touchOf({ spec, patterns, member }: Rule, places: readonly Keys[]): Touch | undefined {
  const met = places.filter((keys) => patterns.some((pattern) => overlapsPattern(pattern, keys)));
  if (met.length === 0) return undefined;
  if (spec.kind !== 'each' || member === undefined || patterns.length > 1) return 'all';
  const depth = member.segments.length;
  if (met.some(({ length }) => length < depth)) return 'all';
  return new Set(met.map((keys) => toPointer(keys.slice(0, depth))));
}

function isInList(state: World['state'], member: Keys): boolean {
  return Array.isArray(memberAt(state, { segments: member.slice(0, -1), append: false }, NO_KEYS));
}

/** The places of a proposal stay the same as long as it waits. */
const TOUCHES: WeakMap<Rule, WeakMap<readonly Keys[], Touch | 'none'>> = new WeakMap();

function knownTouch(rule: Rule, places: readonly Keys[]): Touch | undefined {
  let known = TOUCHES.get(rule);
  if (known === undefined) {
    known = new WeakMap();
    TOUCHES.set(rule, known);
  }
  let touch = known.get(places);
  if (touch === undefined) {
    touch = touchOf(rule, places) ?? 'none';
    known.set(places, touch);
  }
  return touch === 'none' ? undefined : touch;
}

function areTogether(one: Touch, other: Touch): boolean {
  if (one === 'all' || other === 'all') return true;
  const [less, more] = one.size < other.size ? [one, other] : [other, one];
  return [...less].some((member) => more.has(member));
}

/** The waiting proposal that a change would spoil, and the rule that would not pass. */
export interface HeldBy<Held extends Reservation> {
  readonly by: Held;
  readonly invariantId: string;
}

/** Up to this number of proposals that a rule reads in an unknown way, every choice is judged. */
const OPEN_MAX = 4;

/**
 * Whether a change passes with the proposals that wait (`freeze: 'reserve'`), in submission order.
 * Returns the proposal that the change would spoil.
 *
 * The waiting proposals count as their recorded operations, because an approval commits exactly
 * these or nothing. A waiting proposal that breaks a rule itself, and so needs an override, does
 * not count for that rule. The state is unchanged.
 */
export function heldBy<Held extends Reservation>(
  world: World,
  own: Operations,
  waiting: readonly Held[],
): HeldBy<Held> | undefined {
  for (const among of choicesOf(world, own, waiting)) {
    const held = heldAmong(world, own, among);
    if (held !== undefined) return held;
  }
  return undefined;
}

/** The same for a draft. The draft is undone if a waiting proposal holds it. */
export function heldDraft<Held extends Reservation>(
  world: World,
  { draft, changes }: { readonly draft: Draft; readonly changes: readonly Change[] },
  waiting: readonly Held[],
):
  | { readonly held: HeldBy<Held> }
  | { readonly draft: Draft; readonly changes: readonly Change[] } {
  const own = copyJson(
    patchesOf(world.domain, draft.state, changes),
    WORLD_LIMITS,
  ) as unknown as Operations;
  world.rollback(draft);
  const held = heldBy(world, own, waiting);
  if (held !== undefined) return { held };
  const again = new Draft(world.state, world.owned);
  apply(again, own);
  return { draft: again, changes: changesOf(again) };
}

/**
 * The rules that pass without the change and not with it. A rule that the change breaks alone was
 * judged before: it rejected the change, or an approver overrides it.
 */
function heldAmong<Held extends Reservation>(
  world: World,
  own: Operations,
  among: readonly Held[],
): HeldBy<Held> | undefined {
  if (among.length === 0) return undefined;
  const together = brokenBy(findingsAfter(world, [own, ...operationsOf(among)]));
  if (together.size === 0) return undefined;
  const alone = brokenBy(findingsAfter(world, [own]));
  const without = brokenBy(findingsAfter(world, operationsOf(among)));
  for (const rule of together) {
    if (alone.has(rule)) continue;
    const counted = without.has(rule) ? thatPass(world, rule, among) : among;
    const breaksWith = (some: readonly Held[]): boolean =>
      brokenBy(findingsAfter(world, [own, ...operationsOf(some)])).has(rule);
    if (counted === among || breaksWith(counted))
      return { by: blocking(counted, breaksWith), invariantId: rule.id };
  }
  return undefined;
}

/** The waiting proposals without those that, one after the other, break the rule themselves. */
function thatPass<Held extends Reservation>(
  world: World,
  rule: Rule,
  among: readonly Held[],
): Held[] {
  const counted: Held[] = [];
  for (const one of among) {
    const next = [...counted, one];
    if (!brokenBy(findingsAfter(world, operationsOf(next))).has(rule)) counted.push(one);
  }
  return counted;
}

/**
 * The oldest proposal of a shortest row of them that breaks the rule: without it, the row passes.
 */
function blocking<Held>(
  waiting: readonly Held[],
  breaksWith: (some: readonly Held[]) => boolean,
): Held {
  const end = fewest(waiting.length, (count) => breaksWith(waiting.slice(0, count)));
  return waiting[end - fewest(end, (count) => breaksWith(waiting.slice(end - count, end)))] as Held;
}

/**
 * A count at which the rule breaks, and passes with one less. It passes with none, breaks with all.
 */
function fewest(all: number, breaksWith: (count: number) => boolean): number {
  let passing = 0;
  let breaking = all;
  while (breaking - passing > 1) {
    const middle = (passing + breaking) >> 1;
    if (breaksWith(middle)) breaking = middle;
    else passing = middle;
  }
  return breaking;
}

/**
 * The choices of waiting proposals to judge with: all of them, and for each rule those that may
 * remain if the others are rejected and are the worst for it. For a figure these are all that move
 * it up, or all that move it down. Other changes of what the rule reads have no known direction, so
 * each choice of them is judged.
 */
function choicesOf<Held extends Reservation>(
  world: World,
  own: Operations,
  waiting: readonly Held[],
): Iterable<readonly Held[]> {
  const choices = new Map<string, readonly Held[]>();
  const add = (isIn: (i: number) => boolean): void => {
    const chosen = [...waiting.keys()].filter(isIn);
    choices.set(
      chosen.join(),
      chosen.map((i) => waiting[i] as Held),
    );
  };
  add(() => true);
  if (waiting.length === 1) return choices.values();
  const shifts = waiting.map((one) => shiftsOf(world, one.operations));
  for (const rule of rulesAround(world, own)) {
    const open = new Set(
      [...waiting.keys()].filter((i) => changesMore(rule, (waiting[i] as Held).operations)),
    );
    const figures = figuresOf(world, own, rule, shifts);
    const bases = [
      () => true,
      () => false,
      ...[...figures].flatMap((figure) =>
        [1, -1].map((sign) => (i: number) => shifts[i]?.get(figure) !== sign),
      ),
    ];
    for (const some of subsetsOf([...open]))
      for (const isIn of bases) add((i) => (open.has(i) ? some.has(i) : isIn(i)));
  }
  return choices.values();
}

/** All subsets of a few numbers; of many, only all and none. */
function subsetsOf(numbers: readonly number[]): ReadonlySet<number>[] {
  if (numbers.length > OPEN_MAX) return [new Set(numbers), new Set()];
  return Array.from(
    { length: 1 << numbers.length },
    (_, bits) => new Set(numbers.filter((_number, place) => (bits & (1 << place)) !== 0)),
  );
}

/**
 * The figures of a rule to which the change matters: those that it moves itself, or all if it
 * touches the rule in another way, as a change of a limit does.
 */
function figuresOf(
  world: World,
  own: Operations,
  rule: Rule,
  shifts: readonly Shifts[],
): ReadonlySet<string> {
  const moved = changesMore(rule, own) ? shifts : [shiftsOf(world, own)];
  const figures = moved.flatMap((each) => [...each.keys()]);
  return new Set(figures.filter((figure) => figure.startsWith(`${rule.index} `)));
}

/** The rules that read a changed place, on this state or on another one. */
function rulesAround({ domain }: World, operations: Operations): Rule[] {
  return domain.rules.filter(({ patterns }) => changesAny(patterns, operations));
}

/**
 * Whether operations change a place that the rule reads not only to count it, and not only as the
 * member that it checks.
 */
function changesMore({ spec, patterns, aggregates }: Rule, operations: Operations): boolean {
  const counted = new Set(aggregates.map((plan) => patternText(plan.path)));
  const others = spec.kind === 'each' ? patterns.slice(1) : patterns;
  const read = others.filter(
    (pattern) => spec.kind === 'each' || !counted.has(patternText(pattern)),
  );
  return changesAny(read, operations);
}

function changesAny(patterns: readonly Pattern[], operations: Operations): boolean {
  return operations.some(({ path }) => {
    const keys = parsePointer(path);
    return patterns.some((pattern) => overlapsPattern(pattern, keys));
  });
}

type Shifts = ReturnType<World['checks']['shiftsOf']>;

/** A proposal moves the same figures as long as it waits, because its members do not change. */
const SHIFTS: WeakMap<World['checks'], WeakMap<Operations, Shifts>> = new WeakMap();

function shiftsOf(world: World, operations: Operations): Shifts {
  let known = SHIFTS.get(world.checks);
  if (known === undefined) {
    known = new WeakMap();
    SHIFTS.set(world.checks, known);
  }
  let shifts = known.get(operations);
  if (shifts === undefined) {
    shifts = after(world, [operations], (state, changes) => world.checks.shiftsOf(state, changes));
    known.set(operations, shifts);
  }
  return shifts;
}

function findingsAfter(world: World, lists: readonly Operations[]): Finding[] {
  return after(world, lists, (state, changes) => world.checks.findingsAfter(state, changes));
}

function brokenBy(findings: readonly Finding[]): Set<Rule> {
  return new Set(findings.map(({ rule }) => rule));
}

function operationsOf(waiting: readonly Reservation[]): Operations[] {
  return waiting.map(({ operations }) => operations);
}

/**
 * Applies the operations one list after the other, asks, and restores the state. A list that no
 * longer applies counts as nothing, because its approval is a conflict.
 */
function after<T>(
  world: World,
  lists: readonly Operations[],
  ask: (state: Draft['state'], changes: readonly Change[]) => T,
): T {
  const drafts: Draft[] = [];
  const changes: Change[] = [];
  try {
    for (const operations of lists) {
      const draft = new Draft(world.state, world.owned);
      drafts.push(draft);
      const applies = apply(draft, operations);
      if (!applies) draft.undo();
      else changes.push(...changesOf(draft));
      world.adopt(draft);
      if (!applies) drafts.pop();
    }
    return ask(world.state, changes);
  } finally {
    for (const draft of drafts.reverse()) world.rollback(draft);
  }
}

/** Whether the operations could be applied. If not, the caller undoes the draft. */
function apply(draft: Draft, operations: Operations): boolean {
  return draft.within(EVERYTHING, (state) => {
    try {
      for (const operation of operations) applyOperation(state, operation);
      return true;
    } catch {
      return false;
    }
  });
}
