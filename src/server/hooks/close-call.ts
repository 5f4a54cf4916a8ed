import type { Json } from '#base';
import { canonicalize, hashText } from '#canon';
import type { CallRow, GatewayState } from '#domains/gateway';
import type { GatewayDesk } from './gateway-desk.ts';

/** The outcome of a call, as its program reports it. */
export interface Outcome {
  readonly outcome: 'done' | 'failed' | 'unknown';
  readonly result?: Json;
}

/** The largest result that an entry keeps. Of a larger one it keeps the hash. */
const RESULT_BYTES_MAX = 262_144;

/**
 * Records the outcome of a call that its program made, by the program's own id of the call. A call
 * that is not recorded, or is closed already, stays as it is. Returns whether it was closed now.
 */
export async function closeCall(desk: GatewayDesk, id: string, { outcome, result }: Outcome): Promise<boolean> {
  const call = desk.read((state) => openCall(state, desk.agent, id));
  if (call === undefined) return false;
  const kept = result === undefined ? {} : { result: kilobytesOf(result) };
  const ruling = await desk.propose('report', { call, outcome, ...kept }, { key: `report ${call} ${outcome}` });
  return ruling.ruling === 'committed';
}

/** The call that was begun under an id, if its outcome is not known yet. */
function openCall({ calls }: GatewayState, agent: string, id: string): string | undefined {
  const isOpen = (row: CallRow): boolean =>
    row.agent === agent && row.begunAt !== undefined && (row.outcome === undefined || row.outcome === 'unknown');
  const own = Object.hasOwn(calls, id) ? calls[id] : undefined;
  if (own !== undefined && own.begunAs === undefined) return isOpen(own) ? id : undefined;
  return Object.entries(calls).find(([, row]) => row.begunAs === id && isOpen(row))?.[0];
}

function kilobytesOf(result: Json): Json {
  const text = canonicalize(result);
  const bytes = Buffer.byteLength(text);
  return bytes <= RESULT_BYTES_MAX ? result : { bytes, sha256: hashText(text) };
}
