import { type ArgumentSchema, arg, checkArgument, type Json } from 'assize/internal/base';
import type { Rules } from '#gateway';
import {
  type ApprovalRule,
  type BoundRule,
  type MinedRule,
  type NeverRule,
  type OrderingRule,
  type RateRule,
  RULE,
  type ValuesRule,
} from '../rule.ts';
import { statementOf } from '../statement.ts';
import { notExpressible } from './not-expressible.ts';

/** A rule in the form of `assize.yaml`, and the list of the file that it belongs to. */
export interface GatewayRule {
  readonly list: 'rules' | 'limits' | 'read_before_write';
  readonly value: { readonly id: string; readonly [member: string]: Json };
  /**
   * Whether the rule rules on each recorded call as the candidate says. `read_before_write` also
   * counts the readings of earlier runs.
   */
  readonly isExact: boolean;
}

/** The choices for a written rule. */
export interface WriteOptions {
  /** The ruling on a call outside a bound or a set of values. Default: `ask`. */
  readonly effect?: 'ask' | 'deny';
}

export const WRITE_OPTIONS: ArgumentSchema = arg.options<WriteOptions>({
  effect: arg.optional(arg.oneOf(['ask', 'deny'])),
});
const CANDIDATE = arg.members({ id: arg.text, rule: RULE });
const PLACES = arg.optional(arg.list(arg.text));
const TOOLS = arg.list(arg.members({ name: arg.text, reads: PLACES, writes: PLACES }));

type Rest = Omit<GatewayRule['value'], 'id'>;

/**
 * A mined rule for `assize.yaml`. `tools`: the declared tools of the file, for orderings of paths.
 *
 * @throws MiningError `not_expressible`; ArgumentError `bad_argument`
 */
export function gatewayRule(
  candidate: { readonly id: string; readonly rule: MinedRule },
  tools: Rules['tools'] = [],
  options: WriteOptions = {},
): GatewayRule {
  checkArgument(CANDIDATE, candidate, 'candidate');
  checkArgument(TOOLS, tools, 'tools');
  checkArgument(WRITE_OPTIONS, options, 'options');
  const { id, rule } = candidate;
  const { effect = 'ask' } = options;
  if (!/^[^/*]+\/[^*]+$/.test(rule.tool))
    throw notExpressible(
      rule,
      'rules',
      `${rule.tool} is not a tool of a server, and the file judges only those`,
    );
  const because = `Mined from recorded runs: ${statementOf(rule)}.`;
  const inList = (list: GatewayRule['list'], rest: Rest, isExact: boolean = true): GatewayRule => ({
    list,
    value: { id, ...rest, because } as GatewayRule['value'],
    isExact,
  });
  switch (rule.kind) {
    case 'allow':
      return { list: 'rules', value: { id, ...rule.rule } as GatewayRule['value'], isExact: true };
    case 'bound':
      return inList('rules', { [effect]: rule.tool, where: aboveBound(rule) });
    case 'values':
      return inList('rules', { [effect]: rule.tool, where: outside(rule) });
    case 'approval':
      return inList('rules', { ask: rule.tool, ...thresholdOf(rule) });
    case 'never':
      return inList('rules', { deny: rule.tool, agents: agentsOf(rule) });
    case 'rate':
      return inList('limits', {
        tools: rule.tool,
        per: windowOf(rule),
        each: 'agent',
        max: rule.max,
      });
    case 'ordering':
      requirePaths(rule, tools);
      return inList('read_before_write', { tools: rule.tool }, false);
    case 'prefix':
      throw notExpressible(
        rule,
        'rules',
        'a rule of the file can require a path only where it allows',
      );
    case 'apart':
      throw notExpressible(rule, 'rules', 'a rule of the file does not see other calls of a run');
  }
}

function aboveBound({ path, of, max }: BoundRule): Json {
  if (of === 'length') return [{ path: `${path}/${max}`, exists: true }];
  return [
    { path, exists: true },
    { path, min: max, not: max },
  ];
}

function outside({ path, values }: ValuesRule): Json {
  return [
    { path, exists: true },
    { path, not_in: [...values] },
  ];
}

function thresholdOf({ from }: ApprovalRule): Rest {
  if (from === undefined) return {};
  const { path, min } = from;
  return {
    where: [
      { path, exists: true },
      { path, min },
    ],
  };
}

function agentsOf(rule: NeverRule): Json {
  if (rule.by === 'principal') return [...rule.names];
  throw notExpressible(rule, 'rules', 'the file names agents, and no roles');
}

function windowOf(rule: RateRule): Json {
  if (rule.per !== 'run') return rule.per;
  throw notExpressible(
    rule,
    'rules',
    'the file limits calls in a minute, an hour or a day, and not in a run',
  );
}

function requirePaths(rule: OrderingRule, tools: Rules['tools']): void {
  const placesOf = (name: string, member: 'reads' | 'writes'): readonly string[] =>
    tools.find((tool) => tool.name === name)?.[member] ?? [];
  const { tool, needs, on } = rule;
  if (
    on !== undefined &&
    placesOf(tool, 'writes').includes(on.path) &&
    placesOf(needs, 'reads').includes(on.needsPath)
  )
    return;
  throw notExpressible(
    rule,
    'rules',
    'the file orders only the reading and the writing of declared paths',
  );
}
