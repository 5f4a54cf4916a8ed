import { composed, contentHash } from '#canon';
import { type CallsTest, compileCalls } from './call-patterns.ts';
import { allHold, compileCondition, type Test } from './condition.ts';
import {
  type BadName,
  type Name,
  nameContains,
  nameOf,
  nameOverlaps,
  quoted,
  readName,
} from './grammar.ts';
import {
  closedPolicy,
  decisionOf,
  failClosed,
  type Policy,
  type PolicyDecision,
  type PolicyQuery,
  type Verdict,
} from './policy.ts';
import { parseRuleTable } from './read-rule-table.ts';
import type { Rule, RuleTable } from './rule.ts';

/**
 * The built-in policy. Every matching row counts: deny takes precedence, then needs_approval, then
 * allow. `rule` names the first row of the deciding kind. Deterministic and total, without regular
 * expressions. The digest is the hash of the table.
 *
 * @throws AuthorityError `bad_input`, with a JSON pointer to the place
 */
export function ruleTable(table: RuleTable): Policy {
  const read = parseRuleTable(table);
  const rows = read.rules.map(compileRow);
  const candidates = new Map<string, readonly Row[]>();
  return closedPolicy({
    id: read.id,
    digest: contentHash({ engine: ENGINE, table: read }),
    evaluate: (query) =>
      failClosed(() => decide(read, candidatesFor(query.action, rows, candidates), query)),
  });
}

/** Part of the digest. Increase it when the meaning of a table that could be read changes. */
const ENGINE = 'assize/rule-table/v4';

interface Row {
  readonly rule: Rule;
  readonly actions: readonly Name[];
  readonly principals: readonly Name[] | undefined;
  readonly roles: ReadonlySet<string> | undefined;
  readonly scopes: readonly Name[] | undefined;
  readonly where: readonly Test[];
  readonly calls: CallsTest | undefined;
}

const candidateLimit = 4096;

/** The rows with a matching action, cached by name. */
function candidatesFor(
  action: string,
  rows: readonly Row[],
  known: Map<string, readonly Row[]>,
): readonly Row[] {
  const found = known.get(action);
  if (found !== undefined) return found;
  const name = exactName(action);
  if ('problem' in name) return [];
  const fitting = rows.filter((row) => containedInOne(row.actions, name));
  if (known.size >= candidateLimit) known.clear();
  known.set(action, fitting);
  return fitting;
}

function decide(table: RuleTable, rows: readonly Row[], query: PolicyQuery): PolicyDecision {
  const errors: string[] = [];
  const applied: Partial<Record<Verdict, Rule>> = {};
  const action = exactName(query.action);
  if ('problem' in action) errors.push(`the action ${action.problem}`);
  for (const row of rows) {
    const applies = rowApplies(row, query);
    if (typeof applies === 'string') errors.push(`rule ${row.rule.id}: ${applies}`);
    else if (applies) applied[row.rule.effect] ??= row.rule;
  }
  const winner = applied.deny ?? applied.needs_approval ?? applied.allow;
  if (winner === undefined)
    return decisionOf(table.otherwise, undefined, ['No rule applies.'], errors);
  return decisionOf(
    winner.effect,
    winner.id,
    [winner.because ?? `Rule ${winner.id} applies.`],
    errors,
  );
}

/** Whether the row applies, or the reason why it could not be evaluated. */
function rowApplies(row: Row, query: PolicyQuery): boolean | string {
  if (row.roles !== undefined && !row.roles.has(composed(query.role.name))) return false;
  if (row.principals !== undefined) {
    const principal = exactName(query.principal);
    if ('problem' in principal) return `the principal ${principal.problem}`;
    if (!containedInOne(row.principals, principal)) return false;
  }
  const meets = row.scopes === undefined || scopesFit(row.rule.effect, row.scopes, query.scopes);
  if (meets !== true) return meets;
  const holds = allHold(row.where, query.args);
  if (holds !== true || row.calls === undefined) return holds;
  const { calls = [] } = query;
  return row.calls(calls);
}

function scopesFit(
  effect: Verdict,
  patterns: readonly Name[],
  asked: readonly string[],
): boolean | string {
  const scopes: Name[] = [];
  for (const text of asked) {
    const name = readName('scope', text);
    if ('problem' in name) return `the scope ${quoted(text)} ${name.problem}`;
    scopes.push(name);
  }
  if (effect === 'allow') return scopes.every((scope) => containedInOne(patterns, scope));
  return scopes.some((scope) => patterns.some((pattern) => nameOverlaps(pattern, scope)));
}

/** An exact name. A name with a star would cover more than a row that denies a part of it. */
function exactName(text: string): Name | BadName {
  const name = readName('action', text);
  return 'problem' in name || name.concrete
    ? name
    : { problem: 'has a star where one exact name is needed' };
}

function containedInOne(patterns: readonly Name[], name: Name): boolean {
  return patterns.some((pattern) => nameContains(pattern, name));
}

function compileRow(rule: Rule): Row {
  return {
    rule,
    actions: rule.actions.map((text) => nameOf('action', text)),
    principals: rule.principals?.map((text) => nameOf('action', text)),
    roles: rule.roles === undefined ? undefined : new Set(rule.roles.map(composed)),
    scopes: rule.scopes?.map((text) => nameOf('scope', text)),
    where: (rule.where ?? []).map((each) => compileCondition(each, rule.effect === 'allow')),
    calls: rule.calls && compileCalls(rule.effect, rule.calls),
  };
}
