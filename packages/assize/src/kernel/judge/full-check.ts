import type { ProposedCall } from '../domain/call.ts';
import { requireOwnDomain } from '../domain/define-domain.ts';
import type { Domain, Rule } from '../domain/domain.ts';
import type { Pattern } from '../domain/footprint.ts';
import type { InvariantResult } from '../domain/invariant-result.ts';
import { sentence } from '../errors.ts';
import { MemberViewCache } from '../state/member-view.ts';
import { memberPath, placeOf } from '../state/members.ts';
import type { Container } from '../state/view.ts';
import { aggregatesOf, checkRule, placesOf } from './check-rule.ts';
import type { Finding } from './finding.ts';

/**
 * The first rule, in order, that does not pass, checked naively on everything. The reference of the
 * tests.
 */
export function firstFinding(
  domain: Domain,
  state: Container,
  calls: readonly ProposedCall[] = [],
): Finding | undefined {
  for (const finding of findings(domain, state, calls)) return finding;
  return undefined;
}

/**
 * All rules that do not pass, in order, at each of their places. Checked naively on everything, as
 * the caller iterates.
 */
export function* findings(
  domain: Domain,
  state: Container,
  calls: readonly ProposedCall[] = [],
): Generator<Finding> {
  requireOwnDomain(domain);
  const sight = new MemberViewCache(state);
  for (const rule of domain.rules) yield* findingsOf(rule, state, sight, calls);
}

/**
 * Every rule's result on a state, in order: the detection vector (Agentic Redux, Definition A.63).
 * `calls`: those of the proposal that produced the state, for rules over calls.
 */
export function detectionVector(
  domain: Domain,
  state: Container,
  calls: readonly ProposedCall[] = [],
): { invariant_id: string; result: InvariantResult['result']; detail?: string }[] {
  requireOwnDomain(domain);
  const sight = new MemberViewCache(state);
  return domain.rules.map((rule) => {
    const finding = firstOrRejected(rule, findingsOf(rule, state, sight, calls));
    return finding === undefined
      ? { invariant_id: rule.id, result: 'pass' }
      : { invariant_id: rule.id, result: finding.result.result, detail: detailOf(finding) };
  });
}

/**
 * The findings of the rules over calls that escalate, one for each call. One approval settles all
 * of them, so their channels, numbers of approvers and times count together.
 */
export function escalatingCallRules(
  domain: Domain,
  state: Container,
  calls: readonly ProposedCall[],
): readonly Finding[] {
  if (calls.length === 0) return [];
  const sight = new MemberViewCache(state);
  return domain.rules.flatMap((rule) => {
    if (rule.spec.kind !== 'eachCall') return [];
    const found = [...findingsOf(rule, state, sight, calls)];
    return found.every(({ result }) => result.result === 'escalate') ? found : [];
  });
}

/** A rule over calls escalates only if it rejects none of them. */
function firstOrRejected(rule: Rule, found: Iterable<Finding>): Finding | undefined {
  if (rule.spec.kind !== 'eachCall') {
    for (const finding of found) return finding;
    return undefined;
  }
  const all = [...found];
  return all.find(({ result }) => result.result === 'reject') ?? all[0];
}

function* findingsOf(
  rule: Rule,
  state: Container,
  sight: MemberViewCache,
  calls: readonly ProposedCall[],
): Generator<Finding> {
  const tallies = aggregatesOf(rule, state, sight);
  for (const keys of placesOf(rule, state, tallies, calls)) {
    const { result } = checkRule(rule, state, keys, sight, tallies, calls);
    if (result.result !== 'pass') yield { rule, keys, result };
  }
}

/** The rule's own detail, with the member or the tool that it is about. */
export function detailOf({ rule, keys, result }: Finding): string {
  if (rule.spec.kind === 'eachCall') return sentence(`${keys[1]}: ${result.detail}`);
  return sentence(
    rule.member === undefined ? result.detail : `${placeOf(rule.member, keys)}: ${result.detail}`,
  );
}

/**
 * The paths that a rule read for its finding. For an `each` rule, the one member and all places
 * that `with` may name.
 */
export function readBy({ rule, keys }: Pick<Finding, 'rule' | 'keys'>): readonly Pattern[] {
  if (rule.member === undefined) return rule.patterns;
  return [{ segments: memberPath(rule.member, keys), append: false }, ...rule.patterns.slice(1)];
}
