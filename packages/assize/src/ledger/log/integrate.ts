import { arg, checkArgument } from '#base';
import { Frontier, frontierAt, leafHash } from '#merkle';
import type { LogStore } from '../ports/ledger-store.ts';
import { askNodes } from './nodes.ts';

export interface IntegrateOptions {
  /** Called after every step, with the size of the log. */
  readonly onProgress?: (size: number) => void;
  /**
   * Stop when the log has at least this number of leaves. Default: when every entry has a position.
   */
  readonly upTo?: number;
}

/** Number of entries integrated in one transaction. */
const STEP = 1_000;

/**
 * Assigns every committed entry its position in the Merkle log and stores the completed nodes. Any
 * number of integrators may run at the same time. If another one was first, this one continues
 * after it. Returns the size of the log.
 *
 * The leaf is the stored canonical text of the entry's payload
 * (docs/decisions/013-log-and-replay.md). An entry that was altered before integration is logged as
 * altered, and `verify` names it.
 *
 * @throws ArgumentError `bad_argument`
 */
export async function integrateLog(
  store: LogStore,
  options: IntegrateOptions = {},
): Promise<number> {
  checkArgument(arg.object, options, 'options');
  const { onProgress, upTo = Number.POSITIVE_INFINITY } = options;
  let frontier: Frontier | undefined;
  for (;;) {
    const size = await store.logSize();
    if (size >= upTo) return size;
    const rows = await store.unlogged(STEP);
    // Another integrator may have logged the entries between the two reads.
    if (rows.length === 0) return store.logSize();
    if (frontier?.size !== size)
      frontier = new Frontier(await askNodes(store, (read) => frontierAt(size, read)));
    const leaves = rows.map(({ id, payload }) => ({ id, hash: leafHash(payload) }));
    const nodes = frontier.append(leaves.map(({ hash }) => hash)).filter(({ level }) => level > 0);
    if (await store.integrate({ size, leaves, nodes })) onProgress?.(frontier.size);
    else frontier = undefined;
  }
}
