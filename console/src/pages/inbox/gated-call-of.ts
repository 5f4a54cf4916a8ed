import type { Card } from '../../api/queries.ts';
import { roleText } from '../../parts/role-text.ts';

/** A call that an agent program makes itself after the approval, in the domain `gateway`. */
export interface GatedCallArgs {
  readonly server: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly parts?: readonly Omit<GatedCallArgs, 'parts'>[];
}

/** The call in the arguments of an action, or undefined for an action of another domain. */
export function gatedCallOf(action: string, args: unknown): GatedCallArgs | undefined {
  if (action !== 'call' || typeof args !== 'object' || args === null) return undefined;
  const { server, tool, args: input } = args as Partial<GatedCallArgs>;
  const isCall =
    typeof server === 'string' &&
    typeof tool === 'string' &&
    typeof input === 'object' &&
    input !== null;
  return isCall ? (args as GatedCallArgs) : undefined;
}

/** An action as people name it: a call of an agent program by its tool, any other one by itself. */
export function namedAction({ name, args }: { readonly name: string; readonly args?: unknown }): {
  readonly name: string;
  readonly args?: unknown;
} {
  const gated = gatedCallOf(name, args);
  return gated === undefined
    ? { name, args }
    : { name: `${gated.server}/${gated.tool}`, args: gated.args };
}

/**
 * The role of a proposal after its requester: ` as clerk (desk: a)`. Empty for a call of an agent
 * program, whose role names the requester again.
 */
export function askedAs({ is_gated, role }: Pick<Card, 'is_gated' | 'role'>): string {
  return is_gated ? '' : ` as ${roleText(role)}`;
}
