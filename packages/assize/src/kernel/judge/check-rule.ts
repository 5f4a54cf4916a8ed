import { matchesTool } from '#authority';
import { isInstance, isUnwantedPromise } from '#base';
import { parsePointer } from '#canon';
import type { ProposedCall } from '../domain/call.ts';
import { WAIT_MS_MAX } from '../domain/counselors.ts';
import type { Rule } from '../domain/domain.ts';
import { type Pattern, scopeAt } from '../domain/footprint.ts';
import { refusePromise } from '../domain/host-code.ts';
import type {
  CallInvariant,
  CountInvariant,
  EachInvariant,
  PlainInvariant,
  SumInvariant,
  UniqueInvariant,
} from '../domain/invariant.ts';
import { escalate, type InvariantResult, pass, reject } from '../domain/invariant-result.ts';
import { type Keys, NO_KEYS } from '../domain/keys.ts';
import { FootprintFault, messageOf } from '../errors.ts';
import type { MemberViewCache } from '../state/member-view.ts';
import { lookup, memberPath, membersUnder } from '../state/members.ts';
import { type Container, view } from '../state/view.ts';
import { Aggregate, type AggregateView, ContributionTable, ReadOnlyCounts } from './aggregates.ts';

/** A rule's result at one place. */
export interface RuleCheck {
  readonly result: InvariantResult;
  /** For rules with `with`: the other places that the check read. */
  readonly others?: readonly string[];
}

/**
 * The place of all members together. Checked before the groups, and passed if each member can be
 * counted.
 */
const WHOLE: Keys = NO_KEYS;

/** Counts a rule's tallies by a walk. `rows`: the collections with existing tallies. */
export function aggregatesOf(
  rule: Rule,
  state: unknown,
  sight: MemberViewCache,
  rows: Map<Pattern, ContributionTable> = new Map(),
): Aggregate[] {
  return rule.aggregates.map((plan) => {
    const known = rows.get(plan.path) ?? new ContributionTable();
    rows.set(plan.path, known);
    return new Aggregate(plan, known, state, sight);
  });
}

/**
 * All places at which a rule is checked, in order: one for a plain rule, the members of `each`, for
 * a rule over groups the whole and each group, and for `eachCall` the calls of the proposal.
 */
export function placesOf(
  rule: Rule,
  state: unknown,
  tallies: readonly Aggregate[],
  calls: readonly ProposedCall[],
): readonly Keys[] {
  if (rule.spec.kind === 'eachCall') return callPlaces(rule, calls);
  if (rule.member !== undefined) return membersUnder(rule.member, state, NO_KEYS);
  if (rule.spec.kind === 'plain') return [WHOLE];
  const [tally] = tallies as [Aggregate];
  return [WHOLE, ...(isGrouped(rule) ? tally.groups().sort() : ['']).map((group) => [group])];
}

/** Whether the rule judges calls of that tool. */
export function judges({ spec }: Rule, tool: string): boolean {
  return spec.kind === 'eachCall' && matchesTool(spec.tool, tool);
}

/** The calls that a rule judges: the index of each call, and its tool for the detail. */
export function callPlaces(rule: Rule, calls: readonly ProposedCall[]): readonly Keys[] {
  return calls.flatMap(({ tool }, index) => (judges(rule, tool) ? [[String(index), tool]] : []));
}

/** Checks a rule at one place. Fails closed: a rule that cannot be checked does not pass. */
export function checkRule(
  rule: Rule,
  state: Container,
  keys: Keys,
  sight: MemberViewCache,
  tallies: readonly AggregateView[],
  calls: readonly ProposedCall[],
): RuleCheck {
  try {
    const { spec } = rule;
    if (spec.kind === 'eachCall')
      return { result: judgeCall(spec, rule, state, callAt(keys, calls), sight) };
    if (spec.kind === 'plain') return { result: judgePlain(spec, rule, state, tallies) };
    if (spec.kind === 'each') return judgeMember(spec, rule, state, keys, sight);
    return judgeGroup(spec, rule, state, keys, sight, tallies[0] as AggregateView);
  } catch (error) {
    const what = isInstance(error, FootprintFault)
      ? error.message
      : `it threw: ${messageOf(error)}`;
    // A change of the other places may make the check possible.
    const others = othersOr([], () => pointersAt(rule, keys, sight, calls));
    return { result: reject(`the check of the invariant failed: ${what}`), others };
  }
}

