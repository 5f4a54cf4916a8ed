import { isAssizeError } from '#base';

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
}

/** Writes the log of a server as JSON, one object a line. */
export class Logger {
  readonly #write: (line: string) => void;
  readonly #now: () => string;

  constructor(write: (line: string) => void, now: () => string) {
    this.#write = write;
    this.#now = now;
  }

  event(event: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#write(`${JSON.stringify({ time: this.#now(), level: 'info', event, ...fields })}\n`);
  }

  request({ requestId, ms, ...rest }: LoggedRequest): void {
    this.event('request', { request_id: requestId, ...rest, ms: Math.round(ms * 10) / 10 });
  }

  /** A fault of the server, with its stack. */
  failure(requestId: string | undefined, error: unknown): void {
    const code = isAssizeError(error) ? error.code : 'internal';
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const fields = { time: this.#now(), level: 'error', event: 'failure', request_id: requestId, code, error: text };
    this.#write(`${JSON.stringify(fields)}\n`);
  }
}
