import type { HeldCall } from '@assize/gate/internal/calls';
import { isRecord, type Json } from 'assize/internal/base';

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
  { run: _run, id: _id, tool, args, ...assize }: HeldCall,
  refusal?: string,
): AssizeSuspension {
  const { reason, page } = assize;
  const refused = refusal === undefined ? [] : [`The answer was refused: ${refusal}`];
  const message = [reason, ...refused, ...(page === undefined ? [] : [page])].join('\n\n');
  return { tool, args, message, assize };
}

/** A payload of Assize, as Mastra has kept it. Undefined for the payload of a tool. */
export function readSuspension(payload: unknown): AssizeSuspension | undefined {
  const isOurs = isRecord(payload) && isRecord(payload['args']) && namesCall(payload['assize']);
  return isOurs ? (payload as unknown as AssizeSuspension) : undefined;
}

/** Whether a member `assize` names a call, by its digest unless it waits for another one. */
export function namesCall(
  assize: unknown,
): assize is Pick<SuspendedCall, 'call' | 'approval' | 'digest'> {
  if (!isRecord(assize)) return false;
  const { call, approval, digest = '' } = assize;
  return [call, approval, digest].every((name) => typeof name === 'string');
}
