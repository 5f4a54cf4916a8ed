import { nearestName } from 'assize/internal/base';
import { namesIn } from 'assize/internal/kernel';
import { isBuiltInPattern } from '../judge/built-in-tools.ts';
import { isRunner } from '../judge/runners.ts';
import { matchesSome, matchesTool } from '../names.ts';
import type { RulesFault, RulesFile } from './read-rules.ts';
import type { Rule, Rules, ToolSpec } from './rules.ts';

/** A rule that probably does not say what its author means. The file is usable. */
export interface RulesWarning extends RulesFault {
  /** The id of the rule. */
  readonly rule: string;
  /** The known name that is closest to the unknown one, if one is close. */
  readonly nearest?: string;
}

/**
 * The rules that never apply as they are written: a tool that neither the file nor `tools` has, a
 * unit or a path that no named tool declares. A rule that denies a misspelled tool denies nothing.
 * A text with a space at its start or end is listed too.
 */
export function warningsOf(
  { file, rules, presented, placeOf }: RulesFile,
  tools: readonly { readonly name: string }[] = [],
): readonly RulesWarning[] {
  const registered = tools.map(({ name }) => name.replace('.', '/'));
  const specs = rules.tools;
  const known = [...new Set([...specs.map(({ name }) => name), ...registered])];
  const warnings: RulesWarning[] = [];
  const warn = (
    rule: string,
    path: readonly (string | number)[],
    problem: string,
    nearest?: string,
  ): void => {
    warnings.push({
      file,
      rule,
      ...placeOf(path),
      problem,
      ...(nearest === undefined ? {} : { nearest }),
    });
  };
  for (const list of ['rules', 'limits', 'read_before_write', 'turns'] as const) {
    for (const [i, { id, tools: patterns }] of (rules[list] ?? []).entries()) {
      for (const [n, pattern] of patterns.entries()) {
        if (known.some((name) => matchesTool(pattern, name))) continue;
        if (pattern === '*' || isBuiltInPattern(pattern)) continue;
        // The pins of a trusted server say which tools it has.
        if (rules.trust.some((server) => pattern.startsWith(`${server}/`))) continue;
        const nearest = nearestName(pattern, known);
        const advice = nearest === undefined ? 'list it under tools' : `the nearest is ${nearest}`;
        warn(id, [list, i, 'tools', n], `names the unknown tool ${pattern}; ${advice}`, nearest);
      }
    }
  }
  const ruled = [...rules.rules, ...rules.limits, ...rules.read_before_write].flatMap(
    (each) => each.tools,
  );
  for (const [name, { title, fields = {}, confirm }] of Object.entries(presented)) {
    const isNamed = ruled.some((pattern) => pattern !== '*' && matchesTool(pattern, name));
    if (!known.includes(name) && !isNamed && !rules.trust.includes(name.split('/')[0] ?? ''))
      warn(name, ['tools', name], 'presents a tool that no rule and no server names');
    for (const named of [...namesIn(title), ...namesIn(confirm)]) {
      const nearest = Object.hasOwn(fields, named)
        ? undefined
        : nearestName(named, Object.keys(fields));
      if (nearest !== undefined)
        warn(
          name,
          ['tools', name, 'present', 'title'],
          `names ${named}, and its fields have ${nearest}`,
          nearest,
        );
    }
  }
  const lacks = (patterns: readonly string[], has: (spec: ToolSpec) => boolean): boolean => {
    const named = specs.filter(({ name }) => matchesSome(patterns, name));
    return named.length > 0 && !named.some(has);
  };
  for (const [i, { id, path, host, amount, tools: patterns }] of rules.rules.entries()) {
    const never = (member: string, what: string): void =>
      warn(id, ['rules', i, member], `never applies: no tool of the rule declares ${what}`);
    if (path !== undefined && lacks(patterns, hasPaths)) never('path', 'reads or writes');
    if (host !== undefined && lacks(patterns, ({ hosts }) => hosts !== undefined))
      never('host', 'hosts');
    if (amount !== undefined && lacks(patterns, hasAmount(amount.unit)))
      never('amount', `an amount in ${amount.unit}`);
  }
  for (const [i, rule] of rules.rules.entries()) {
    for (const path of paddedIn(rule)) warn(rule.id, ['rules', i, ...path], PADDED);
    for (const [n, { path }] of (rule.where ?? []).entries())
      if (rule.effect !== 'allow' && path.startsWith('/argv/'))
        warn(rule.id, ['rules', i, 'where', n, 'path'], `tests ${path}, ${POSITION}`);
    for (const [n, pattern] of rule.tools.entries())
      if (allowsAll(rule, pattern)) warn(rule.id, ['rules', i, 'tools', n], EVERYTHING);
    const blind = rule.effect === 'allow' || rule.path === undefined ? [] : undeclared(rules, rule);
    if (blind.length > 0)
      warn(
        rule.id,
        ['rules', i, 'path'],
        `does not see the paths of ${blind.join(', ')}; list them under tools with reads or writes`,
      );
  }
  for (const [i, { id, unit, tools: patterns }] of rules.limits.entries())
    if (unit !== undefined && lacks(patterns, hasAmount(unit)))
      warn(
        id,
        ['limits', i, 'unit'],
        `never counts: no tool of the limit declares an amount in ${unit}`,
      );
  for (const [i, { id, tools: patterns }] of rules.read_before_write.entries())
    if (lacks(patterns, ({ writes }) => writes !== undefined))
      warn(
        id,
        ['read_before_write', i, 'tools'],
        'never applies: no tool of the rule declares writes',
      );
  return warnings.sort((a, b) => a.line - b.line || a.column - b.column);
}

