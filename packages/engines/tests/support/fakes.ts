/**
 * Engines of a few lines, with the shapes of Restate, DBOS and Temporal: they keep the results of
 * steps as JSON, and repeat what has no result.
 */

import type { Gate } from '@assize/gate/internal/calls';
import { type AssizeError, isAssizeError, type Json } from 'assize/internal/base';
import {
  type DbosSdk,
  dbosOnce,
  type MakeOnce,
  type OnceOptions,
  type RestateContext,
  restateOnce,
  temporalOnce,
  type WaitingOptions,
} from '../../src/index.ts';

type Args = { readonly to: string; readonly cents: number };

export interface Asked {
  readonly key?: string;
  readonly run?: string;
  readonly args?: Args;
}

export interface Fake {
  readonly name: string;
  /** The times for which runs have waited. */
  readonly waits: number[];
  /** Is called before a wait ends. */
  beforeWakeUp: () => Promise<void>;
  /** The number of results that the engine loses before it keeps one. */
  losses: number;
  /** Runs a workflow that makes one call, until it has a result or a final error. */
  run(
    id: string,
    asked: Asked,
    make: MakeOnce<Args, Json | undefined>,
    options?: OnceOptions,
  ): Promise<unknown>;
}

export type MakeFake = (gate: Gate, options?: WaitingOptions) => Fake;

/** The process died: the run is repeated with the results that were kept. */
class Died extends Error {}

class TerminalError extends Error {
  readonly metadata: Record<string, string>;
  readonly errorCode: number | undefined;

  constructor(
    message: string,
    { errorCode, metadata = {} }: { errorCode?: number; metadata?: Record<string, string> } = {},
  ) {
    super(message);
    this.errorCode = errorCode;
    this.metadata = metadata;
  }
}

class TimeoutError extends TerminalError {
  constructor() {
    super('timeout');
  }
}

/** How often a run is repeated before its test fails. */
const REPEATS_MAX = 12;

/** The part that the engines share: journals of runs, losses and waits. */
class Journals {
  readonly waits: number[] = [];
  beforeWakeUp = async (): Promise<void> => undefined;
  losses = 0;
  readonly #kept: Map<string, Json | undefined> = new Map();
  /** How many steps of each name the run has passed. */
  readonly #passed: Map<string, number> = new Map();

  /** Starts a run, or its repetition. */
  begin(): void {
    this.#passed.clear();
  }

  async step<T>(run: string, name: string, action: () => Promise<T>): Promise<T> {
    const nth = this.#passed.get(name) ?? 0;
    const place = `${run} ${name} ${nth}`;
    if (!this.#kept.has(place)) {
      const result = await action();
      if (this.losses-- > 0) throw new Died();
      this.#kept.set(
        place,
        result === undefined ? undefined : (JSON.parse(JSON.stringify(result)) as Json),
      );
    }
    this.#passed.set(name, nth + 1);
    return this.#kept.get(place) as T;
  }

  async wait(ms: number): Promise<void> {
    this.waits.push(ms);
    await this.beforeWakeUp();
  }

  async repeated<T>(work: () => Promise<T>, isFinal: (error: unknown) => boolean): Promise<T> {
    for (let n = 1; ; n++) {
      try {
        return await work();
      } catch (error) {
        if (n === REPEATS_MAX || (!(error instanceof Died) && isFinal(error))) throw error;
      }
    }
  }
}

const callOf = ({ key = 'pay', run, args = { to: 'bob', cents: 50 } }: Asked) => ({
  ...{ key, tool: 'pay', args },
  ...(run !== undefined && { run }),
});

export const fakeRestate: MakeFake = (gate, options) => {
  const journals = new Journals();
  const once = restateOnce(gate, { TerminalError, TimeoutError }, options);
  return fake('Restate', journals, (id, asked, make, more) => {
    const ctx: RestateContext = {
      request: () => ({ id }),
      run: (name, action) => journals.step(id, name, action),
      signal: () => ({
        orTimeout: async (ms) => {
          await journals.wait(ms);
          throw new TimeoutError();
        },
      }),
    };
    return journals.repeated(
      () => {
        journals.begin();
        return once(ctx, callOf(asked), make, more);
      },
      (error) => error instanceof TerminalError,
    );
  });
};

