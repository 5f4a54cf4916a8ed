import { type AssizeError, isAssizeError } from '#canon';
import type { Compiled, Saying } from '#kernel';
import {
  type BeliefChange,
  type BlobRef,
  beliefChange,
  type ContentRef,
  type FactStore,
  type FactVersion,
  type FactWrite,
  type Hash,
  type Instant,
  isFactStore,
  type LedgerStore,
  type PartitionName,
  type SaltedRef,
} from '#ledger';
import {
  type Answer,
  type Ask,
  type Assertion,
  claimId,
  declarePredicate,
  type FactRow,
  MemoryError,
  mergeProvenance,
  OPEN_END,
  OPEN_START,
  type Plan,
  Polynomial,
  type PredicateDeclaration,
  planAssert,
  planChange,
  planCorrect,
  planRetract,
  type Question,
  type Writing,
  writeToken,
} from '#memory';
import type { Random } from '#oracle';
import { RuntimeError } from '../errors.ts';
import type { Kept } from '../kept.ts';
import { forgotten, type LosingPartition } from './forgotten.ts';
import { type Judge, Votes } from './judge.ts';
import { NotRead, Partitions } from './partitions.ts';

const KEY_BYTES = 32;

/** What a proposal's sayings do to what is believed, planned and ready to be written. */
export interface Believed {
  /** As the commit has them. */
  readonly changes: readonly BeliefChange[];
  /** As the store takes them, when the commit has its id. From then on they are what is believed here. */
  accept(entryId: Hash): readonly FactWrite[];
}

/** What is to be written is refused, or somebody has to choose first. */
export type NotBelieved = { readonly refusal: AssizeError } | { readonly questions: readonly Question[] };

/** The proposal that says something. */
export interface Sayer {
  /** The same object each time that one call has it planned. */
  readonly call: object;
  readonly compiled: Pick<Compiled, 'sayings'>;
  readonly proposalId: Hash;
  readonly trajectoryId: string;
  readonly at: Instant;
  /** When it was said, where that was before: what is said without a time of its own is so from then on. Default: `at`. */
  readonly saidAt?: Instant | undefined;
  readonly predicates: { readonly [predicate: string]: Parameters<typeof declarePredicate>[0] };
  readonly kept: Kept;
  /** What somebody has chosen. */
  readonly answers?: readonly Answer[];
}

/** Plans what sayings change, on what is believed here; one of these a runtime. */
export class Beliefs {
  readonly #store: LedgerStore & FactStore;
  readonly #random: Random;
  readonly #partitions: Partitions;
  readonly #votes: Votes | undefined;
  #key: Uint8Array | undefined;
  /** Calls during which what is known here was compared with what the store has. */
  readonly #compared: WeakSet<object> = new WeakSet();
  /** Whether a trajectory is a branch, of those that have said something. */
  readonly #isBranch: Map<string, boolean> = new Map();

  constructor(store: LedgerStore & FactStore, random: Random, judge?: Judge) {
    this.#store = store;
    this.#random = random;
    this.#partitions = new Partitions(store);
    this.#votes = judge === undefined ? undefined : new Votes(judge);
  }

  static of(store: LedgerStore, random: Random, judge?: Judge): Beliefs | undefined {
    return isFactStore(store) ? new Beliefs(store, random, judge) : undefined;
  }

  get store(): FactStore {
    return this.#store;
  }

