import { instantToMillis } from 'assize/internal/canon';
import { readGroup, windowOf } from '../judge/figures.ts';
import { isToBegin } from '../open-calls.ts';
import type { CallRow, GatewayState, Session } from '../schema.ts';
import { canBegin } from './begin.ts';
import { HOUR_MS, READ_HOURS } from './call.ts';

/**
 * Drops what no rule can count any more: figures of past windows, readings older than a day, closed
 * calls and ended sessions of past days, calls that can no longer start, and expired standing
 * approvals. An open call stays until it is reported.
 */
export function applyTidy(state: GatewayState, at: string): void {
  for (const [member, key] of [...droppable(state, at)]) {
    if (member === 'calls') dropCall(state, key);
    else delete state[member]?.[key];
  }
}

/** Whether `tidy` would drop anything at that time. */
export function needsTidy(state: GatewayState, at: string): boolean {
  return droppable(state, at).next().done !== true;
}

type Dropped = readonly [
  member: 'used' | 'read' | 'calls' | 'sessions' | 'standing' | 'spent' | 'turns',
  key: string,
];

function* droppable(state: GatewayState, at: string): Generator<Dropped> {
  const today = windowOf('day', at);
  for (const key in state.used) {
    const { window } = readGroup(key);
    if (window < at.slice(0, window.length)) yield ['used', key];
  }
  for (const key in state.read) {
    const age = instantToMillis(at) - instantToMillis(state.read[key] as string);
    if (age > READ_HOURS * HOUR_MS) yield ['read', key];
  }
  for (const id in state.calls) {
    const call = state.calls[id] as CallRow;
    const isClosed = call.run === 'assize' || call.outcome === 'done' || call.outcome === 'failed';
    if (isClosed && windowOf('day', call.at) < today) yield ['calls', id];
    else if (isToBegin(call) && !canBegin(state, call, at)) yield ['calls', id];
  }
  for (const id in state.sessions) {
    const { endedAt } = state.sessions[id] as Session;
    if (endedAt !== undefined && windowOf('day', endedAt) < today) yield ['sessions', id];
  }
  for (const [id, turn] of Object.entries(state.turns ?? {}))
    if (windowOf('day', turn.at) < today) yield ['turns', id];
  const isExpired = (id: string): boolean => (state.standing[id]?.expires ?? '') <= at;
  for (const id in state.standing) if (isExpired(id)) yield ['standing', id];
  for (const key in state.spent)
    if (isExpired(key.slice(0, key.indexOf('|')))) yield ['spent', key];
}

/** An undoing that never started undoes nothing, so another one can be tried. */
function dropCall(state: GatewayState, id: string): void {
  const { undoes, ...call } = state.calls[id] as CallRow;
  const undone = undoes === undefined ? undefined : state.calls[undoes];
  if (isToBegin(call) && undone?.undoneBy === id) delete undone.undoneBy;
  delete state.calls[id];
  delete state.open[id];
}

/** Whether time alone gives `tidy` nothing to do any more. */
export function isTidyForEver(state: GatewayState): boolean {
  return sizeOf(state) === 0;
}

function sizeOf({
  used,
  read,
  calls,
  standing,
  spent,
  sessions,
  turns = {},
}: GatewayState): number {
  return [used, read, calls, standing, spent, sessions, turns].reduce(
    (sum, record) => sum + Object.keys(record).length,
    0,
  );
}
