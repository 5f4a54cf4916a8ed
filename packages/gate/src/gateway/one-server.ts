import { canBegin } from './actions/begin.ts';
import { compiledRules } from './judge/compiled-rules.ts';
import { toolKey } from './names.ts';
import { isToBegin, openRows } from './open-calls.ts';
import type { ToolSpec } from './rules/rules.ts';
import type { CallRow, GatewayState } from './schema.ts';

/** A tool of a server with a pinned definition. */
export interface PinnedTool {
  /** The name without its server. */
  readonly tool: string;
  readonly hash: string;
  readonly at: string;
  /** The class by the rules, or else by the pin. */
  readonly class: CallRow['class'];
  /** Whether a second call would do no harm. */
  readonly idempotent: boolean;
  /** Whether the rules deny every call of the agent, whatever its arguments. */
  readonly denied: boolean;
}

/** The pinned tools of a server, as an agent may know them. Each definition is an approved one. */
export function pinnedTools(
  { rules, pins }: GatewayState,
  server: string,
  { agent, now }: { readonly agent: string; readonly now: string },
): readonly PinnedTool[] {
  const compiled = compiledRules(rules.text).acting({ agent, at: now });
  const prefix = toolKey(server, '');
  return Object.entries(pins).flatMap(([key, pin]) => {
    if (!key.startsWith(prefix)) return [];
    const toolClass = compiled.spec(key)?.class ?? pin.class;
    const { hash, at, idempotent } = pin;
    return [
      {
        tool: key.slice(prefix.length),
        ...{ hash, at },
        class: toolClass,
        idempotent: toolClass === 'read' || idempotent,
        denied: compiled.deniesAlways(agent, key, pin),
      },
    ];
  });
}

/** Whether the rules deny every call of an agent to a tool, whatever its arguments. */
export function isAlwaysDenied(
  { rules, pins }: GatewayState,
  {
    server,
    tool,
    agent,
    now,
  }: {
    readonly server: string;
    readonly tool: string;
    readonly agent: string;
    readonly now: string;
  },
): boolean {
  const key = toolKey(server, tool);
  const acting = compiledRules(rules.text).acting({ agent, at: now });
  return acting.deniesAlways(agent, key, pins[key]);
}

/** A tool and the places of rules. Together they say which files its calls reach. */
export interface ToolFiles {
  /** The name without its server. */
  readonly tool: string;
  readonly spec: ToolSpec | undefined;
  /** The paths at which the rules deny some call of the agent, or ask about it. */
  readonly places: readonly string[];
}

/** The tools of a server that declare files, or that a rule with a path is about. */
export function filesOf(
  { rules, pins }: GatewayState,
  server: string,
  agent: string,
): readonly ToolFiles[] {
  const compiled = compiledRules(rules.text);
  const prefix = toolKey(server, '');
  const keys = [...Object.keys(pins), ...compiled.rules.tools.map(({ name }) => name)];
  const own = [
    ...keys.filter((key) => key.startsWith(prefix)),
    ...LISTED.map((one) => prefix + one),
  ];
  return [...new Set(own)]
    .map((key) => ({
      tool: key.slice(prefix.length),
      spec: compiled.spec(key),
      places: compiled.placesFor({ agent, tool: key }),
    }))
    .filter(({ spec, places }) => places.length > 0 || (spec?.reads ?? spec?.writes) !== undefined);
}

/** Calls of every server that no definition pins, and that name files. */
const LISTED: readonly string[] = ['resources.read'];

/** A call that was let through and that has no outcome. */
export interface WaitingCall extends Pick<CallRow, 'at' | 'digest' | 'definition'> {
  readonly id: string;
  /** The name without its server. */
  readonly tool: string;
  /** `approved`: it can still start. `begun`: it may have been made, once. */
  readonly phase: 'approved' | 'begun';
}

/**
 * The calls of an agent on a server that start once, and have no outcome. An approval that is
 * too old to begin its call is left out.
 */
export function waitingCalls(
  state: GatewayState,
  { server, agent, now }: { readonly server: string; readonly agent: string; readonly now: string },
): readonly WaitingCall[] {
  const prefix = toolKey(server, '');
  return openRows(state).flatMap(([id, row]) => {
    if (row.once !== true || row.agent !== agent || !row.tool.startsWith(prefix)) return [];
    const { at, digest, definition } = row;
    if (isToBegin(row) && !canBegin(state, row, now)) return [];
    const known = { at, digest, ...(definition === undefined ? {} : { definition }) };
    return [
      {
        id,
        ...known,
        tool: row.tool.slice(prefix.length),
        phase: isToBegin(row) ? 'approved' : 'begun',
      },
    ];
  });
}
