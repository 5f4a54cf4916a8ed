import type { Json } from 'assize/internal/base';
import { contentHash } from 'assize/internal/canon';
import { z } from 'zod';
import { type CompiledRules, compiledRules } from '../judge/compiled-rules.ts';
import { serverName, toolName } from '../name-forms.ts';
import { toolKey } from '../names.ts';
import type { ToolClass } from '../rules/rules.ts';
import type { GatewayState } from '../schema.ts';

export const pinArgs: z.ZodObject<{
  server: z.ZodString;
  tool: z.ZodString;
  definition: z.ZodRecord<z.ZodString, z.ZodUnknown>;
}> = z.strictObject({
  server: serverName,
  tool: toolName,
  /** The tool's definition, as the server lists it: name, description, schemas, annotations. */
  definition: z.record(z.string(), z.unknown()),
});

export type PinArgs = z.infer<typeof pinArgs>;

/** The hash that pins a definition. */
export function definitionHash(definition: Readonly<Record<string, unknown>>): string {
  return contentHash(definition as { readonly [key: string]: Json });
}

/**
 * Pins the definition of a tool. A changed definition is held for approval, and so is the first
 * one, unless the rules trust the server or say the class of the tool. Under a file that observes
 * every agent none is held.
 */
export function applyPin(
  state: GatewayState,
  { server, tool, definition }: PinArgs,
  at: string,
  compiled: CompiledRules,
): void {
  const key = toolKey(server, tool);
  const hash = definitionHash(definition);
  const before = state.pins[key];
  if (before?.hash === hash) return;
  state.pins[key] = {
    hash,
    ...annotated(definition),
    at,
    ...(before === undefined ? {} : { was: before.hash }),
    held: (before !== undefined || !isTrusted(compiled, server, key)) && !compiled.isOpen(at),
  };
}

function isTrusted(compiled: CompiledRules, server: string, key: string): boolean {
  return compiled.rules.trust.includes(server) || compiled.spec(key)?.class !== undefined;
}

/** Whether the rules pin this first definition of a tool without an approval. */
export function pinsUnasked({ rules, pins }: GatewayState, { server, tool }: PinArgs): boolean {
  const key = toolKey(server, tool);
  return !Object.hasOwn(pins, key) && isTrusted(compiledRules(rules.text), server, key);
}

/** Class and idempotence by the annotations of MCP, with the defaults of MCP. */
function annotated({ annotations }: Readonly<Record<string, unknown>>): {
  class: ToolClass;
  idempotent: boolean;
} {
  const hints =
    typeof annotations === 'object' && annotations !== null
      ? (annotations as Record<string, unknown>)
      : {};
  const isRead = hints['readOnlyHint'] === true;
  const isGentle = hints['destructiveHint'] === false;
  return {
    class: isRead ? 'read' : isGentle ? 'reversible' : 'irreversible',
    idempotent: isRead || hints['idempotentHint'] === true,
  };
}
