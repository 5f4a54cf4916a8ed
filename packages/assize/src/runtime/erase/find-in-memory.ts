import { deepFreeze, isAssizeError, isInstance, type Json } from '#base';
import { parseCanonical, WORLD_LIMITS } from '#canon';
import {
  type ActionSpec,
  BELIEVE_ACTION,
  type Domain,
  type MemoryStatement,
  statementsOf,
} from '#kernel';
import {
  type AmendmentRecord,
  type BeliefChange,
  type BeliefRow,
  type Delta,
  type Entry,
  type EntryRow,
  type ErasedBeliefs,
  type FactVersion,
  type Hash,
  isBlobRef,
  isFactStore,
  isHash,
  LedgerFault,
  type LedgerStore,
  type Observation,
  type PartitionName,
  type Payload,
  type Replayer,
  type RoleRef,
  readRow,
  type Stored,
} from '#ledger';
import { everyWordOf, objectKey, wordsOf } from '#memory';
import type { OracleStore } from '#oracle';
import { isErasedRow } from '../memory/plan/erased-row.ts';
import { factPages } from '../memory/visible/fact-pages.ts';
import type { VisibilityChain } from '../memory/visible/visibility.ts';
import type { BeliefSelector } from '../records/erasure-input.ts';
import type { AskedQuestion } from '../records/questions.ts';
import { answersNamedBy, answersWithin } from './find-in-oracle.ts';
import { leavesOf, PatchSearch, type StateWrites } from './find-in-patches.ts';

/**
 * The order of erasure if one entry cannot hold all values. Values that identify others go last, so
 * that the next search finds the rest.
 */
const RANK = { beside: 0, args: 1, objects: 2, names: 3 } as const;

/** A value to erase, and the first entry that refers to it. */
export interface TargetValue {
  readonly seq: number;
  readonly rank: number;
}

type EntryPosition = Pick<Entry, 'trajectory_id' | 'seq'>;

const PAGE = 1_000;

/** The findings for one selected set of facts. */
interface SelectorIndex extends BeliefSelector {
  /** By the hash of their names. */
  readonly partitions: Map<Hash, PartitionName>;
  /** Versions of facts, as recalls name them. */
  readonly rows: Set<string>;
  /** The objects of the claim, as `objectKey` returns them. */
  readonly texts: Set<string>;
  /** All claims of the selected facts. */
  readonly claims: Set<string>;
  hasClaim: boolean;
}

/**
 * Searches a trajectory for data of selected facts. First every entry goes to `learn`, then
 * `indexStore` asks the store, then every entry goes to `take`.
 */
export class MemorySearch {
  readonly #places: readonly SelectorIndex[];
  readonly #domain: Domain;
  readonly #store: LedgerStore;
  readonly #replayer: Replayer;
  readonly #names: Map<Hash, PartitionName | undefined> = new Map();
  readonly #chosen: Map<Hash, TargetValue> = new Map();
  readonly #written: PatchSearch;
  /** Names of partitions to erase, with the first entry that refers to them. */
  readonly #named: Map<Hash, number> = new Map();
  /**
   * Effects of proposals that made statements about the facts: later entries record their outcomes.
   */
  readonly #effects: Set<Hash> = new Set();
  /**
   * Oracle-log keys: observations of proposals that made statements about the facts, and votes
   * about the facts.
   */
  readonly answers: Set<Hash> = new Set();
  /** The branch with the searched memory, if the trajectory is a branch. */
  #branch: string | undefined;
  /**
   * Rows of the facts, of all trajectories and branches. Rows of this trajectory are selected here
   * or were erased before.
   */
  #rows: FactVersion[] = [];
  /** Texts that a branch inherited from its source: they are erased there. */
  #inherited: ReadonlySet<Hash> = new Set();
  /**
   * Hashes of the partition names of those rows, in every memory. A change of one of these
   * partitions is a statement about the facts.
   */
  #changeable: ReadonlySet<Hash> = new Set();