/**
 * The paths that a rule reads at one place. If the check is impossible, all paths that it may read.
 */
export function readAt(
  rule: Rule,
  keys: Keys,
  sight: MemberViewCache,
  calls: readonly ProposedCall[],
): readonly Pattern[] {
  if (rule.spec.kind === 'plain') return rule.patterns;
  if (rule.spec.kind === 'eachCall') {
    const named = othersOr(undefined, () => pointersAt(rule, keys, sight, calls));
    return named?.map(patternAt) ?? rule.patterns;
  }
  const [members, ...mayRead] = rule.patterns as [Pattern, ...Pattern[]];
  const own =
    rule.member === undefined ? members : { segments: memberPath(members, keys), append: false };
  const others = othersOr(undefined, () => pointersAt(rule, keys, sight, calls));
  return [own, ...(others?.map(patternAt) ?? mayRead)];
}

function patternAt(pointer: string): Pattern {
  return { segments: parsePointer(pointer), append: false };
}

function callAt([index]: Keys, calls: readonly ProposedCall[]): ProposedCall {
  return calls[Number(index)] as ProposedCall;
}

function pointersAt(
  { spec, member }: Rule,
  keys: Keys,
  sight: MemberViewCache,
  calls: readonly ProposedCall[],
): Readonly<Record<string, string>> {
  if (spec.kind === 'plain' || spec.kind === 'unique' || spec.with === undefined) return {};
  if (spec.kind === 'eachCall') return pointersBy(spec.with(callAt(keys, calls)));
  if (spec.kind !== 'each') return keys[0] === undefined ? {} : pointersBy(spec.with(keys[0]));
  const found = sight.member(member as Pattern, keys);
  return found === undefined ? {} : pointersBy(spec.with(found, keys));
}

/** A promise has no pointers, so the check would read nothing. */
function pointersBy(returned: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  refusePromise(returned, 'with');
  return returned;
}

/** The check reports a `with` that throws or returns an invalid pointer. */
function othersOr<T>(
  otherwise: T,
  pointers: () => Readonly<Record<string, string>>,
): readonly string[] | T {
  try {
    const others = Object.values(pointers());
    for (const other of others) parsePointer(other);
    return others;
  } catch {
    return otherwise;
  }
}

function judgePlain(
  spec: PlainInvariant<any>,
  rule: Rule,
  state: Container,
  tallies: readonly AggregateView[],
): InvariantResult {
  const index =
    tallies.length === 0
      ? NO_INDEX
      : Object.fromEntries(tallies.map((tally) => [tally.plan.name, new ReadOnlyCounts(tally)]));
  return wellFormed(spec.check(view(state, rule.scope), index));
}

const NO_INDEX = Object.freeze({});

function judgeMember(
  spec: EachInvariant<any>,
  rule: Rule,
  state: Container,
  keys: Keys,
  sight: MemberViewCache,
): RuleCheck {
  const member = sight.member(rule.member as Pattern, keys);
  const { with: pointersOf } = spec;
  if (member === undefined) return pointersOf === undefined ? PASSED : GONE;
  if (pointersOf === undefined) return { result: wellFormed(spec.check(member, {}, keys)) };
  const { seen, others } = judgedWith(pointersBy(pointersOf(member, keys)), rule, state, sight);
  return { result: wellFormed(spec.check(member, seen, keys)), others };
}

