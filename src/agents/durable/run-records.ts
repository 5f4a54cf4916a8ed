import { type ArgumentSchema, arg, checkArgument } from '#base';
import type { Instant } from '#canon';
import type { SideChange, SideStore } from '#ledger';
import { type Clock, systemClock } from '#oracle';
import { bodyOf, type DurableRun, isEnded, isHeld, type StoredRun, storedRun } from './durable-run.ts';
import { RunError } from './errors.ts';

/** The kinds of the rows. Ended runs have their own, so that a worker does not read them. */
const OPEN_KIND = 'run/open';
const ENDED_KIND = 'run/ended';

const PAGE = 500;

/** Attempts of a change against other processes. */
const ATTEMPTS = 20;

/** The default number of turns at which a run fails. */
export const RUN_TURNS_MAX = 1_000;

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

/** The durable runs of a store, in its side log. */
export class RunRecords {
  readonly #side: SideStore;
  readonly #clock: Clock;

  /** @throws ArgumentError `bad_argument` */
  constructor(side: SideStore, clock: Clock = systemClock) {
    checkArgument(SIDE, side, 'side');
    checkArgument(arg.members({ now: arg.code }), clock, 'clock');
    this.#side = side;
    this.#clock = clock;
  }

  /**
   * Records that a run exists, for the next worker. A repeated call returns the recorded run.
   *
   * @throws RunError `other_run`, `bad_run`; ArgumentError `bad_argument`
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
      const found = await this.find(trajectoryId);
      if (found === undefined) {
        if (await this.#side.sidePut([written(OPEN_KIND, made, null)])) return made;
        continue;
      }
      const { run } = found;
      if (run.agents === agents && run.tenant === tenant) return run;
      throw new RunError(
        'other_run',
        `The trajectory ${trajectoryId} has a run of the agents ${run.agents} for the tenant ${run.tenant}. Name another trajectory.`,
        { evidence: { trajectory: trajectoryId, agents: run.agents, tenant: run.tenant } },
      );
    }
    throw conflict(trajectoryId);
  }

  /** The run of a trajectory. @throws RunError `unknown_run`, `bad_run`; ArgumentError `bad_argument` */
  async get(trajectoryId: string): Promise<DurableRun> {
    checkArgument(arg.text, trajectoryId, 'trajectoryId');
    return (await this.#require(trajectoryId)).run;
  }

  /** The runs by trajectory: those that have not ended, or those that have. */
  async *list({ ended = false }: { readonly ended?: boolean } = {}): AsyncGenerator<DurableRun> {
    for await (const { run } of this.stored(ended)) yield run;
  }

  /**
   * Ends a run at its next step. Committed entries and calls stay, and its pending proposals stay
   * open. Returns the run: a run that no process advances has ended as cancelled.
   *
   * @throws RunError `unknown_run`, `run_ended`, `run_conflict`; ArgumentError `bad_argument`
   */
  async cancel(trajectoryId: string): Promise<DurableRun> {
    checkArgument(arg.text, trajectoryId, 'trajectoryId');
    return this.#change(trajectoryId, (run, now) => {
      if (isEnded(run))
        throw new RunError('run_ended', `The run of ${trajectoryId} has ended as ${run.status}.`, {
          evidence: { trajectory: trajectoryId, status: run.status },
        });
      return isHeld(run, now) ? { ...run, cancelled: true } : cancelledRun(run);
    });
  }

  /**
   * Makes a failed run ready again. A run that has taken all its turns gets as many again.
   *
   * @throws RunError `unknown_run`, `run_not_failed`, `run_conflict`; ArgumentError `bad_argument`
   */
  async retry(trajectoryId: string): Promise<DurableRun> {
    checkArgument(arg.text, trajectoryId, 'trajectoryId');
    return this.#change(trajectoryId, ({ wakeAt: _at, error, ...run }) => {
      if (run.status !== 'failed')
        throw new RunError(
          'run_not_failed',
          `The run of ${trajectoryId} is ${run.status}, and only a failed run can be retried.`,
          { evidence: { trajectory: trajectoryId, status: run.status } },
        );
      const turnsMax = error?.code === 'turns_used' ? run.turns * 2 : run.turnsMax;
      return { ...run, status: 'ready', failures: 0, turnsMax };
    });
  }

  /** @internal */
  async find(trajectoryId: string): Promise<StoredRun | undefined> {
    // A run moves between the two kinds, so it can be missing in each at the moment of its read.
    for (const kind of [OPEN_KIND, ENDED_KIND, OPEN_KIND]) {
      const row = await this.#side.sideGet(kind, trajectoryId);
      if (row !== undefined) return storedRun(row);
    }
    return undefined;
  }

  /** @internal */
  async *stored(ended: boolean): AsyncGenerator<StoredRun> {
    for (let after = ''; ; ) {
      const rows = await this.#side.sideList(ended ? ENDED_KIND : OPEN_KIND, { after, limit: PAGE });
      for (const row of rows) yield storedRun(row);
      if (rows.length < PAGE) return;
      after = rows.at(-1)!.key;
    }
  }

  /** Writes a run in place of the one that was read. False if another process was faster. @internal */
  replace({ run: before, version }: StoredRun, next: DurableRun): Promise<boolean> {
    const [from, to] = [before, next].map((run) => (isEnded(run) ? ENDED_KIND : OPEN_KIND)) as [string, string];
    const changed = { ...next, updated: this.#clock.now() };
    if (from === to) return this.#side.sidePut([written(to, changed, version)]);
    const removed: SideChange = { kind: from, key: before.trajectoryId, expected: version, body: null };
    return this.#side.sidePut([removed, written(to, changed, null)]);
  }

  async #change(trajectoryId: string, next: (run: DurableRun, now: Instant) => DurableRun): Promise<DurableRun> {
    for (let tries = 0; tries < ATTEMPTS; tries++) {
      const found = await this.#require(trajectoryId);
      const changed = next(found.run, this.#clock.now());
      if (await this.replace(found, changed)) return changed;
    }
    throw conflict(trajectoryId);
  }

  async #require(trajectoryId: string): Promise<StoredRun> {
    const found = await this.find(trajectoryId);
    if (found !== undefined) return found;
    throw new RunError(
      'unknown_run',
      `The store has no durable run of ${trajectoryId}. List runs with assize runs list.`,
      {
        evidence: { trajectory: trajectoryId },
      },
    );
  }
}

