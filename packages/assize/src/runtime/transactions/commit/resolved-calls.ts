import type { Json } from '#base';
import { plainText } from '#canon';
import { EffectError, type Tool } from '#effects';
import type { ProposedCall } from '#kernel';
import type { CanonicalNames } from '../coordination/canonical-names.ts';
import type { ResolvedCall } from './stages.ts';

/** The tools of a runtime, and the names of its resources. */
export interface KnownTools {
  readonly ports: { readonly tools: ReadonlyMap<string, Tool> };
  readonly names: CanonicalNames;
}

/**
 * The declared calls with the tools of the runtime and their claims by canonical name.
 * @throws EffectError `unknown_tool`, `bad_input`, `bad_resolver`
 */
export function resolvedCalls(
  engine: KnownTools,
  calls: readonly ProposedCall[],
  signal: AbortSignal,
): Promise<ResolvedCall[]> {
  return Promise.all(calls.map((call) => resolvedCall(engine, call, signal)));
}

async function resolvedCall(
  { ports, names }: KnownTools,
  call: ProposedCall,
  signal: AbortSignal,
): Promise<ResolvedCall> {
  const tool = ports.tools.get(call.tool);
  if (tool?.class === undefined)
    throw new EffectError(
      'unknown_tool',
      `The action calls ${call.tool}, which is no changing tool of the runtime. Open the runtime with that tool.`,
    );
  const input = call.input as Json;
  if (plainText(tool.parse(input)) !== plainText(input))
    throw new EffectError(
      'bad_input',
      `The tool ${call.tool} of the runtime reads the input of the action's call differently. Open the runtime with the tool that the domain uses.`,
    );
  // The frozen input that the rules see, so that a rule cannot change the call.
  return { tool, input, claims: await names.resolve(tool.claims(input), signal) };
}
