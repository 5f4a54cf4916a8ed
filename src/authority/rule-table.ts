import { AssizeError, canonicalize, contentHash, copyJson, type Json, parsePointer } from '#canon';
import { AuthorityError } from './errors.ts';
import { type Name, type NameSort, nameContains, nameOf, nameOverlaps, quoted, readName } from './grammar.ts';
import {
  closedPolicy,
  decisionOf,
  failClosed,
  type Policy,
  type PolicyDecision,
  type PolicyQuery,
  type Verdict,
} from './policy.ts';

/**
 * A test of one place in the arguments. All tests given must hold. A place that is absent, or not a number where `min` or
 * `max` needs one, is an error, and errors deny: put a condition with `exists` before one on an optional argument.
 */
export interface Condition {
  /** JSON pointer into the arguments. */
  readonly path: string;
  /** Whether there is a value; never an error. */
  readonly exists?: boolean;
  /** Equal to this value. */
  readonly is?: Json;
  readonly not?: Json;
  /** Equal to one of these. */
  readonly in?: readonly Json[];
  readonly not_in?: readonly Json[];
  /** A number, at least and at most; both ends belong to it. */
  readonly min?: number;
  readonly max?: number;
  /** A text that this pattern of the grammar covers, such as `fs:/repo/**`. */
  readonly matches?: string;
}

/** One row. It applies when its action, principal and scopes fit and all conditions hold. */
export interface Rule {
  readonly id: string;
  readonly effect: Verdict;
  /** Patterns of action names. */
  readonly actions: readonly string[];
  /** Patterns of principals; absent: anyone. */
  readonly principals?: readonly string[];
  /** Names of roles; absent: any. */
  readonly roles?: readonly string[];
  /**
   * Patterns of resources; absent: any. An `allow` rule applies when it contains every scope of the action, the others
   * when they meet one of them.
   */
  readonly scopes?: readonly string[];
  /** In order; the first that does not hold ends the row. */
  readonly where?: readonly Condition[];
  /** A sentence for people. */
  readonly because?: string;
}

export interface RuleTable {
  readonly id: string;
  readonly rules: readonly Rule[];
  /** When no row applies. */
  readonly otherwise: 'allow' | 'deny';
}

/**
 * The built-in policy. Every row that applies counts: a deny wins over all, then needs_approval, then allow; `rule` names
 * the first row of the winning sort. Deterministic and total; no regular expressions. The digest is the hash of the table.
 * @throws AuthorityError `bad_policy`, with a JSON pointer to the place
 */
export function ruleTable(table: RuleTable): Policy {
  const read = parseRuleTable(table);
  const rows = read.rules.map(compileRow);
  const candidates = new Map<string, readonly Row[]>();
  return closedPolicy({
    id: read.id,
    digest: contentHash({ engine: ENGINE, table: read }),
    evaluate: (query) => failClosed(() => decide(read, candidatesFor(query.action, rows, candidates), query)),
  });
}

/**
 * Reads a table from data of any origin, such as a parsed JSON file; unknown members are refused.
 * @throws AuthorityError `bad_policy`, with a JSON pointer to the place
 */
export function parseRuleTable(value: unknown): RuleTable {
  const table = objectOf(plain(value), '', ['id', 'rules', 'otherwise']);
  if (table['otherwise'] !== 'allow' && table['otherwise'] !== 'deny') {
    throw bad('/otherwise', 'must be "allow" or "deny"');
  }
  const rules = listOf(table['rules'], '/rules').map((rule, index) => readRule(rule, `/rules/${index}`));
  const ids = new Set<string>();
  for (const [index, { id }] of rules.entries()) {
    if (ids.has(id)) throw bad(`/rules/${index}/id`, 'is the id of a row above; ids are what rulings are explained by');
    ids.add(id);
  }
  return { id: textOf(table['id'], '/id'), rules, otherwise: table['otherwise'] };
}

/** Part of the digest: bump it when the meaning of a table changes. */
const ENGINE = 'assize/rule-table/v1';

interface Row {
  readonly rule: Rule;
  readonly actions: readonly Name[];
  readonly principals: readonly Name[] | undefined;
  readonly roles: ReadonlySet<string> | undefined;
  readonly scopes: readonly Name[] | undefined;
  readonly where: readonly Test[];
}

const candidateLimit = 4096;

/** The rows whose action fits, remembered by name. */
function candidatesFor(action: string, rows: readonly Row[], known: Map<string, readonly Row[]>): readonly Row[] {
  const found = known.get(action);
  if (found !== undefined) return found;
  const name = readName('action', action);
  const fitting = 'problem' in name ? [] : rows.filter((row) => containedInOne(row.actions, name));
  if (known.size >= candidateLimit) known.clear();
  known.set(action, fitting);
  return fitting;
}

