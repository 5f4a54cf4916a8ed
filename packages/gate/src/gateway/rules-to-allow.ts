import type { Json } from 'assize/internal/base';
import { type CallArgs, partsOf } from './actions/call.ts';
import { type AnsweringRule, answeringRule, likeRule } from './judge/answering-rule.ts';
import {
  type Applied,
  CompiledRules,
  type JudgedCall,
  type KnownPin,
} from './judge/compiled-rules.ts';
import { SECRETS } from './judge/secrets.ts';
import { toolKey } from './names.ts';
import { ruleText } from './rule-text.ts';
import { flowText } from './rules/flow-text.ts';
import { BUILT_IN, type Rules } from './rules/rules.ts';
import { normalised, type Written } from './rules/written.ts';

/** A call in the role of its agent. */
export interface AskedCall {
  readonly agent: string;
  readonly args: CallArgs;
}

export type Pins = Readonly<Record<string, KnownPin>>;

/** Why rules, with some more, do not let a call through: a refusal, or else the first question. */
export function leftBy(
  rules: Rules,
  more: readonly AnsweringRule[],
  pins: Pins = {},
): (call: AskedCall) => Applied | undefined {
  const written = more.map((rule, i) => ({ id: `added-${i}`, ...rule }));
  const added = normalised({ id: 'added', rules: written } as Written).rules;
  const compiled = new CompiledRules({ ...rules, rules: [...rules.rules, ...added.rules] });
  return (call) => {
    const { denied, asks } = compiled.judge(judgedOf(call), (tool) => pins[tool]);
    return denied ?? asks[0];
  };
}

/**
 * The rules that, added to a file, let a call through by themselves. `problem`: why no added rule
 * does, because one of the file asks or denies, or no rule can be about a part. `isApproved`: of
 * the rules to propose for calls like it. Default: the narrowest rules.
 */
export function rulesToAllow(
  rules: Rules,
  call: AskedCall,
  pins: Pins = {},
  isApproved?: boolean,
): { readonly rules: readonly AnsweringRule[] } | { readonly problem: string } {
  const judged = judgedOf(call);
  const { project = '/', parts } = judged;
  const before = new CompiledRules(rules);
  const added = new Map<string, AnsweringRule>();
  for (const part of parts ?? [judged]) {
    const alone = parts === undefined ? judged : { ...judged, parts: [part] };
    const { asks, class: toolClass } = before.judge(alone, (tool) => pins[tool]);
    const open = asks.find((ask) => ask.rule === BUILT_IN.default);
    if (open === undefined) continue;
    const isGuarded = SECRETS.every((name) => {
      const path = `${project}/a/${name.replaceAll('*', 'a')}`;
      const args = { ...(part.args as object), path, paths: [path] };
      const met = before.judge({ ...alone, parts: [{ ...part, args }] });
      return met.denied !== undefined || met.asks.some(({ rule }) => !isBuiltIn(rule));
    });
    const rule =
      isApproved === undefined
        ? answeringRule(part)
        : likeRule(part, toolClass, project, { isApproved, isGuarded });
    // Another part's rule could be about this one, too.
    if (rule === undefined) return { problem: ruleText(open.rule, open.why) };
    added.set(flowText(rule), rule);
  }
  const left = leftBy(rules, [...added.values()], pins)(call);
  if (left !== undefined) return { problem: ruleText(left.rule, left.why) };
  return added.size === 0
    ? { problem: 'the rules let the call through already' }
    : { rules: [...added.values()] };
}

function isBuiltIn(rule: string): boolean {
  return Object.values<string>(BUILT_IN).includes(rule);
}

function judgedOf({ agent, args: { server, tool, args, ...more } }: AskedCall): JudgedCall {
  return { agent, tool: toolKey(server, tool), args: args as Json, ...partsOf(more) };
}
