/**
 * How long a transaction goes on with tools that do not answer, or that refuse, in all: so that its effects can be many and its tries, too,
 * and those who wait where it has acted wait no longer than this (decisions §5.6). Nothing may take more than half of what is left, so
 * that something is left for whatever comes next. What is answered costs nothing, however long it took.
 */
export class Patience {
  #leftMs: number;

  constructor(ms: number) {
    this.#leftMs = ms;
  }

  /** How many of these milliseconds may be waited for now, at least one. */
  of(ms: number): number {
    return Math.max(1, Math.min(ms, Math.floor(this.#leftMs / 2)));
  }

  /** So many were waited for nothing. */
  lose(ms: number): void {
    this.#leftMs = Math.max(0, this.#leftMs - ms);
  }
}
