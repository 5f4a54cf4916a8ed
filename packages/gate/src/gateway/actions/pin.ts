import type { Json } from 'assize/internal/base';
import { contentHash } from 'assize/internal/canon';
import { z } from 'zod';
import type { CompiledRules } from '../judge/compiled-rules.ts';
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
  { server, tool, definition }: z.infer<typeof pinArgs>,
  at: string,
  compiled: CompiledRules,
): void {
  const key = toolKey(server, tool);
  const hash = definitionHash(definition);
  const before = state.pins[key];
  if (before?.hash === hash) return;
  const isTrusted =
    compiled.rules.trust.includes(server) || compiled.spec(key)?.class !== undefined;
  state.pins[key] = {
    hash,
    ...annotated(definition),
    at,
    ...(before === undefined ? {} : { was: before.hash }),
    held: (before !== undefined || !isTrusted) && !compiled.isOpen(at),
  };
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
