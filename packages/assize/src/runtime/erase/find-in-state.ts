import { parsePointer } from '#canon';
import { contains, type Domain, marksAt, type Pattern } from '#kernel';
import {
  type BlobRef,
  type ErasedBeliefs,
  type ErasedLogged,
  type ErasedValue,
  erasableHashesOf,
  type Hash,
  isBlobRef,
  type LedgerStore,
  type Patch,
  type Payload,
  type Replayer,
  type RoleRef,
  readRow,
  type Stored,
} from '#ledger';
import { type ErasedPartition, partitionsToErase } from '../memory/plan/close-erased.ts';
import { VisibilityChains } from '../memory/visible/visibility.ts';
import type { BeliefSelector } from '../records/erasure-input.ts';
import { EffectLogSearch } from './find-in-effects.ts';
import { MemorySearch, type TargetValue } from './find-in-memory.ts';
import { answersNamedBy, answersThere, isOracleLog } from './find-in-oracle.ts';

/**
 * The data to erase: sensitive data at or below paths of the state, all sensitive data of some
 * entries, facts, and the effect-log data of tool transactions, by epoch.
 */
export interface ErasureTargets {
  readonly at: readonly string[];
  readonly entries: readonly Hash[];
  readonly beliefs: readonly BeliefSelector[];
  readonly transactions: readonly number[];
}

/** The findings, and the number of entries searched. */
export interface FoundValues {
  /** In an order in which they can be erased one after the other. */
  readonly values: readonly ErasedValue[];
  readonly length: number;
  /** Entries that have erased some of the data before. */
  readonly erasedBy: readonly Hash[];
  /** Oracle-log keys of answers that exist and are not erased. */
  readonly answers: readonly Hash[];
  /** Effect-log texts that no entry names. */
  readonly logged: readonly ErasedLogged[];
  /**
   * Epochs of unfinished tool transactions. Part of their data can be erased only after they end.
   */
  readonly open: readonly number[];
  /** Ids of the requested entries that are in this trajectory. */
  readonly entries: ReadonlySet<Hash>;
  /** Epochs of the requested transactions that belong to this trajectory. */
  readonly transactions: ReadonlySet<number>;
  /** The requested facts, as the entry has them. */
  readonly beliefs: readonly ErasedBeliefs[];
  /** The requested facts without an existing claim. */
  readonly unknown: readonly BeliefSelector[];
  /** Partitions that lose facts, as the store had them before `left` was read. */
  readonly erasedPartitions: readonly ErasedPartition[];
  /** Other trajectories that still have some of the facts, by their rows. */
  readonly remaining: readonly string[];
  /**
   * Other trajectories that quote the facts in open or past questions, in code-unit order. Call it
   * when no new statements can arrive.
   */
  readonly remainingNow: () => Promise<readonly string[]>;
  /**
   * Entries of this trajectory that quote the facts in state changes that are not sensitive and
   * stay.
   */
  readonly unmarked: readonly Hash[];
}

const PAGE = 500;
/** Values that the store is asked about concurrently. */
const ASKED_AT_ONCE = 100;

/**
 * Searches a trajectory for salted values that are not erased yet.
 *
 * - Values ever written at or below the paths.
 * - Arguments and observations of the proposals that wrote there or had a role for just that path,
 *   because those contain what the proposals wrote or would have written. Oracle-log answers that
 *   they observed, with attempts. A path without a sensitive value selects only the proposals with
 *   sensitive arguments.
 * - Facts as `MemorySearch` finds them, with derived values in the state (`PatchSearch`).
 * - Tool inputs and answers of all of these, as `EffectLogSearch` finds them.
 */
