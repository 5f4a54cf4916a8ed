import { type CallArgs, partsOf } from './actions/call.ts';
import { configured } from './actions/configure.ts';
import { CompiledRules } from './judge/compiled-rules.ts';
import { matchesSome, toolKey } from './names.ts';
import { ruleText } from './rule-text.ts';
import type { Rules } from './rules/rules.ts';
import type { GatewayState } from './schema.ts';

/** The file beside `FILE.yaml` in which hooks note the calls that no server has judged. */
export function unrecordedFileOf(path: string): string {
  return path.replace(/\.(ya?ml)$/i, '.unrecorded.jsonl');
}

/** Rules as a hook judges by them alone. It does not know in which project a session began. */
export class RulesAlone {
  /** The rules as a state has them. */
  readonly state: Pick<GatewayState, 'rules'>;
  readonly #compiled: CompiledRules;

  constructor(rules: Rules) {
    const anywhere = rules.rules.map(({ path, ...rule }) => ({
      ...rule,
      ...(path !== undefined && { path: path.map((each) => each.replace(/^\$\{project\}/, '**')) }),
    }));
    const given = { ...rules, rules: anywhere };
    this.state = { rules: configured({ rules: given, runs: [] }, {}).rules };
    this.#compiled = new CompiledRules(given);
  }

  /**
   * Why a call may not be made. Undefined: the rules only observe it. The settings of an agent
   * always hold, and so does a rule that needs the calls of before.
   */
  holds(
    call: Pick<CallArgs, 'server' | 'tool' | 'args' | 'parts' | 'reaches'>,
    { agent, at }: { readonly agent: string; readonly at: string },
  ): string | undefined {
    if (!this.#compiled.isOpen(at, agent)) return 'the rules hold';
    const acting = this.#compiled.acting({ agent, at });
    const { limits, read_before_write, turns = [] } = acting.rules;
    const tool = toolKey(call.server, call.tool);
    const { parts = [], ...more } = partsOf(call);
    const { denied, asks } = acting.judge({
      agent,
      tool,
      args: call.args as never,
      parts,
      ...more,
    });
    const tools = [tool, ...parts.map((part) => part.tool)];
    const counted = [...limits, ...read_before_write, ...turns].find((rule) =>
      tools.some((name) => matchesSome(rule.tools, name)),
    );
    const held =
      denied ??
      asks[0] ??
      (counted && { rule: counted.id, why: 'the rule needs the calls of before' });
    if (held !== undefined) return ruleText(held.rule, held.why);
    return tools.some((name) => name.endsWith('/settings'))
      ? 'it uses files that say what an agent may do'
      : undefined;
  }
}
