import { arg, isAssizeError } from '#base';
import { parsePointer, toPointer } from '#canon';
import { type Intent, ReadSet } from '#kernel';
import { checkRow, type EntryRow, type Hash, isBlobRef, isHash } from '#ledger';
import { RuntimeError } from '../errors.ts';
import { badIntent, checkIntent, type PreconditionInput } from '../records/intent.ts';
import type { Writer } from '../writer/writer.ts';

/** Maximum number of paths per proposal. */
const PLACES_MAX = 1_000;
const PAGE = 500;

const PRECONDITION_FIELDS = arg.known<PreconditionInput>({ since: true, paths: true });
const PRECONDITION = arg.members({
  since: arg.of('the entry that was the head when the slice was read', isHash),
  paths: arg.of(
    `a list of 1 to ${PLACES_MAX} paths of the slice`,
    (paths) => Array.isArray(paths) && paths.length > 0 && paths.length <= PLACES_MAX,
  ),
});

/**
 * The precondition of one attempt: no path in its read set has changed since the slice was read
 * (docs/decisions/008-footprints-and-slices.md). `load` reads the commits since then from the
 * ledger, and then follows the commits that memory accepts. `conflict` answers in the turn of the
 * ruling. The cost follows the number of commits since, not the size of the state.
 */
export class Precondition {
  readonly #writer: Writer;
  readonly #since: Hash;
  readonly #premise: ReadSet;
  /**
   * The seq of the first entry not inspected yet. Inspected entries are durable and never change.
   */
  #next: number | undefined;
  #found: string | undefined;
  #life: number | undefined;

  /** @throws RuntimeError `bad_intent` */
  constructor(writer: Writer, given: PreconditionInput) {
    checkIntent(PRECONDITION_FIELDS, given, 'proposal.precondition');
    const { since, paths } = given;
    checkIntent(PRECONDITION, { since, paths }, 'proposal.precondition');
    this.#writer = writer;
    this.#since = since;
    this.#premise = new ReadSet(Array.from(paths, keysOf));
  }

  /**
   * @throws RuntimeError `not_found` if `since` is not an entry of this trajectory; LedgerFault;
   * the errors of the store
   */
  async load(): Promise<void> {
    const writer = this.#writer;
    const { head, seq } = writer.parts.chain;
    this.#life = writer.generation;
    writer.recentCommits.follow(this);
    if (this.#since === head || this.#found !== undefined) return;
    await writer.flushed();
    // The entries in memory may not be durable.
    if (this.isOutdated) return;
    this.#next ??= (await this.#seqOfSince()) + 1;
    while (this.#next < seq && this.#found === undefined) {
      const limit = Math.min(PAGE, seq - this.#next);
      const rows = await writer.context.store.entries(writer.id, { from: this.#next, limit });
      for (const row of rows) this.#found ??= this.#met(row.id, await this.#changedBy(row));
      if (rows.length < limit) return;
      this.#next += limit;
    }
  }

  /** Memory was reloaded after `look`, so it may contain commits that were never inspected. */
  get isOutdated(): boolean {
    return this.#writer.stale || this.#writer.generation !== this.#life;
  }

  /**
   * The first changed path and the entry that changed it; undefined if nothing changed.
   *
   * @throws RuntimeError `bad_intent` for a path that the role does not wholly see, or that no list
   * has
   */
  conflict({ role }: Intent): string | undefined {
    const { domain, world } = this.#writer.parts;
    const hidden = this.#premise.hiddenFrom(domain.footprint(role.name, role.params));
    if (hidden !== undefined)
      throw badIntent(
        `the role ${role.name} does not see the whole value at ${JSON.stringify(hidden)}; a precondition can only name paths of its slice`,
      );
    let found = this.#found;
    // Not cached: these entries may never become durable, and then this proposal does not either.
    for (const { id, paths } of this.#writer.recentCommits.since(this))
      found ??= this.#met(id, paths);
    if (found === undefined) this.#checkElements(world.state);
    return found;
  }

  /** Call when no more questions follow. */
  dispose(): void {
    this.#writer.recentCommits.unfollow(this);
  }

  #checkElements(state: unknown): void {
    const odd = this.#premise.noElement(state);
    if (odd === undefined) return;
    throw badIntent(`${JSON.stringify(odd)} is not an element of its list; name the list`);
  }

  #met(id: Hash, paths: readonly (readonly string[])[]): string | undefined {
    const path = paths.find((keys) => this.#premise.overlaps(keys));
    return path && `${toPointer(path)} was changed by ${id}, after ${this.#since}`;
  }

  async #seqOfSince(): Promise<number> {
    const { id, context } = this.#writer;
    const row = await context.store.resolve(this.#since);
    if (row?.trajectory_id === id) return row.seq;
    const where = row === undefined ? 'not an entry' : `an entry of ${row.trajectory_id}`;
    throw new RuntimeError(
      'not_found',
      `${this.#since} is ${where}, not an entry of ${id}. Read the slice and its head together from ${id}.`,
      { evidence: { since: this.#since, trajectory_id: id } },
    );
  }

  /** Values are not read: a path shows the change, also if the value was erased. */
  async #changedBy(row: EntryRow): Promise<string[][]> {
    const { payload } = checkRow(row);
    if (payload.kind !== 'commit') return [];
    const { state } = payload.delta;
    const patches = isBlobRef(state)
      ? await this.#writer.context.replayer.values.patches(row, state)
      : state;
    return patches.map(({ path }) => parsePointer(path));
  }
}

function keysOf(place: unknown, index: number): string[] {
  try {
    if (typeof place === 'string') return parsePointer(place);
  } catch (error) {
    if (!isAssizeError(error)) throw error;
  }
  throw badIntent(`path ${index} of a precondition must be a JSON pointer`);
}