export async function findErasable(
  store: LedgerStore,
  replayer: Replayer,
  trajectoryId: string,
  wanted: ErasureTargets,
  domain: Domain,
): Promise<FoundValues> {
  const search = new StateSearch(wanted, domain);
  const effects = new EffectLogSearch(trajectoryId, wanted.transactions);
  const believed =
    wanted.beliefs.length === 0
      ? undefined
      : new MemorySearch(wanted.beliefs, domain, { store, replayer });
  const line = believed && (await new VisibilityChains(store).of(trajectoryId));
  if (believed !== undefined && line !== undefined) {
    await eachEntry(store, trajectoryId, (_, payload) => believed.index(at(payload), payload));
    await believed.indexStore(line);
  }
  /** Entries that change facts. */
  const believing = new Set<number>();
  const length = await eachEntry(store, trajectoryId, async (id, payload) => {
    if (payload.kind === 'commit' && payload.delta.beliefs.length > 0) believing.add(payload.seq);
    const lists: (readonly Patch[])[] = [];
    // A list in a blob has paths too, and no references.
    for (const list of listsOf(payload))
      lists.push(isBlobRef(list) ? await replayer.values.patches(at(payload), list) : list);
    const patches = lists.flat();
    const replaced = believed === undefined ? [] : search.standingAt(patches);
    const isThere = search.take(id, payload, patches);
    const isBelieved =
      (await believed?.collect(at(payload), payload, { id, patches, replaced })) === true;
    effects.index(payload);
    if (isThere || isBelieved) effects.collect({ id, payload });
  });
  const found = () => foundBy(search, believed);
  const losing = await partitionsToErase(
    { store, replayer },
    trajectoryId,
    found().filter(({ seq }) => believing.has(seq)),
  );
  // A later change of one of those makes the erasure outdated, because the data of other
  // trajectories is now known.
  if (line !== undefined) await believed?.indexStore(line);
  if (isOracleLog(store)) await believed?.collectAnswers(store, trajectoryId);
  const answers = isOracleLog(store)
    ? await answersThere(store, new Set([...search.answers, ...(believed?.answers ?? [])]))
    : [];
  const {
    logged,
    open,
    values: told,
  } = await effects.found(store, believed && ((text) => believed.isSomewhereIn(text)));
  const chosen = found();
  const hashes = new Set(chosen.map(({ hash }) => hash));
  const values: ErasedValue[] = [];
  // Values that identify others go last.
  const erasedBy = new Set<Hash>();
  const all = [...told.filter(({ hash }) => !hashes.has(hash)), ...chosen];
  for (let at = 0; at < all.length; at += ASKED_AT_ONCE) {
    const asked = all.slice(at, at + ASKED_AT_ONCE);
    const erasers = await Promise.all(asked.map(({ hash }) => store.erasedBy(hash)));
    for (const [n, by] of erasers.entries())
      if (by === undefined) values.push(asked[n]!);
      else erasedBy.add(by);
  }
  const left = (await believed?.remainingTrajectories()) ?? [];
  return {
    values,
    answers,
    logged,
    open,
    length,
    erasedBy: [...erasedBy],
    entries: search.entries,
    transactions: effects.transactions,
    beliefs: believed?.partitions ?? [],
    unknown: believed?.unknown ?? [],
    erasedPartitions: losing,
    remaining: left,
    unmarked: believed?.unmarked ?? [],
    remainingNow: async () =>
      [
        ...new Set([...left, ...((await believed?.mentioningTrajectories(trajectoryId)) ?? [])]),
      ].sort(),
  };
}

function foundBy(search: StateSearch, believed: MemorySearch | undefined): ErasedValue[] {
  const sought = believed?.targets ?? new Map<Hash, TargetValue>();
  const values = new Map(search.values().map((value) => [value.hash, value]));
  const paths = search.paths();
  for (const [hash, { seq }] of sought)
    if (!values.has(hash)) values.set(hash, erasedValue(hash, seq, paths));
  const rankOf = ({ hash }: ErasedValue): number => sought.get(hash)?.rank ?? 0;
  return [...values.values()].sort((a, b) => rankOf(a) - rankOf(b));
}

function erasedValue(hash: Hash, seq: number, paths: ReadonlyMap<Hash, string>): ErasedValue {
  const path = paths.get(hash);
  return { hash, seq, ...(path === undefined ? {} : { path }) };
}

/** Returns the number of entries. */
async function eachEntry(
  store: LedgerStore,
  trajectoryId: string,
  look: (id: Hash, payload: Payload) => Promise<void>,
): Promise<number> {
  for (let from = 0; ; from += PAGE) {
    const rows = await store.entries(trajectoryId, { from, limit: PAGE });
    for (const row of rows) await look(row.id, readRow(row).payload);
    if (rows.length < PAGE) return from + rows.length;
  }
}

function at({ trajectory_id, seq }: Payload): Pick<Payload, 'trajectory_id' | 'seq'> {
  return { trajectory_id, seq };
}

class StateSearch {
  readonly entries: Set<Hash> = new Set();
  /** Oracle-log keys of the selected proposals' observations. */
  readonly answers: Set<Hash> = new Set();
  readonly #wanted: ErasureTargets;
  /** Salted values to erase, with the first entry that refers to them. */
  readonly #chosen: Map<Hash, number> = new Map();
  readonly #standing: SensitiveTree = new SensitiveTree();

  readonly #domain: Domain;
  readonly #places: readonly Place[];
  /** The places where the domain marks a value sensitive. */
  readonly #marked: readonly Place[];

