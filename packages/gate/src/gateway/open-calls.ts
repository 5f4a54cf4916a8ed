import { instantToMillis } from 'assize/internal/canon';
import type { CallRow, GatewayState } from './schema.ts';

/** A call that its caller was allowed to make, and whose outcome is not known. */
export interface OpenCall
  extends Pick<CallRow, 'agent' | 'tool' | 'session' | 'class' | 'at' | 'digest'> {
  readonly id: string;
  /** Whether the caller reported that it does not know the outcome, or has been silent too long. */
  readonly inDoubt: boolean;
  /** Whether a second call would do no harm, by the pinned definition. */
  readonly idempotent: boolean;
}

/** Milliseconds after which a silent call is in doubt. */
export const SILENT_MS: number = 10 * 60_000;

/** The open calls of a state, the oldest first. */
export function openCalls(
  state: GatewayState,
  now: string,
  silentMs: number = SILENT_MS,
): readonly OpenCall[] {
  return openRows(state)
    .filter(([, row]) => !isToBegin(row))
    .map(([id, { agent, tool, session, class: toolClass, at, digest, outcome }]) => ({
      id,
      agent,
      tool,
      ...(session === undefined ? {} : { session }),
      class: toolClass,
      at,
      digest,
      inDoubt: isInDoubt({ outcome, at }, now, silentMs),
      idempotent: toolClass === 'read' || state.pins[tool]?.idempotent === true,
    }))
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.id < b.id ? -1 : 1));
}

/** Whether the agent of an open call does not know its outcome, or has been silent too long. */
export function isInDoubt(
  { outcome, at }: Pick<CallRow, 'outcome' | 'at'>,
  now: string,
  silentMs = SILENT_MS,
): boolean {
  return outcome === 'unknown' || instantToMillis(now) - instantToMillis(at) > silentMs;
}

/** The calls without a known outcome, by id. Closed calls are not looked at: there may be many. */
export function openRows({
  calls,
  open,
}: Pick<GatewayState, 'calls' | 'open'>): readonly [string, CallRow][] {
  return Object.keys(open).map((id) => [id, calls[id] as CallRow]);
}

/** Whether the outcome of a call that its caller makes is not known yet. */
export function isOpen({ run, outcome }: Pick<CallRow, 'run' | 'outcome'>): boolean {
  return run === 'caller' && (outcome === undefined || outcome === 'unknown');
}

/** Whether a call was let through and still has to start. */
export function isToBegin({ once, begunAt, outcome }: CallRow): boolean {
  return once === true && begunAt === undefined && outcome === undefined;
}
