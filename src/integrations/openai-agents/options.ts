import type { RunContext } from '@openai/agents';
import { type ArgumentSchema, arg } from '#base';
import type { Approver } from '#calls';

/** The answer that a program has given to a paused call with `state.approve` or `state.reject`. */
export type StateAnswer =
  | { readonly type: 'approve' }
  | {
      readonly type: 'reject';
      /** The reason, for the model and for the ledger. */
      readonly message?: string;
    };

export interface OpenAIAgentsOptions {
  /**
   * Names the person of an answer, such as `manager:grace`. Default: the program names none, and an
   * answer only makes the ledger be asked again.
   */
  readonly approver?: Approver<StateAnswer, RunContext<any>>;
  /** The id of a run. Default: `runId` of its context, or else the `groupId` of its trace. */
  readonly run?: (context: RunContext<any>) => string | undefined;
  /** The tools of which a second call does no harm: they may be made again after a failure. */
  readonly idempotent?: readonly string[];
  /** How long a call waits for a person before the run is interrupted. Default: as the gate. */
  readonly waitMs?: number;
}

export const OPTIONS: ArgumentSchema = arg.options<OpenAIAgentsOptions>({
  approver: arg.optional(arg.code),
  run: arg.optional(arg.code),
  idempotent: arg.optional(arg.list(arg.text)),
  waitMs: arg.optional(arg.number),
});
