import { type AssizeError, isAssizeError } from '#base';
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
  inheritanceOf,
  isFactStore,
  type LedgerStore,
  type PartitionName,
  placedProvenance,
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
  type Period,
  type Plan,
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
import { RuntimeError } from '../../errors.ts';
import type { Kept } from '../../records/payload-blobs.ts';
import type { Asked } from '../../records/questions.ts';
import { type Level, type Line, Lines } from '../visible/visibility.ts';
import { forgotten, type LosingPartition } from './close-erased.ts';
import { isErasedRow } from './erased-row.ts';
import { UnderWay } from './in-flight.ts';
import { type OpenRows, orderedRow, type Touch } from './open-rows.ts';
import { NotRead, Partitions, type Source } from './partition-cache.ts';
import { inheritedRoom, requireAnswerable, requireHeld } from './size-limits.ts';
import { type Judge, Votes } from './votes.ts';

const KEY_BYTES = 32;

/** What a proposal's sayings do to what is believed, planned and ready to be written. */
export interface Believed {
  /** As the commit has them. */
  readonly changes: readonly BeliefChange[];
  /** As the store takes them, when the commit has its id. From then on they are what is believed here. */
  accept(entryId: Hash): readonly FactWrite[];
}

/** What is to be written is refused, or somebody has to choose first. */
export type NotBelieved = { readonly refusal: AssizeError } | Asked;

/** The proposal that says something. */
export interface Sayer {
  /** The same object each time that one call has it planned. */
  readonly call: object;
  /** Of its trajectory's writer: another number once others went on there, after whom it is then ruled on. */
  readonly life: number;
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
  /** Throws where whoever has chosen may not choose that; its error is thrown on. Default: they may. */
  readonly mayAnswer?: (question: Question) => void;
}

/** Plans what sayings change, on what is believed here; one of these a runtime. */
export class Beliefs {
  readonly #store: LedgerStore & FactStore;
  readonly #random: Random;
  readonly #partitions: Partitions;
  readonly #votes: Votes | undefined;
  readonly #underWay: UnderWay = new UnderWay();
  #key: Uint8Array | undefined;
  /** Calls during which what is known here was compared with what the store has, and in which life. */
  readonly #compared: WeakMap<object, number> = new WeakMap();
  readonly lines: Lines;

  constructor(store: LedgerStore & FactStore, random: Random, judge?: Judge) {
    this.#store = store;
    this.#random = random;
    this.lines = new Lines(store);
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
    const line = this.lines.known(sayer.trajectoryId);
    if (line === undefined) throw new NotRead(async () => void (await this.lines.of(sayer.trajectoryId)));
    const outcome = this.#outcome(key, sayer, line);
    // A commit tells only of the partitions that it changes whether they were still as they are known here.
    const changed = 'changes' in outcome ? outcome.changes.length : 0;
    if (changed < partitionsIn(sayer, line)) this.#requireCompared(sayer, line);
    return outcome;
  }

