import { disputedBy, type FactRow, isMark, OPEN_END, usersOf } from 'assize/internal/memory';
import { type MemoryView, RECALL_MAX } from 'assize/internal/runtime';
import { filtered, type RecallFilter } from './filter.ts';
import { isShown, type ReadSpace, type Times } from './match.ts';
import { type FactKey, keysOf, type SpaceAliases } from './space-aliases.ts';

/** A fact: a version that stands for it, and those that state the same under other names. */
export interface JoinedFact {
  readonly row: FactRow;
  readonly also: readonly FactRow[];
}

/** A fact that a recall found, with the names and the facts of its space. */
export interface Match extends JoinedFact {
  readonly space: ReadSpace;
  readonly aliases: SpaceAliases;
  readonly joined: JoinedFacts;
}

/** All versions behind facts. */
export function rowsOf(facts: readonly JoinedFact[]): readonly FactRow[] {
  return facts.flatMap(({ row, also }) => [row, ...also]);
}

/**
 * The facts of one space at one time. Versions that state one fact under several names are one
 * fact: the same one for each of them, whatever question or page found the version.
 */
export class JoinedFacts {
  readonly #view: MemoryView;
  readonly #aliases: SpaceAliases;
  readonly #times: Times;
  readonly #filter: RecallFilter;
  readonly #versions = new Map<string, Promise<readonly FactRow[]>>();
  readonly #lost = new Map<string, Promise<readonly FactRow[]>>();
  readonly #facts = new Map<string, Promise<readonly JoinedFact[]>>();

  /** Versions that do not pass the filter belong to no fact. */
  constructor(view: MemoryView, aliases: SpaceAliases, times: Times, filter: RecallFilter = {}) {
    this.#view = view;
    this.#aliases = aliases;
    this.#times = times;
    this.#filter = filter;
  }

  /** The fact of a version. @throws the errors of `MemoryView.recall` */
  async of(row: FactRow): Promise<JoinedFact> {
    const { names } = this.#aliases;
    const alone = { row, also: [] };
    const keys = this.#keysOf(row);
    if (keys.length === 1 && names.namesOf(row.object).length === 1) return alone;
    const facts = await cached(this.#facts, [keys, names.nameOf(row.object)], async () => {
      const versions = await this.#versionsUnder(keys);
      const same = versions.filter(({ object }) => names.isSame(row.object, object));
      return joined(await filtered(same, this.#filter, this.#aliases, this.#view));
    });
    return (
      facts.find((fact) => [fact.row, ...fact.also].some((each) => isSameVersion(row, each))) ??
      alone
    );
  }

  /**
   * The facts that contradict a version under other names, and the statements of other users in its
   * place. A ledger separates facts by their names, so no strategy settles the former.
   *
   * @throws the errors of `MemoryView.recall`
   */
  async contradicting(row: FactRow): Promise<readonly FactRow[]> {
    if (row.cardinality !== 'single-valued') return [];
    return [...(await this.#underOtherNames(row)), ...(await this.#ofOtherUsers(row))];
  }

  async #underOtherNames(row: FactRow): Promise<readonly FactRow[]> {
    const keys = this.#keysOf(row);
    if (keys.length === 1) return [];
    const isOfOtherKey = ({ subject, predicate }: FactRow): boolean =>
      subject !== row.subject || predicate !== row.predicate;
    return (await this.#versionsUnder(keys)).filter(
      (other) =>
        isOfOtherKey(other) &&
        areAtOnce(row, other) &&
        !this.#aliases.names.isSame(row.object, other.object),
    );
  }

  async #ofOtherUsers(row: FactRow): Promise<readonly FactRow[]> {
    if (usersOf(row).length === 0) return [];
    const { subject, predicate } = row;
    const { valid, system = OPEN_END } = this.#times;
    const lost = await cached(this.#lost, [subject, predicate], () =>
      this.#view.history({ subject, predicate, kind: 'audit' }),
    );
    const isThen = (audit: FactRow): boolean =>
      audit.system_time_start <= system &&
      (isMark(audit) || valid === 'any' || (audit.valid_from <= valid && valid < audit.valid_to));
    return disputedBy(row, lost.filter(isThen));
  }

  #versionsUnder(keys: readonly FactKey[]): Promise<readonly FactRow[]> {
    const { valid, system } = this.#times;
    const at = { valid, ...(system !== undefined && { system }), limit: RECALL_MAX };
    return cached(this.#versions, keys, async () => {
      const found = await Promise.all(keys.map((key) => this.#view.recall({ ...key, ...at })));
      return found.flatMap(({ facts }) => facts.filter(isShown));
    });
  }

  /** A version may spell a name in another case than any alias. */
  #keysOf({ subject, predicate }: FactRow): readonly FactKey[] {
    const keys = keysOf({ subject, predicate }, this.#aliases);
    const isOwn = (key: FactKey): boolean => key.subject === subject && key.predicate === predicate;
    return keys.some(isOwn) ? keys : [...keys, { subject, predicate }];
  }
}

/** Whether both are one version of a fact. */
export function isSameVersion(a: FactRow, b: FactRow): boolean {
  return a.fact_id === b.fact_id && a.system_time_start === b.system_time_start;
}

/** The facts of versions that mean the same: those under several names at one time are one fact. */
function joined(versions: readonly FactRow[]): readonly JoinedFact[] {
  const facts: { row: FactRow; also: FactRow[] }[] = [];
  for (const version of versions) {
    const same = facts.find(({ row }) => isRenamed(row, version) && areAtOnce(row, version));
    if (same === undefined) facts.push({ row: version, also: [] });
    else same.also.push(version);
  }
  return facts;
}

/** Whether two versions have different names. */
export function isRenamed(a: FactRow, b: FactRow): boolean {
  return a.subject !== b.subject || a.predicate !== b.predicate || a.object !== b.object;
}

/** Whether two versions are valid at a common time. */
export function areAtOnce(a: FactRow, b: FactRow): boolean {
  return a.valid_from < b.valid_to && b.valid_from < a.valid_to;
}

/** The value of a key, read at most once. */
function cached<T>(
  known: Map<string, Promise<T>>,
  of: unknown,
  read: () => Promise<T>,
): Promise<T> {
  const key = JSON.stringify(of);
  const found = known.get(key) ?? read();
  known.set(key, found);
  return found;
}
