import type { CallableTool } from 'assize/internal/kernel';
import { type Configuration, rulesDigest } from './actions/configure.ts';
import { GatewayError } from './errors.ts';
import { SERVER, TOOL } from './names.ts';
import type { TrialSet } from './rules/read-rules.ts';
import type { Rules } from './rules/rules.ts';
import type { GatewayState } from './schema.ts';

/** A registered tool, the result of `declareTool`. */
export type GatewayTool = CallableTool;

/**
 * The arguments of `configure` for rules and registered tools. Assize makes the calls of every
 * changing tool; a tool that only reads is called by its caller.
 *
 * @throws GatewayError `bad_argument`
 */
export function configuration(
  rules: Rules,
  tools: readonly GatewayTool[] = [],
  trial?: TrialSet,
): Configuration {
  const runs = tools.filter((tool) => tool.class !== undefined).map(({ name }) => name);
  for (const name of runs) {
    const dot = name.indexOf('.');
    if (dot > 0 && SERVER.test(name.slice(0, dot)) && TOOL.test(name.slice(dot + 1))) continue;
    throw new GatewayError(
      'bad_argument',
      `The tool ${name} has no server. Name it server.tool, such as bank.pay.`,
      {
        evidence: { tool: name },
      },
    );
  }
  return { rules, runs, ...(trial !== undefined && { trial }) };
}

/**
 * Whether a state has these rules and tools in force. If not, an admin proposes `configure` with
 * the configuration.
 */
export function isConfigured(
  { rules: now }: Pick<GatewayState, 'rules'>,
  { rules, runs, trial }: Configuration,
): boolean {
  const sorted = [...new Set(runs)].sort();
  return (
    now.digest === rulesDigest(rules) &&
    now.trial?.digest === (trial && rulesDigest(trial.rules)) &&
    now.trial?.until === trial?.until &&
    now.runs.length === runs.length &&
    sorted.every((name, i) => name === now.runs[i])
  );
}