  /**
   * Undefined where nothing is said. Nothing awaits here: what has to be read first is thrown.
   *
   * @throws NotRead
   */
  plan(sayer: Sayer): Believed | NotBelieved | undefined {
    if (sayer.compiled.sayings.length === 0) return undefined;
    const key = this.#key;
    if (key === undefined) throw new NotRead(() => this.#readKey());
    const isBranch = this.#isBranch.get(sayer.trajectoryId);
    if (isBranch === undefined) throw new NotRead(() => this.#readBeginning(sayer.trajectoryId));
    if (isBranch) return { refusal: onBranch() };
    const outcome = this.#outcome(key, sayer);
    // A commit tells only of the partitions that it changes whether they were still as they are known here.
    const changed = 'changes' in outcome ? outcome.changes.length : 0;
    if (changed < partitionsIn(sayer)) this.#requireCompared(sayer);
    return outcome;
  }

  #outcome(key: Uint8Array, sayer: Sayer): Believed | NotBelieved {
    try {
      const awaited = namesIn(sayer).flatMap((name) => this.#partitions.awaited(name, sayer.trajectoryId) ?? []);
      if (awaited.length > 0) throw new NotRead(async () => void (await Promise.all(awaited)));
      // Before claims get their ids, which is most of the work where much is said.
      const unknown = namesIn(sayer).filter((name) => this.#partitions.get(name, []) === undefined);
      if (unknown.length > 0) throw new NotRead(() => this.#read(unknown.map((name) => ({ name, sourced: [] }))));
      const groups = grouped(key, sayer);
      const unread = groups.filter(({ name, sourced }) => this.#partitions.get(name, sourced) === undefined);
      if (unread.length === 0) return this.#planned(groups, sayer);
      throw new NotRead(() => this.#read(unread));
    } catch (error) {
      // What was said is at fault, or does not go with what is believed.
      if (error instanceof MemoryError || isAssizeError(error, 'bad_instant')) return { refusal: error };
      throw error;
    }
  }

  /** @throws NotRead */
  #requireCompared(sayer: Sayer): void {
    if (this.#compared.has(sayer.call)) return;
    throw new NotRead(async () => {
      for (const name of namesIn(sayer)) await this.#partitions.compare(name);
      this.#compared.add(sayer.call);
    });
  }

  /** What an erasure changes of partitions that lose something by it. Once it is settled, nothing of them is remembered. */
  forgetting(losing: readonly LosingPartition[], at: Instant, trajectoryId: string): Believed {
    const { changes, writes } = forgotten(losing, at);
    return {
      changes,
      accept: () => {
        this.#partitions.accept(writes, trajectoryId);
        return writes;
      },
    };
  }

  /** The store has answered what was accepted; whether it came to be, and is what is known here. */
  settled(writes: readonly FactWrite[], isWritten: boolean): void {
    if (!isWritten) this.#partitions.forget(writes);
    this.#partitions.settled(writes);
  }

  #planned(groups: readonly Group[], sayer: Sayer): Believed | NotBelieved {
    const planned: Planned[] = [];
    const questions: Question[] = [];
    const given = new Map(sayer.answers?.map((answer) => [answer.request, answer]));
    const untimed = untimedIn(groups);
    for (const group of groups) {
      const known = this.#partitions.get(group.name, group.sourced)!;
      const said = group.said.filter(({ claim }) => claim === undefined || known.claims.get(claim) !== true);
      if (said.length === 0) continue;
      const { state } = known;
      const version = (state?.version ?? 0) + 1;
      const writing: Writing = {
        partition: group.name,
        declaration: declarePredicate(sayer.predicates[group.name.predicate]!),
        open: (state?.open ?? []).map(rowOf),
        latest: state?.latest ?? null,
        at: sayer.at,
        seq: version,
        merge: mergeProvenance,
      };
      const plan = this.#answered(said, writing, given, { sayer, untimed });
      if (plan.kind === 'ask') questions.push(...plan.questions);
      else if (plan.close.length + plan.insert.length > 0)
        planned.push({ group, plan, version, open: state?.open ?? [], names: state?.names });
    }
    const [stale] = given.keys();
    if (stale !== undefined)
      throw new MemoryError(
        'stale_answer',
        `Nobody asks ${stale} any more: what is believed has changed since it was asked.`,
        {
          evidence: { request: stale },
        },
      );
    if (questions.length > 0) return { questions };
    return this.#written(planned, sayer);
  }

  /**
   * With what somebody has chosen or the judge has voted; what the judge has not yet is asked before it is planned again. `given` loses
   * what is used of it.
   *
   * @throws NotRead
   */
  #answered(
    said: Group['said'],
    writing: Writing,
    given: Map<string, Answer>,
    { sayer, untimed }: { readonly sayer: Sayer; readonly untimed: readonly string[] },
  ): Plan | Ask {
    const plan = planOf(said, writing);
    if (plan.kind === 'plan') return plan;
    const votes = this.#votes;
    const judged = ({ request, strategy }: Question): boolean => strategy === 'rule' && !given.has(request);
    const unasked = plan.questions.filter((question) => judged(question) && votes?.of(question.request) === undefined);
    if (votes !== undefined && unasked.length > 0) {
      // Nobody is asked about what is known by now not to be so.
      this.#requireCompared(sayer);
      const { space } = writing.partition;
      if (sayer.saidAt === undefined && untimed.length > 0)
        throw new NotRead(() => votes.saidAt(space, untimed, sayer.at));
      throw new NotRead(async () => {
        for (const question of unasked) await votes.ask(question);
      });
    }
    const answers = plan.questions.map(({ request }) => given.get(request) ?? votes?.of(request));
    const open = plan.questions.filter((_, i) => answers[i] === undefined);
    for (const { request } of plan.questions) given.delete(request);
    if (open.length > 0) return { kind: 'ask', questions: open };
    return planOf(said, { ...writing, answers: answers as Answer[] });
  }

  #written(planned: readonly Planned[], { kept, trajectoryId }: Sayer): Believed {
    const parts = planned.map(({ group, plan, version, open, names: known }) => {
      const { space, subject, predicate } = group.name;
      const names = known ?? contentOf(kept.made({ space, subject, predicate }));
      const contents = new Map(open.map(({ lineage, content }) => [lineage, content]));
      const insert = plan.insert.map((row): [FactRow, ContentRef] => {
        // One text a claim, so that it is erased with it wherever it stands; a witness is a text of its own.
        if (row.row_kind === 'audit') return [row, contentOf(kept.made(row.object))];
        const content = contents.get(row.lineage) ?? contentOf(kept.made(row.object));
        contents.set(row.lineage, content);
        return [row, content];
      });
      return { name: { space, subject, predicate }, names, plan, version, insert, cardinality: group.cardinality };
    });
    return {
      changes: parts.map(({ names, plan, version, insert, cardinality }) =>
        beliefChange(plan, {
          partition: referenceTo(names),
          version,
          cardinality,
          objects: insert.map(([, content]) => referenceTo(content)),
        }),
      ),
      accept: (entryId) => {
        const writes = parts.map(({ name, names, plan, version, insert }) => ({
          partition: name,
          names,
          version,
          system_time: plan.systemTime,
          close: plan.close,
          insert: insert.map(([row, content]) => ({
            ...row,
            provenance_id: Polynomial.read(row.provenance_id).placed(entryId).toString(),
            entry_id: entryId,
            content,
          })),
        }));
        this.#partitions.accept(writes, trajectoryId);
        for (const { name, plan } of parts) this.#partitions.made(name, plan.merged ?? []);
        return writes;
      },
    };
  }

  async #read(groups: readonly Pick<Group, 'name' | 'sourced'>[]): Promise<void> {
    for (const { name, sourced } of groups) await this.#partitions.read(name, sourced);
  }

  async #readBeginning(trajectoryId: string): Promise<void> {
    const [first] = await this.#store.entries(trajectoryId, { limit: 1 });
    this.#isBranch.set(trajectoryId, first?.kind === 'branch');
  }

  async #readKey(): Promise<void> {
    this.#key = await this.#store.claimKey(this.#random.bytes(KEY_BYTES));
  }
}

