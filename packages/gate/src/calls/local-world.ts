import type { Writ } from 'assize/internal/authority';
import type { Json } from 'assize/internal/base';
import type { Instant } from 'assize/internal/canon';
import { type EntryRow, type Hash, Replayer, type Stored } from 'assize/internal/ledger';
import type { Clock } from 'assize/internal/oracle';
import { type FinalRuling, type Ruling, Trajectory } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import type { GatewayState } from '#gateway';
import type { AgentAction, CallWorld, EntryPlace, ProposeOptions } from './call-world.ts';

export interface LocalWorldParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly trajectory: Trajectory;
  /** The agent, as `agent:NAME`. */
  readonly principal: string;
  readonly writ: Writ;
}

/** The world of calls in this process, under a writ of the agent. */
export class LocalWorld implements CallWorld {
  readonly trajectory: Trajectory;
  readonly agent: string;
  readonly principal: string;
  readonly #parts: LocalWorldParts;
  readonly #replayer: Replayer;

  constructor(parts: LocalWorldParts) {
    this.trajectory = parts.trajectory;
    this.principal = parts.principal;
    this.agent = parts.principal.replace(/^agent:/, '');
    this.#parts = parts;
    this.#replayer = new Replayer(parts.store);
  }

  now(): Instant {
    return this.#parts.clock.now();
  }

  read<T>(read: (state: GatewayState) => T): T {
    return Trajectory.readState(this.trajectory, (state) => read(state as unknown as GatewayState));
  }

  propose(
    action: AgentAction,
    args: object,
    { key, observations }: ProposeOptions = {},
  ): Promise<Ruling> {
    return this.trajectory.propose({
      action,
      role: { name: 'agent', params: { agent: this.agent } },
      args: args as Json,
      writ: this.#parts.writ,
      ...(key !== undefined && { idempotencyKey: key }),
      ...(observations !== undefined && { observations: observations as never }),
    });
  }

  decision(pending: Hash, until: Instant): Promise<FinalRuling> {
    return this.trajectory.approvals.awaitDecision(pending, { until });
  }

  entries(from: number, limit: number): Promise<readonly EntryRow[]> {
    return this.#parts.store.entries(this.trajectory.id, { from, limit });
  }

  async valueOf(entry: EntryPlace, stored: Stored): Promise<Json | undefined> {
    const read = await this.#replayer.values.read(entry, stored);
    return 'value' in read ? read.value : undefined;
  }
}
