import { instantToMillis } from '#canon';
import { readGroup, windowOf } from '../judge/figures.ts';
import { isToBegin } from '../open-calls.ts';
import type { GatewayState } from '../schema.ts';
import { canBegin } from './begin.ts';
import { HOUR_MS, READ_HOURS } from './call.ts';

/**
 * Drops what no rule can count any more: figures of past windows, readings older than a day, closed
 * calls and ended sessions of past days, calls that can no longer be begun, and expired standing
 * approvals. An open call stays until it is reported.
 */
export function applyTidy(state: GatewayState, at: string): void {
  const today = windowOf('day', at);
  const isPast = (window: string): boolean => window < at.slice(0, window.length);
  for (const key of Object.keys(state.used)) if (isPast(readGroup(key).window)) delete state.used[key];
  for (const [key, read] of Object.entries(state.read))
    if (instantToMillis(at) - instantToMillis(read) > READ_HOURS * HOUR_MS) delete state.read[key];
  for (const [id, call] of Object.entries(state.calls)) {
    const isClosed = call.run === 'assize' || call.outcome === 'done' || call.outcome === 'failed';
    const isClosedBefore = isClosed && windowOf('day', call.at) < today;
    if (!isClosedBefore && !(isToBegin(call) && !canBegin(state, call, at))) continue;
    delete state.calls[id];
    delete state.open[id];
  }
  for (const [id, { endedAt }] of Object.entries(state.sessions))
    if (endedAt !== undefined && windowOf('day', endedAt) < today) delete state.sessions[id];
  for (const [id, { expires }] of Object.entries(state.standing)) if (expires <= at) delete state.standing[id];
  for (const key of Object.keys(state.spent)) {
    if (state.standing[key.slice(0, key.indexOf('|'))] === undefined) delete state.spent[key];
  }
}

/** Whether `tidy` would drop anything at that time. */
export function needsTidy(state: GatewayState, at: string): boolean {
  const tidied = structuredClone(state);
  applyTidy(tidied, at);
  return sizeOf(tidied) < sizeOf(state);
}

/** Whether time alone gives `tidy` nothing to do any more. */
export function isTidyForEver(state: GatewayState): boolean {
  return sizeOf(state) === 0;
}

function sizeOf({ used, read, calls, standing, spent, sessions }: GatewayState): number {
  return [used, read, calls, standing, spent, sessions].reduce((sum, record) => sum + Object.keys(record).length, 0);
}
