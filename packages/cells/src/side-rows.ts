import { hashText } from 'assize/internal/canon';
import type { SideRow, SideStore } from 'assize/internal/ledger';

const PAGE = 500;
const RUN_KINDS = ['run/open', 'run/ended'] as const;

/**
 * Copies the rows that belong to trajectories: their grants, whose writs carry the budgets that are
 * left, and their durable runs. Rows are sealed under the root key that all cells share.
 */
export async function copySideRows(
  from: SideStore,
  to: SideStore,
  trajectories: readonly string[],
): Promise<void> {
  for (const id of trajectories) {
    const prefix = `${hashText(id)}/`;
    for await (const row of rowsUnder(from, 'grant', prefix)) await put(to, row);
    for (const kind of RUN_KINDS) {
      const row = await from.sideGet(kind, id);
      if (row !== undefined) await put(to, row);
    }
  }
}

/** Deletes the open runs of trajectories. Workers of the new cell carry them on. */
export async function dropRuns(store: SideStore, trajectories: readonly string[]): Promise<void> {
  for (const key of trajectories) {
    for (;;) {
      const row = await store.sideGet('run/open', key);
      if (row === undefined) break;
      if (await store.sidePut([{ kind: 'run/open', key, expected: row.version, body: null }]))
        break;
    }
  }
}

async function* rowsUnder(side: SideStore, kind: string, prefix: string): AsyncGenerator<SideRow> {
  for (let after = prefix; ; ) {
    const page = await side.sideList(kind, { after, limit: PAGE });
    for (const row of page) {
      if (!row.key.startsWith(prefix)) return;
      yield row;
    }
    if (page.length < PAGE) return;
    after = page.at(-1)!.key;
  }
}

/** The row of the cell that the tenant leaves replaces one that an earlier stay has left. */
async function put(to: SideStore, { kind, key, body }: SideRow): Promise<void> {
  for (;;) {
    const there = await to.sideGet(kind, key);
    if (there?.body === body) return;
    if (await to.sidePut([{ kind, key, expected: there?.version ?? null, body }])) return;
  }
}
