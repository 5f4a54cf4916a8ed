import type { BeliefPlanner } from '../../memory/plan/plan-beliefs.ts';
import type { TransactionEngines } from '../../transactions/engine/engines.ts';
import type { Writer } from '../../writer/writer.ts';

/** The parts of the runtime that decide about the pending proposals of a trajectory. */
export interface ApprovalPorts {
  readonly writer: Writer;
  readonly beliefs: BeliefPlanner | undefined;
  readonly effects: TransactionEngines | undefined;
}
