import type { Json } from 'assize/internal/base';
import { parsePointer } from 'assize/internal/canon';
import { compiledRules } from './judge/compiled-rules.ts';
import type { GatewayState } from './schema.ts';

/** A call that takes another one back. */
export interface UndoCall {
  readonly server: string;
  readonly tool: string;
  readonly args: { readonly [name: string]: Json };
}

/**
 * The call that takes a done call back, by the rules in force, or the reason why there is none. A
 * pointer to a missing value is a reason, so that nothing else is undone.
 */
export function undoCallOf(
  { rules }: Pick<GatewayState, 'rules'>,
  { tool, args, result }: { readonly tool: string; readonly args: Json; readonly result: Json },
): UndoCall | string {
  const undo = compiledRules(rules.text).spec(tool)?.undo;
  if (undo === undefined) return `the rules have no undo of ${tool}`;
  const slash = undo.tool.indexOf('/');
  const found: { [name: string]: Json } = {};
  for (const [name, pointer] of Object.entries(undo.args)) {
    const value = parsePointer(pointer).reduce<Json | undefined>(memberOf, { args, result });
    if (value === undefined) return `the call has no value at ${pointer}`;
    found[name] = value;
  }
  return { server: undo.tool.slice(0, slash), tool: undo.tool.slice(slash + 1), args: found };
}

function memberOf(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as { readonly [key: string]: Json })[key];
}
