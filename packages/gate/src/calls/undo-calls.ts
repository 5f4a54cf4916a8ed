import type { Json } from 'assize/internal/base';
import { type CallRow, type GatewayState, type UndoCall, undoCallOf } from '#gateway';
import { argsUnder } from './args-under.ts';
import { keyOf } from './asked-call.ts';
import type { CallWorld } from './call-world.ts';
import { reportKey } from './close-call.ts';

/** The call that takes a done call back. */
export interface UndoOfCall extends UndoCall {
  /** The done call. */
  readonly call: string;
}

/** A call that stays, or may stay. */
export interface LeftCall {
  readonly call: string;
  readonly reason: string;
}

/** How a session is taken back. */
export interface SessionUndo {
  /** The calls that take back, for the newest call first. */
  readonly calls: readonly UndoOfCall[];
  /** Calls that the rules have no `undo` of, and calls without a known outcome. */
  readonly left: readonly LeftCall[];
}

/**
 * How the calls of a session and its subagents are taken back, by the rules in force. Calls that
 * only read, that are taken back, and calls of past days are left out.
 */
export async function undoCalls(world: CallWorld, session: string): Promise<SessionUndo> {
  const made = world.read((state) =>
    Object.entries(state.calls)
      .filter(([, row]) => row.agent === world.agent && isOf(state, row, session))
      .filter(([, row]) => row.class !== 'read' && isMade(row) && !isUndone(state, row))
      .sort(([a, one], [b, other]) => (begunAt(one, a) < begunAt(other, b) ? 1 : -1))
      .map(([call, { outcome, tool }]) => ({ call, tool, isDone: outcome === 'done' })),
  );
  const [calls, left]: [UndoOfCall[], LeftCall[]] = [[], []];
  for (const { call, tool, isDone } of made) {
    const undo = isDone ? await undoOf(world, call) : `the outcome of ${tool} is not known`;
    if (typeof undo === 'object') calls.push({ call, ...undo });
    else left.push({ call, reason: undo ?? `the ledger has no report of ${tool}` });
  }
  return { calls, left };
}

/**
 * The call that takes a done call of the agent back, or the reason why there is none. Undefined for
 * a call that the agent has not made.
 */
export async function undoOf(
  world: CallWorld,
  call: string,
): Promise<UndoCall | string | undefined> {
  const called = (await argsUnder(world, keyOf({ id: call }))) ?? (await argsUnder(world, call));
  if (called === undefined) return undefined;
  // The MCP gateway reports the calls that it forwards under the second key.
  const reported =
    (await argsUnder(world, reportKey(call, 'done'))) ??
    (await argsUnder(world, `report-done-${call}`));
  if (reported === undefined)
    return world.read(({ calls }) => calls[call]?.outcome) === 'done'
      ? 'it was settled by hand, so it has no result to undo it with'
      : undefined;
  const { server, tool, args } = called;
  return world.read((state) =>
    undoCallOf(state, {
      tool: `${String(server)}/${String(tool)}`,
      args: args ?? {},
      result: resultOf(reported['result']),
    }),
  );
}

/** A gate reports the value of a tool as a member. */
function resultOf(result: Json | undefined): Json {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return result ?? null;
  const names = Object.keys(result);
  return names.length === 1 && names[0] === 'value'
    ? (result as { readonly value: Json }).value
    : result;
}

function isOf({ sessions }: GatewayState, { session }: CallRow, wanted: string): boolean {
  for (let at = session, above = 0; at !== undefined && above < 16; above++) {
    if (at === wanted) return true;
    at = sessions[at]?.parent;
  }
  return false;
}

/** Whether a call has taken effect, or may have. */
function isMade({ outcome, begunAt: at }: CallRow): boolean {
  return outcome === 'done' || outcome === 'unknown' || (outcome === undefined && at !== undefined);
}

function isUndone({ calls }: GatewayState, { undoes, undoneBy }: CallRow): boolean {
  return undoes !== undefined || (undoneBy !== undefined && calls[undoneBy]?.outcome === 'done');
}

/** Calls of one instant are in the order of their ids. */
function begunAt({ begunAt: at = '' }: CallRow, id: string): string {
  return `${at} ${id}`;
}
