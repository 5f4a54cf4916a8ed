import type { Json } from 'assize/internal/base';
import { type CallArgs, partsOf } from './actions/call.ts';
import { type AnsweringRule, answeringRule } from './judge/answering-rule.ts';
import { CompiledRules } from './judge/compiled-rules.ts';
import { toolKey } from './names.ts';
import { ruleText } from './rule-text.ts';
import { flowText } from './rules/flow-text.ts';
import { BUILT_IN, type Rules } from './rules/rules.ts';

/**
 * The rules that, added to a file, let a call through by themselves. `problem`: why no added rule
 * does, because one of the file asks or denies, or no rule can be about a part.
 */
export function rulesToAllow(
  rules: Rules,
  { agent, args: call }: { readonly agent: string; readonly args: CallArgs },
): { readonly rules: readonly AnsweringRule[] } | { readonly problem: string } {
  const judged = {
    agent,
    tool: toolKey(call.server, call.tool),
    args: call.args as Json,
    ...partsOf(call),
  };
  const { project, parts = [] } = judged;
  const before = new CompiledRules(rules);
  const added = new Map<string, AnsweringRule>();
  for (const part of parts.length === 0 ? [judged] : parts) {
    const { asks } = before.judge({ agent, ...part, ...(project !== undefined && { project }) });
    const rule = asks.some((ask) => ask.rule === BUILT_IN.default)
      ? answeringRule(part)
      : undefined;
    if (rule !== undefined) added.set(flowText(rule as unknown as Json), rule);
  }
  const more = [...added.values()].map((rule, i) => ({
    id: `added-${i}`,
    effect: 'allow' as const,
    tools: [rule.allow],
    ...(rule.path !== undefined && { path: [rule.path].flat() }),
    ...(rule.host !== undefined && { host: [rule.host] }),
    ...(rule.where !== undefined && { where: [...rule.where] }),
  }));
  const { denied, asks } = new CompiledRules({ ...rules, rules: [...rules.rules, ...more] }).judge(
    judged,
  );
  const left = denied ?? asks[0];
  if (left !== undefined) return { problem: ruleText(left.rule, left.why) };
  return added.size === 0
    ? { problem: 'the rules let the call through already' }
    : { rules: [...added.values()] };
}
