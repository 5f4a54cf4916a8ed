/** Milliseconds of work before a terminal shows progress. */
const SILENT_MS = 1_000;
const REDRAW_MS = 100;
/**
 * Outside of a terminal, such as in a log file, each report is one line. Milliseconds before the
 * first line, and between two lines.
 */
const LINE_MS = 5_000;

/**
 * Progress of long work, on standard error: one redrawn line on a terminal, and an occasional line
 * otherwise.
 */
export class Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #startedAt = performance.now();
  #phase = '';
  #phaseAt = this.#startedAt;
  #saidAt: number | undefined;
  #drawn = false;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  /** Cheap to call often. `total` may be unknown. */
  report(phase: string, done: number, total?: number): void {
    const now = performance.now();
    if (phase !== this.#phase) {
      this.#phase = phase;
      this.#phaseAt = now;
    }
    if (now - (this.#saidAt ?? this.#startedAt) < this.#pause()) return;
    this.#saidAt = now;
    this.#say(progressText(phase, done, total, (now - this.#phaseAt) / 1_000));
  }

  /**
   * Called before work of unknown length. Prints on a terminal only: otherwise the answer is
   * enough.
   */
  announce(phase: string): void {
    if (!this.#stream.isTTY) return;
    this.#stream.write(`\r\u001b[K${phase} …`);
    this.#drawn = true;
  }

  /** Clears the terminal's line for the next output. */
  end(): void {
    if (this.#drawn) this.#stream.write('\r\u001b[K');
    this.#drawn = false;
  }

  #pause(): number {
    if (!this.#stream.isTTY) return LINE_MS;
    return this.#saidAt === undefined ? SILENT_MS : REDRAW_MS;
  }

  #say(text: string): void {
    if (this.#stream.isTTY) {
      this.#stream.write(`\r\u001b[K${text}`);
      this.#drawn = true;
    } else this.#stream.write(`${text}\n`);
  }
}

function progressText(
  phase: string,
  done: number,
  total: number | undefined,
  seconds: number,
): string {
  const count =
    total === undefined
      ? `${done}`
      : `${done}/${total} (${Math.floor((100 * done) / Math.max(1, total))} %)`;
  const rate = seconds > 0 && done > 0 ? `, ${Math.round(done / seconds)}/s` : '';
  return `${phase}: ${count}${rate}`;
}
