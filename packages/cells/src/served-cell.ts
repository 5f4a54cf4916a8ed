import { setTimeout as pause } from 'node:timers/promises';
import type { KeyPair } from 'assize/internal/canon';
import type { SideStore } from 'assize/internal/ledger';
import { SealedRows, sideSecretOf } from 'assize/internal/stores';

const KIND = 'cells/served';
const POLL_MS = 100;

/**
 * The question to a cell whether one of its servers runs and applies orders. A server answers after
 * each read of the root log. A writer of the database can put an earlier answer back, and then a
 * move waits for a server, as it does for one that ends later.
 */
export class ServedCell {
  readonly #rows: SealedRows<{ readonly isAnswered: boolean }>;
  readonly #cell: string;

  constructor(side: SideStore, cell: string, root: Pick<KeyPair, 'privateKey'>) {
    this.#rows = new SealedRows(side, KIND, sideSecretOf(root));
    this.#cell = cell;
  }

  /** Asks, and resolves to whether a server answers within that time. */
  async ask(waitMs: number, signal: AbortSignal): Promise<boolean> {
    const began = performance.now();
    await this.#begin();
    while (performance.now() - began < waitMs) {
      // A row with an answer was written after this question.
      if ((await this.#rows.get(this.#cell))?.value.isAnswered === true) return true;
      await pause(POLL_MS, undefined, { signal });
    }
    return false;
  }

  /** Answers a question, if there is one. */
  async answer(): Promise<void> {
    const row = await this.#rows.get(this.#cell);
    // Another server of the cell may be faster.
    if (row?.value.isAnswered === false)
      await this.#rows.put(this.#cell, row.version, { isAnswered: true });
  }

  async #begin(): Promise<void> {
    for (;;) {
      const row = await this.#rows.get(this.#cell);
      // A row that is not sealed makes way.
      if (row === undefined) await this.#rows.delete(this.#cell);
      if (await this.#rows.put(this.#cell, row?.version ?? null, { isAnswered: false })) return;
    }
  }
}