/** Facts are of a space, which a branch would share with its source: what is tried in one must not be believed in the other. */
function onBranch(): MemoryError {
  return new MemoryError('on_branch', 'A branch has no memory of its own; say it in a trajectory that is none.');
}

interface Group {
  readonly name: PartitionName;
  readonly cardinality: PredicateDeclaration['cardinality'];
  readonly said: readonly {
    readonly saying: Saying;
    readonly n: number;
    readonly claim: string | undefined;
    readonly id: string;
    readonly saidAt: Instant;
  }[];
  /** Claims that may have been made before. */
  readonly sourced: readonly string[];
}

interface Planned {
  readonly group: Group;
  readonly plan: Plan;
  readonly version: number;
  readonly open: readonly FactVersion[];
  readonly names: ContentRef | undefined;
}

function namesIn({ compiled }: Sayer): PartitionName[] {
  return compiled.sayings.map(({ space, subject, predicate }) => ({ space, subject, predicate }));
}

function partitionsIn(sayer: Sayer): number {
  return new Set(namesIn(sayer).map((name) => JSON.stringify(name))).size;
}

/** What is said of each partition, in the order in which the partitions come first. */
function grouped(key: Uint8Array, { compiled, proposalId, predicates, at, saidAt = at }: Sayer): Group[] {
  const groups = new Map<string, Group & { said: Group['said'][number][]; sourced: string[] }>();
  for (const [n, saying] of compiled.sayings.entries()) {
    const { space, subject, predicate } = saying;
    const name = { space, subject, predicate };
    const at = JSON.stringify([space, subject, predicate]);
    const group = groups.get(at) ?? { name, cardinality: predicates[predicate]!.cardinality, said: [], sourced: [] };
    groups.set(at, group);
    const id = saying.verb === 'retract' ? '' : idOf(key, saying, proposalId, n);
    const claim = saying.verb !== 'retract' && saying.source !== undefined ? id : undefined;
    group.said.push({ saying, n, claim, id, saidAt });
    if (claim !== undefined) group.sourced.push(claim);
  }
  return [...groups.values()];
}