  constructor(
    places: readonly BeliefSelector[],
    domain: Domain,
    { store, replayer }: { readonly store: LedgerStore; readonly replayer: Replayer },
  ) {
    this.#places = places.map((place) => ({
      ...place,
      partitions: new Map(),
      rows: new Set(),
      texts: new Set(),
      claims: new Set(),
      hasClaim: place.claim === undefined,
    }));
    this.#domain = domain;
    this.#store = store;
    this.#replayer = replayer;
    this.#written = new PatchSearch(replayer);
  }

  /** Collects the selected partitions, and the objects of the claims. @throws LedgerFault */
  async index(at: EntryPosition, payload: Payload): Promise<void> {
    if (payload.kind !== 'commit') return;
    for (const { partition, insert, system_time } of payload.delta.beliefs) {
      const name = await this.#nameOf(at, partition);
      for (const place of this.#places) {
        if (name === undefined || !isOf(place, name)) continue;
        place.partitions.set(partition.$blob, name);
        for (const row of insert) {
          place.rows.add(keyOf({ ...row, system_time_start: system_time }));
          place.claims.add(row.lineage);
          if (place.claim !== row.lineage) continue;
          place.hasClaim = true;
          const text = row.row_kind === 'current' ? await this.#read(at, row.object) : undefined;
          if (typeof text === 'string') place.texts.add(objectKey(text));
        }
      }
    }
  }

  /**
   * Collects the store's rows of all trajectories. Recalls may name rows of others, and texts of
   * others are left. `line`: the visibility chain of this trajectory.
   */
  async indexStore([{ branch: own }, ...sources]: VisibilityChain): Promise<void> {
    const store = this.#store;
    if (!isFactStore(store)) return;
    this.#branch = own;
    const memories = [{}, ...(await store.branches())] as readonly Partial<PartitionName>[];
    const rows: FactVersion[] = [];
    for (const [place, { branch }] of this.#places.flatMap((each) =>
      memories
        .filter(({ space = each.space }) => space === each.space)
        .map((memory) => [each, memory] as const),
    )) {
      const { space, subject, predicate } = place;
      const query = {
        space,
        ...(branch !== undefined && { branch }),
        subject,
        ...(predicate !== undefined && { predicate }),
        kind: 'all',
      } as const;
      for await (const page of factPages(store, query))
        for (const row of page) {
          place.rows.add(keyOf(row));
          place.claims.add(row.lineage);
          if (row.lineage === place.claim) place.hasClaim = true;
          if (row.lineage === place.claim && row.row_kind === 'current' && !isErasedRow(row))
            place.texts.add(objectKey(row.object));
          const isMeant =
            place.claim === undefined ||
            row.lineage === place.claim ||
            row.object.includes(place.claim);
          if (isMeant) rows.push(row);
        }
    }
    this.#rows = rows;
    const above = new Set(sources.map(({ branch }) => branch));
    const ofSources = rows.filter(
      ({ branch, object, content }) => above.has(branch) && !isErasedRow({ object, content }),
    );
    this.#inherited = new Set(ofSources.map(({ content }) => content.hash));
    const changeable = new Set<Hash>();
    for (const name of new Map(rows.map((row) => [partitionOf(row), row])).values()) {
      const { space, subject, predicate, branch } = name;
      const partition = await store.partition({
        space,
        subject,
        predicate,
        ...(branch !== undefined && { branch }),
      });
      if (partition !== undefined) changeable.add(partition.names.hash);
    }
    this.#changeable = changeable;
  }

  /** The selected facts without an existing claim. */
  get unknown(): readonly BeliefSelector[] {
    return this.#places.filter(({ hasClaim }) => !hasClaim);
  }

  /**
   * Selects an entry's data about the facts, and the values derived from it in the state. Returns
   * whether the entry made a statement about them.
   *
   * @throws LedgerFault
   */
  async collect(at: EntryPosition, payload: Payload, writes: StateWrites): Promise<boolean> {
    const { seq } = at;
    if (payload.kind === 'commit')
      for (const change of payload.delta.beliefs) await this.#takeChange(at, change);
    const asked = askedIn(payload);
    if (asked === undefined) return false;
    const { action, observations, questions, effects } = asked;
    const isMeant = await this.#isMeant(at, payload, asked);
    if (writes.patches.length > 0) {
      if (isMeant) await this.#written.collectStated(at, writes, await this.#textsOf(at, asked));
      else await this.#written.collectOther(at, writes);
    }
    if (isMeant) {
      this.#choose([action.args], seq, RANK.args);
      this.#choose(
        observations.map(({ value }) => value),
        seq,
        RANK.beside,
      );
      for (const key of answersNamedBy(payload)) this.answers.add(key);
    }
    if (payload.kind === 'commit' && payload.amended !== undefined)
      await this.#takeAmendment(at, payload.amended, isMeant);
    if (isMeant || (await this.#isAsked(at, questions)))
      this.#choose([questions], seq, RANK.beside);
    for (const { id, effect } of effects) {
      if (isMeant) this.#effects.add(id);
      if (this.#effects.has(id)) this.#choose([effect], seq, RANK.beside);
    }
    for (const { name, value } of observations)
      if (this.#effects.has(name) || (await this.#isRecalled(at, value)))
        this.#choose([value], seq, RANK.beside);
    return isMeant;
  }

  /** Whether a text has a name of the facts, or the claim's object. */
  isSomewhereIn(json: Json): boolean {
    return this.#places.some((place) => isSomewhereIn(place, json));
  }

  /**
   * Selects oracle-log answers about the facts, for any requester: judge votes in their spaces, and
   * answers given in the trajectory. The question of an answer is unknown, so an answer is selected
   * if it has a name or text of the facts. A vote names claims but not their objects, and neither
   * does the time of a statement.
   */
  async collectAnswers(
    log: Pick<OracleStore, 'oracleGet' | 'oracleWithin'>,
    trajectory: string,
  ): Promise<void> {
    const isMeant = (answer: Json): boolean => this.isSomewhereIn(answer);
    for (const key of await answersWithin(log, { kind: 'call', trajectory }, isMeant))
      this.answers.add(key);
    for (const space of new Set(this.#places.map((place) => place.space))) {
      const there = this.#places.filter((place) => place.space === space);
      const isOfClaim = (answer: Json): boolean =>
        leavesOf(answer).some((leaf) =>
          there.some(({ claim, claims }) => claim === undefined && claims.has(String(leaf))),
        );
      const isOfSpace = (answer: Json): boolean =>
        isOfClaim(answer) || there.some((place) => isSomewhereIn(place, answer));
      for (const key of await answersWithin(log, { kind: 'memory', space }, isOfSpace))
        this.answers.add(key);
    }
  }

  /**
   * The selected values, by hash. Names are excluded if another trajectory still has statements
   * about the facts.
   */
  get targets(): ReadonlyMap<Hash, TargetValue> {
    const names = [...this.#named].filter(([hash]) => {
      const name = this.#names.get(hash)!;
      return !this.#left.some((row) => isOf(name, row) && row.branch === name.branch);
    });
    // A value that was written later is found by the value it copied. The copied value is erased
    // after it.
    const written = this.#written.chosen.map(([hash, seq]) => [hash, { seq, rank: -seq }] as const);
    const named = names.map(([hash, seq]) => [hash, { seq, rank: RANK.names }] as const);
    return new Map([...written, ...this.#chosen, ...named]);
  }

  /** Entries with state changes that quote the facts in places that cannot be erased. */
  get unmarked(): readonly Hash[] {
    return [...this.#written.unmarked];
  }

  /** The facts, as the erasure's arguments name them. */
  get partitions(): readonly ErasedBeliefs[] {
    return this.#places.map(({ space, partitions, claim }) => ({
      space,
      partitions: [...partitions.keys()].sort(),
      ...(claim !== undefined && { claim }),
    }));
  }

  /**
   * Other trajectories that still have the facts, or names that only they can erase, in code-unit
   * order.
   */
  async remainingTrajectories(): Promise<readonly string[]> {
    const first = new Map<Hash, number>();
    for (const { content, seq } of this.#left)
      first.set(content.hash, Math.min(seq, first.get(content.hash) ?? seq));
    // A branch that only inherited a statement has it erased in the source.
    const said = this.#left.filter(
      ({ branch, content, seq }) => branch === undefined || seq === first.get(content.hash),
    );
    const entries = new Set(said.map(({ entry_id }) => entry_id));
    const rows = await Promise.all([...entries].map((id) => this.#store.resolve(id)));
    const saying = rows.flatMap((row) => (row === undefined ? [] : [row.trajectory_id]));
    return [...new Set([...saying, ...this.#branchesNaming])].sort();
  }

  /**
   * Branches that have only the names of the facts' partition left; an erasure there removes the
   * names.
   */
  get #branchesNaming(): readonly string[] {
    const places = this.#places.filter(({ claim }) => claim === undefined);
    const left = new Set(this.#left.map(partitionOf));
    return this.#rows.flatMap((row) =>
      row.branch !== undefined &&
      row.branch !== this.#branch &&
      !left.has(partitionOf(row)) &&
      places.some((place) => isOf(place, row))
        ? [row.branch]
        : [],
    );
  }

  /**
   * Other trajectories that quote the facts without having them as their own. Questions quote
   * claims to counselors, and a repeated or retracted statement is still recorded. Trajectories
   * that cannot be read are included, because their content is unknown. Reads all entries of the
   * store.
   */
  async mentioningTrajectories(trajectoryId: string): Promise<readonly string[]> {
    const telling: string[] = [];
    for (const { trajectory_id: id } of await this.#store.trajectories())
      if (id !== trajectoryId && (await this.#isToldIn(id))) telling.push(id);
    return telling;
  }

  async #isToldIn(trajectoryId: string): Promise<boolean> {
    try {
      for (let from = 0; ; from += PAGE) {
        const rows = await this.#store.entries(trajectoryId, { from, limit: PAGE });
        for (const row of rows) if (await this.#isToldBy(row)) return true;
        if (rows.length < PAGE) return false;
      }
    } catch (error) {
      if (isInstance(error, LedgerFault)) return true;
      throw error;
    }
  }

  /** The text of most entries shows that they do not. */
  async #isToldBy(row: EntryRow): Promise<boolean> {
    const { kind } = row;
    if (kind !== 'pending_approval' && !(kind === 'commit' && this.#mayChange(row))) return false;
    const { payload } = readRow(row);
    const asked = askedIn(payload);
    if (asked === undefined) return false;
    if (kind === 'pending_approval') return this.#isAsked(row, asked.questions);
    const { args } = asked.action;
    return (
      isSalted(args) &&
      (await this.#isMeant(row, payload, asked)) &&
      (await this.#read(row, args)) !== undefined
    );
  }

  /** The first arguments of an amended proposal, and the difference. It has parts of both. */
  async #takeAmendment(
    at: EntryPosition,
    { action, difference }: AmendmentRecord,
    isMeant: boolean,
  ): Promise<void> {
    const isFirstMeant = await this.#isStatedBy(at, action);
    if (isFirstMeant) this.#choose([action.args], at.seq, RANK.args);
    if (isFirstMeant || isMeant) this.#choose([difference], at.seq, RANK.beside);
  }

  #mayChange({ payload }: EntryRow): boolean {
    for (const [, hash] of payload.matchAll(/"\$blob":"([0-9a-f]{64})"/g))
      if (this.#changeable.has(hash as Hash)) return true;
    return false;
  }

  get #left(): readonly FactVersion[] {
    return this.#rows.filter((row) => !isErasedRow(row) && !this.#chosen.has(row.content.hash));
  }

  async #takeChange(at: EntryPosition, { partition, insert }: BeliefChange): Promise<void> {
    for (const { claim, partitions } of this.#places) {
      if (!partitions.has(partition.$blob)) continue;
      if (claim === undefined && !this.#named.has(partition.$blob))
        this.#named.set(partition.$blob, at.seq);
      for (const row of insert) {
        const isOwn = !this.#inherited.has(row.object.$blob);
        if (!isOwn || (claim !== undefined && !(await this.#holds(at, row, claim)))) continue;
        this.#choose([row.object], at.seq, RANK.objects);
        if (row.row_kind === 'audit') await this.#takeVote(at, row);
      }
    }
  }

  /** The judge's question and vote, if a judge chose. */
  async #takeVote(at: EntryPosition, { object }: BeliefRow): Promise<void> {
    const witness = await this.#read(at, object);
    const key = typeof witness === 'string' ? judgeNamedIn(witness) : undefined;
    if (key !== undefined) this.answers.add(key);
  }

  /**
   * Whether a row has the claim's object: as the claim's own row, or as a witness of a
   * contradiction.
   */
  async #holds(
    at: EntryPosition,
    { lineage, row_kind, object }: BeliefRow,
    claim: string,
  ): Promise<boolean> {
    if (lineage === claim) return true;
    if (row_kind === 'current') return false;
    const witness = await this.#read(at, object);
    return typeof witness === 'string' && witness.includes(claim);
  }

  /** Whether a proposal makes a statement about the facts. */
  async #isMeant(
    at: EntryPosition,
    payload: Payload,
    { action }: RequestedAction,
  ): Promise<boolean> {
    const changed = payload.kind === 'commit' ? payload.delta.beliefs : [];
    const isChanged = ({ claim, partitions }: SelectorIndex): boolean =>
      claim === undefined && changed.some(({ partition }) => partitions.has(partition.$blob));
    return this.#places.some(isChanged) || this.#isStatedBy(at, action);
  }

  /** Whether an action with these arguments makes a statement about the facts. */
  async #isStatedBy(at: EntryPosition, action: RequestedAction['action']): Promise<boolean> {
    const args = await this.#read(at, action.args);
    if (args === undefined) return false;
    const said = statementsIn(this.#domain, action, args);
    return this.#places.some((place) =>
      said === undefined
        ? isSomewhereIn(place, args)
        : said.some((saying) => isSaidOf(place, saying)),
    );
  }

  /** The texts of a selected proposal's statements: the facts they concern, and the objects. */
  async #textsOf(at: EntryPosition, { action }: RequestedAction): Promise<readonly string[]> {
    const args = await this.#read(at, action.args);
    const said = args === undefined ? [] : (statementsIn(this.#domain, action, args) ?? []);
    return this.#places.flatMap((place) => {
      if (place.claim !== undefined) return [...place.texts];
      return [
        place.subject,
        ...said
          .filter((one) => isOf(place, one))
          .flatMap(({ object = '', was = '' }) => [object, was]),
      ];
    });
  }

  /** Whether a counselor is asked to choose between claims of the facts. */
  async #isAsked(at: EntryPosition, questions: Stored | undefined): Promise<boolean> {
    const asked = questions && (await this.#read(at, questions));
    return Array.isArray(asked) && this.#places.some((place) => isAskedOf(place, asked as never));
  }

  /** Whether an observation is a recall that asked for the facts, or that returned their rows. */
  async #isRecalled(at: EntryPosition, stored: Stored | undefined): Promise<boolean> {
    if (!isSalted(stored)) return false;
    const { query, rows } = ((await this.#read(at, stored)) ?? {}) as {
      readonly query?: Json;
      readonly rows?: Json;
    };
    const { space, subject, predicate, text } = (query ?? {}) as Partial<
      Record<keyof PartitionName | 'text', Json>
    >;
    // All words: a name may have only frequent words. A search ignores those next to other words.
    const words = everyWordOf(typeof text === 'string' ? text : '');
    const says = (said: string): boolean => {
      const all = wordsOf(said);
      return all.length > 0 && all.every((word) => words.has(word));
    };
    return this.#places.some((place) => {
      if (space !== place.space) return false;
      // A recall names versions; of a claim's object it contains only the search text.
      if (place.claim !== undefined) return [...place.texts].some(says);
      const isAsked =
        subject === place.subject &&
        (predicate === undefined || place.predicate === undefined || predicate === place.predicate);
      return (
        isAsked ||
        says(place.subject) ||
        (Array.isArray(rows) &&
          rows.some((row) => isKey(row) && place.rows.has(`${row[1]} ${row[0]}`)))
      );
    });
  }

  #choose(stored: readonly (Stored | undefined)[], seq: number, rank: number): void {
    for (const one of stored) {
      if (!isSalted(one)) continue;
      const before = this.#chosen.get(one.$blob);
      // One text may have several roles; it is erased as late as the last of them.
      if (before === undefined || before.rank < rank)
        this.#chosen.set(one.$blob, { seq: before?.seq ?? seq, rank });
    }
  }

  async #nameOf(
    at: EntryPosition,
    reference: BeliefChange['partition'],
  ): Promise<PartitionName | undefined> {
    const { $blob: hash } = reference;
    if (!this.#names.has(hash))
      this.#names.set(hash, (await this.#read(at, reference)) as unknown as PartitionName);
    return this.#names.get(hash);
  }

  /** Undefined if it was erased. */
  async #read(at: EntryPosition, stored: Stored): Promise<Json | undefined> {
    const held = await this.#replayer.values.read(at, stored);
    return 'value' in held ? held.value : undefined;
  }
}

/** A proposal, as an entry has it. */
interface RequestedAction {
  readonly action: { readonly name: string; readonly role: RoleRef; readonly args: Stored };
  readonly observations: readonly Observation[];
  readonly questions?: Stored | undefined;
  readonly effects: Delta['effects'];
}

function askedIn(payload: Payload): RequestedAction | undefined {
  switch (payload.kind) {
    case 'commit':
      return { ...payload, effects: payload.delta.effects };
    case 'pending_approval':
      return { ...payload.proposal, effects: payload.proposal.delta.effects };
    case 'rejection': {
      const { action: name, role, args, observations } = payload.intent;
      return { action: { name, role, args }, observations, effects: [] };
    }
    default:
      return undefined;
  }
}

type NamedObject = Partial<PartitionName> & { readonly object?: string; readonly was?: string };

/** The statements of a proposal; undefined if they are unknown. */
function statementsIn(
  domain: Domain,
  { name, role }: RequestedAction['action'],
  args: Json,
): readonly NamedObject[] | undefined {
  if (name === BELIEVE_ACTION) {
    const { sayings } = (args ?? {}) as { readonly sayings?: Json };
    return Array.isArray(sayings) && sayings.every(isNamed)
      ? (sayings as unknown as NamedObject[])
      : undefined;
  }
  const action = (domain.actions as Record<string, ActionSpec | undefined>)[name];
  if (action === undefined) return undefined;
  const said = statementsOf(domain.memory, action, deepFreeze(args), {
    role: deepFreeze(role.params),
  });
  return 'statements' in said ? (said.statements as readonly MemoryStatement[]) : undefined;
}

function isNamed(saying: Json): boolean {
  const { space, subject, predicate } = (saying ?? {}) as Record<string, Json>;
  return [space, subject, predicate].every((name) => typeof name === 'string');
}

function partitionOf({ space, subject, predicate, branch = '' }: PartitionName): string {
  return JSON.stringify([branch, space, subject, predicate]);
}

function isOf({ space, subject, predicate }: BeliefSelector, name: NamedObject): boolean {
  return (
    name.space === space &&
    name.subject === subject &&
    (predicate === undefined || name.predicate === predicate)
  );
}

function isSaidOf(place: SelectorIndex, saying: NamedObject): boolean {
  if (!isOf(place, saying)) return false;
  return (
    place.claim === undefined ||
    [saying.object, saying.was].some(
      (text) => text !== undefined && place.texts.has(objectKey(text)),
    )
  );
}

function isAskedOf(place: SelectorIndex, questions: readonly AskedQuestion[]): boolean {
  return questions.some(
    (question) =>
      isOf(place, question) &&
      (place.claim === undefined || question.members.some(({ claim }) => claim === place.claim)),
  );
}

/** Whether arguments of any form contain the subject, or the claim's object. */
function isSomewhereIn({ subject, claim, texts }: SelectorIndex, json: Json): boolean {
  const wanted = claim === undefined ? [subject] : [...texts];
  const has = (text: string): boolean => wanted.some((one) => objectKey(text).includes(one));
  return leavesOf(json).some((leaf) => typeof leaf === 'string' && has(leaf));
}

/** The key of the judge's vote. */
function judgeNamedIn(witness: string): Hash | undefined {
  try {
    const { judge } = (parseCanonical(witness, WORLD_LIMITS) ?? {}) as { readonly judge?: Json };
    return isHash(judge) ? judge : undefined;
  } catch (error) {
    if (isAssizeError(error)) return undefined;
    throw error;
  }
}

function keyOf({
  fact_id,
  system_time_start,
}: Pick<FactVersion, 'fact_id' | 'system_time_start'>): string {
  return `${system_time_start} ${fact_id}`;
}

function isKey(row: Json): row is [string, string] {
  return Array.isArray(row) && row.length === 2;
}

function isSalted(stored: Stored | undefined): stored is Stored & { readonly $blob: Hash } {
  return isBlobRef(stored) && stored.salted === true;
}
