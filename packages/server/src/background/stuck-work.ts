import { RunRecords } from '@assize/agents/internal/agents';
import { type GatewayState, openCalls } from '@assize/gate/internal/gateway';
import { addMicros } from 'assize/internal/canon';
import type { SideStore } from 'assize/internal/ledger';
import type { Clock } from 'assize/internal/oracle';
import { type Assize, Trajectory } from 'assize/internal/runtime';
import type { Metrics } from '../log/metrics.ts';
import { Recurring } from './recurring.ts';

const COUNT_MS = 60_000;
/** The time after which a run that no worker takes is stuck. Workers look for work each second. */
const STUCK_MICROS = 5 * 60 * 1_000_000;

export interface StuckWorkOptions {
  readonly assize: Assize;
  readonly store: SideStore;
  /** The configured worlds of the gateway. */
  readonly worlds: readonly string[];
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
}

/** Work that goes on only if a person acts, without a request that waits. Counted once a minute. */
export class StuckWork {
  readonly #options: StuckWorkOptions;
  readonly #counting: Recurring;
  #calls = 0;
  #runs = 0;

  constructor(options: StuckWorkOptions) {
    this.#options = options;
    this.#counting = new Recurring(COUNT_MS, () => this.#count(), options.onFailure);
  }

  measure(metrics: Metrics): void {
    const calls =
      'Calls of the gateway whose caller does not know the outcome, or has been silent for ten minutes.';
    metrics.gauge({ name: 'assize_gateway_calls_in_doubt', help: calls, read: () => this.#calls });
    const runs = 'Durable runs that no worker has advanced for five minutes, although it could.';
    metrics.gauge({ name: 'assize_durable_runs_stuck', help: runs, read: () => this.#runs });
  }

  count(): Promise<void> {
    return this.#counting.run();
  }

  stop(): Promise<void> {
    return this.#counting.stop();
  }

  async #count(): Promise<void> {
    const { assize, store, worlds, clock } = this.#options;
    const now = clock.now();
    let runs = 0;
    for await (const { status, wakeAt, updated, lease } of new RunRecords(store, clock).list())
      if (status === 'ready' && (lease?.until ?? wakeAt ?? updated) < addMicros(now, -STUCK_MICROS))
        runs++;
    this.#runs = runs;
    let calls = 0;
    for (const world of worlds) {
      const trajectory = await assize.open(world);
      await Trajectory.catchUp(trajectory);
      const open = Trajectory.readState(trajectory, (state) =>
        openCalls(state as unknown as GatewayState, now),
      );
      calls += open.filter(({ inDoubt }) => inDoubt).length;
    }
    this.#calls = calls;
  }
}
