import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ArgumentSchema,
  AssizeError,
  arg,
  checkArgument,
  errorMessage,
  isAssizeError,
  isInstance,
} from 'assize/internal/base';
import { addMicros, type Instant } from 'assize/internal/canon';
import {
  type Clock,
  createOracle,
  type Oracle,
  type Random,
  systemClock,
  systemRandom,
} from 'assize/internal/oracle';
import type { Trajectory } from 'assize/internal/runtime';
import { AgentError } from '../errors.ts';
import { type RunReport, runAgents } from '../run.ts';
import type { CarrierOptions, DurableAgents } from './carrier-options.ts';
import {
  type DurableRun,
  isEnded,
  isHeld,
  type RunFailure,
  type RunLease,
  type RunVersion,
  type StoredRun,
} from './durable-run.ts';
import { RunError } from './errors.ts';
import { cancelledRun, RunRecords } from './run-records.ts';
import { RunRows } from './run-rows.ts';

const LEASE_MS = 15_000;
const ATTEMPTS = 8;
const BACKOFF_MS = 1_000;
const BACKOFF_MAX_MS = 300_000;
const TURNS_AT_ONCE = 50;

/** Milliseconds between two looks at calls in progress. */
const LOOK_MS = 100;
/** Milliseconds after which a run that another process advances is tried again. */
const BUSY_MS = 1_000;
/** Renewals of a lease in its time. */
const RENEWALS = 3;
/** The most pending proposals and versions in a record. */
const LISTED = 16;
/** Attempts to record the end of an advance against other changes of the record. */
const SETTLE_ATTEMPTS = 20;

/** The phases of calls that a process with their tools still makes. */
const IN_PROGRESS: ReadonlySet<string> = new Set(['intended', 'due', 'applying', 'undoing']);

/** The reason why an advance stops before its end. */
type Stop = 'lost' | 'cancelled' | 'closing';

class Stopped extends Error {
  readonly why: Stop;

  constructor(why: Stop) {
    super(`The advance of the run stops: ${why}.`);
    this.why = why;
  }
}

/** The result of an advance. */
type Outcome =
  | { readonly is: 'report'; readonly report: RunReport; readonly trajectory: Trajectory }
  | { readonly is: 'stopped'; readonly why: Stop }
  | { readonly is: 'failed'; readonly error: unknown };

/**
 * Advances durable runs, one step of the record after the other: takes the lease, runs the agents
 * until they end or wait, and records the result.
 *
 * The lease keeps two processes from the same work. It is a hint: if both advance a run, the oracle
 * log has one of their turns, the ledger rules one proposal of each key, and the other process
 * stops.
 */
export class RunCarrier {
  readonly records: RunRecords;
  readonly #rows: RunRows;
  readonly #options: CarrierOptions;
  readonly #agents: ReadonlyMap<string, DurableAgents>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #oracle: Oracle;
  readonly #tools: ReadonlySet<string>;
  readonly #holder: string;

  /** @throws ArgumentError `bad_argument` */
  constructor(options: CarrierOptions) {
    checkArgument(OPTIONS, options, 'options');
    const { store, agents, clock = systemClock, random = systemRandom, tools = [] } = options;
    this.#options = options;
    this.#agents = new Map(agents.map((one) => [one.name, one]));
    this.#clock = clock;
    this.#random = random;
    this.#oracle = createOracle({ store, clock, mode: 'record' });
    this.#tools = new Set(tools);
    this.#holder = Buffer.from(random.bytes(16)).toString('hex');
    this.records = new RunRecords(store, clock);
    this.#rows = new RunRows(store, clock);
  }

