import { checkRow, type Entry, type Hash, isErased } from 'assize/internal/ledger';
import type { DeepReplaySource } from '../deep-replay/options.ts';

/**
 * Values that are erased now, but were not yet at the current entry of a walk. Rulings there had
 * the values, so a different result without them proves nothing. Rulings after the erasure did not
 * have them.
 */
export class LaterErasures {
  readonly #store: Pick<DeepReplaySource, 'erasedBy' | 'resolve'>;
  readonly #beginning: Entry;
  readonly #ahead: Set<Hash> = new Set();

  constructor(store: Pick<DeepReplaySource, 'erasedBy' | 'resolve'>, beginning: Entry) {
    this.#store = store;
    this.#beginning = beginning;
  }

  get any(): boolean {
    return this.#ahead.size > 0;
  }

  /** Adds values that came into the state. */
  async note(value: unknown): Promise<void> {
    for (const hash of erasedIn(value)) {
      const by = await this.#store.erasedBy(hash);
      if (by !== undefined && !(await this.#isBefore(by))) this.#ahead.add(by);
    }
  }

  /** Records that the walk has passed an entry. */
  passed({ id }: Entry): void {
    this.#ahead.delete(id);
  }

  /**
   * Whether the value was erased in another trajectory, before this one was created. An erasure in
   * this trajectory counts when the walk passes it.
   */
  async #isBefore(by: Hash): Promise<boolean> {
    const row = await this.#store.resolve(by);
    if (row === undefined || row.trajectory_id === this.#beginning.trajectory_id) return false;
    return checkRow(row).payload.at <= this.#beginning.payload.at;
  }
}

function erasedIn(value: unknown): ReadonlySet<Hash> {
  const found = new Set<Hash>();
  const open: unknown[] = [value];
  while (open.length > 0) {
    const here = open.pop();
    if (typeof here !== 'object' || here === null) continue;
    if (isErased(here)) found.add(here.$erased);
    else for (const member of Object.values(here)) open.push(member);
  }
  return found;
}