export const fakeDbos: MakeFake = (gate, options) => {
  const journals = new Journals();
  let workflow: string | undefined;
  const dbos: DbosSdk = {
    get workflowID() {
      return workflow;
    },
    stepID: 1,
    isInWorkflow: () => workflow !== undefined,
    runStep: async (step, { name = '', shouldRetry = () => false }) => {
      const id = workflow as string;
      return journals.repeated(
        () => journals.step(id, name, step),
        (error) => !shouldRetry(error),
      );
    },
    recv: async (_topic, seconds = 0) => {
      await journals.wait(seconds * 1_000);
      return null;
    },
    setEvent: async () => undefined,
    getWorkflowStatus: async () => ({}),
  };
  const once = dbosOnce(gate, dbos, options);
  return fake('DBOS', journals, (id, asked, make, more) =>
    journals.repeated(
      () => {
        workflow = id;
        journals.begin();
        return once(callOf(asked), make, more);
      },
      () => true,
    ),
  );
};

/** Activities are steps that are repeated whole. */
export class ApplicationFailure extends Error {
  readonly type: string;
  readonly nonRetryable: boolean;
  readonly details: unknown[];
  readonly nextRetryDelay: number | undefined;

  private constructor(
    message: string,
    type: string,
    nonRetryable: boolean,
    details: unknown[],
    delay?: number,
  ) {
    super(message);
    this.type = type;
    this.nonRetryable = nonRetryable;
    this.details = details;
    this.nextRetryDelay = delay;
  }

  static create(options: {
    message: string;
    type: string;
    nonRetryable: boolean;
    details: unknown[];
    nextRetryDelay?: number;
  }): ApplicationFailure {
    const { message, type, nonRetryable, details, nextRetryDelay } = options;
    return new ApplicationFailure(message, type, nonRetryable, details, nextRetryDelay);
  }
}

export class CancelledFailure extends Error {
  override readonly name = 'CancelledFailure';
}

export const fakeTemporal: MakeFake = (gate, { onPending, onDoubt, ...options } = {}) => {
  const journals = new Journals();
  return fake('Temporal', journals, (id, asked, make, more) => {
    let attempt = 0;
    const activityInfo = () => ({
      ...{ activityId: '5', attempt },
      workflowExecution: { workflowId: 'bills', runId: id },
    });
    const once = temporalOnce(
      gate,
      { activityInfo, ApplicationFailure, CancelledFailure },
      options,
    );
    return journals.repeated(
      async () => {
        attempt++;
        journals.begin();
        try {
          return await journals.step(id, 'activity', () => once(callOf(asked), make, more));
        } catch (error) {
          if (!(error instanceof ApplicationFailure) || error.nextRetryDelay === undefined)
            throw error;
          await (error.type === 'call_pending' ? onPending : onDoubt)?.(error.details[0] as never);
          await journals.wait(error.nextRetryDelay);
          throw error;
        }
      },
      (error) =>
        (error instanceof ApplicationFailure && error.nonRetryable) ||
        error instanceof CancelledFailure,
    );
  });
};

/** The code of an error that no engine repeats. */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof TerminalError) return error.metadata['code'];
  if (error instanceof ApplicationFailure) return error.nonRetryable ? error.type : undefined;
  return isAssizeError(error) ? error.code : undefined;
}

/** The outcome that a person has recorded of a call, by its error. */
export function settledOf(error: unknown): unknown {
  if (error instanceof TerminalError) return error.metadata['settled'];
  const evidence =
    error instanceof ApplicationFailure ? error.details[0] : (error as AssizeError).evidence;
  return (evidence as { readonly settled?: unknown }).settled;
}

export { TerminalError };

function fake(name: string, journals: Journals, run: Fake['run']): Fake {
  return {
    name,
    waits: journals.waits,
    get losses() {
      return journals.losses;
    },
    set losses(losses) {
      journals.losses = losses;
    },
    get beforeWakeUp() {
      return journals.beforeWakeUp;
    },
    set beforeWakeUp(before) {
      journals.beforeWakeUp = before;
    },
    run,
  };
}