  #outcome(key: Uint8Array, sayer: Sayer, line: Line): Believed | NotBelieved {
    try {
      const names = namesIn(sayer, line);
      const awaited = names.flatMap((name) => this.#partitions.awaited(name, senderOf(sayer)) ?? []);
      if (awaited.length > 0) throw new NotRead(async () => void (await Promise.all(awaited)));
      // Before claims get their ids, which is most of the work where much is said.
      const unknown = names.filter((name) => this.#partitions.get(name, []) === undefined);
      if (unknown.length > 0)
        throw new NotRead(() =>
          this.#read(
            line,
            unknown.map((name) => ({ name, sourced: [] })),
          ),
        );
      const groups = grouped(key, sayer, line);
      const unread = groups.filter(({ name, sourced }) => this.#partitions.get(name, sourced) === undefined);
      if (unread.length === 0) return this.#planned(groups, sayer, line);
      throw new NotRead(() => this.#read(line, unread));
    } catch (error) {
      // What was said is at fault, or does not go with what is believed.
      if (error instanceof MemoryError || isAssizeError(error, 'bad_instant')) return { refusal: error };
      throw error;
    }
  }

  /** @throws NotRead */
  #requireCompared(sayer: Sayer, line: Line): void {
    if (this.#compared.get(sayer.call) === sayer.life) return;
    throw new NotRead(async () => {
      for (const name of namesIn(sayer, line)) await this.#partitions.compare(name, line);
      this.#compared.set(sayer.call, sayer.life);
    });
  }

  /** Whether it is the judge who chooses, and no person. */
  isJudged({ strategy }: Question): boolean {
    return this.#votes !== undefined && strategy === 'rule';
  }

  /**
   * Waits until nothing is on its way to these partitions. From then on nobody else here plans on them until they are let go of, which
   * has to be.
   */
  hold(names: readonly PartitionName[]): Promise<() => void> {
    return this.#partitions.hold(names);
  }

  /** Whether a claim is in the store, where this trajectory sees it. One without a source never is: it is another one each time. */
  async has(claim: Claiming, trajectoryId: string): Promise<boolean> {
    const key = this.#key ?? (await this.#store.claimKey());
    // Without a key nobody has said anything in this store.
    if (key === undefined || claim.source === undefined) return false;
    const line = await this.lines.of(trajectoryId);
    return this.#partitions.has(idFrom(key, claim, claim.source), nameOf(claim, line[0]), line);
  }

  /** What an erasure changes of partitions that lose something by it. Once it is settled, nothing of them is remembered. */
  forgetting(losing: readonly LosingPartition[], at: Instant, by: Pick<Sayer, 'trajectoryId' | 'life'>): Believed {
    const { changes, writes } = forgotten(losing, at);
    return {
      changes,
      accept: () => {
        this.#partitions.accept(writes, senderOf(by));
        return writes;
      },
    };
  }

  /** The store has answered what was accepted; whether it came to be, and is what is known here. */
  settled(writes: readonly FactWrite[], isWritten: boolean): void {
    if (!isWritten) this.#partitions.forget(writes);
    this.#partitions.settled(writes);
    this.#underWay.settled(writes);
  }

  /** As `UnderWay.arrived`, of what this runtime has accepted. */
  arrived(...asked: Parameters<UnderWay['arrived']>): Promise<unknown> | undefined {
    return this.#underWay.arrived(...asked);
  }

  /** What was asked about was not put up, because something of it was erased. */
  unasked(partitions: readonly PartitionName[]): void {
    this.#partitions.forgetNames(partitions);
  }

  #planned(groups: readonly Group[], sayer: Sayer, line: Line): Believed | NotBelieved {
    const begun: Begun[] = [];
    let inherited = 0;
    for (const group of groups) {
      const known = this.#partitions.get(group.name, group.sourced)!;
      const said = group.said.filter(({ claim }) => claim === undefined || known.claims.get(claim) !== true);
      if (said.length === 0) continue;
      const { state, source, open } = known;
      const version = (state?.version ?? seqOf(source?.open ?? [])) + 1;
      const declaration = declarePredicate(sayer.predicates[group.name.predicate]!);
      const touched = open.touched(said.flatMap(touchesOf), declaration);
      const writing: Writing = {
        partition: group.name,
        declaration,
        open: touched.map(orderedRow),
        latest: state?.latest ?? source?.begins ?? null,
        at: sayer.at,
        seq: version,
        merge: mergeProvenance,
      };
      const plan = planOf(said, writing);
      if (!isChange(plan)) continue;
      if (state === undefined) inherited += inheritedRoom(group.name.predicate, source);
      const from = { touched, open, names: state?.names, ...(state === undefined && { source }) };
      begun.push({ group, said, writing, plan, from });
    }
    requireAnswerable(
      begun.map(({ plan }) => plan),
      inherited,
    );
    const planned: Planned[] = [];
    const questions: Question[] = [];
    const repeats: Hash[] = [];
    const given = givenBy(sayer);
    // Before a judge is asked for anything, so that nothing comes of what is refused.
    for (const { plan } of begun) checkChosen(plan, given, sayer);
    const untimed = untimedIn(groups);
    for (const each of begun) {
      const plan = this.#answered(each, given, { sayer, untimed, line });
      const { group, writing, from } = each;
      if (plan.kind === 'ask') {
        questions.push(...plan.questions);
        repeats.push(...textsOf(from.touched));
      } else if (isChange(plan)) planned.push({ group, plan, version: writing.seq, ...from });
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
    if (questions.length > 0) return { questions, repeats: [...new Set(repeats)], partitions: namesIn(sayer, line) };
    return this.#written(planned, sayer);
  }

  /**
   * With what somebody has chosen or the judge has voted; what the judge has not yet is asked before it is planned again. `given` loses
   * what is used of it.
   *
   * @throws NotRead
   */
  #answered(
    { said, writing, plan }: Begun,
    given: Map<string, Answer>,
    { sayer, untimed, line }: { readonly sayer: Sayer; readonly untimed: readonly string[]; readonly line: Line },
  ): Plan | Ask {
    if (plan.kind === 'plan') return plan;
    const votes = this.#votes;
    const voted = ({ request }: Question): Answer | undefined => votes?.of(sayer.call, request);
    const unasked = plan.questions.filter((question) => this.isJudged(question) && voted(question) === undefined);
    if (votes !== undefined && unasked.length > 0) {
      // Nobody is asked about what is known by now not to be so.
      this.#requireCompared(sayer, line);
      if (sayer.saidAt === undefined && untimed.length > 0)
        throw new NotRead(() => votes.saidAt(writing.partition, untimed, sayer.at));
      throw new NotRead(async () => {
        for (const question of unasked) await votes.ask(sayer.call, question);
      });
    }
    const answers = plan.questions.map((question) => given.get(question.request) ?? voted(question));
    const open = plan.questions.filter((_, i) => answers[i] === undefined);
    for (const { request } of plan.questions) given.delete(request);
    if (open.length > 0) return { ...plan, questions: open };
    return planOf(said, { ...writing, answers: answers as Answer[] });
  }

  #written(planned: readonly Planned[], sayer: Sayer): Believed {
    const { kept } = sayer;
    const parts = planned.map(({ group, plan, version, touched, open, names: known, source }) => {
      const { name } = group;
      const names = known ?? contentOf(kept.made({ ...name }));
      const contents = new Map(touched.map(({ lineage, content }) => [lineage, content]));
      const insert = plan.insert.map((row): [FactRow, ContentRef] => {
        // One text a claim, so that it is erased with it wherever it stands; a witness is a text of its own.
        if (row.row_kind === 'audit') return [row, contentOf(kept.made(row.object))];
        const content = contents.get(row.lineage) ?? contentOf(kept.made(row.object));
        contents.set(row.lineage, content);
        return [row, content];
      });
      const inherit = source?.until === undefined ? undefined : { until: source.until, rows: source.open };
      // Texts that may not be erased meanwhile. Of a branch all that is open: an erasure where it was said is no change of the branch's partition.
      const repeats = name.branch === undefined ? repeatedBy(plan, touched) : [...new Set(textsOf(open.all))];
      const reads = source?.reads ?? [];
      return { name, names, plan, version, insert, cardinality: group.cardinality, inherit, repeats, reads };
    });
    const changes = parts.map(({ names, plan, version, insert, cardinality, inherit }) =>
      beliefChange(plan, {
        partition: referenceTo(names),
        version,
        cardinality,
        objects: insert.map(([, content]) => referenceTo(content)),
        ...(inherit !== undefined && { inherit: inheritanceOf(inherit.until, inherit.rows) }),
      }),
    );
    requireHeld(changes);
    return {
      changes,
      accept: (entryId) => {
        const writes = parts.map(({ name, names, plan, version, insert, inherit, repeats, reads }) => ({
          partition: name,
          names,
          version,
          system_time: plan.systemTime,
          close: plan.close,
          insert: insert.map(([row, content]) => ({
            ...row,
            ...(name.branch !== undefined && { branch: name.branch }),
            provenance_id: placedProvenance(row.provenance_id, entryId),
            entry_id: entryId,
            content,
          })),
          ...(inherit !== undefined && { inherit }),
          ...(repeats.length > 0 && { repeats }),
          ...(reads.length > 0 && { reads }),
        }));
        this.#partitions.accept(writes, senderOf(sayer));
        for (const { name, plan } of parts) this.#partitions.made(name, plan.merged ?? []);
        this.#underWay.accept(writes);
        return writes;
      },
    };
  }