  /**
   * Advances a run until it ends or waits, and returns its record. Returns immediately if the run
   * has ended, or if another process has its lease. An error of the agents or of a call is
   * recorded, and not thrown. After the abort of the signal the run is ready for another process.
   *
   * @throws RunError `not_found`, `damaged`; the errors of the store; ArgumentError `bad_argument`
   */
  async advance(trajectoryId: string, signal?: AbortSignal): Promise<DurableRun> {
    checkArgument(arg.text, trajectoryId, 'trajectoryId');
    checkArgument(arg.optional(SIGNAL), signal, 'signal');
    requireAgents(this.#options.agents, await this.records.get(trajectoryId));
    const taken = await this.#take(trajectoryId);
    if (taken !== undefined) await this.#carry(taken, signal);
    return this.records.get(trajectoryId);
  }

  /** Takes the lease. Undefined if another process has it, or if the run has ended. */
  async #take(trajectoryId: string): Promise<DurableRun | undefined> {
    const found = await this.#rows.find(trajectoryId);
    if (found === undefined || isEnded(found.run)) return undefined;
    if (isHeld(found.run, this.#clock.now())) return undefined;
    const { head: _head, wakeAt: _at, pending: _pending, ...run } = found.run;
    const taken: DurableRun = { ...run, status: 'ready', lease: this.#lease() };
    return (await this.#rows.replace(found, taken)) ? taken : undefined;
  }

  async #carry(run: DurableRun, signal: AbortSignal | undefined): Promise<void> {
    const { trajectoryId } = run;
    const stop = new AbortController();
    const close = (): void => stop.abort(new Stopped('closing'));
    if (run.cancelled === true) stop.abort(new Stopped('cancelled'));
    if (signal?.aborted === true) close();
    signal?.addEventListener('abort', close, { once: true });
    const renewed = this.#renew(trajectoryId, stop);
    let outcome: Outcome;
    try {
      outcome = await this.#outcome(run, stop.signal);
    } finally {
      signal?.removeEventListener('abort', close);
      await renewed();
    }
    try {
      await this.#settle(trajectoryId, outcome);
    } finally {
      // The next advance reads entries of other processes, and a run that waits needs no memory.
      this.#options.assize.release(trajectoryId);
    }
  }

  // ── the lease ──

  #lease(): RunLease {
    const { leaseMs = LEASE_MS } = this.#options;
    return { holder: this.#holder, until: addMicros(this.#clock.now(), leaseMs * 1_000) };
  }

  /** Renews the lease until the returned function is called. */
  #renew(trajectoryId: string, stop: AbortController): () => Promise<void> {
    const { leaseMs = LEASE_MS } = this.#options;
    const end = new AbortController();
    const renewing = (async () => {
      while (!end.signal.aborted) {
        await rest(leaseMs / RENEWALS, end.signal);
        if (end.signal.aborted) return;
        try {
          const why = await this.#renewOnce(trajectoryId);
          if (why !== undefined) stop.abort(new Stopped(why));
        } catch (error) {
          // The lease may end. Then another process takes the run, and this one finds that out.
          this.#options.onFailure?.(error);
        }
      }
    })();
    return async () => {
      end.abort();
      await renewing;
    };
  }

  async #renewOnce(trajectoryId: string): Promise<Stop | undefined> {
    const found = await this.#own(trajectoryId);
    if (found === undefined) return 'lost';
    if (found.run.cancelled === true) return 'cancelled';
    // If another process changed the record at the same time, the next renewal is in time.
    await this.#rows.replace(found, { ...found.run, lease: this.#lease() });
    return undefined;
  }

  async #own(trajectoryId: string): Promise<StoredRun | undefined> {
    const found = await this.#rows.find(trajectoryId);
    return found?.run.lease?.holder === this.#holder && !isEnded(found.run) ? found : undefined;
  }

  // ── the agents ──

