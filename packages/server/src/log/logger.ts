import { isAssizeError } from 'assize/internal/base';

/** One answered request. Neither the query nor a header nor a body is logged. */
export interface LoggedRequest {
  readonly requestId: string;
  readonly method: string;
  /** Id of the operation. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  /** Absent for a request that names none. */
  readonly principal?: string;
  /** Why the caller is not known. Absent for another answer. */
  readonly reason?: string;
}

/** A line of a request waits this long at most. */
const GATHER_MS = 20;

/**
 * Writes the log of a server as JSON, one object a line. The lines of requests that end soon after
 * each other are written together. All other lines are written immediately.
 */
export class Logger {
  readonly #write: (line: string) => void;
  readonly #now: () => string;
  #waiting = '';
  #isStopped = false;

  constructor(write: (line: string) => void, now: () => string) {
    this.#write = write;
    this.#now = now;
  }

  event(event: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#put({ time: this.#now(), level: 'info', event, ...fields });
    this.#flush();
  }

  /** A state that an operator should change. The server works on. */
  warning(event: string, fields: Readonly<Record<string, unknown>>): void {
    this.#put({ time: this.#now(), level: 'warn', event, ...fields });
    this.#flush();
  }

  request({ requestId, ms, ...rest }: LoggedRequest): void {
    if (this.#waiting === '') setTimeout(this.#flush, GATHER_MS);
    const rounded = Math.round(ms * 10) / 10;
    this.#put({
      time: this.#now(),
      level: 'info',
      event: 'request',
      request_id: requestId,
      ...rest,
      ms: rounded,
    });
  }

  /**
   * The last event. Work that the stop left fails at the closed store, and these failures are not
   * logged.
   */
  stopped(): void {
    this.event('stopped');
    this.#isStopped = true;
  }

  /** A fault of the server with its stack, or a store that is away, with its message. */
  failure(requestId: string | undefined, error: unknown): void {
    const isAway =
      isAssizeError(error, 'store_unreachable') || isAssizeError(error, 'store_closed');
    if (isAway && this.#isStopped) return;
    const code = isAssizeError(error) ? error.code : 'internal';
    const text =
      error instanceof Error
        ? ((isAway ? undefined : error.stack) ?? error.message)
        : String(error);
    const fields = {
      time: this.#now(),
      level: 'error',
      event: 'failure',
      request_id: requestId,
      code,
      error: text,
    };
    this.#put(fields);
    this.#flush();
  }

  #put(fields: Readonly<Record<string, unknown>>): void {
    this.#waiting += `${JSON.stringify(fields)}\n`;
  }

  readonly #flush = (): void => {
    const lines = this.#waiting;
    this.#waiting = '';
    if (lines !== '') this.#write(lines);
  };
}