  async #read(line: Line, groups: readonly Pick<Group, 'name' | 'sourced'>[]): Promise<void> {
    for (const { name, sourced } of groups) await this.#partitions.read(name, sourced, line);
  }

  async #readKey(): Promise<void> {
    // Chance is for the first one who says something in a store alone.
    this.#key = (await this.#store.claimKey()) ?? (await this.#store.claimKey(this.#random.bytes(KEY_BYTES)));
  }
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

/** What is known of a partition that is changed. */
interface From {
  /** What the plan depends on of what is open. */
  readonly touched: readonly FactVersion[];
  readonly open: OpenRows;
  readonly names: ContentRef | undefined;
  /** Of a branch that has not changed the partition yet. */
  readonly source?: Source | undefined;
}

/** What is planned as long as nobody has answered. */
interface Begun {
  readonly group: Group;
  readonly said: Group['said'];
  readonly writing: Writing;
  readonly plan: Plan | Ask;
  readonly from: From;
}

interface Planned extends From {
  readonly group: Group;
  readonly plan: Plan;
  readonly version: number;
}

/** What somebody has chosen, by the question. @throws MemoryError `repeated_answer` */
function givenBy({ answers = [] }: Sayer): Map<string, Answer> {
  const given = new Map<string, Answer>();
  for (const answer of answers) {
    const { request } = answer;
    if (given.has(request))
      throw new MemoryError('repeated_answer', `There are two answers to ${request}; a question has one.`, {
        evidence: { request },
      });
    given.set(request, answer);
  }
  return given;
}

/** @throws what `mayAnswer` throws */
function checkChosen(plan: Plan | Ask, given: ReadonlyMap<string, Answer>, { mayAnswer }: Sayer): void {
  if (plan.kind !== 'ask' || mayAnswer === undefined) return;
  for (const question of plan.questions) if (given.has(question.request)) mayAnswer(question);
}