function decide(table: RuleTable, rows: readonly Row[], query: PolicyQuery): PolicyDecision {
  const errors: string[] = [];
  const applied: Partial<Record<Verdict, Rule>> = {};
  const action = readName('action', query.action);
  if ('problem' in action) errors.push(`the action ${action.problem}`);
  for (const row of rows) {
    const applies = rowApplies(row, query);
    if (typeof applies === 'string') errors.push(`rule ${row.rule.id}: ${applies}`);
    else if (applies) applied[row.rule.effect] ??= row.rule;
  }
  const winner = applied.deny ?? applied.needs_approval ?? applied.allow;
  if (winner === undefined) return decisionOf(table.otherwise, undefined, ['No rule applies.'], errors);
  return decisionOf(winner.effect, winner.id, [winner.because ?? `Rule ${winner.id} applies.`], errors);
}

/** Whether the row applies, or what kept it from being evaluated. */
function rowApplies(row: Row, query: PolicyQuery): boolean | string {
  if (row.roles !== undefined && !row.roles.has(query.role.name)) return false;
  if (row.principals !== undefined) {
    const principal = readName('action', query.principal);
    if ('problem' in principal) return `the principal ${principal.problem}`;
    if (!containedInOne(row.principals, principal)) return false;
  }
  const meets = row.scopes === undefined || scopesFit(row.rule.effect, row.scopes, query.scopes);
  if (meets !== true) return meets;
  for (const test of row.where) {
    const holds = test(query.args);
    if (holds !== true) return holds;
  }
  return true;
}

function scopesFit(effect: Verdict, patterns: readonly Name[], asked: readonly string[]): boolean | string {
  const scopes: Name[] = [];
  for (const text of asked) {
    const name = readName('scope', text);
    if ('problem' in name) return `the scope ${quoted(text)} ${name.problem}`;
    scopes.push(name);
  }
  if (effect === 'allow') return scopes.every((scope) => containedInOne(patterns, scope));
  return scopes.some((scope) => patterns.some((pattern) => nameOverlaps(pattern, scope)));
}

function containedInOne(patterns: readonly Name[], name: Name): boolean {
  return patterns.some((pattern) => nameContains(pattern, name));
}

function compileRow(rule: Rule): Row {
  return {
    rule,
    actions: rule.actions.map((text) => nameOf('action', text)),
    principals: rule.principals?.map((text) => nameOf('action', text)),
    roles: rule.roles === undefined ? undefined : new Set(rule.roles),
    scopes: rule.scopes?.map((text) => nameOf('scope', text)),
    where: (rule.where ?? []).map(compileCondition),
  };
}

/** True, false, or what kept it from being evaluated. */
type Test = (args: Json) => boolean | string;

function compileCondition(condition: Condition): Test {
  const { path, exists } = condition;
  const segments = parsePointer(path);
  const tests = compileTests(condition);
  return (args) => {
    const value = valueAt(args, segments);
    if (exists !== undefined && exists !== (value !== undefined)) return false;
    if (tests.length === 0) return true;
    if (value === undefined) return `there is no argument at ${path}`;
    for (const test of tests) {
      const holds = test(value);
      if (typeof holds === 'string') return `the argument at ${path} ${holds}`;
      if (!holds) return false;
    }
    return true;
  };
}

function compileTests(condition: Condition): readonly Test[] {
  const { min, max, matches } = condition;
  const tests: Test[] = [];
  if (condition.is !== undefined) tests.push(equalTo([condition.is], true));
  if (condition.not !== undefined) tests.push(equalTo([condition.not], false));
  if (condition.in !== undefined) tests.push(equalTo(condition.in, true));
  if (condition.not_in !== undefined) tests.push(equalTo(condition.not_in, false));
  if (min !== undefined) tests.push((value) => (typeof value === 'number' ? value >= min : 'is not a number'));
  if (max !== undefined) tests.push((value) => (typeof value === 'number' ? value <= max : 'is not a number'));
  if (matches !== undefined) tests.push(matching(nameOf('scope', matches)));
  return tests;
}

function equalTo(values: readonly Json[], wanted: boolean): Test {
  const isScalar = (value: Json): boolean => typeof value !== 'object' || value === null;
  const scalars = new Set(values.filter(isScalar));
  const texts = new Set(values.filter((value) => !isScalar(value)).map((value) => canonicalize(value)));
  return (value) => (isScalar(value) ? scalars.has(value) : texts.has(canonicalize(value))) === wanted;
}

function matching(pattern: Name): Test {
  return (value) => {
    if (typeof value !== 'string') return 'is not a text';
    const name = readName('scope', value);
    return 'problem' in name ? name.problem : nameContains(pattern, name);
  };
}

