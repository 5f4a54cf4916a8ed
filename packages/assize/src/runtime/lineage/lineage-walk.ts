import { isAssizeError } from '#base';
import type { Instant } from '#canon';
import type { EntryKind, Hash } from '#ledger';
import {
  SHARED,
  type VisibilityChain,
  type VisibilityChains,
} from '../memory/visible/visibility.ts';
import type { Derivation, EntryLinks, Write, WrittenRow } from './entry-links.ts';
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
  /** Whether the incident begins with an entry; a list: only with these statements. */
  readonly startIn: (links: EntryLinks) => boolean | readonly number[];
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
  /** The affected statements of the entries from which others derive. */
  readonly #statements: Map<Hash, ReadonlySet<number> | 'all'> = new Map();
  /** The statements that each row rests on, by memory: the shared one, or that of a branch. */
  readonly #rows: Map<string, Map<string | undefined, WrittenRow['writes']>> = new Map();
  readonly #paths: Map<string, PathSet> = new Map();
  /** The last affected entry of each trajectory, apart from pending and rejected proposals. */
  readonly #last: Map<string, Hash> = new Map();
  readonly #followUps: Map<Hash, Set<Hash>> = new Map();
  #erased = 0;

  constructor(chains: VisibilityChains, options: WalkOptions) {
    this.#chains = chains;
    this.#options = options;
  }

  /** The affected entries so far, in the order of the log. */
  get affected(): readonly AffectedEntry[] {
    return [...this.#affected.values()];
  }

  /**
   * The decisions and outcomes of an affected entry, also where no derivation through them is
   * followed.
   */
  followUpsOf(id: Hash): ReadonlySet<Hash> {
    return this.#followUps.get(id) ?? new Set();
  }

  /** Whether the statement is affected. The statements that an affected entry confirms are not. */
  isAffected({ entry, n }: Write): boolean {
    const statements = this.#statements.get(entry);
    return statements === 'all' || statements?.has(n) === true;
  }

  /** Erased values that were met, through which derivations may be missing. */
  get erased(): number {
    return this.#erased;
  }

  async visit(links: EntryLinks): Promise<void> {
    this.#erased += links.erased;
    await this.#learnRows(links);
    this.#learnFollowUps(links);
    const derived = [
      ...this.#direct(links),
      ...(await this.#recalled(links)),
      ...this.#touched(links),
      ...this.#inherited(links),
      ...this.#answered(links),
    ];
    const start = this.#options.startIn(links);
    const isStart = start !== false;
    const from = [...derived, ...this.#confirmed(links)];
    if (!isStart && from.length === 0) return;
    const { id, trajectoryId, seq, kind, at, marks } = links;
    const action = marks.find((mark) => mark.kind === 'action')?.value;
    this.#affected.set(id, {
      ...{ id, trajectoryId, seq, kind, at },
      ...(action !== undefined && { action }),
      isStart,
      from: distinct(from),
    });
    // A statement that confirms an affected fact stands by itself, so nothing derives from it.
    if (!isStart && derived.length === 0) return;
    this.#statements.set(id, this.#affectedStatements(derived, start));
    this.#spread(links, isStart);
  }

  /** A commit has the statements of the proposal that it decides. */
  #affectedStatements(
    derived: readonly Link[],
    start: boolean | readonly number[],
  ): ReadonlySet<number> | 'all' {
    const found = typeof start === 'boolean' ? new Set<number>() : new Set(start);
    if (start === true) return 'all';
    for (const { entry, how } of derived) {
      const decided = how === 'decision' ? this.#statements.get(entry)! : 'all';
      if (decided === 'all') return 'all';
      for (const n of decided) found.add(n);
    }
    return found;
  }

  #learnFollowUps({ id, restsOn }: EntryLinks): void {
    for (const { entry, how } of restsOn)
      if ((how === 'decision' || how === 'outcome') && this.#affected.has(entry))
        this.#followUps.set(entry, (this.#followUps.get(entry) ?? new Set()).add(id));
  }

  async #learnRows({ trajectoryId, rows }: EntryLinks): Promise<void> {
    if (rows.length === 0) return;
    const [{ branch }] = await this.#chains.of(trajectoryId);
    for (const { row, writes } of rows)
      this.#rows.set(row, (this.#rows.get(row) ?? new Map()).set(branch, writes));
  }

  #direct({ restsOn }: EntryLinks): Link[] {
    return restsOn.filter(
      ({ entry, how }) =>
        how !== 'belief' && this.#options.through.has(how) && this.#statements.has(entry),
    );
  }

  /** The affected statements of facts that the entry states too. */
  #confirmed({ id, rows }: EntryLinks): Link[] {
    if (!this.#options.through.has('belief')) return [];
    const own = rows.filter(
      ({ isAudit, writes }) => !isAudit && writes.some(({ entry }) => entry === id),
    );
    return this.#linksTo(
      own.flatMap(({ writes }) => writes).filter(({ entry }) => entry !== id),
      'belief',
    );
  }

  #linksTo(writes: readonly Write[], how: 'belief' | 'recall'): Link[] {
    return writes.filter((write) => this.isAffected(write)).map(({ entry }) => ({ entry, how }));
  }

  /** A recall returns the row of the nearest memory that has it, with all that it rests on. */
  async #recalled({ observed }: EntryLinks): Promise<Link[]> {
    if (!this.#options.through.has('recall')) return [];
    const found: Link[] = [];
    for (const { row, branch } of observed) {
      const by = this.#rows.get(row);
      if (by === undefined) continue;
      const memory = (await this.#chainOf(branch)).find((each) => by.has(each.branch));
      if (memory !== undefined) found.push(...this.#linksTo(by.get(memory.branch)!, 'recall'));
    }
    return found;
  }

  /** Affected paths that the entry writes, or that judged it. */
  #touched({ trajectoryId, paths, judgedBy }: EntryLinks): Link[] {
    const set = this.#paths.get(trajectoryId);
    if (set === undefined) return [];
    const overlapping = (of: readonly string[], how: 'state' | 'permission'): Link[] =>
      this.#options.through.has(how)
        ? of.flatMap((path) => set.overlaps(path)).map((entry) => ({ entry, how }))
        : [];
    return [...overlapping(paths, 'state'), ...overlapping(judgedBy, 'permission')];
  }

  #inherited({ inherits }: EntryLinks): Link[] {
    if (inherits === undefined || !this.#options.through.has('branch')) return [];
    const set = this.#paths.get(inherits.trajectoryId);
    const paths = set?.upTo(inherits.seq) ?? [];
    return paths.flatMap((path) => set!.overlaps(path)).map((entry) => ({ entry, how: 'branch' }));
  }

  /** The answer of a delegated trajectory rests on all that it did. */
  #answered({ trajectoryId, isAnswer }: EntryLinks): Link[] {
    const entry =
      isAnswer && this.#options.through.has('delegation')
        ? this.#last.get(trajectoryId)
        : undefined;
    return entry === undefined ? [] : [{ entry, how: 'delegation' }];
  }

  /** Later entries that change these paths, or are judged by them, derive from the entry. */
  #spread({ id, trajectoryId, seq, kind, paths, inherits }: EntryLinks, isStart: boolean): void {
    if (kind === 'pending_approval' || kind === 'rejection') return;
    this.#last.set(trajectoryId, id);
    // A branch that is the start itself is affected as a whole, like a first entry.
    const inherited =
      inherits && (isStart ? [''] : this.#paths.get(inherits.trajectoryId)?.upTo(inherits.seq));
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