function hasPaths({ reads, writes }: Partial<ToolSpec>): boolean {
  return reads !== undefined || writes !== undefined;
}

function hasAmount(unit: string): (spec: ToolSpec) => boolean {
  return ({ amounts = {} }) => Object.hasOwn(amounts, unit);
}

const POSITION =
  'and the same command can be written with other words there; test /command, /flags, /targets or /refs';

const EVERYTHING =
  'allows everything: the program runs what its words and files say; ask, or allow it in a sandbox alone';

function allowsAll({ effect, class: classes, where = [] }: Rule, pattern: string): boolean {
  const isBounded = where.some(({ path }) => path === '/sandboxed');
  return (
    effect === 'allow' &&
    !isBounded &&
    (isRunner(pattern.replace(/^shell\//, '')) || pattern === 'shell/*' || pattern === '*') &&
    classes?.every((each) => each === 'read') !== true
  );
}

/** The named tools that a rule about paths is about and that declare no path. */
function undeclared({ tools, rules }: Rules, rule: Rule): readonly string[] {
  const named = [...rules.flatMap((each) => each.tools), ...tools.map(({ name }) => name)];
  const spec = new Map(tools.map((each) => [each.name, each]));
  return [...new Set(named)].filter((name) => {
    if (name.includes('*') || isBuiltInPattern(name) || !matchesSome(rule.tools, name))
      return false;
    return !hasPaths(spec.get(name) ?? {});
  });
}

type Path = readonly (string | number)[];

const PADDED =
  'begins or ends with a space, so it meets only arguments with that space; remove it if it is a slip';

/** The conditions whose text begins or ends with white space. In a path it is a fault. */
function paddedIn({ where = [] }: Rule): Path[] {
  return where.flatMap((condition, n) =>
    COMPARED.flatMap((test) => padded(condition[test], ['where', n, test])),
  );
}

/** The tests of a condition that compare with texts of the file. */
const COMPARED = ['path', 'is', 'not', 'in', 'not_in', 'any', 'all', 'only', 'matches'] as const;

function padded(value: unknown, at: Path): Path[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => padded(item, [...at, i]));
  return typeof value === 'string' && value !== value.trim() ? [at] : [];
}
