import { SERVER, type Service } from '@assize/command/operation';
import { isAssizeError } from 'assize/internal/base';
import { type Instant, instantToMillis } from 'assize/internal/canon';
import { INCIDENTS } from 'assize/internal/config';
import { HALT_ACTION, REVOKE_ACTION } from 'assize/internal/ledger';
import { Trajectory } from 'assize/internal/runtime';
import { carryOut, incidentsToCarryOut, openIncidentTrajectory, type WritFor } from '#incidents';

/** The time after a failure before the next attempt. */
const PAUSE_MS = 30_000;

type Ports = Pick<Service, 'assize' | 'store' | 'systemWrits' | 'clock'>;

/**
 * Carries out approved incidents under writs of the server. Several servers of a store may do it
 * concurrently. One read of the store tells whether there is something to do.
 */
export class IncidentRunner {
  readonly #ports: Ports;
  readonly #onFailure: (error: unknown) => void;
  /** The head of the trajectory after which nothing is open. */
  #seen: string | undefined;
  #failedAt: Instant | undefined;

  constructor(ports: Ports, onFailure: (error: unknown) => void) {
    this.#ports = ports;
    this.#onFailure = onFailure;
  }

  /** Carries out all that is approved. Failures are reported, and tried again later. */
  async carryOutApproved(signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#ports;
    if (this.#failedAt !== undefined && millisBetween(this.#failedAt, clock.now()) < PAUSE_MS)
      return;
    const head = await store.head(INCIDENTS);
    if (head === undefined || head.id === this.#seen) return;
    try {
      this.#failedAt = undefined;
      const open = await this.#open();
      for (const incident of open) {
        if (signal.aborted) return;
        await this.#carryOut(incident);
      }
      // An entry that follows is read the next time, and a failed incident is tried again.
      if (this.#failedAt === undefined) this.#seen = head.id;
    } catch (error) {
      this.#failedAt = clock.now();
      if (isAssizeError(error, 'wrong_state')) this.#seen = head.id;
      this.#onFailure(error);
    }
  }

  /** A failure of one incident does not delay the others. */
  async #carryOut(incident: string): Promise<void> {
    const { assize, store, clock } = this.#ports;
    try {
      await carryOut(assize, store, { incident, writFor: this.#writFor });
    } catch (error) {
      this.#failedAt = clock.now();
      this.#onFailure(error);
    }
  }

  async #open(): Promise<readonly string[]> {
    const trajectory = await openIncidentTrajectory(this.#ports.assize, INCIDENTS);
    await Trajectory.catchUp(trajectory as never);
    return incidentsToCarryOut(trajectory.state() as never);
  }

  readonly #writFor: WritFor = async (action, _, trajectoryId) => {
    const { systemWrits, clock } = this.#ports;
    return action === HALT_ACTION || action === REVOKE_ACTION
      ? systemWrits.forBuiltIn(SERVER, action, trajectoryId, clock.now())
      : systemWrits.forAction(SERVER, action, trajectoryId, clock.now());
  };
}

/** The clock may have been set back in between. */
function millisBetween(from: Instant, to: Instant): number {
  return Math.abs(instantToMillis(to) - instantToMillis(from));
}