  async #outcome(run: DurableRun, signal: AbortSignal): Promise<Outcome> {
    try {
      signal.throwIfAborted();
      const { assize, turnsAtOnce = TURNS_AT_ONCE, onTurn } = this.#options;
      const { agents, domain } = this.#agents.get(run.agents) as DurableAgents;
      const trajectory =
        domain === undefined
          ? await assize.open(run.trajectoryId)
          : await assize.open(run.trajectoryId, domain);
      const list = typeof agents === 'function' ? await agents({ trajectory, signal }) : agents;
      const report = await runAgents(trajectory, list, {
        oracle: this.#oracle,
        clock: this.#clock,
        random: this.#random,
        maxTurns: Math.min(turnsAtOnce, Math.max(0, run.turnsMax - run.turns)),
        continueChanged: true,
        signal,
        onTurn: (turn) => onTurn?.(run, turn),
      });
      await this.#callsMade(run.trajectoryId, signal);
      signal.throwIfAborted();
      return { is: 'report', report, trajectory };
    } catch (error) {
      const { reason } = signal;
      return isInstance(reason, Stopped)
        ? { is: 'stopped', why: reason.why }
        : { is: 'failed', error };
    }
  }

  /**
   * Waits for the calls of the trajectory that are in progress. Without that, a crash after the
   * record of the result would leave them to no process.
   */
  async #callsMade(trajectoryId: string, signal: AbortSignal): Promise<void> {
    if (this.#tools.size === 0) return;
    while (!signal.aborted) {
      const transactions = await this.#options.assize.effects({ trajectoryId });
      const isMaking = transactions.some(({ effects }) =>
        effects.some(({ tool, phase }) => this.#tools.has(tool) && IN_PROGRESS.has(phase)),
      );
      if (!isMaking) return;
      await rest(LOOK_MS, signal);
    }
  }

  // ── the record after an advance ──

  async #settle(trajectoryId: string, outcome: Outcome): Promise<void> {
    for (let tries = 0; tries < SETTLE_ATTEMPTS; tries++) {
      const found = await this.#own(trajectoryId);
      // Another process has the run, and records what it comes to.
      if (found === undefined) return;
      const next = this.#after(found.run, outcome);
      if (!(await this.#rows.replace(found, next))) continue;
      if (outcome.is === 'failed' && !isBusy(outcome.error))
        this.#options.onFailure?.(outcome.error, next);
      return;
    }
  }

  #after({ lease: _lease, ...run }: DurableRun, outcome: Outcome): DurableRun {
    if (run.cancelled === true && !(outcome.is === 'report' && outcome.report.ended === 'done'))
      return cancelledRun(outcome.is === 'report' ? { ...run, turns: outcome.report.turns } : run);
    if (outcome.is === 'stopped') return run;
    return outcome.is === 'failed'
      ? this.#failed(run, outcome.error)
      : this.#reported(run, outcome);
  }

  #reported(
    run: DurableRun,
    { report, trajectory }: Extract<Outcome, { is: 'report' }>,
  ): DurableRun {
    const { error: _error, cancelled: _cancelled, ...before } = run;
    const { turns, ended } = report;
    const versions = this.#versions(run, turns, trajectory);
    const next: DurableRun = { ...before, status: 'ready', turns, failures: 0, versions };
    if (ended === 'done') return { ...next, status: 'done' };
    if (ended === 'turns') return turns < run.turnsMax ? next : this.#failed(next, turnsUsed(run));
    const pending = trajectory.approvals.pending();
    const times = [report.wakeAt, ...pending.map(({ payload }) => payload.expires)];
    const wakeAt = times.filter((at) => at !== undefined).sort()[0];
    return {
      ...next,
      status: 'waiting',
      head: report.head,
      ...(wakeAt !== undefined && { wakeAt }),
      ...(pending.length > 0 && { pending: pending.slice(0, LISTED).map(({ id }) => id) }),
    };
  }

  #versions(run: DurableRun, turns: number, { domain }: Trajectory): readonly RunVersion[] {
    const { version } = this.#agents.get(run.agents) as DurableAgents;
    const now = { agents: version, domain: `${domain.name}@${domain.version}` };
    const last = run.versions.at(-1);
    const isSame = last?.agents === now.agents && last.domain === now.domain;
    if (isSame || (last !== undefined && turns === run.turns)) return run.versions;
    return [...run.versions, { turn: run.turns, ...now }].slice(-LISTED);
  }

  #failed(run: DurableRun, error: unknown): DurableRun {
    if (isBusy(error)) return { ...run, wakeAt: this.#in(BUSY_MS) };
    const {
      attempts = ATTEMPTS,
      backoffMs = BACKOFF_MS,
      backoffMaxMs = BACKOFF_MAX_MS,
    } = this.#options;
    const failures = run.failures + 1;
    const failed = { ...run, failures, error: this.#failureOf(run, error) };
    if (!mayPass(error) || failures >= attempts) return { ...failed, status: 'failed' };
    return {
      ...failed,
      wakeAt: this.#in(Math.min(backoffMaxMs, backoffMs * 2 ** Math.min(failures - 1, 30))),
    };
  }

  #in(ms: number): Instant {
    return addMicros(this.#clock.now(), ms * 1_000);
  }

  #failureOf(run: DurableRun, error: unknown): RunFailure {
    const isAssize = isAssizeError(error);
    const name = isInstance(error, Error) ? error.name : typeof error;
    const failure = { code: isAssize ? error.code : 'failed', name: name.slice(0, 128) };
    if (!isSpoken(error)) return failure;
    const message = `${errorMessage(error)}${this.#changeOf(run)}`;
    return { ...failure, message: message.slice(0, 1_000) };
  }

  /** Names the versions of changed agents: they may be the cause of an error. */
  #changeOf({ agents, versions }: DurableRun): string {
    const [last, now] = [versions.at(-1)?.agents, this.#agents.get(agents)?.version];
    if (last === undefined || last === now) return '';
    return ` The agents have changed since turn ${versions.at(-1)!.turn}, from version ${last} to ${now}.`;
  }
}

