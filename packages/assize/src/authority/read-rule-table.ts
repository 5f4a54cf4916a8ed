import { AssizeError, isInstance, type Json } from '#base';
import { copyJson, parsePointer } from '#canon';
import { AuthorityError } from './errors.ts';
import { type NameSort, readName } from './grammar.ts';
import type { CallPattern, Condition, Rule, RuleTable } from './rule.ts';
import { isToolPattern } from './tool-pattern.ts';

/**
 * Parses a table from data of any origin, such as a parsed JSON file. Unknown fields are refused.
 *
 * @throws AuthorityError `bad_input`, with a JSON pointer to the place
 */
export function parseRuleTable(value: unknown): RuleTable {
  const table = objectOf(plain(value), '', ['id', 'rules', 'otherwise']);
  if (table['otherwise'] !== 'allow' && table['otherwise'] !== 'deny') {
    throw bad('/otherwise', 'must be "allow" or "deny"');
  }
  const rules = listOf(table['rules'], '/rules').map((rule, index) =>
    readRule(rule, `/rules/${index}`),
  );
  const ids = new Set<string>();
  for (const [index, { id }] of rules.entries()) {
    if (ids.has(id))
      throw bad(
        `/rules/${index}/id`,
        'repeats the id of an earlier rule; rulings name rules by id',
      );
    ids.add(id);
  }
  return { id: textOf(table['id'], '/id'), rules, otherwise: table['otherwise'] };
}

const RULE = [
  'id',
  'effect',
  'actions',
  'principals',
  'roles',
  'scopes',
  'where',
  'calls',
  'because',
];

function readRule(value: Json, at: string): Rule {
  const rule = objectOf(value, at, RULE);
  const effect = rule['effect'];
  if (effect !== 'allow' && effect !== 'deny' && effect !== 'needs_approval') {
    throw bad(`${at}/effect`, 'must be "allow", "deny" or "needs_approval"');
  }
  const optional: { -readonly [Key in keyof Rule]?: Rule[Key] } = {};
  if ('principals' in rule)
    optional.principals = patternsOf(rule['principals'], `${at}/principals`, 'action');
  if ('roles' in rule) optional.roles = textsOf(rule['roles'], `${at}/roles`);
  if ('scopes' in rule) optional.scopes = patternsOf(rule['scopes'], `${at}/scopes`, 'scope');
  if ('where' in rule) optional.where = conditionsOf(rule['where'], `${at}/where`);
  if ('calls' in rule) {
    const calls = listOf(rule['calls'], `${at}/calls`);
    optional.calls = calls.map((pattern, index) =>
      readCallPattern(pattern, `${at}/calls/${index}`),
    );
  }
  if ('because' in rule) optional.because = textOf(rule['because'], `${at}/because`);
  const actions = patternsOf(rule['actions'], `${at}/actions`, 'action');
  return { id: textOf(rule['id'], `${at}/id`), effect, actions, ...optional };
}

function readCallPattern(value: Json, at: string): CallPattern {
  const pattern = objectOf(value, at, ['tool', 'where']);
  const { tool } = pattern;
  if (!isToolPattern(tool))
    throw bad(`${at}/tool`, 'must be the name of a tool, a group such as bank.*, or **');
  return 'where' in pattern
    ? { tool, where: conditionsOf(pattern['where'], `${at}/where`) }
    : { tool };
}

function conditionsOf(value: Json | undefined, at: string): readonly Condition[] {
  return listOf(value, at).map((condition, index) => readCondition(condition, `${at}/${index}`));
}

const TESTS = [
  'exists',
  'is',
  'not',
  'in',
  'not_in',
  'any',
  'all',
  'only',
  'min',
  'max',
  'matches',
];

function readCondition(value: Json, at: string): Condition {
  const condition = objectOf(value, at, ['path', ...TESTS]);
  if (!TESTS.some((test) => test in condition))
    throw bad(at, `must have a test: ${TESTS.join(', ')}`);
  checkPointer(condition['path'], `${at}/path`);
  if ('exists' in condition && typeof condition['exists'] !== 'boolean')
    throw bad(`${at}/exists`, 'must be true or false');
  for (const key of ['in', 'not_in', 'any', 'all', 'only'])
    if (key in condition) listOf(condition[key], `${at}/${key}`);
  for (const key of ['min', 'max']) {
    if (key in condition && typeof condition[key] !== 'number')
      throw bad(`${at}/${key}`, 'must be a number');
  }
  if ('matches' in condition) patternsOf([condition['matches'] ?? null], `${at}/matches`, 'scope');
  return condition as unknown as Condition;
}

function checkPointer(value: Json | undefined, at: string): void {
  if (typeof value !== 'string') throw bad(at, 'must be a JSON pointer');
  try {
    parsePointer(value);
  } catch (error) {
    if (isInstance(error, AssizeError))
      throw bad(at, 'must be a JSON pointer: empty, or /name/name with ~0 and ~1');
    throw error;
  }
}

type Fields = { readonly [key: string]: Json };

function plain(value: unknown): Json {
  try {
    return copyJson(value, { foreign: true });
  } catch (cause) {
    throw new AuthorityError('bad_input', 'A rule table must be plain JSON data.', {
      cause,
      evidence: { pointer: '' },
    });
  }
}

function objectOf(value: Json | undefined, at: string, members: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw bad(at, 'must be an object');
  for (const key of Object.keys(value)) {
    if (!members.includes(key))
      throw bad(`${at}/${key}`, `is not known; the fields are ${members.join(', ')}`);
  }
  return value as Fields;
}

function listOf(value: Json | undefined, at: string): readonly Json[] {
  if (!Array.isArray(value)) throw bad(at, 'must be a list');
  return value as readonly Json[];
}

function textOf(value: Json | undefined, at: string): string {
  if (typeof value !== 'string' || value === '') throw bad(at, 'must be a non-empty string');
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
  return new AuthorityError(
    'bad_input',
    `The rule table is not valid: ${pointer === '' ? 'it' : pointer} ${problem}.`,
    {
      evidence: { pointer, problem },
    },
  );
}
