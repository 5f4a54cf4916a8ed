import type { Expiries } from '../approve/pending/expire.ts';
import type { BeliefPlanner } from '../memory/plan/plan-beliefs.ts';
import type { TransactionEngines } from '../transactions/engine/engines.ts';
import type { TurnScopedPorts } from '../writer/turn-ports.ts';
import type { Writer } from '../writer/writer.ts';

/** The parts of the runtime that rule on the proposals of a trajectory. */
export interface RulingPorts {
  readonly writer: Writer;
  readonly beliefs: BeliefPlanner | undefined;
  readonly expiries: Expiries;
}

/** The same, with the parts that read proposals and make their calls. */
export interface ProposalPorts extends RulingPorts {
  readonly effects: TransactionEngines | undefined;
  readonly turn: Pick<TurnScopedPorts, 'unsalted' | 'isTurn'>;
}