/** @throws RunError `not_found` */
export function requireAgents(here: readonly DurableAgents[], { agents }: DurableRun): void {
  if (here.some(({ name }) => name === agents)) return;
  throw new RunError(
    'not_found',
    `There are no agents ${agents} here. Name the file that has them.`,
    {
      evidence: { agents },
    },
  );
}

/** Whether the message of an error quotes no data of a trajectory. */
function isSpoken(error: unknown): boolean {
  if (isInstance(error, AgentError) || isInstance(error, RunError)) return true;
  return isAssizeError(error, 'domain_mismatch') || isAssizeError(error, 'not_found');
}

/** Another process advances the run. */
function isBusy(error: unknown): boolean {
  return isAssizeError(error, 'concurrent_run');
}

/**
 * Whether a repetition can succeed. Errors of this package say so themselves. During a deployment
 * the other version of a domain comes later.
 */
function mayPass(error: unknown): boolean {
  if (!isInstance(error, AssizeError)) return true;
  return error.retryable || error.code === 'domain_mismatch';
}

function turnsUsed({ trajectoryId, turnsMax }: DurableRun): RunError {
  return new RunError('turns_used', `The run of ${trajectoryId} has taken its ${turnsMax} turns.`);
}

/** A pause that the signal ends early. */
async function rest(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

const MS: ArgumentSchema = arg.of(
  'a whole number of milliseconds from 1',
  (value) => Number.isSafeInteger(value) && (value as number) > 0 && (value as number) < 2 ** 31,
);
const FROM_ONE: ArgumentSchema = arg.of(
  'a whole number from 1',
  (value) => Number.isSafeInteger(value) && (value as number) > 0,
);

export const SIGNAL: ArgumentSchema = arg.of('an AbortSignal', (value) =>
  isInstance(value, AbortSignal),
);

/** The forms of the options, for carriers and workers. */
export const CARRIER_OPTIONS = {
  store: arg.members({
    ...{ head: arg.code, logSize: arg.code, oracleGet: arg.code, oraclePut: arg.code },
    ...{ sideGet: arg.code, sideList: arg.code, sidePut: arg.code },
  }),
  assize: arg.members({ open: arg.code, release: arg.code, effects: arg.code }),
  agents: arg.list(arg.members({ name: arg.text, version: arg.text })),
  tools: arg.optional(arg.list(arg.text)),
  leaseMs: arg.optional(MS),
  attempts: arg.optional(FROM_ONE),
  backoffMs: arg.optional(MS),
  backoffMaxMs: arg.optional(MS),
  turnsAtOnce: arg.optional(FROM_ONE),
  clock: arg.optional(arg.members({ now: arg.code })),
  random: arg.optional(arg.members({ bytes: arg.code })),
  onTurn: arg.optional(arg.code),
  onFailure: arg.optional(arg.code),
} as const;

const OPTIONS = arg.options<CarrierOptions>(CARRIER_OPTIONS);