function isChange(plan: Plan | Ask): boolean {
  return plan.kind === 'ask' || plan.close.length + plan.insert.length > 0;
}

/** Who sends changes that may be planned on one another before the store has them. */
function senderOf({ trajectoryId, life }: Pick<Sayer, 'trajectoryId' | 'life'>): string {
  return `${life} ${trajectoryId}`;
}

function namesIn({ compiled }: Sayer, [own]: Line): PartitionName[] {
  return compiled.sayings.map((saying) => nameOf(saying, own));
}

function nameOf({ space, subject, predicate }: Saying, { branch }: Level): PartitionName {
  return { space, subject, predicate, ...(branch !== undefined && { branch }) };
}

/** The greatest place in the order of commits, 0 where there is nothing: who takes these over goes on from there. */
function seqOf(rows: readonly FactVersion[]): number {
  return rows.reduce((last, { seq }) => Math.max(last, seq), 0);
}

/** Where the texts stand that witnesses of a plan repeat: of all that is open where somebody lost. */
function repeatedBy({ insert }: Plan, touched: readonly FactVersion[]): Hash[] {
  const lost = insert.filter(({ row_kind }) => row_kind === 'audit');
  const isRepeated = (row: FactVersion): boolean =>
    lost.some(({ valid_from, valid_to }) => row.valid_from < valid_to && valid_from < row.valid_to);
  return [...new Set(textsOf(touched.filter(isRepeated)))];
}

/** Where the texts of rows stand, as far as they were not erased. */
function textsOf(rows: readonly FactVersion[]): Hash[] {
  return rows.filter((row) => !isErasedRow(row)).map(({ content }) => content.hash);
}

function partitionsIn(sayer: Sayer, line: Line): number {
  return new Set(namesIn(sayer, line).map((name) => JSON.stringify(name))).size;
}

/** What is said of each partition, in the order in which the partitions come first. */
function grouped(key: Uint8Array, { compiled, proposalId, predicates, at, saidAt = at }: Sayer, [own]: Line): Group[] {
  const groups = new Map<string, Group & { said: Group['said'][number][]; sourced: string[] }>();
  for (const [n, saying] of compiled.sayings.entries()) {
    const { space, subject, predicate } = saying;
    const name = nameOf(saying, own);
    const at = JSON.stringify([space, subject, predicate]);
    const group = groups.get(at) ?? {
      name,
      cardinality: predicates[predicate]!.cardinality,
      said: [] as Group['said'][number][],
      sourced: [] as string[],
    };
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

/** What says that something is so. */
type Claiming = Exclude<Saying, { verb: 'retract' }>;

function idOf(key: Uint8Array, saying: Claiming, proposalId: Hash, n: number): string {
  return idFrom(key, saying, saying.source ?? `${proposalId}#${n}`);
}

/** Of what was said, and not of when: the same from the same source is the same claim also where it has no time of its own. */
function idFrom(key: Uint8Array, saying: Claiming, source: string): string {
  const { space, subject, predicate, object } = saying;
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

/** What is said to be so, and of a correction what was not: where, and of which object. */
function touchesOf({ saying, saidAt }: Group['said'][number]): readonly Touch[] {
  const { object } = saying;
  switch (saying.verb) {
    case 'assert':
      return [{ valid: periodOf(saying.valid, saidAt), object }];
    case 'change':
      return [{ valid: periodOf(saying, saidAt), object }];
    case 'correct':
      return [
        { valid: saying.valid, object },
        { valid: saying.valid, object: saying.was },
      ];
    case 'retract':
      return [{ valid: saying.valid, object }];
  }
}

/** It is so since it was said, and without an end, where nothing else is said. @throws MemoryError `reversed_period`, `empty_period` */
function periodOf(
  { from, to = OPEN_END }: { readonly from?: Instant; readonly to?: Instant } = {},
  saidAt: Instant,
): Period {
  // Whose end was given has no other instant to exchange it with.
  if (from === undefined && to <= saidAt)
    throw new MemoryError(
      to < saidAt ? 'reversed_period' : 'empty_period',
      'It has ended when it is said, and without a from it begins then; say with from since when it was so.',
      { evidence: { to, said: saidAt } },
    );
  return { from: from ?? saidAt, to };
}

function assertionOf({ saying, n, id, saidAt }: Group['said'][number]): Assertion {
  const { object, confidence = 1, valid, strategy } = saying as Extract<Saying, { verb: 'assert' }>;
  return {
    claim: id,
    object,
    confidence,
    provenance: writeToken(n),
    valid: periodOf(valid, saidAt),
    ...(strategy !== undefined && { strategy }),
  };
}

/** The row without what only a store has of it: also the memory that it stands in, which may not be that of who sees it. */
export function rowOf({ content: _, branch: __, ...row }: FactVersion): FactRow {
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
