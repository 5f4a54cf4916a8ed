import { parsePointer } from '#canon';
import { contains, type Domain, type Pattern } from '#kernel';
import type { LedgerStore, Patch, RoleRef } from '#ledger';
import {
  type ErasedBeliefs,
  type ErasedLogged,
  type ErasedValue,
  type Hash,
  isBlobRef,
  type Payload,
  type Replayer,
  readRow,
  type Stored,
  saltedBy,
} from '#ledger';
import { type LosingPartition, losingPartitions } from '../memory/plan/close-erased.ts';
import { Lines } from '../memory/visible/visibility.ts';
import type { BelievedPlace } from '../records/believed-place.ts';
import { LoggedSearch } from './find-in-effects.ts';
import { BelievedSearch, type Sought } from './find-in-memory.ts';
import { answersNamedBy, answersThere, isOracleLog } from './find-in-oracle.ts';

/**
 * What is to be erased: all that is sensitive at or below places of the state, all that is in some entries, what is believed, and what the
 * effect log has of transactions of tools, by epoch.
 */
export interface Wanted {
  readonly at: readonly string[];
  readonly entries: readonly Hash[];
  readonly beliefs: readonly BelievedPlace[];
  readonly transactions: readonly number[];
}

/** What was found, in how many entries. */
export interface Found {
  /** In the order in which they may go one after the other. */
  readonly values: readonly ErasedValue[];
  readonly length: number;
  /** Entries that have erased something of it before. */
  readonly erasedBy: readonly Hash[];
  /** Keys of the oracle log, of answers that are there and not erased. */
  readonly answers: readonly Hash[];
  /** Texts of the effect log that no entry names. */
  readonly logged: readonly ErasedLogged[];
  /** Epochs of transactions of tools that have not ended, of which something can't go before they have. */
  readonly open: readonly number[];
  /** Ids of those that were asked for and are in this trajectory. */
  readonly entries: ReadonlySet<Hash>;
  /** Epochs of those transactions that were asked for and are of this trajectory. */
  readonly transactions: ReadonlySet<number>;
  /** What was asked for of what is believed, as the entry has it. */
  readonly beliefs: readonly ErasedBeliefs[];
  /** Whose claim nobody has made. */
  readonly unknown: readonly BelievedPlace[];
  /** Partitions of facts that lose something, as the store had them before it was asked for what is left. */
  readonly losing: readonly LosingPartition[];
  /** Other trajectories that still have something of what is believed, by its rows. */
  readonly left: readonly string[];
  /** And those that have it in what somebody is asked, or was, in code-unit order: to be looked for when nothing can come in any more. */
  readonly leftByNow: () => Promise<readonly string[]>;
  /** Entries of this trajectory that have it in what they changed of the state, where that is not sensitive and stays. */
  readonly unmarked: readonly Hash[];
}

const PAGE = 500;
/** Values that the store is asked about at the same time. */
const ASKED_AT_ONCE = 100;

/**
 * Goes through a trajectory for salted values that are not erased yet: what was ever written at or below the places, and the
 * arguments and observations of the proposals that wrote there, or were of a role that is for just that place: because what
 * they wrote, or would have, was in them. So it is with what of the oracle log they observed, and attempts at that. Of what is believed
 * as `BelievedSearch` says, with what was written into the state from the same (`WrittenSearch`). Of all of it also what tools were given
 * and have answered, as `LoggedSearch` says.
 */
export async function findErasable(
  store: LedgerStore,
  replayer: Replayer,
  trajectoryId: string,
  wanted: Wanted,
  domain: Domain,
): Promise<Found> {
  const search = new Search(wanted, domain);
  const effects = new LoggedSearch(trajectoryId, wanted.transactions);
  const believed =
    wanted.beliefs.length === 0 ? undefined : new BelievedSearch(wanted.beliefs, domain, { store, replayer });
  const line = believed && (await new Lines(store).of(trajectoryId));
  if (believed !== undefined && line !== undefined) {
    await eachEntry(store, trajectoryId, (_, payload) => believed.learn(at(payload), payload));
    await believed.learnOfAll(line);
  }
  /** Entries that change what is believed. */
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
    const isBelieved = (await believed?.take(at(payload), payload, { id, patches, replaced })) === true;
    effects.learn(payload);
    if (isThere || isBelieved) effects.take({ id, payload });
  });
  const found = () => foundBy(search, believed);
  const losing = await losingPartitions(
    { store, replayer },
    trajectoryId,
    found().filter(({ seq }) => believing.has(seq)),
  );
  // Who changes one of those from here on makes the erasure outdated: what others have of them is known.
  if (line !== undefined) await believed?.learnOfAll(line);
  if (isOracleLog(store)) await believed?.takeAnswers(store, trajectoryId);
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
  // What others are found by goes last.
  const erasedBy = new Set<Hash>();
  const all = [...told.filter(({ hash }) => !hashes.has(hash)), ...chosen];
  for (let at = 0; at < all.length; at += ASKED_AT_ONCE) {
    const asked = all.slice(at, at + ASKED_AT_ONCE);
    const erasers = await Promise.all(asked.map(({ hash }) => store.erasedBy(hash)));
    for (const [n, by] of erasers.entries())
      if (by === undefined) values.push(asked[n]!);
      else erasedBy.add(by);
  }
  const left = (await believed?.trajectoriesLeft()) ?? [];
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
    losing,
    left,
    unmarked: believed?.unmarked ?? [],
    leftByNow: async () =>
      [...new Set([...left, ...((await believed?.trajectoriesTelling(trajectoryId)) ?? [])])].sort(),
  };
}