/** The run without the parts that only an open run has. */
export function cancelledRun(run: DurableRun): DurableRun {
  const { lease: _lease, wakeAt: _at, head: _head, pending: _pending, cancelled: _cancelled, ...rest } = run;
  return { ...rest, status: 'cancelled' };
}

function written(kind: string, run: DurableRun, expected: number | null): SideChange {
  return { kind, key: run.trajectoryId, expected, body: bodyOf(run) };
}

function conflict(trajectoryId: string): RunError {
  return new RunError('run_conflict', `Other processes change the run of ${trajectoryId}. Repeat the command.`, {
    evidence: { trajectory: trajectoryId },
    retryable: true,
  });
}

const SIDE: ArgumentSchema = arg.members({ sideGet: arg.code, sideList: arg.code, sidePut: arg.code });

/** Limits keep a row small, and a name printable in one line. */
const NAME: ArgumentSchema = arg.of(
  'a text of 1 to 128 characters without control characters',
  (value) => typeof value === 'string' && /^[^\p{Cc}]{1,128}$/u.test(value),
);

const TERMS = arg.options<RunTerms>({
  trajectoryId: arg.text,
  agents: NAME,
  tenant: arg.optional(NAME),
  turnsMax: arg.optional(
    arg.of('a whole number from 1', (value) => Number.isSafeInteger(value) && (value as number) > 0),
  ),
});
