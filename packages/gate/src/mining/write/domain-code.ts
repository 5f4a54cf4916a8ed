import { isToolName } from 'assize/internal/authority';
import { arg, checkArgument } from 'assize/internal/base';
import { parsePointer } from 'assize/internal/canon';
import { type MinedRule, type OrderingRule, RULE, type Scalar } from '../rule.ts';
import { statementOf } from '../statement.ts';
import { WRITE_OPTIONS, type WriteOptions } from './gateway-rule.ts';
import { notExpressible } from './not-expressible.ts';

/** A rule to write, under the id of its candidate. */
export interface RuleToWrite {
  readonly id: string;
  readonly rule: MinedRule;
}

/** The package as the written module imports it. */
const PACKAGE = "'assize'";

const HEAD = `import { eachCall, escalate, type InvariantResult, pass, reject } from ${PACKAGE};

type Otherwise = typeof escalate | typeof reject;

/** The value at a place of the input of a call. Undefined if there is none. */
function at(input: unknown, path: readonly string[]): unknown {
  let value = input;
  for (const key of path)
    value = typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as any)[key] : undefined;
  return value;
}

/** A call without the value passes. */
function required(value: unknown, holds: (value: any) => boolean, why: string, otherwise: Otherwise): InvariantResult {
  return value === undefined || holds(value) ? pass : otherwise(why);
}
`;

const RULES = arg.list(arg.members({ id: arg.text, rule: RULE }));

/**
 * A TypeScript module with mined rules for a domain of one's own. Its `minedRules` are `eachCall`
 * invariants over tool calls: `invariants: () => [...minedRules]`.
 *
 * An ordering reads `/done/*` of the state. The action that makes the earlier call sets
 * `state.done[KEY] = true` there; the comment of the rule has the key.
 *
 * @throws MiningError `not_expressible`; ArgumentError `bad_argument`
 */
export function domainCode(rules: readonly RuleToWrite[], options: WriteOptions = {}): string {
  checkArgument(RULES, rules, 'rules');
  checkArgument(WRITE_OPTIONS, options, 'options');
  const { effect = 'ask' } = options;
  const otherwise = effect === 'ask' ? 'escalate' : 'reject';
  const list = rules.map((each) => invariantOf(each, otherwise)).join('\n');
  return `${HEAD}\n/** Rules that were mined from recorded runs. */\nexport const minedRules = [\n${list}\n];\n`;
}

function invariantOf({ id, rule }: RuleToWrite, otherwise: string): string {
  const name = literal(id.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_'));
  const tool = literal(toolName(rule, rule.tool));
  const why = literal(statementOf(rule));
  const comment = `  // ${oneLine(statementOf(rule))}.\n`;
  if (rule.kind === 'ordering') {
    const { key, comment: note, place } = orderingOf(rule);
    const reads = `{ reads: ['/done/*'], with: ({ input }) => ({ earlier: ${place} }) }`;
    return `${comment}  // ${key}: ${note}\n  eachCall(${name}, ${tool}, ${reads}, (_, { earlier }) =>\n    earlier === true ? pass : ${otherwise}(${why}),\n  ),`;
  }
  if (rule.kind === 'approval' && rule.from === undefined)
    return `${comment}  eachCall(${name}, ${tool}, {}, () => ${otherwise}(${why})),`;
  const { path, holds } = conditionOf(rule);
  return `${comment}  eachCall(${name}, ${tool}, {}, ({ input }) =>\n    required(${valueAt(path)}, (value) => ${holds}, ${why}, ${otherwise}),\n  ),`;
}

/** The place that a rule is about, and an expression over its `value`. */
function conditionOf(rule: Exclude<MinedRule, OrderingRule>): {
  readonly path: string;
  readonly holds: string;
} {
  switch (rule.kind) {
    case 'bound':
      return {
        path: rule.path,
        holds:
          rule.of === 'length'
            ? `Array.isArray(value) && value.length <= ${rule.max}`
            : `typeof value === 'number' && value <= ${rule.max}`,
      };
    case 'values':
      return { path: rule.path, holds: `[${rule.values.map(literal).join(', ')}].includes(value)` };
    case 'prefix':
      return {
        path: rule.path,
        holds: `typeof value === 'string' && value.startsWith(${literal(rule.prefix)})`,
      };
    case 'approval': {
      const { path, min } = rule.from as NonNullable<typeof rule.from>;
      return { path, holds: `typeof value === 'number' && value < ${min}` };
    }
    case 'allow':
      throw notExpressible(rule, 'code', 'a rule of a domain answers no question');
    case 'never':
    case 'apart':
      throw notExpressible(
        rule,
        'code',
        'a rule of a domain does not see the principal of a call; use a writ or a policy',
      );
    case 'rate':
      throw notExpressible(
        rule,
        'code',
        'the state has no calls to count; use a collection and a rule with count',
      );
  }
}

/** The pointer to the mark of the earlier call, and the comment about that mark. */
function orderingOf(rule: OrderingRule): {
  readonly key: string;
  readonly comment: string;
  readonly place: string;
} {
  const { needs, on } = rule;
  const earlier = toolName(rule, needs);
  if (on === undefined)
    return {
      key: earlier,
      comment: `its action sets state.done[${literal(earlier)}] = true`,
      place: literal(`/done/${earlier}`),
    };
  const mark = `\`${earlier} \${value of ${oneLine(on.needsPath)}}\``;
  const escaped = `String(${valueAt(on.path)}).replaceAll('~', '~0').replaceAll('/', '~1')`;
  return {
    key: earlier,
    comment: `its action sets state.done[${mark}] = true`,
    place: `\`/done/${earlier} \${${escaped}}\``,
  };
}

function valueAt(path: string): string {
  return `at(input, [${parsePointer(path).map(literal).join(', ')}])`;
}

/** @throws MiningError `not_expressible` */
function toolName(rule: MinedRule, name: string): string {
  const tool = name.replace('/', '.');
  if (isToolName(tool)) return tool;
  throw notExpressible(rule, 'code', `${name} is not the name of a tool`);
}

/** A text for a comment: white space of any kind, such as an end of line, is one space. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

/** A scalar as a literal. Texts come from calls, so every one is quoted. */
function literal(value: Scalar): string {
  return JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}
