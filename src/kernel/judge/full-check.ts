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
export function firstFinding(domain: Domain, state: Container): Finding | undefined {
  for (const finding of findings(domain, state)) return finding;
  return undefined;
}

/**
 * All rules that do not pass, in order, at each of their places. Checked naively on everything, as
 * the caller iterates.
 */
export function* findings(domain: Domain, state: Container): Generator<Finding> {
  requireOwnDomain(domain);
  const sight = new MemberViewCache(state);
  for (const rule of domain.rules) yield* findingsOf(rule, state, sight);
}

/**
 * Every rule's result on a state, in order: the detection vector (Agentic Redux, Definition A.63).
 */
export function detectionVector(
  domain: Domain,
  state: Container,
): { invariant_id: string; result: InvariantResult['result']; detail?: string }[] {
  requireOwnDomain(domain);
  const sight = new MemberViewCache(state);
  return domain.rules.map((rule) => {
    const [finding] = findingsOf(rule, state, sight);
    return finding === undefined
      ? { invariant_id: rule.id, result: 'pass' }
      : { invariant_id: rule.id, result: finding.result.result, detail: detailOf(finding) };
  });
}

function* findingsOf(rule: Rule, state: Container, sight: MemberViewCache): Generator<Finding> {
  const tallies = aggregatesOf(rule, state, sight);
  for (const keys of placesOf(rule, state, tallies)) {
    const { result } = checkRule(rule, state, keys, sight, tallies);
    if (result.result !== 'pass') yield { rule, keys, result };
  }
}

/** The rule's own detail, with the member that it is about. */
export function detailOf({ rule, keys, result }: Finding): string {
  return sentence(rule.member === undefined ? result.detail : `${placeOf(rule.member, keys)}: ${result.detail}`);
}

/**
 * The paths that a rule read for its finding. For an `each` rule, the one member and all places
 * that `with` may name.
 */
export function readBy({ rule, keys }: Pick<Finding, 'rule' | 'keys'>): readonly Pattern[] {
  if (rule.member === undefined) return rule.patterns;
  return [{ segments: memberPath(rule.member, keys), append: false }, ...rule.patterns.slice(1)];
}
