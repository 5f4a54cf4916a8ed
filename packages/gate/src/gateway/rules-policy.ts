import {
  failClosedPolicy,
  type Policy,
  type PolicyDecision,
  type PolicyQuery,
} from 'assize/internal/authority';
import type { Json } from 'assize/internal/base';
import { type CallArgs, partsOf } from './actions/call.ts';
import { rulesDigest } from './actions/configure.ts';
import { CompiledRules } from './judge/compiled-rules.ts';
import { toolKey } from './names.ts';
import { ruleText } from './rule-text.ts';
import type { Rules } from './rules/rules.ts';

/**
 * The part of the rules that denies without state, as a policy. It denies a `call`, and each call
 * of a tool that Assize makes, reads included. Questions, limits and everything else are decided by
 * the domain, so the policy allows them.
 */
export function rulesPolicy(rules: Rules): Policy {
  const stateless: Rules = { ...rules, unknown: 'ask', default: 'allow' };
  const compiled = new CompiledRules(stateless);
  // A pin may give the class of a tool, and pins are in the state.
  const classless = new CompiledRules({
    ...stateless,
    rules: rules.rules.filter((rule) => rule.class === undefined),
  });
  return failClosedPolicy({
    id: rules.id,
    digest: rulesDigest(rules),
    evaluate: (query) => {
      const asked = askedCall(query);
      if (asked === undefined) return ALLOWED;
      const judge = compiled.spec(asked.tool)?.class === undefined ? classless : compiled;
      const { agent } = asked;
      const { denied } = judge.acting({ agent, at: query.at }).judge(asked);
      return denied === undefined ? ALLOWED : denial(denied.rule, denied.why);
    },
  });
}

const ALLOWED: PolicyDecision = { decision: 'allow', reasons: [], errors: [] };

function denial(rule: string, why: string): PolicyDecision {
  return { decision: 'deny', rule, reasons: [ruleText(rule, why)], errors: [] };
}

function askedCall({ action, role, args, principal }: PolicyQuery) {
  if (role.name === 'assize.tool') {
    const dot = action.indexOf('.');
    if (dot < 1) return undefined;
    const tool = toolKey(action.slice(0, dot), action.slice(dot + 1));
    return { agent: principal.replace(/^agent:/, ''), tool, args };
  }
  if (action !== 'call' || role.name !== 'agent') return undefined;
  const {
    server,
    tool,
    args: input,
    ...more
  } = args as { readonly [member in 'server' | 'tool' | 'args']?: Json };
  // The failure denies.
  if (typeof server !== 'string' || typeof tool !== 'string' || input === undefined)
    throw new Error('the call names no server, no tool or no arguments');
  return {
    agent: role.params['agent'] ?? '',
    tool: toolKey(server, tool),
    args: input,
    ...partsOf(more as Pick<CallArgs, 'parts' | 'reaches' | 'project'>),
  };
}
