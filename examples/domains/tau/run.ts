import {
  type Assize,
  AssizeError,
  isAssizeError,
  issueWrit,
  type KeyPair,
  type Ruling,
  type Trajectory,
  type Writ,
} from 'assize';
import { type RoleParams, roleScope } from 'assize/internal/kernel';
import type { ObservationInput } from 'assize/internal/runtime';
import type { Base } from './base.ts';
import type { Benchmark } from './benchmark.ts';
import { type ExpectedRun, type RecordedRun, runKey } from './recorded.ts';
import { type Difference, differences, type Records, RecordTexts } from './records.ts';

/** Recorded runs carry no credentials: each gets a writ for the benchmark's day. */
const WRIT_DAY = {
  not_before: '2024-05-15T00:00:00.000000Z',
  expires: '2024-05-17T00:00:00.000000Z',
};
/** Resolves escalations immediately, so that no later call finds its branch frozen. */
const COUNSELOR = { principal: 'supervisor:cli', method: 'cli' };

/** The result of one writing call. */
export interface CallReport {
  /** Among all of the run's calls. */
  readonly index: number;
  readonly name: string;
  /** `tool_error`: a precondition that the benchmark's own tools refuse too. */
  readonly ruling: 'committed' | 'rejected' | 'escalated' | 'tool_error';
  readonly reason?: string;
  readonly invariant_id?: string;
  readonly message?: string;
  /** Set for escalated calls. */
  readonly resolved?: 'approved' | 'rejected';
}

export interface RunReport {
  readonly task_id: number;
  readonly trial?: number;
  readonly reward?: number;
  readonly trajectory_id: string;
  /**
   * Content hash of the records at the end: of `{collection: {id: record}}`, with all collections
   * of the database.
   */
  readonly state_hash: string;
  readonly calls: readonly CallReport[];
  /** Records that are not as expected at the end; absent when nothing was expected. */
  readonly differences?: readonly Difference[];
}

export interface RunOptions {
  readonly keys: KeyPair;
  readonly escalations: 'reject' | 'approve';
  /** By `runKey`, for every run; or undefined. */
  readonly expected: ReadonlyMap<string, ExpectedRun> | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The common values of all runs of a job. */
export interface Job<R extends Records> {
  readonly assize: Assize;
  readonly benchmark: Benchmark<R>;
  readonly records: R;
  readonly base: Base;
}

/** Brings recorded runs before the kernel, each on a branch of its own. */
export class RunAdjudicator<R extends Records> {
  readonly #job: Job<R>;
  readonly #options: RunOptions;
  readonly #names = new Set<string>();
  readonly #reads: ReadonlySet<string>;
  /** Neither looked up nor written: nothing of them is recorded. */
  readonly #rest: ReadonlySet<string>;
  #texts: RecordTexts | undefined;

  constructor(job: Job<R>, options: RunOptions) {
    this.#job = job;
    this.#options = options;
    this.#reads = new Set(job.benchmark.tools.reads);
    this.#rest = new Set(job.benchmark.tools.rest);
  }

  async adjudicate(run: RecordedRun): Promise<RunReport> {
    const name = this.#nameOf(run);
    const writ = this.#writFor(run, name);
    const { assize, benchmark, base } = this.#job;
    const { trajectoryId, rootId } = base;
    const trajectory = await assize.branch(trajectoryId, rootId, {
      trajectoryId: name,
      note: noteOf(run),
      writs: [writ],
    });
    // Branches share the objects of the state they begin with, so the first one's serve for all.
    this.#texts ??= new RecordTexts(benchmark.recordsOf(trajectory.state()));
    const calls = await this.#propose(trajectory, writ, run);
    const end = benchmark.recordsOf(trajectory.state());
    assize.release(name);
    return {
      task_id: run.task_id,
      ...(run.trial === undefined ? {} : { trial: run.trial }),
      ...(run.reward === undefined ? {} : { reward: run.reward }),
      trajectory_id: name,
      state_hash: this.#texts.hash(end),
      calls,
      ...this.#compared(run, this.#texts, end),
    };
  }

