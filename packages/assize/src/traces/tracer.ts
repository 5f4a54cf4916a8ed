/** Facts about a step, by their names. An undefined one is not told. */
export type Facts = Readonly<Record<string, string | number | boolean | undefined>>;

/** The end of a step. */
export interface Told {
  readonly facts?: Facts;
  /** The code of a failure. Absent: the step did what it was for, such as refusing a proposal. */
  readonly error?: string | undefined;
  /** Traceparents of earlier steps about the same thing, mostly in other traces. */
  readonly links?: readonly (string | undefined)[];
}

/** A step of the runtime: a proposal, a decision, or a part of a call. */
export interface Step<T> {
  readonly name: string;
  readonly facts: Facts;
  /** The traceparent of the caller, if it is in another process. */
  readonly parent?: string | undefined;
  /** The end, by its result. */
  readonly told?: (result: T) => Told | Promise<Told>;
}

/**
 * A time that has passed, such as the wait for a person. It may have started in another process.
 */
export interface Interval {
  readonly name: string;
  readonly facts: Facts;
  /** The traceparent of the step that began it. */
  readonly parent?: string | undefined;
  /** In milliseconds of the epoch. */
  readonly from: number;
  readonly until: number;
}

/** Observes the steps of the runtime. */
export interface Tracer {
  /**
   * Runs a step. Calls `run` once, before it returns, and returns its promise or one with the same
   * end.
   */
  step<T>(step: Step<T>, run: () => Promise<T>): Promise<T>;
  interval(passed: Interval): void;
  /** The traceparent of the step under way, if there is one. */
  traceparent(): string | undefined;
  /** Whether entries record it. */
  readonly isRecorded: boolean;
}