/** The value at a path of own members, or undefined. */
function valueAt(args: Json, segments: readonly string[]): Json | undefined {
  let value: Json | undefined = args;
  for (const key of segments) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) ? !/^(?:0|[1-9]\d*)$/.test(key) : false) return undefined;
    value = Object.hasOwn(value, key) ? (value as { readonly [key: string]: Json })[key] : undefined;
  }
  return value;
}

function readRule(value: Json, at: string): Rule {
  const rule = objectOf(value, at, ['id', 'effect', 'actions', 'principals', 'roles', 'scopes', 'where', 'because']);
  const effect = rule['effect'];
  if (effect !== 'allow' && effect !== 'deny' && effect !== 'needs_approval') {
    throw bad(`${at}/effect`, 'must be "allow", "deny" or "needs_approval"');
  }
  const optional: { -readonly [Key in keyof Rule]?: Rule[Key] } = {};
  if ('principals' in rule) optional.principals = patternsOf(rule['principals'], `${at}/principals`, 'action');
  if ('roles' in rule) optional.roles = textsOf(rule['roles'], `${at}/roles`);
  if ('scopes' in rule) optional.scopes = patternsOf(rule['scopes'], `${at}/scopes`, 'scope');
  if ('where' in rule) {
    const where = listOf(rule['where'], `${at}/where`);
    optional.where = where.map((condition, index) => readCondition(condition, `${at}/where/${index}`));
  }
  if ('because' in rule) optional.because = textOf(rule['because'], `${at}/because`);
  const actions = patternsOf(rule['actions'], `${at}/actions`, 'action');
  return { id: textOf(rule['id'], `${at}/id`), effect, actions, ...optional };
}

const TESTS = ['exists', 'is', 'not', 'in', 'not_in', 'min', 'max', 'matches'];

function readCondition(value: Json, at: string): Condition {
  const condition = objectOf(value, at, ['path', ...TESTS]);
  if (!TESTS.some((test) => test in condition)) throw bad(at, `must have a test: ${TESTS.join(', ')}`);
  checkPointer(condition['path'], `${at}/path`);
  if ('exists' in condition && typeof condition['exists'] !== 'boolean')
    throw bad(`${at}/exists`, 'must be true or false');
  for (const key of ['in', 'not_in']) if (key in condition) listOf(condition[key], `${at}/${key}`);
  for (const key of ['min', 'max']) {
    if (key in condition && typeof condition[key] !== 'number') throw bad(`${at}/${key}`, 'must be a number');
  }
  if ('matches' in condition) patternsOf([condition['matches'] ?? null], `${at}/matches`, 'scope');
  return condition as unknown as Condition;
}

function checkPointer(value: Json | undefined, at: string): void {
  if (typeof value !== 'string') throw bad(at, 'must be a JSON pointer');
  try {
    parsePointer(value);
  } catch (error) {
    if (error instanceof AssizeError) throw bad(at, 'must be a JSON pointer: empty, or /name/name with ~0 and ~1');
    throw error;
  }
}

type Fields = { readonly [key: string]: Json };

function plain(value: unknown): Json {
  try {
    return copyJson(value, { foreign: true });
  } catch (cause) {
    throw new AuthorityError('bad_policy', 'A rule table must be plain JSON data.', {
      cause,
      evidence: { pointer: '' },
    });
  }
}

function objectOf(value: Json | undefined, at: string, members: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bad(at, 'must be an object');
  for (const key of Object.keys(value)) {
    if (!members.includes(key)) throw bad(`${at}/${key}`, `is not known; the members are ${members.join(', ')}`);
  }
  return value as Fields;
}

function listOf(value: Json | undefined, at: string): readonly Json[] {
  if (!Array.isArray(value)) throw bad(at, 'must be a list');
  return value as readonly Json[];
}

function textOf(value: Json | undefined, at: string): string {
  if (typeof value !== 'string' || value === '') throw bad(at, 'must be a text that is not empty');
  return value;
}

function textsOf(value: Json | undefined, at: string): readonly string[] {
  const list = listOf(value, at);
  if (list.length === 0) throw bad(at, 'is empty, so the rule would never apply');
  return list.map((item, index) => textOf(item, `${at}/${index}`));
}

function patternsOf(value: Json | undefined, at: string, sort: NameSort): readonly string[] {
  return textsOf(value, at).map((text, index) => {
    const name = readName(sort, text);
    if ('problem' in name) throw bad(`${at}/${index}`, name.problem);
    return name.text;
  });
}

function bad(pointer: string, problem: string): AuthorityError {
  return new AuthorityError('bad_policy', `Not a rule table: ${pointer === '' ? 'it' : pointer} ${problem}.`, {
    evidence: { pointer, problem },
  });
}
