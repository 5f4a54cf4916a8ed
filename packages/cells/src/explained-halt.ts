import { isAssizeError } from 'assize/internal/base';
import { RuntimeError } from 'assize/internal/runtime';
import type { RootWatch } from './root-watch.ts';
import { tenantOf } from './tenant-of.ts';

/** The principal of the halts and revocations that carry out orders of the root log. */
export const ORDERS_PRINCIPAL = 'assize:cells';

/**
 * The refusal `halted` with the remedy for a halt that an order of the root log made: no principal
 * of the cell can resume it. During a move the refusal is retryable. Any other error is returned as
 * it is.
 */
export function explainedHalt(error: unknown, watch: RootWatch): unknown {
  if (!isAssizeError(error, 'halted') || error.evidence['principal'] !== ORDERS_PRINCIPAL)
    return error;
  const id = String(error.evidence['trajectory_id']);
  const { text, retryable } = causeOf(id, watch);
  return new RuntimeError('halted', `${id} is halted: ${text}`, {
    evidence: error.evidence,
    retryable,
    cause: error,
  });
}

function causeOf(
  trajectoryId: string,
  watch: RootWatch,
): { readonly text: string; readonly retryable: boolean } {
  const tenant = tenantOf(trajectoryId);
  const to = watch.moveOf(tenant);
  if (to !== undefined)
    return {
      text: `its tenant moves to the cell ${to}. Try again with the same key.`,
      retryable: true,
    };
  const place = watch.placeOf(tenant)?.name;
  if (place !== undefined && place !== watch.cell)
    return { text: `its tenant lives in the cell ${place}. Use that cell.`, retryable: false };
  const halt = watch.haltOf(tenant);
  if (halt !== undefined) return { text: `${halt.reason}. ${halt.remedy}`, retryable: false };
  return {
    text: 'the order has ended, and a server of the cell resumes it. Try again.',
    retryable: true,
  };
}
