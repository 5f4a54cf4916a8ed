import type { DomainRun } from 'assize/internal/runtime';

/** The run of domain code, in memory that the thread of the watchdog reads. */
export interface SharedRun {
  /** `[beats, stop, length of the text]`. The length is 0 while no code of a domain runs. */
  readonly header: Int32Array;
  readonly text: Uint8Array;
}

const BEATS = 0;
const STOP = 1;
const LENGTH = 2;

/** A character takes at most 6 bytes in JSON, and 3 names have at most `NAME_MAX` each. */
const NAME_MAX = 128;
const TEXT_BYTES = 4_096;

export function newSharedRun(): SharedRun {
  return {
    header: new Int32Array(new SharedArrayBuffer(4 * 3)),
    text: new Uint8Array(new SharedArrayBuffer(TEXT_BYTES)),
  };
}

/** The side of the watched thread. */
export class RunWriter {
  readonly #shared: SharedRun;
  readonly #encoder = new TextEncoder();
  /** The innermost run is last. */
  readonly #runs: DomainRun[] = [];

  constructor(shared: SharedRun) {
    this.#shared = shared;
  }

  /** Shows that the thread is not blocked. */
  beat(): void {
    Atomics.add(this.#shared.header, BEATS, 1);
  }

  stop(): void {
    Atomics.store(this.#shared.header, STOP, 1);
    Atomics.notify(this.#shared.header, STOP);
  }

  begin(run: DomainRun): void {
    this.#runs.push(run);
    this.#write(run);
  }

  /** The run around it goes on. */
  end(): void {
    this.#runs.pop();
    this.#write(this.#runs.at(-1));
  }

  /** The beat comes first, so a reader that sees no other beat has read one text. */
  #write(run: DomainRun | undefined): void {
    this.beat();
    const { header, text } = this.#shared;
    const written = run === undefined ? 0 : this.#encoder.encodeInto(JSON.stringify(shortened(run)), text).written;
    Atomics.store(header, LENGTH, written);
  }
}

/** The identity of the run is as given, and names are cut to fit. */
function shortened({ step, domain, id, trajectoryId, action, principal }: DomainRun): DomainRun {
  return {
    ...{ step, domain, id, trajectoryId: cut(trajectoryId) },
    ...(action !== undefined && { action: cut(action) }),
    ...(principal !== undefined && { principal: cut(principal) }),
  };
}

function cut(name: string): string {
  return name.length <= NAME_MAX ? name : name.slice(0, NAME_MAX).toWellFormed();
}

/** The side of the watching thread. */
export class RunReader {
  readonly #shared: SharedRun;

  constructor(shared: SharedRun) {
    this.#shared = shared;
  }

  get beats(): number {
    return Atomics.load(this.#shared.header, BEATS);
  }

  /** Waits so long. Returns false if the watch was stopped. */
  rest(ms: number): boolean {
    Atomics.wait(this.#shared.header, STOP, 0, ms);
    return Atomics.load(this.#shared.header, STOP) === 0;
  }

  /**
   * The innermost run since that beat; null if no code of a domain runs. Undefined if the watched
   * thread has beaten since.
   */
  runSince(beats: number): DomainRun | null | undefined {
    const { header, text } = this.#shared;
    // A copy: a decoder does not read shared memory.
    const bytes = new Uint8Array(text.slice(0, Atomics.load(header, LENGTH)));
    if (this.beats !== beats) return undefined;
    return bytes.length === 0 ? null : (JSON.parse(new TextDecoder().decode(bytes)) as DomainRun);
  }
}