  /**
   * The key is new for every job, so the names of two jobs on one store never collide. A repeated
   * run gets a number.
   */
  #nameOf({ task_id, trial }: RecordedRun): string {
    const job = `run-${this.#options.keys.publicKey.slice(0, 8)}`;
    const name =
      trial === undefined ? `${job}:task-${task_id}` : `${job}:task-${task_id}:trial-${trial}`;
    let free = name;
    for (let again = 2; this.#names.has(free); again++) free = `${name}:${again}`;
    this.#names.add(free);
    return free;
  }

  /** The user that the agent serves. */
  #writFor(run: RecordedRun, trajectory: string): Writ {
    const { publicKey, privateKey } = this.#options.keys;
    const { domain, role, tools } = this.#job.benchmark;
    const params = this.#paramsAfter(run);
    const scopes = params === undefined ? [] : [roleScope(domain, { name: role, params })];
    const grant = { subject: `agent:${run.model}`, trajectory, actions: tools.writes, scopes };
    return issueWrit(
      { issuer: publicKey, ...grant, ...WRIT_DAY, max_depth: 0, nonce: trajectory },
      privateKey,
    );
  }

  #paramsAfter(run: Pick<RecordedRun, 'calls' | 'user'>): RoleParams | undefined {
    return this.#job.benchmark.paramsAfter(run, this.#job.records);
  }

  async #propose(trajectory: Trajectory, writ: Writ, run: RecordedRun): Promise<CallReport[]> {
    const { calls, outputs } = run;
    const reports: CallReport[] = [];
    let observations: ObservationInput[] = [];
    for (const [index, { name, arguments: args }] of calls.entries()) {
      if (this.#rest.has(name)) continue;
      if (this.#reads.has(name)) {
        const output = outputs.get(index);
        observations.push({
          name,
          value: output === undefined ? { arguments: args } : { arguments: args, output },
        });
        continue;
      }
      this.#options.signal?.throwIfAborted();
      // An unknown tool is proposed too, so that the ledger records its refusal.
      const role = {
        name: this.#job.benchmark.role,
        params: this.#paramsAfter({ ...run, calls: calls.slice(0, index) }) ?? {},
      };
      const ruling = await trajectory.propose({ action: name, role, args, writ, observations });
      observations = [];
      reports.push({ index, name, ...(await this.#settled(trajectory, ruling)) });
    }
    return reports;
  }

  async #settled(
    trajectory: Trajectory,
    ruling: Ruling,
  ): Promise<Omit<CallReport, 'index' | 'name'>> {
    if (ruling.ruling === 'committed') return { ruling: 'committed' };
    if (ruling.ruling === 'frozen') {
      throw new AssizeError(
        'frozen',
        `The trajectory ${trajectory.id} is frozen by the pending proposal ${ruling.by}. Resolve that first.`,
      );
    }
    const { reason, detail: message, invariantId } = ruling;
    const why = {
      reason,
      ...(invariantId === undefined ? {} : { invariant_id: invariantId }),
      message,
    };
    if (ruling.ruling === 'escalated') {
      return {
        ruling: 'escalated',
        ...why,
        resolved: await this.#resolve(trajectory, ruling.pending),
      };
    }
    return { ruling: reason === 'precondition_failed' ? 'tool_error' : 'rejected', ...why };
  }

  async #resolve(trajectory: Trajectory, pending: string): Promise<'approved' | 'rejected'> {
    let reason = 'rejected immediately without review (--escalations reject)';
    if (this.#options.escalations === 'approve') {
      try {
        await trajectory.approvals.approve(pending, {
          ...COUNSELOR,
          reason: 'approved immediately (--escalations approve)',
        });
        return 'approved';
      } catch (error) {
        // A counselor cannot commit the proposal as it is. Without a counselor for an override it
        // is rejected.
        if (!isAssizeError(error, 'override_needed')) throw error;
        reason = error.message;
      }
    }
    await trajectory.approvals.reject(pending, { ...COUNSELOR, reason });
    return 'rejected';
  }

  #compared(
    run: RecordedRun,
    texts: RecordTexts,
    end: Records,
  ): { differences?: readonly Difference[] } {
    const { expected } = this.#options;
    if (expected === undefined) return {};
    return {
      differences: differences(expected.get(runKey(run))?.changed ?? {}, texts.changed(end)),
    };
  }
}

function noteOf(run: RecordedRun): string {
  return `${runKey(run)}, recorded from ${run.model}${run.reward === undefined ? '' : `, rewarded ${run.reward}`}`;
}
