import { isRecord, type Json } from '#base';
import type { HeldCall } from '#calls';

/** A call that waits for a person, as the pause tells it. */
export type SuspendedCall = Pick<HeldCall, 'call' | 'approval' | 'digest' | 'reason' | 'page'>;

/** The payload of a suspended call: it tells exactly the call that runs if it is approved. */
export interface AssizeSuspension {
  readonly tool: string;
  readonly args: Readonly<Record<string, Json>>;
  /** The rules that ask, and why; a refused answer; and the page of the call at a server. */
  readonly message: string;
  readonly assize: SuspendedCall;
}

/**
 * The payload of a pause for a held call.
 *
 * @param refusal - the reason for which the last answer was refused
 */
export function suspensionOf(
  { tool, args, call, approval, digest, reason, page }: HeldCall,
  refusal?: string,
): AssizeSuspension {
  const assize = { call, approval, digest, reason, ...(page !== undefined && { page }) };
  const refused = refusal === undefined ? [] : [`The answer was refused: ${refusal}`];
  const message = [reason, ...refused, ...(page === undefined ? [] : [page])].join('\n\n');
  return { tool, args, message, assize };
}

/** A payload of Assize, as Mastra has kept it. Undefined for the payload of a tool. */
export function readSuspension(payload: unknown): AssizeSuspension | undefined {
  if (!isRecord(payload) || !isRecord(payload['assize']) || !isRecord(payload['args'])) return undefined;
  const { call, approval, digest } = payload['assize'];
  const isNamed = [call, approval, digest].every((name) => typeof name === 'string');
  return isNamed ? (payload as unknown as AssizeSuspension) : undefined;
}
