import { isToolPattern } from '#authority';
import { canonicalize } from '#canon';
import { checkChannel } from './check-references.ts';
import type { Rule } from './domain.ts';
import type { DomainSpec } from './domain-spec.ts';
import { bindAll, compileScope, type Pattern, parseTemplate, templateParams } from './footprint.ts';
import { refusePromise } from './host-code.ts';
import { frozenCopy } from './immutable.ts';
import { invalid } from './invalid-domain.ts';
import {
  count,
  each,
  eachCall,
  type Index,
  type Invariant,
  invariant,
  type Rules,
  sum,
  type UniqueInvariant,
  unique,
} from './invariant.ts';
import { rulesFault } from './spec-shape.ts';
import type { AggregatePlan } from './tally-plan.ts';

/** The invariants of a domain, with the places that they read. */
export function compileRules(spec: DomainSpec<any, any>): Rule[] {
  const rules = { invariant, each, unique, sum, count, eachCall } as Rules<any>;
  const list = typeof spec.invariants === 'function' ? spec.invariants(rules) : spec.invariants;
  const malformed = rulesFault(list);
  if (malformed !== undefined) throw invalid(spec.name, malformed);
  const seen = new Set<string>();
  const members = new Map<string, Pattern>();
  return list.map((item, index) => {
    if (seen.has(item.id)) throw invalid(spec.name, `two invariants are named ${item.id}`);
    seen.add(item.id);
    checkChannel(spec, `the invariant ${item.id}`, item.channel);
    if (item.final === true && item.overridable === true)
      throw invalid(
        spec.name,
        `the invariant ${item.id} is both final and overridable; declare one of them`,
      );
    return {
      index,
      id: item.id,
      spec: frozenCopy(item),
      ...placesOfRule(spec.name, item, members),
    };
  });
}

/** `members`: the known paths of members, by their text. */
function placesOfRule(
  domain: string,
  item: Invariant<any>,
  members: Map<string, Pattern>,
): Pick<Rule, 'patterns' | 'scope' | 'member' | 'aggregates'> {
  const reads = item.reads.map((source) => fixedPattern(domain, item.id, source));
  const scope = compileScope(reads);
  if (item.kind === 'eachCall' && !isToolPattern(item.tool))
    throw invalid(
      domain,
      `${item.id} names the tool ${item.tool}; write a tool's name, a group such as bank.*, or **`,
    );
  if (item.kind === 'eachCall')
    return { patterns: reads, scope, member: undefined, aggregates: [] };
  const membersAt = (path: string): Pattern => {
    if (!path.endsWith('/*')) {
      throw invalid(domain, `the path ${path} of ${item.id} must end in /*, such as /orders/*`);
    }
    const known = members.get(path) ?? fixedPattern(domain, item.id, path);
    members.set(path, known);
    return known;
  };
  if (item.kind === 'plain') {
    const tallies = Object.entries(item.index ?? {}).map(([name, { path, per, of }]) =>
      planOf(name, membersAt(path), per, of),
    );
    return {
      patterns: [...reads, ...tallies.map(({ path }) => path)],
      scope,
      member: undefined,
      aggregates: tallies,
    };
  }
  const path = membersAt(item.path);
  const patterns = [path, ...reads];
  if (item.kind === 'each') return { patterns, scope, member: path, aggregates: [] };
  return { patterns, scope, member: undefined, aggregates: [groupPlan(item, path)] };
}

function groupPlan(
  item: Extract<Invariant<any>, { kind: 'unique' | 'sum' | 'count' }>,
  path: Pattern,
): AggregatePlan {
  if (item.kind === 'sum')
    return planOf(item.id, path, item.per, item.of ?? ((member) => member as number));
  if (item.kind === 'unique') return uniquePlan(item, path);
  const { per, where } = item;
  if (where === undefined) return planOf(item.id, path, per, undefined);
  const counted = (member: unknown, keys: readonly string[]): string | undefined => {
    const counts: unknown = where(member, keys);
    refusePromise(counts, '`where`');
    if (typeof counts !== 'boolean') throw new Error('its `where` must return true or false');
    if (!counts) return undefined;
    return per === undefined ? '' : per(member, keys);
  };
  return planOf(item.id, path, counted, undefined);
}

function planOf(name: string, path: Pattern, per: Index['per'], of: Index['of']): AggregatePlan {
  return { name, path, by: per ?? inOne, group: nameText, amount: of, named: false };
}

const inOne = (): string => '';

function nameText(name: unknown): string | undefined {
  return typeof name === 'string' ? name : undefined;
}

function uniquePlan({ id, by }: UniqueInvariant<any>, path: Pattern): AggregatePlan {
  const told = (member: unknown, keys: readonly string[]): unknown => {
    const value: unknown = by(member, keys);
    refusePromise(value, '`by`');
    // A value can be a part of the state, and the next change replaces that.
    return typeof value === 'object' && value !== null
      ? new CanonicalKey(canonicalize(value))
      : value;
  };
  return { ...planOf(id, path, told as Index['per'], undefined), group: valueText, named: true };
}

/** The canonical text of a value with parts. */
class CanonicalKey {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** No other value's text starts like the text of a string here. */
function valueText(value: unknown): string {
  if (value instanceof CanonicalKey) return value.text;
  return typeof value === 'string' ? `"${value}` : canonicalize(value);
}

function fixedPattern(domain: string, id: string, source: string): Pattern {
  const template = parseTemplate(source);
  if (template.append || templateParams(template).length > 0) {
    throw invalid(
      domain,
      `the footprint ${source} of ${id} must be a plain pointer; only * is allowed in it`,
    );
  }
  return bindAll([template], {})[0] as Pattern;
}

/**
 * Patterns that re-evaluate a rule directly when they change. The places of `with` are found by
 * their reverse index. A rule over calls is evaluated only for the calls of a proposal.
 */
export function directPatterns(rule: Rule): readonly Pattern[] {
  if (rule.spec.kind === 'eachCall') return [];
  return rule.spec.kind === 'plain' ? rule.patterns : rule.patterns.slice(0, 1);
}