/** Claims that have no time of their own, in code-unit order: they are so since they were said. */
function untimedIn(groups: readonly Group[]): string[] {
  const isUntimed = ({ saying }: Group['said'][number]): boolean =>
    saying.verb === 'change' ? saying.from === undefined : saying.verb === 'assert' && saying.valid?.from === undefined;
  return groups.flatMap(({ said }) => said.filter(isUntimed).map(({ id }) => id)).sort();
}

/** Of what was said, and not of when: the same from the same source is the same claim also where it has no time of its own. */
function idOf(key: Uint8Array, saying: Exclude<Saying, { verb: 'retract' }>, proposalId: Hash, n: number): string {
  const { space, subject, predicate, object, source = `${proposalId}#${n}` } = saying;
  const given = saying.verb === 'change' ? { from: saying.from } : saying.valid;
  const valid = { from: given?.from ?? OPEN_START, to: (given as { to?: string } | undefined)?.to ?? OPEN_END };
  return claimId(key, { space, subject, predicate, object, valid, sourceEventId: source });
}

function planOf(said: Group['said'], writing: Writing): Plan | Ask {
  const [{ saying, n, id, saidAt }] = said as [Group['said'][number]];
  if (said.every((each) => each.saying.verb === 'assert'))
    return planAssert(
      writing,
      said.map((each) => assertionOf(each)),
    );
  if (said.length > 1)
    throw new MemoryError(
      'repeated_claim',
      'Of one subject and predicate a proposal asserts many, or changes, corrects or retracts one; propose the others by themselves.',
    );
  switch (saying.verb) {
    case 'change': {
      const { object, confidence = 1, from = saidAt } = saying;
      return planChange(writing, { claim: id, object, confidence, provenance: writeToken(n), from });
    }
    case 'correct': {
      const { object, confidence = 1, valid, was } = saying;
      const provenance = writeToken(n);
      return planCorrect(writing, {
        claim: id,
        object,
        confidence,
        provenance,
        valid,
        ...(was !== undefined && { was }),
      });
    }
    case 'retract': {
      const { object, valid } = saying;
      return planRetract(writing, { valid, ...(object !== undefined && { object }) });
    }
    case 'assert':
      throw new Error('unreachable: all that is asserted was planned together');
  }
}

function assertionOf({ saying, n, id, saidAt }: Group['said'][number]): Assertion {
  const { object, confidence = 1, valid = {}, strategy } = saying as Extract<Saying, { verb: 'assert' }>;
  const { from = saidAt, to = OPEN_END } = valid;
  return {
    claim: id,
    object,
    confidence,
    provenance: writeToken(n),
    valid: { from, to },
    ...(strategy !== undefined && { strategy }),
  };
}

/** The row without what only a store has of it. */
export function rowOf({ content: _, ...row }: FactVersion): FactRow {
  return row as FactRow;
}

function contentOf({ $blob: hash, bytes }: BlobRef): ContentRef {
  return { hash, bytes };
}

function referenceTo({ hash, bytes }: ContentRef): SaltedRef {
  return { $blob: hash, bytes, salted: true };
}

/** @throws RuntimeError `bad_option` */
export function requireBeliefs(beliefs: Beliefs | undefined): Beliefs {
  if (beliefs !== undefined) return beliefs;
  throw new RuntimeError('bad_option', 'The domain declares a memory; give the runtime a store that keeps facts.');
}
