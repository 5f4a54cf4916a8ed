import { form, requireForm } from '#base';
import type { Domain } from '#kernel';
import { RuntimeError } from '../../errors.ts';
import { tellFailure } from '../../records/tell-failure.ts';
import { Foresight, type Source } from './foresight.ts';
import { Hand } from './hand.ts';
import { type Thread, type ThreadTask, workerThread } from './thread.ts';

/** Threads that foresee proposals of one domain, while this one rules on those before them. */
export interface ParallelOptions {
  /** How many threads, 1 to 64; each has a copy of the state of every open trajectory of the domain. */
  readonly workers: number;
  /** Where the domain comes from: a thread has to import it by itself, and runs the module's code again. */
  readonly module: URL;
  /** Its export. Default: `default`. */
  readonly export?: string;
  /**
   * How long a thread may take until it answers again, in milliseconds; then it is ended, and none takes its place.
   * Default: 10,000.
   */
  readonly patienceMs?: number;
  /** Told when a thread died or was ended, which nothing fails for, nor for what it throws. Default: a warning of the process. */
  readonly onWorkerFailed?: (error: RuntimeError) => void;
  /** How a thread is begun. Default: one of this process. */
  readonly begin?: (task: ThreadTask) => Thread;
}

const PARALLEL_OPTIONS = form.options<ParallelOptions>({
  workers: form.any,
  module: form.any,
  export: form.any,
  patienceMs: form.any,
  onWorkerFailed: form.any,
  begin: form.any,
});

const WORKERS_MAX = 64;
const PATIENCE_MS = 10_000;

/** The threads of a runtime, and what is foreseen with them, by trajectory. */
export class Hands {
  readonly #options: ParallelOptions;
  readonly #domains: readonly Domain[];
  readonly #all: Hand[] = [];
  readonly #foresights: Map<string, Foresight> = new Map();
  #begun: Promise<string> | undefined;
  #isClosed = false;
  /** Numbers replicas and askings. */
  #last = 0;
  #domainHash: string | undefined;

  /** @throws RuntimeError `bad_option`; ArgumentError `bad_argument` */
  constructor(options: ParallelOptions, domains: readonly Domain[]) {
    checkOptions(options);
    this.#options = options;
    this.#domains = domains;
  }

  /**
   * Begins the threads, the first time.
   *
   * @throws RuntimeError `bad_option` where the module can't be imported or has no such domain; `domain_mismatch` where it is
   * another one than any that was given
   */
  async ready(): Promise<void> {
    if (this.#isClosed) return;
    this.#begun ??= this.#begin();
    this.#domainHash = await this.#begun;
  }

  /** Those that can be asked. */
  living(): readonly Hand[] {
    return this.#all.filter(({ isGone }) => !isGone);
  }

  /** Whether they have the domain. */
  knows({ hash }: Domain): boolean {
    return hash === this.#domainHash;
  }

  number(): number {
    return ++this.#last;
  }

  /** For a trajectory that was opened. */
  foresee(trajectoryId: string, source: Source): Foresight {
    this.release(trajectoryId);
    const foresight = new Foresight(this, source);
    this.#foresights.set(trajectoryId, foresight);
    return foresight;
  }

  release(trajectoryId: string): void {
    this.#foresights.get(trajectoryId)?.forget();
    this.#foresights.delete(trajectoryId);
  }

  /** Ends the threads. What they were asked is ruled on without them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end();
  }

  async #end(): Promise<void> {
    await Promise.all(this.#all.map((hand) => hand.end()));
  }

  async #begin(): Promise<string> {
    const { workers, module, export: name = 'default', patienceMs = PATIENCE_MS, begin = workerThread } = this.#options;
    for (let i = 0; i < workers; i++) {
      const thread = begin({ module: module.href, name });
      this.#all.push(new Hand(thread, patienceMs, (why) => this.#failed(why)));
    }
    try {
      const found = await Promise.all(this.#all.map(({ ready }) => ready));
      return this.#checked(found[0] as (typeof found)[number]);
    } catch (error) {
      await this.#end();
      if (error instanceof RuntimeError) throw error;
      throw new RuntimeError('bad_option', `Nothing can be judged in parallel: ${(error as Error).message}.`, {
        cause: error,
      });
    }
  }

  #checked({ name, version, hash }: { name: string; version: string; hash: string }): string {
    if (this.#domains.some((domain) => domain.hash === hash)) return hash;
    throw new RuntimeError(
      'domain_mismatch',
      `The module ${this.#options.module.href} has ${name}@${version} (${hash.slice(0, 12)}), which is none of the domains given.`,
      { evidence: { domain: { name, version, hash } } },
    );
  }

  #failed(why: string): void {
    // While they are begun, who waits for them is told.
    if (this.#isClosed || this.#domainHash === undefined) return;
    const left = this.living().length;
    const error = new RuntimeError(
      'worker_failed',
      `A thread that judges in parallel is gone (${why}); ${left === 0 ? 'everything is judged one after the other now' : `${left} go on`}.`,
      { evidence: { left } },
    );
    tellFailure(this.#options.onWorkerFailed, error);
  }
}

function checkOptions(options: ParallelOptions): void {
  requireForm(PARALLEL_OPTIONS, options, 'options.parallel');
  const { workers, module, export: name = 'default', patienceMs = PATIENCE_MS } = options;
  if (!(Number.isSafeInteger(workers) && workers >= 1 && workers <= WORKERS_MAX))
    throw badParallel(`workers must be a whole number from 1 to ${WORKERS_MAX}`);
  if (!(module instanceof URL))
    throw badParallel("module must be a URL, such as new URL('./domain.ts', import.meta.url)");
  if (typeof name !== 'string' || name === '') throw badParallel('export must be the name of what the module exports');
  if (!(Number.isSafeInteger(patienceMs) && patienceMs >= 1 && patienceMs <= 2 ** 31 - 1))
    throw badParallel('patienceMs must be a whole number of milliseconds above 0');
}

function badParallel(what: string): RuntimeError {
  return new RuntimeError('bad_option', `Nothing can be judged in parallel: ${what}.`);
}
