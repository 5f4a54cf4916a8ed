import type { Json } from 'assize/internal/base';
import { canonicalize, hashText } from 'assize/internal/canon';
import { traced } from 'assize/internal/traces';
import { type CallRow, type GatewayState, openRows } from '#gateway';
import type { CallWorld } from './call-world.ts';
import { reportStep } from './steps.ts';

/** The outcome of a call, as its program reports it. */
export interface Outcome {
  readonly outcome: 'done' | 'failed' | 'unknown';
  readonly result?: Json;
}

/** The largest result of a hook that an entry keeps. Of a larger one it keeps the hash. */
const RESULT_BYTES_MAX = 262_144;

/** The most names of a result that an entry keeps: each costs far more than its bytes. */
const RESULT_NAMES_MAX = 4_096;

/** The largest result that fits in the proposal of its report (at most 1 MiB). */
export const REPORTED_BYTES_MAX = 1_040_000;

/** Above the size of every event that the server reads. */
const EVENT_BYTES_MAX = 64 * 1_048_576;

/**
 * Records the outcome of a call that its program made, by the program's own id of the call. A call
 * that is not recorded, or is closed already, stays as it is. Returns whether it was closed now.
 */
export function closeCall(
  world: CallWorld,
  id: string,
  outcome: Outcome,
  { bytesMax = RESULT_BYTES_MAX }: { readonly bytesMax?: number } = {},
): Promise<boolean> {
  return traced(
    () => reportStep(world, id, outcome),
    () => close(world, id, outcome, bytesMax),
  );
}

async function close(
  world: CallWorld,
  id: string,
  { outcome, result }: Outcome,
  bytesMax: number,
): Promise<boolean> {
  const call = world.read((state) => openCall(state, world.agent, id));
  if (call === undefined) return false;
  const given = result === undefined ? {} : { result: kept(result, bytesMax) };
  const ruling = await world.propose(
    'report',
    { call, outcome, ...given },
    { key: reportKey(call, outcome) },
  );
  return ruling.ruling === 'committed';
}

/** The key under which the outcome of a call is recorded, once. */
export function reportKey(call: string, outcome: Outcome['outcome']): string {
  return `report ${call} ${outcome}`;
}

/** Records the same outcome of every open call that started under an id with this prefix. */
export async function closeCallsOf(
  world: CallWorld,
  beginning: string,
  outcome: Outcome,
): Promise<void> {
  const ids = world.read((state) =>
    openRows(state)
      .filter(
        ([id, row]) => (row.begunAs ?? id).startsWith(beginning) && isOpenFor(world.agent, row),
      )
      .map(([id, row]) => row.begunAs ?? id),
  );
  for (const id of ids) await closeCall(world, id, outcome);
}

/** The call that started under an id, if its outcome is not known yet. */
function openCall(state: GatewayState, agent: string, id: string): string | undefined {
  const { calls } = state;
  const own = Object.hasOwn(calls, id) ? calls[id] : undefined;
  if (own !== undefined && own.begunAs === undefined) return isOpenFor(agent, own) ? id : undefined;
  return openRows(state).find(([, row]) => row.begunAs === id && isOpenFor(agent, row))?.[0];
}

function isOpenFor(of: string, { agent, begunAt, outcome }: CallRow): boolean {
  return agent === of && begunAt !== undefined && (outcome === undefined || outcome === 'unknown');
}

function kept(result: Json, bytesMax: number): Json {
  const text = canonicalize(result, { bytesMax: EVENT_BYTES_MAX });
  const bytes = Buffer.byteLength(text);
  return bytes <= bytesMax && namesIn(result) <= RESULT_NAMES_MAX
    ? result
    : { bytes, sha256: hashText(text) };
}

/** The names of all members, at all depths. */
function namesIn(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner: readonly Json[] = Array.isArray(value) ? value : Object.values(value);
  let names = inner === value ? 0 : inner.length;
  for (const one of inner) names += namesIn(one);
  return names;
}
