import { form, requireForm } from '#base';
import { Frontier, frontierAt, leafHash } from '#merkle';
import type { LogStore } from '../ports/ledger-store.ts';
import { askNodes } from './nodes.ts';

export interface IntegrateOptions {
  /** Called after every step, with the size of the log. */
  readonly onProgress?: (size: number) => void;
  /** Stop when the log has at least so many leaves. Default: when no entry is without a place. */
  readonly upTo?: number;
}

/** Entries that get their places in one transaction. */
const STEP = 1_000;

/**
 * Gives every committed entry its place in the Merkle log, and keeps the nodes that become full. Any number may run at once:
 * where another one was faster, this one goes on behind it. Answers with the size of the log.
 *
 * The leaf is the canonical text of the entry's payload (decisions §4.2), as it is stored: what was changed in the database
 * before it got its place is logged as it is, and `verify` names it.
 *
 * @throws ArgumentError `bad_argument`
 */
export async function integrateLog(store: LogStore, options: IntegrateOptions = {}): Promise<number> {
  requireForm(form.object, options, 'options');
  const { onProgress, upTo = Number.POSITIVE_INFINITY } = options;
  let frontier: Frontier | undefined;
  for (;;) {
    const size = await store.logSize();
    if (size >= upTo) return size;
    const rows = await store.unlogged(STEP);
    // Another one may have logged them between the two questions.
    if (rows.length === 0) return store.logSize();
    if (frontier?.size !== size) frontier = new Frontier(await askNodes(store, (read) => frontierAt(size, read)));
    const leaves = rows.map(({ id, payload }) => ({ id, hash: leafHash(payload) }));
    const nodes = frontier.append(leaves.map(({ hash }) => hash)).filter(({ level }) => level > 0);
    if (await store.integrate({ size, leaves, nodes })) onProgress?.(frontier.size);
    else frontier = undefined;
  }
}
