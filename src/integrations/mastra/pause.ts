import { isRecord, type Json } from '#base';
import type { HeldCall } from '#calls';

/** A call that waits for a person, as the pause tells it. */
export type SuspendedCall = Pick<HeldCall, 'call' | 'approval' | 'digest' | 'reason' | 'page'>;

/** The payload of a suspended call: it tells exactly the call that runs if it is approved. */
export interface AssizeSuspension {
  readonly tool: string;
  readonly args: Readonly<Record<string, Json>>;
  /** The rules that ask, and why; then the page of the call, if there is a server. */
  readonly message: string;
  readonly assize: SuspendedCall;
}

/** The payload of a pause for a held call. */
export function suspensionOf({ tool, args, call, approval, digest, reason, page }: HeldCall): AssizeSuspension {
  const assize = { call, approval, digest, reason, ...(page !== undefined && { page }) };
  return { tool, args, message: page === undefined ? reason : `${reason}\n\n${page}`, assize };
}

/** A payload of Assize, as Mastra has kept it. Undefined for the payload of a tool. */
export function readSuspension(payload: unknown): AssizeSuspension | undefined {
  if (!isRecord(payload) || !isRecord(payload['assize']) || !isRecord(payload['args'])) return undefined;
  const { call, approval, digest } = payload['assize'];
  const isNamed = [call, approval, digest].every((name) => typeof name === 'string');
  return isNamed ? (payload as unknown as AssizeSuspension) : undefined;
}
