import { isAssizeError } from '#base';
import type { Instant } from '#canon';
import type { EntryKind, Hash } from '#ledger';
import { SHARED, type VisibilityChain, type VisibilityChains } from '../memory/visible/visibility.ts';
import type { Derivation, EntryLinks } from './entry-links.ts';
import { PathSet } from './path-set.ts';

/** An entry that begins an incident or derives from such an entry. */
export interface AffectedEntry {
  readonly id: Hash;
  readonly trajectoryId: string;
  readonly seq: number;
  readonly kind: EntryKind;
  readonly at: Instant;
  /** The action of the proposal. Absent for entries without one. */
  readonly action?: string;
  /** Whether the incident begins here. */
  readonly isStart: boolean;
  /** The affected entries that it directly derives from. Empty for most starts. */
  readonly from: readonly { readonly entry: Hash; readonly how: Derivation }[];
}

export interface WalkOptions {
  readonly isStart: (links: EntryLinks) => boolean;
  /** The derivations that count. */
  readonly through: ReadonlySet<Derivation>;
}

/**
 * Follows derivations through entries in the order of the log, in which an entry comes after all
 * entries that it derives from. One pass finds every affected entry.
 */
export class LineageWalk {
  readonly #options: WalkOptions;
  readonly #chains: VisibilityChains;
  readonly #affected: Map<Hash, AffectedEntry> = new Map();
  /** The writers of each row, by memory: the shared one, or that of a branch. */
  readonly #writers: Map<string, Map<string | undefined, Hash>> = new Map();
  readonly #paths: Map<string, PathSet> = new Map();
  #erased = 0;

  constructor(chains: VisibilityChains, options: WalkOptions) {
    this.#chains = chains;
    this.#options = options;
  }

  /** The affected entries so far, in the order of the log. */
  get affected(): readonly AffectedEntry[] {
    return [...this.#affected.values()];
  }

  /** Erased values that were met, through which derivations may be missing. */
  get erased(): number {
    return this.#erased;
  }

  async visit(links: EntryLinks): Promise<void> {
    this.#erased += links.erased;
    await this.#learnRows(links);
    const from = [...this.#direct(links), ...(await this.#recalled(links)), ...this.#overwritten(links)];
    const isStart = this.#options.isStart(links);
    if (!isStart && from.length === 0) return;
    const { id, trajectoryId, seq, kind, at, marks } = links;
    const action = marks.find((mark) => mark.kind === 'action')?.value;
    this.#affected.set(id, {
      ...{ id, trajectoryId, seq, kind, at },
      ...(action !== undefined && { action }),
      isStart,
      from: distinct(from),
    });
    this.#spread(links);
  }

  async #learnRows({ id, trajectoryId, rows }: EntryLinks): Promise<void> {
    if (rows.length === 0) return;
    const [{ branch }] = await this.#chains.of(trajectoryId);
    for (const row of rows) this.#writers.set(row, (this.#writers.get(row) ?? new Map()).set(branch, id));
  }

  #direct({ restsOn }: EntryLinks): Link[] {
    return restsOn.filter(({ entry, how }) => this.#options.through.has(how) && this.#affected.has(entry));
  }

  /** A recall returns the row of the nearest memory that has it. */
  async #recalled({ observed }: EntryLinks): Promise<Link[]> {
    if (!this.#options.through.has('recall')) return [];
    const found: Link[] = [];
    for (const { row, branch } of observed) {
      const by = this.#writers.get(row);
      if (by === undefined) continue;
      const memory = (await this.#chainOf(branch)).find((each) => by.has(each.branch));
      const entry = memory && by.get(memory.branch);
      if (entry !== undefined && this.#affected.has(entry)) found.push({ entry, how: 'recall' });
    }
    return found;
  }

  #overwritten({ trajectoryId, paths, inherits }: EntryLinks): Link[] {
    if (!this.#options.through.has('state')) return [];
    if (inherits !== undefined) return this.#inherited(inherits);
    const set = this.#paths.get(trajectoryId);
    if (set === undefined) return [];
    return paths.flatMap((path) => set.overlaps(path)).map((entry) => ({ entry, how: 'state' }));
  }

  #inherited({ trajectoryId, seq }: NonNullable<EntryLinks['inherits']>): Link[] {
    const set = this.#paths.get(trajectoryId);
    const paths = set?.upTo(seq) ?? [];
    return paths.flatMap((path) => set!.overlaps(path)).map((entry) => ({ entry, how: 'branch' }));
  }

  /** Later entries that change these paths derive from the entry. */
  #spread({ id, trajectoryId, seq, kind, paths, inherits }: EntryLinks): void {
    if (kind === 'pending_approval' || kind === 'rejection') return;
    const inherited = inherits && this.#paths.get(inherits.trajectoryId)?.upTo(inherits.seq);
    const written = inherited ?? paths;
    if (written.length === 0) return;
    const set = this.#paths.get(trajectoryId) ?? new PathSet();
    for (const path of written) set.add(path, seq, id);
    this.#paths.set(trajectoryId, set);
  }

  /** Only the shared memory for a name in a recall that is not a trajectory. */
  async #chainOf(branch: string | undefined): Promise<VisibilityChain> {
    if (branch === undefined) return SHARED;
    try {
      return await this.#chains.of(branch);
    } catch (error) {
      if (isAssizeError(error, 'not_found')) return SHARED;
      throw error;
    }
  }
}

type Link = AffectedEntry['from'][number];

function distinct(links: readonly Link[]): Link[] {
  return [...new Map(links.map((link) => [`${link.how} ${link.entry}`, link])).values()];
}