function foundBy(search: Search, believed: BelievedSearch | undefined): ErasedValue[] {
  const sought = believed?.sought ?? new Map<Hash, Sought>();
  const values = new Map(search.values().map((value) => [value.hash, value]));
  const paths = search.paths();
  for (const [hash, { seq }] of sought) if (!values.has(hash)) values.set(hash, erasedValue(hash, seq, paths));
  const rankOf = ({ hash }: ErasedValue): number => sought.get(hash)?.rank ?? 0;
  return [...values.values()].sort((a, b) => rankOf(a) - rankOf(b));
}

function erasedValue(hash: Hash, seq: number, paths: ReadonlyMap<Hash, string>): ErasedValue {
  const path = paths.get(hash);
  return { hash, seq, ...(path === undefined ? {} : { path }) };
}

/** How many there are. */
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

class Search {
  readonly entries: Set<Hash> = new Set();
  /** What its proposals observed by key in the oracle log. */
  readonly answers: Set<Hash> = new Set();
  readonly #wanted: Wanted;
  /** Salted values to be erased, with the first entry that refers to them. */
  readonly #chosen: Map<Hash, number> = new Map();
  readonly #standing: Standing = new Standing();

  readonly #domain: Domain;
  readonly #places: readonly Pattern[];

  constructor(wanted: Wanted, domain: Domain) {
    this.#wanted = wanted;
    this.#domain = domain;
    this.#places = wanted.at.map((place) => ({ segments: parsePointer(place), append: false }));
  }

  /** Whether the entry is one that is meant. */
  take(id: Hash, payload: Payload, patches: readonly Patch[]): boolean {
    if (payload.kind === 'commit' || payload.kind === 'root') for (const patch of patches) this.#follow(patch);
    const inside = patches.filter(({ path }) => this.#wanted.at.some((place) => isWithin(path, place)));
    if (this.#wanted.entries.includes(id)) {
      this.entries.add(id);
      this.#choose(saltedBy(payload), payload.seq);
    } else if (inside.length > 0 || this.#isFor(payload)) {
      const elsewhere = new Set(patches.filter((patch) => !inside.includes(patch)).flatMap(saltedIn));
      // Its arguments and observations, and of the changes those that are meant.
      this.#choose(
        saltedBy(payload).filter((hash) => !elsewhere.has(hash)),
        payload.seq,
      );
    } else return false;
    for (const key of answersNamedBy(payload)) this.answers.add(key);
    return true;
  }

  /** Whether a proposal was to write at these places or below, whatever it did write. */
  #isFor(payload: Payload): boolean {
    const asked = askedIn(payload);
    const action =
      asked && (this.#domain.actions as Record<string, { readonly process: string } | undefined>)[asked.name];
    const role = asked && Object.hasOwn(this.#domain.roles, asked.role.name) ? asked.role : undefined;
    if (action === undefined || role === undefined) return false;
    if (this.#domain.roles[role.name]?.params?.some((param) => !Object.hasOwn(role.params, param))) return false;
    const { writes } = this.#domain.bind(action.process, role.params);
    return this.#places.some((place) => writes.some((pattern) => contains([place], pattern)));
  }

  values(): ErasedValue[] {
    const paths = this.paths();
    return [...this.#chosen].map(([hash, seq]) => erasedValue(hash, seq, paths));
  }

  /** Where values stand that stand anywhere. */
  paths(): ReadonlyMap<Hash, string> {
    return new Map([...this.#standing.values()].map(([path, hash]) => [hash, path]));
  }

  /** What stands where something is about to be written, or below. */
  standingAt(patches: readonly Patch[]): Hash[] {
    return patches.flatMap(({ path }) => [...(this.#standing.at(path)?.values() ?? [])].map(([, hash]) => hash));
  }

  #choose(hashes: readonly Hash[], seq: number): void {
    for (const hash of hashes) if (!this.#chosen.has(hash)) this.#chosen.set(hash, seq);
  }

  #follow(patch: Patch): void {
    this.#standing.cut(patch.path);
    for (const hash of saltedIn(patch)) this.#standing.put(patch.path, hash);
  }
}

/** What stands at sensitive places now: a tree, because what is written takes away all that was below it. */
class Standing {
  readonly #below: Map<string, Standing> = new Map();
  #hash: Hash | undefined;

  put(path: string, hash: Hash): void {
    let here: Standing = this;
    for (const key of keysOf(path)) {
      const next = here.#below.get(key) ?? new Standing();
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

  at(path: string): Standing | undefined {
    let here: Standing | undefined = this;
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

/** As they stand in the pointer. */
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

/** What was asked for in an entry, and by whom. */
function askedIn(payload: Payload): { readonly name: string; readonly role: RoleRef } | undefined {
  switch (payload.kind) {
    case 'commit':
      return payload.action;
    case 'pending_approval':
      return payload.proposal.action;
    case 'rejection':
      return { name: payload.intent.action, role: payload.intent.role };
    default:
      return undefined;
  }
}

function saltedIn(patch: Patch): Hash[] {
  return patch.op !== 'remove' && isBlobRef(patch.value) && patch.value.salted === true ? [patch.value.$blob] : [];
}

function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}
