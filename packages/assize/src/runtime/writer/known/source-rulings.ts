import { GenerationalMap } from '#base';
import { type EntryRow, type Hash, type LedgerStore, readRow } from '#ledger';
import { keyHashOf } from '../../records/intent.ts';
import { RequestIndex, requestKeyOf } from './request-index.ts';

/** The keys of a source, up to the entry at which the branch begins. */
interface SourceKeys {
  readonly trajectoryId: string;
  readonly requests: RequestIndex;
}

/** The ruling of a source on a key. */
export interface SourceRuling {
  readonly trajectoryId: string;
  readonly row: EntryRow;
}

const NO_SOURCES: readonly SourceKeys[] = [];
const PAGE = 1_000;
/** Number of cached trajectories. An index has 38 bytes for each key of a source. */
const CACHED = 64;

/**
 * The rulings that branches have from their sources, on idempotency keys and transaction names
 * (docs/decisions/005-branches.md). A proposal that still waited at the branch point has none: the
 * branch does not inherit it. The entries of a source are read once for each branch.
 */
export class SourceRulings {
  readonly #store: Pick<LedgerStore, 'entries' | 'resolve'>;
  readonly #sources: GenerationalMap<string, readonly SourceKeys[]> = new GenerationalMap(CACHED);

  constructor(store: Pick<LedgerStore, 'entries' | 'resolve'>) {
    this.#store = store;
  }

  /** Whether a trajectory is known not to be a branch, without a read. */
  isRoot(trajectoryId: string): boolean {
    return this.#sources.get(trajectoryId) === NO_SOURCES;
  }

  /** Adds a trajectory that is not a branch, so that no read must tell. */
  addRoot(trajectoryId: string): void {
    this.#sources.set(trajectoryId, NO_SOURCES);
  }

  /** The ruling in the nearest source that ruled on the key; undefined if none did. */
  async find(
    trajectoryId: string,
    key: string,
    principal: string,
  ): Promise<SourceRuling | undefined> {
    for (const source of await this.#sourcesOf(trajectoryId)) {
      const keyHash = keyHashOf(key, principal, source.trajectoryId);
      const seq = source.requests.seqOf(keyHash);
      if (seq === undefined) continue;
      const [row] = await this.#store.entries(source.trajectoryId, { from: seq, limit: 1 });
      if (
        row !== undefined &&
        row.kind !== 'pending_approval' &&
        requestKeyOf(row)?.keyHash === keyHash
      )
        return { trajectoryId: source.trajectoryId, row };
    }
    return undefined;
  }

  /** The nearest source first. */
  async #sourcesOf(trajectoryId: string): Promise<readonly SourceKeys[]> {
    const known = this.#sources.get(trajectoryId);
    if (known !== undefined) return known;
    const [first] = await this.#store.entries(trajectoryId, { from: 0, limit: 1 });
    const payload = first === undefined ? undefined : readRow(first).payload;
    const sources =
      payload?.kind === 'branch'
        ? [
            await this.#keysUntil(payload.source_trajectory_id, payload.source_commit_id),
            ...(await this.#sourcesOf(payload.source_trajectory_id)),
          ]
        : NO_SOURCES;
    this.#sources.set(trajectoryId, sources);
    return sources;
  }

  async #keysUntil(trajectoryId: string, entryId: Hash): Promise<SourceKeys> {
    const requests = new RequestIndex();
    const last = (await this.#store.resolve(entryId))?.seq ?? -1;
    for (let from = 0; from <= last; from += PAGE)
      for (const row of await this.#store.entries(trajectoryId, {
        from,
        limit: Math.min(PAGE, last + 1 - from),
      })) {
        const { payload } = readRow(row);
        if (payload.kind !== 'root' && payload.kind !== 'branch') requests.addEntry(payload);
      }
    return { trajectoryId, requests: RequestIndex.from(requests.state()) };
  }
}
