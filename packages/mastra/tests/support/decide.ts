import type { Gate } from '@assize/gate/internal/calls';
import type { AssizeSuspension } from '../../src/index.ts';

/** Records the decision of a person in the ledger, as the console does. */
export async function decide(
  gate: Gate,
  { assize }: AssizeSuspension,
  decision: 'approve' | 'reject',
  reason?: string,
): Promise<void> {
  const { approval, digest } = assize;
  const by = { by: 'manager:grace', method: 'console', digest: digest! };
  await gate.port.decide(approval, { decision, ...by, ...(reason !== undefined && { reason }) });
}
