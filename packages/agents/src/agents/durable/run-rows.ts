import type { SideChange, SideStore } from 'assize/internal/ledger';
import type { Clock } from 'assize/internal/oracle';
import { bodyOf, type DurableRun, isEnded, type StoredRun, storedRun } from './durable-run.ts';

/** The kinds of the rows. Ended runs have their own, so that a worker does not read them. */
const OPEN_KIND = 'run/open';
const ENDED_KIND = 'run/ended';

const PAGE = 500;

/** The rows of runs in the side log. */
export class RunRows {
  readonly #side: SideStore;
  readonly #clock: Clock;

  constructor(side: SideStore, clock: Clock) {
    this.#side = side;
    this.#clock = clock;
  }

  /** Writes the row of a new run. False if another process was faster. */
  insert(run: DurableRun): Promise<boolean> {
    return this.#side.sidePut([written(OPEN_KIND, run, null)]);
  }

  async find(trajectoryId: string): Promise<StoredRun | undefined> {
    // A run moves between the two kinds, so it can be missing in each at the moment of its read.
    for (const kind of [OPEN_KIND, ENDED_KIND, OPEN_KIND]) {
      const row = await this.#side.sideGet(kind, trajectoryId);
      if (row !== undefined) return storedRun(row);
    }
    return undefined;
  }

  async *list(ended: boolean, from = ''): AsyncGenerator<StoredRun> {
    for (let after = from; ; ) {
      const rows = await this.#side.sideList(ended ? ENDED_KIND : OPEN_KIND, {
        after,
        limit: PAGE,
      });
      for (const row of rows) yield storedRun(row);
      if (rows.length < PAGE) return;
      after = rows.at(-1)!.key;
    }
  }

  /** Writes a run in place of the one that was read. False if another process was faster. */
  replace({ run: before, version }: StoredRun, next: DurableRun): Promise<boolean> {
    const [from, to] = [before, next].map((run) => (isEnded(run) ? ENDED_KIND : OPEN_KIND)) as [
      string,
      string,
    ];
    const changed = { ...next, updated: this.#clock.now() };
    if (from === to) return this.#side.sidePut([written(to, changed, version)]);
    const removed: SideChange = {
      kind: from,
      key: before.trajectoryId,
      expected: version,
      body: null,
    };
    return this.#side.sidePut([removed, written(to, changed, null)]);
  }
}

function written(kind: string, run: DurableRun, expected: number | null): SideChange {
  return { kind, key: run.trajectoryId, expected, body: bodyOf(run) };
}