  constructor(wanted: ErasureTargets, domain: Domain) {
    this.#wanted = wanted;
    this.#domain = domain;
    this.#places = wanted.at.map((path) => ({
      path,
      pattern: { segments: parsePointer(path), append: false },
    }));
    this.#marked = this.#places.filter(({ path }) => marksAt(domain, path));
  }

  /** Selects the entry's data. Returns whether the entry is a selected one. */
  take(id: Hash, payload: Payload, patches: readonly Patch[]): boolean {
    if (payload.kind === 'commit' || payload.kind === 'root')
      for (const patch of patches) this.#follow(patch);
    const asked = askedIn(payload);
    const places = asked.some(({ args }) => isSalted(args)) ? this.#places : this.#marked;
    const inside = patches.filter((patch) => places.some(({ path }) => isWithin(patch.path, path)));
    if (this.#wanted.entries.includes(id)) {
      this.entries.add(id);
      this.#choose(erasableHashesOf(payload), payload.seq);
    } else if (inside.length > 0 || asked.some((each) => this.#isFor(each, places))) {
      const elsewhere = new Set(
        patches.filter((patch) => !inside.includes(patch)).flatMap(saltedIn),
      );
      // Its arguments and observations, and the selected ones of its changes.
      this.#choose(
        erasableHashesOf(payload).filter((hash) => !elsewhere.has(hash)),
        payload.seq,
      );
    } else return false;
    for (const key of answersNamedBy(payload)) this.answers.add(key);
    return true;
  }

  /** Whether a proposal was to write at or below these paths, regardless of the written values. */
  #isFor(asked: RequestedAction, places: readonly Place[]): boolean {
    const action = (
      this.#domain.actions as Record<string, { readonly process: string } | undefined>
    )[asked.name];
    const role = Object.hasOwn(this.#domain.roles, asked.role.name) ? asked.role : undefined;
    if (action === undefined || role === undefined) return false;
    if (this.#domain.roles[role.name]?.params?.some((param) => !Object.hasOwn(role.params, param)))
      return false;
    const { writes } = this.#domain.bind(action.process, role.params);
    return places.some(({ pattern }) => writes.some((written) => contains([pattern], written)));
  }

  values(): ErasedValue[] {
    const paths = this.paths();
    return [...this.#chosen].map(([hash, seq]) => erasedValue(hash, seq, paths));
  }

  /** The current path of each salted value in the state. */
  paths(): ReadonlyMap<Hash, string> {
    return new Map([...this.#standing.values()].map(([path, hash]) => [hash, path]));
  }

  /** The values now at or below the paths that are about to be written. */
  standingAt(patches: readonly Patch[]): Hash[] {
    return patches.flatMap(({ path }) =>
      [...(this.#standing.at(path)?.values() ?? [])].map(([, hash]) => hash),
    );
  }

  #choose(hashes: readonly Hash[], seq: number): void {
    for (const hash of hashes) if (!this.#chosen.has(hash)) this.#chosen.set(hash, seq);
  }

  #follow(patch: Patch): void {
    this.#standing.cut(patch.path);
    for (const hash of saltedIn(patch)) this.#standing.put(patch.path, hash);
  }
}

/** The values now at sensitive paths. A tree, because a write removes everything below its path. */
class SensitiveTree {
  readonly #below: Map<string, SensitiveTree> = new Map();
  #hash: Hash | undefined;

  put(path: string, hash: Hash): void {
    let here: SensitiveTree = this;
    for (const key of keysOf(path)) {
      const next = here.#below.get(key) ?? new SensitiveTree();
      here.#below.set(key, next);
      here = next;
    }
    here.#hash = hash;
  }

  cut(path: string): void {
    const last = path.lastIndexOf('/');
    const above = this.at(path.slice(0, last));
    if (above !== undefined) above.#below.delete(path.slice(last + 1));
  }

  at(path: string): SensitiveTree | undefined {
    let here: SensitiveTree | undefined = this;
    for (const key of keysOf(path)) {
      if (here === undefined) return undefined;
      here = here.#below.get(key);
    }
    return here;
  }

  *values(path = ''): Generator<readonly [path: string, hash: Hash]> {
    if (this.#hash !== undefined) yield [path, this.#hash];
    for (const [key, below] of this.#below) yield* below.values(`${path}/${key}`);
  }
}

/** The keys of a path, as written in the pointer. */
function keysOf(path: string): string[] {
  return path.split('/').slice(1);
}

function listsOf(payload: Payload): Stored<readonly Patch[]>[] {
  switch (payload.kind) {
    case 'root':
      return [payload.sensitive ?? []];
    case 'commit':
      return [payload.delta.state];
    case 'pending_approval':
      return [payload.proposal.delta.state, payload.proposal.approval];
    default:
      return [];
  }
}

/** A requested path of the state, also as a pattern. */
interface Place {
  readonly path: string;
  readonly pattern: Pattern;
}

/** An action, and the role that asked for it. */
interface RequestedAction {
  readonly name: string;
  readonly role: RoleRef;
  readonly args: Stored;
}

/** The action of an entry. An amended commit also has the first one. */
function askedIn(payload: Payload): readonly RequestedAction[] {
  switch (payload.kind) {
    case 'commit':
      return payload.amended === undefined
        ? [payload.action]
        : [payload.action, payload.amended.action];
    case 'pending_approval':
      return [payload.proposal.action];
    case 'rejection':
      return [
        { name: payload.intent.action, role: payload.intent.role, args: payload.intent.args },
      ];
    default:
      return [];
  }
}

function saltedIn(patch: Patch): Hash[] {
  return patch.op !== 'remove' && isSalted(patch.value) ? [patch.value.$blob] : [];
}

function isSalted(stored: Stored): stored is BlobRef {
  return isBlobRef(stored) && stored.salted === true;
}

function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}
