import type { Attributes } from '@opentelemetry/api';
import type { Facts, Step } from 'assize/internal/traces';

export function spanName(step: string): string {
  return `assize.${step}`;
}

/** Each fact as the attribute `assize.NAME`. */
export function attributesOf(facts: Facts): Attributes {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [`assize.${name}`, value]),
  );
}

/**
 * Name and attributes of a tool's span by the GenAI conventions of OpenTelemetry. They are in
 * development, so the names are written out here.
 */
export function genAiAttributes({
  name,
  facts,
}: Pick<Step<never>, 'name' | 'facts'>):
  | { readonly name: string; readonly attributes: Attributes }
  | undefined {
  if (name !== 'make') return undefined;
  const { tool, tool_call: id, run } = facts;
  const called = String(tool).slice(String(tool).indexOf('/') + 1);
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': called,
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': id,
    'gen_ai.conversation.id': run,
  };
  return { name: `execute_tool ${called}`, attributes };
}
