import { type ArgumentSchema, arg, checkArgument } from 'assize/internal/base';
import type { Instant } from 'assize/internal/canon';
import type { SideStore } from 'assize/internal/ledger';
import { type Clock, systemClock } from 'assize/internal/oracle';
import { type DurableRun, isEnded, isHeld, type StoredRun } from './durable-run.ts';
import { RunError } from './errors.ts';
import { RunRows } from './run-rows.ts';

/** Attempts of a change against other processes. */
const ATTEMPTS = 20;

/** The default number of turns at which a run fails. */
const RUN_TURNS_MAX = 1_000;

/** A run to begin. */
export interface RunTerms {
  readonly trajectoryId: string;
  /** The name of the agents. */
  readonly agents: string;
  /** Default: `default`. */
  readonly tenant?: string;
  /** The number of turns at which the run fails. Default: 1,000. */
  readonly turnsMax?: number;
}

/** Selects runs: by default those that have not ended. */
export interface RunsQuery {
  readonly ended?: boolean;
  /** Only runs of trajectories after this one, in the order of code points. */
  readonly after?: string;
}

/** The durable runs of a store, in its side log. */
export class RunRecords {
  readonly #rows: RunRows;
  readonly #clock: Clock;

  /** @throws ArgumentError `bad_argument` */
  constructor(side: SideStore, clock: Clock = systemClock) {
    checkArgument(SIDE, side, 'side');
    checkArgument(arg.members({ now: arg.code }), clock, 'clock');
    this.#rows = new RunRows(side, clock);
    this.#clock = clock;
  }

  /**
   * Records that a run exists, for the next worker. A repeated call returns the recorded run.
   *
   * @throws RunError `wrong_state`, `damaged`; ArgumentError `bad_argument`
   */
  async begin(terms: RunTerms): Promise<DurableRun> {
    checkArgument(TERMS, terms, 'terms');
    const { trajectoryId, agents, tenant = 'default', turnsMax = RUN_TURNS_MAX } = terms;
    const now = this.#clock.now();
    const made: DurableRun = {
      ...{ trajectoryId, agents, tenant, status: 'ready', created: now, updated: now },
      ...{ turns: 0, turnsMax, failures: 0, versions: [] },
    };
    for (let tries = 0; tries < ATTEMPTS; tries++) {
      const found = await this.#rows.find(trajectoryId);
      if (found === undefined) {
        if (await this.#rows.insert(made)) return made;
        continue;
      }
      const { run } = found;
      if (run.agents === agents && run.tenant === tenant) return run;
      throw new RunError(
        'wrong_state',
        `The trajectory ${trajectoryId} has a run of the agents ${run.agents} for the tenant ${run.tenant}. Name another trajectory.`,
        { evidence: { trajectory: trajectoryId, agents: run.agents, tenant: run.tenant } },
      );
    }
    throw conflict(trajectoryId);
  }

  /**
   * The run of a trajectory.
   *
   * @throws RunError `not_found`, `damaged`; ArgumentError `bad_argument`
   */
  async get(trajectoryId: string): Promise<DurableRun> {
    checkArgument(arg.text, trajectoryId, 'trajectoryId');
    return (await this.#require(trajectoryId)).run;
  }

  /**
   * The runs by trajectory: those that have not ended, or those that have.
   *
   * @throws RunError `damaged`; ArgumentError `bad_argument`
   */
  async *list(options: RunsQuery = {}): AsyncGenerator<DurableRun> {
    checkArgument(QUERY, options, 'options');
    const { ended = false, after = '' } = options;
    for await (const { run } of this.#rows.list(ended, after)) yield run;
  }

  /**
   * Ends a run at its next step. Committed entries and calls stay, and its pending proposals stay
   * open. Returns the run: a run that no process advances has ended as cancelled.
   *
   * @throws RunError `not_found`, `wrong_state`, `conflict`; ArgumentError `bad_argument`
   */
  async cancel(trajectoryId: string): Promise<DurableRun> {
    checkArgument(arg.text, trajectoryId, 'trajectoryId');
    return this.#change(trajectoryId, (run, now) => {
      if (isEnded(run))
        throw new RunError(
          'wrong_state',
          `The run of ${trajectoryId} has ended as ${run.status}. See its end with assize run show.`,
          {
            evidence: { trajectory: trajectoryId, status: run.status },
          },
        );
      return isHeld(run, now) ? { ...run, cancelled: true } : cancelledRun(run);
    });
  }

  /**
   * Makes a failed run ready again. A run that has taken all its turns gets as many again.
   *
   * @throws RunError `not_found`, `wrong_state`, `conflict`; ArgumentError `bad_argument`
   */
  async retry(trajectoryId: string): Promise<DurableRun> {
    checkArgument(arg.text, trajectoryId, 'trajectoryId');
    return this.#change(trajectoryId, ({ wakeAt: _at, error, ...run }) => {
      if (run.status !== 'failed')
        throw new RunError(
          'wrong_state',
          `The run of ${trajectoryId} is ${run.status}, and only a failed run can be retried.`,
          { evidence: { trajectory: trajectoryId, status: run.status } },
        );
      const turnsMax = error?.code === 'turns_used' ? run.turns * 2 : run.turnsMax;
      return { ...run, status: 'ready', failures: 0, turnsMax };
    });
  }

  async #change(
    trajectoryId: string,
    next: (run: DurableRun, now: Instant) => DurableRun,
  ): Promise<DurableRun> {
    for (let tries = 0; tries < ATTEMPTS; tries++) {
      const found = await this.#require(trajectoryId);
      const changed = next(found.run, this.#clock.now());
      if (await this.#rows.replace(found, changed)) return changed;
    }
    throw conflict(trajectoryId);
  }

  async #require(trajectoryId: string): Promise<StoredRun> {
    const found = await this.#rows.find(trajectoryId);
    if (found !== undefined) return found;
    throw new RunError(
      'not_found',
      `The store has no durable run of ${trajectoryId}. List runs with assize run list.`,
      {
        evidence: { trajectory: trajectoryId },
      },
    );
  }
}

/** The run without the parts that only an open run has. */
export function cancelledRun(run: DurableRun): DurableRun {
  const {
    lease: _lease,
    wakeAt: _at,
    head: _head,
    pending: _pending,
    cancelled: _cancelled,
    ...rest
  } = run;
  return { ...rest, status: 'cancelled' };
}

function conflict(trajectoryId: string): RunError {
  return new RunError(
    'conflict',
    `Other processes change the run of ${trajectoryId}. Repeat the command.`,
    {
      evidence: { trajectory: trajectoryId },
      retryable: true,
    },
  );
}

const SIDE: ArgumentSchema = arg.members({
  sideGet: arg.code,
  sideList: arg.code,
  sidePut: arg.code,
});

/** Limits keep a row small, and a name printable in one line. */
const NAME: ArgumentSchema = arg.of(
  'a text of 1 to 128 characters without control characters',
  (value) => typeof value === 'string' && /^[^\p{Cc}]{1,128}$/u.test(value),
);

const QUERY = arg.options<RunsQuery>({
  ended: arg.optional(arg.flag),
  after: arg.optional(arg.text),
});

const TERMS = arg.options<RunTerms>({
  trajectoryId: arg.text,
  agents: NAME,
  tenant: arg.optional(NAME),
  turnsMax: arg.optional(
    arg.of(
      'a whole number from 1',
      (value) => Number.isSafeInteger(value) && (value as number) > 0,
    ),
  ),
});
