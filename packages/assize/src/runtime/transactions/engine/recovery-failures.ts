import { thrownText } from '#base';
import { RuntimeError } from '../../errors.ts';
import { reportFailure } from '../../records/report-failure.ts';

/** Maximum number of reasons that are remembered. */
const REASONS_MAX = 100;

/**
 * Reports why abandoned transactions could not be resumed. Each is retried every second and many
 * can exist, so each reason is reported once.
 */
export class RecoveryFailures {
  readonly #listener: ((error: RuntimeError) => void) | undefined;
  readonly #told = new Set<string>();

  constructor(listener: ((error: RuntimeError) => void) | undefined) {
    this.#listener = listener;
  }

  report(epoch: number, cause: unknown): void {
    const why = thrownText(cause);
    if (this.#told.has(why)) return;
    if (this.#told.size >= REASONS_MAX) this.#told.clear();
    this.#told.add(why);
    reportFailure(
      this.#listener,
      new RuntimeError(
        'background_failed',
        `Transaction ${epoch} could not be resumed; it keeps its claims and is retried: ${why}`,
        { evidence: { epoch }, cause },
      ),
    );
  }
}