function judgeCall(
  spec: CallInvariant<any>,
  rule: Rule,
  state: Container,
  call: ProposedCall,
  sight: MemberViewCache,
): InvariantResult {
  const { seen } = judgedWith(
    spec.with === undefined ? {} : pointersBy(spec.with(call)),
    rule,
    state,
    sight,
  );
  return wellFormed(spec.check(call, seen));
}

const PASSED: RuleCheck = { result: pass };
/** A place that no longer reads anything is removed from the reverse index. */
const GONE: RuleCheck = { result: pass, others: [] };

function judgeGroup(
  spec: UniqueInvariant<any> | SumInvariant<any> | CountInvariant<any>,
  rule: Rule,
  state: Container,
  keys: Keys,
  sight: MemberViewCache,
  tally: AggregateView,
): RuleCheck {
  const [group] = keys;
  if (group === undefined) {
    const fault = tally.fault();
    return fault === undefined
      ? GONE
      : { result: reject(`the invariant cannot be checked: ${fault}`), others: [] };
  }
  const figures = tally.group(group);
  if (figures === undefined && isGrouped(rule)) return GONE;
  if (spec.kind === 'unique') {
    if (figures === undefined || figures.count < 2) return GONE;
    const places = tally.places(group);
    return {
      result: spec.check === undefined ? notUnique(places) : wellFormed(spec.check(places)),
      others: [],
    };
  }
  const { seen, others } = judgedWith(
    spec.with === undefined ? {} : pointersBy(spec.with(group)),
    rule,
    state,
    sight,
  );
  const figure = spec.kind === 'sum' ? tally.sumOfCounted(group) : (figures?.count ?? 0);
  return { result: wellFormed(spec.check(figure, seen, group)), others };
}

function notUnique(places: readonly string[]): InvariantResult {
  const [first, second, ...more] = places;
  const rest = more.length === 0 ? '' : ` (and ${more.length} more)`;
  return reject(`${first} and ${second}${rest} have the same value, which must be unique`);
}

/** Whether the members are checked by group, or all together. */
export function isGrouped({ spec }: Rule): boolean {
  return (
    spec.kind === 'unique' ||
    ((spec.kind === 'sum' || spec.kind === 'count') && spec.per !== undefined)
  );
}

/**
 * The values at the other places that a check reads, by name. Each place must be in the rule's
 * footprint.
 */
function judgedWith(
  pointers: Readonly<Record<string, string>>,
  rule: Rule,
  state: Container,
  sight: MemberViewCache,
): { readonly seen: Record<string, unknown>; readonly others: readonly string[] } {
  const seen: Record<string, unknown> = Object.create(null);
  for (const [name, pointer] of Object.entries(pointers)) {
    const path = parsePointer(pointer);
    if (!covered(rule, path)) throw new FootprintFault(pointer, 'read');
    seen[name] = sight.seen(lookup(state, path));
  }
  return { seen, others: Object.values(pointers) };
}

function covered(rule: Rule, path: readonly string[]): boolean {
  let scope: typeof rule.scope | undefined = rule.scope;
  for (const key of path) {
    if (scope.all) return true;
    scope = scopeAt(scope, key);
    if (scope === undefined) return false;
  }
  return scope.all;
}

/** A rule that returns anything except the three results does not pass. */
function wellFormed(result: InvariantResult): InvariantResult {
  if (isUnwantedPromise(result))
    return reject('the invariant returned a promise; make it synchronous');
  if (result?.result === 'pass') return pass;
  // Copied, because the rule may change its object later.
  if (result?.result === 'reject' && typeof result.detail === 'string')
    return reject(result.detail);
  if (result?.result === 'escalate' && typeof result.detail === 'string') {
    const { detail, timeoutMs } = result;
    if (timeoutMs === undefined) return escalate(detail);
    if (Number.isSafeInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= WAIT_MS_MAX)
      return escalate(detail, { timeoutMs });
    return reject(`the invariant escalated for ${timeoutMs} ms, and not for 1 to ${WAIT_MS_MAX}`);
  }
  return reject('the invariant did not return pass, reject or escalate');
}
