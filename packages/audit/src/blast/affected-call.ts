import type { EffectClass } from 'assize/internal/effects';
import type { Hash, SettledAs } from 'assize/internal/ledger';

/** A changing call that an affected commit made, or let through a gateway. */
export interface AffectedCall {
  readonly entry: Hash;
  readonly trajectoryId: string;
  /** The id of the effect, or of the call of the gateway. */
  readonly id: string;
  /**
   * `effect`: the runtime called a registered tool. `gateway`: an agent called a tool of another
   * server, so neither the runtime nor a step of a response undoes it.
   */
  readonly via: 'effect' | 'gateway';
  /** Absent if the call was erased. */
  readonly tool?: string;
  readonly reversibility?: EffectClass['reversibility'];
  /**
   * `open`: no affected entry has the outcome. Of a gateway, the outcome is what the agent
   * reported: `applied` or `failed`, or `undone` if a later call took it back.
   */
  readonly outcome: SettledAs | 'failed' | 'open';
}
