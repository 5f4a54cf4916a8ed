import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isAssizeError } from 'assize/internal/base';
import { type DriverCommand, DriverProcess, type DriverStart } from './driver/driver-process.ts';
import { ConformanceError } from './errors.ts';
import type { FindingKind, InRun } from './judge.ts';
import {
  type Answers,
  type DriverIdentity,
  type DriverSettings,
  PROTOCOL,
  type Progress,
  type Told,
  type WaitingCall,
  type WantedCall,
} from './protocol/messages.ts';
import type { Sink } from './sink/sink.ts';

/** A scenario that ends early, as the runtime did not behave as it has to. */
export class Deviation extends Error {
  readonly kind: FindingKind;

  constructor(kind: FindingKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A step of a run. A driver that ends, or says nothing in time, is a result too. */
export type StepEnd = Progress | { readonly state: 'ended' | 'silent'; readonly error: string };

export interface StageOptions {
  readonly command: DriverCommand;
  readonly start: DriverStart;
  readonly sink: Sink;
  /** The folder of the scenario. */
  readonly folder: string;
  /** The longest time of a step. */
  readonly timeoutMs: number;
}

/** The processes of one scenario: a sink, and any number of drivers over one state folder. */
export class Stage {
  readonly sink: Sink;
  readonly told: InRun<Told>[] = [];
  readonly shown: InRun<WaitingCall>[] = [];
  readonly #options: StageOptions;
  readonly #drivers: DriverProcess[] = [];
  #isClosed: boolean = false;
  #isSeeing: boolean = true;

  constructor(options: StageOptions) {
    this.sink = options.sink;
    this.#options = options;
  }

  /** The longest time of a step. */
  get timeoutMs(): number {
    return this.#options.timeoutMs;
  }

  /** Starts another process of the driver, over the same state. @throws ConformanceError */
  async open(settings: DriverSettings = {}): Promise<StagedDriver> {
    const { command, start, folder, sink, timeoutMs } = this.#options;
    const state = join(folder, 'state');
    mkdirSync(state, { recursive: true });
    const process = await DriverProcess.start(command, start);
    this.#drivers.push(process);
    if (this.#isClosed) await process.kill();
    const hello = { protocol: PROTOCOL, folder: state, sink: sink.url, settings };
    const identity = await process.ask('hello', hello, timeoutMs);
    return new StagedDriver(this, process, identity);
  }

  /** Takes down a question to a person. */
  see(question: InRun<WaitingCall>): void {
    if (this.#isSeeing) this.shown.push(question);
  }

  /** Later questions are about other calls with the same ids, and not about the effects so far. */
  seeNoMore(): void {
    this.#isSeeing = false;
  }

  /** Ends every process of the driver, also one that is opened later. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const each of this.#drivers) await each.kill();
  }
}

/** One process of the driver, in a scenario. */
export class StagedDriver {
  readonly identity: DriverIdentity;
  readonly #stage: Stage;
  readonly #process: DriverProcess;

  constructor(stage: Stage, process: DriverProcess, identity: DriverIdentity) {
    this.#stage = stage;
    this.#process = process;
    this.identity = identity;
  }

  start(run: string, calls: readonly WantedCall[], timeoutMs?: number): Promise<StepEnd> {
    return this.#step('start', { run, calls }, timeoutMs);
  }

  resume(run: string, answers: Answers, timeoutMs?: number): Promise<StepEnd> {
    return this.#step('resume', { run, answers }, timeoutMs);
  }

  retry(run: string): Promise<StepEnd> {
    return this.#step('retry', { run });
  }

  fork(run: string): Promise<StepEnd> {
    return this.#step('fork', { run });
  }

  /**
   * Puts another call in the place of the stored one with its id.
   *
   * @throws ConformanceError `function_failed` if nothing was changed
   */
  async tamper(run: string, { id: call, tool, args }: WantedCall): Promise<void> {
    const { changed } = await this.#process.ask(
      'tamper',
      { run, call, tool, args },
      this.#stage.timeoutMs,
    );
    if (changed > 0) return;
    const text =
      'The driver changed nothing in its stored state at tamper. Change it, or say in `cannot` why not.';
    throw new ConformanceError('function_failed', text, { evidence: { op: 'tamper' } });
  }

  /** The calls that a person is shown now. @throws ConformanceError */
  async read(run: string): Promise<readonly WaitingCall[]> {
    const { waiting } = await this.#process.ask('shown', { run }, this.#stage.timeoutMs);
    this.#see(run, waiting);
    return waiting;
  }

  /** Ends a run. Returns the calls that stay of one that failed. @throws ConformanceError */
  async end(run: string, failed: boolean = false): Promise<readonly string[]> {
    const { left } = await this.#process.ask('end', { run, failed }, this.#stage.timeoutMs);
    return left;
  }

  /** Ends the process as a crash does. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  async #step(
    op: 'start' | 'resume' | 'retry' | 'fork',
    given: {
      readonly run: string;
      readonly calls?: readonly WantedCall[];
      readonly answers?: Answers;
    },
    timeoutMs: number = this.#stage.timeoutMs,
  ): Promise<StepEnd> {
    try {
      const progress = await this.#process.ask(op, given, timeoutMs);
      for (const of of progress.told) this.#stage.told.push({ run: given.run, of });
      if (progress.state === 'paused') this.#see(given.run, progress.waiting);
      return progress;
    } catch (error) {
      if (isAssizeError(error, 'driver_ended')) return { state: 'ended', error: error.message };
      if (isAssizeError(error, 'driver_silent')) return { state: 'silent', error: error.message };
      throw error;
    }
  }

  #see(run: string, waiting: readonly WaitingCall[]): void {
    for (const of of waiting) this.#stage.see({ run, of });
  }
}

/** That the run waits for a person about exactly these calls. @throws Deviation `did-not-ask` */
export function assertPaused(end: StepEnd, calls: readonly WantedCall[]): void {
  const wanted = calls.map(({ id }) => id).sort();
  if (end.state !== 'paused') {
    const why = 'error' in end ? `: ${end.error}` : '';
    throw new Deviation(
      'did-not-ask',
      `the run is ${end.state}, and has to wait for a person about ${wanted.join(', ')}${why}`,
    );
  }
  const waiting = end.waiting.map(({ call }) => call).sort();
  if (waiting.join() === wanted.join()) return;
  throw new Deviation(
    'did-not-ask',
    `the run waits about ${waiting.join(', ')}, and has to about ${wanted.join(', ')}`,
  );
}

/** That the run came to its end. @throws Deviation `not-reached` */
export function assertDone(end: StepEnd): void {
  if (end.state === 'done') return;
  const why = 'error' in end ? `: ${end.error}` : '';
  throw new Deviation('not-reached', `the run is ${end.state}, and has to be done${why}`);
}
