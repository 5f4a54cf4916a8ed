import { addMicros, hashText, type Instant, plainText } from '#canon';
import { auditRows } from './audit.ts';
import { displacedBy, markOf } from './displaced.ts';
import { MemoryError } from './errors.ts';
import {
  byTime,
  checkFacts,
  type FactRow,
  isOpen,
  keyText,
  type MergeProvenance,
  objectKey,
  type Partition,
  type Provenance,
  type RowKey,
  THIS_ENTRY,
  type TrustProvenance,
  validOf,
} from './fact.ts';
import type { Item } from './group.ts';
import { intersection, leftovers, OPEN_END, overlaps, type Period, readPeriod } from './period.ts';
import type { PredicateDeclaration } from './predicate.ts';
import { type Answer, type Question, readAnswers } from './question.ts';
import { type Belief, settle } from './settle.ts';
import type { Strategy } from './strategy.ts';
import { type StatedClaims, tokensOfSources, withoutWrites } from './withdraw.ts';

/** The starting point and the stamps of a change of one partition. */
export interface PlanInput {
  readonly partition: Partition;
  readonly declaration: PredicateDeclaration;
  /**
   * The partition's open current rows, in any order, as `checkOpen` accepts them. Rows that do not
   * overlap the written periods may be omitted.
   */
  readonly open: readonly FactRow[];
  /** The system time of the partition's latest change. Null if it was never changed. */
  readonly latest: Instant | null;
  /** The time of the commit. */
  readonly at: Instant;
  /** The commit's position in the commit order, greater than that of every earlier commit. */
  readonly seq: number;
  readonly merge: MergeProvenance;
  /** Adds the trust that a chosen fact rests on. Default: only its claims are recorded. */
  readonly trust?: TrustProvenance;
  /** The answers to the questions of an earlier attempt. */
  readonly answers?: readonly Answer[];
}

/** An asserted fact. */
export interface Assertion {
  /** The claim's id, from `claimId`. */
  readonly claim: string;
  readonly object: string;
  readonly valid: Period;
  readonly confidence: number;
  readonly provenance: Provenance;
  /** Must equal the predicate's strategy. Set it to verify the declaration. */
  readonly strategy?: Strategy;
}

/** A statement that an object no longer holds from an instant on. */
export interface Ending extends Omit<Assertion, 'valid'> {
  readonly ends: Instant;
}

/** The changes of a partition's rows, all at one system time. */
export interface Plan {
  readonly kind: 'plan';
  readonly systemTime: Instant;
  /** Rows to close: the system time becomes their `system_time_end`. */
  readonly close: readonly RowKey[];
  readonly insert: readonly FactRow[];
  /**
   * Claims without a row, because another claim asserts the same fact. In code-unit order. Absent
   * if there are none.
   */
  readonly merged?: readonly string[];
}

/**
 * Questions that must be answered before the plan, one for each distinct conflict set. The current
 * facts stay until then.
 */
export interface QuestionPlan {
  readonly kind: 'ask';
  readonly questions: readonly Question[];
  /** Maximum number of characters of an entry for the result of the answers. */
  readonly most: number;
}

/**
 * The system time of a change: the commit's time, or a microsecond after the partition's latest
 * change. No row ends in the tick in which it started, so past reads are stable
 * (docs/decisions/017-memory.md).
 * @throws CanonError `bad_instant`, also after the end of the calendar
 */
export function systemTime(at: Instant, latest: Instant | null): Instant {
  return latest === null || at > latest ? at : addMicros(latest, 1);
}

function later(a: Instant | null, b: Instant): Instant {
  return a === null || a < b ? b : a;
}

/**
 * Plans one or more assertions of one commit. Assertions in a batch have no order, so every order
 * produces the same plan. An equal object at a common time is not a contradiction: it adds
 * provenance and widens the fact. An end contradicts the facts of its object that were stated to
 * begin before it, also of a multi-valued predicate. For another object the declared strategy
 * decides in each atomic segment. The loser keeps the rest as declared, and has an audit row for
 * each lost segment.
 * @throws MemoryError `no_instant`, `empty_period`, `reversed_period`, `strategy_not_allowed`,
 * `repeated_claim`, `repeated_answer`, `stale_answer`, `unknown_member`
 */
export function planAssert(
  writing: PlanInput,
  assertions: readonly (Assertion | Ending)[],
): Plan | QuestionPlan {
  const work = new PlanBuilder(writing);
  return work.plan(
    assertions.map((each) =>
      'ends' in each ? work.ended(each) : work.asserted(each, readPeriod(each.valid)),
    ),
    work.declaration,
  );
}

/**
 * Plans a change: a fact that is valid from an instant on, without an end. Earlier facts stay valid
 * until that instant, even if losers' remainders are dropped. The strategy decides about existing
 * facts after that instant.
 * @throws MemoryError `not_single_valued` for several values, because the change does not name the
 * previous one; the errors of `planAssert`
 */
export function planChange(
  writing: PlanInput,
  change: Omit<Assertion, 'valid'> & { readonly from: Instant },
): Plan | QuestionPlan {
  const work = new PlanBuilder(writing);
  if (work.declaration.cardinality !== 'single-valued') {
    throw new MemoryError(
      'not_single_valued',
      'A multi-valued predicate cannot be changed. Assert the new value and retract the old one.',
    );
  }
  const valid = readPeriod({ from: change.from, to: OPEN_END });
  return work.plan([work.asserted(change, valid)], { ...work.declaration, remainder: 'keep' });
}

/**
 * Plans a correction: in the period, the new object replaces a wrong record. No strategy decides,
 * because the wrong fact is withdrawn. Reads as of earlier system times still return it, and
 * outside the period it stays valid. `was` names the wrong object, and only its periods are
 * corrected, so the plan can be empty. Without `was`, all facts of the period are replaced, and the
 * new object holds in the whole period. This requires a single-valued predicate.
 * @throws MemoryError `not_single_valued`, and the errors of `planAssert`
 */
export function planCorrect(
  writing: PlanInput,
  correction: Assertion & { readonly was?: string },
): Plan | QuestionPlan {
  const work = new PlanBuilder(writing);
  const { was } = correction;
  if (was === undefined && work.declaration.cardinality !== 'single-valued') {
    throw new MemoryError(
      'not_single_valued',
      'The predicate is multi-valued. Name the wrong value with `was`.',
    );
  }
  const valid = readPeriod(correction.valid);
  const wrong = work.withdraw(valid, was);
  const asserted = work.asserted(correction, valid);
  const parts = was === undefined ? asserted.parts : wrong;
  return work.plan(parts.length === 0 ? [] : [{ ...asserted, parts }], {
    ...work.declaration,
    remainder: 'keep',
  });
}

/**
 * Plans a retraction in a given period, of all objects or of one. No row is deleted, and outside
 * the period the facts stay valid. The plan is empty if no fact matches.
 * @throws MemoryError the errors of `planAssert`
 */
export function planRetract(writing: PlanInput, retraction: Retraction): Plan | QuestionPlan {
  const work = new PlanBuilder(writing);
  work.withdraw(readPeriod(retraction.valid), retraction.object);
  return work.plan([], { ...work.declaration, remainder: 'keep' });
}

/** Statements of one commit that only take away. */
export interface Withdrawals {
  readonly sources: readonly string[];
  /** The write tokens of single statements. Default: none. */
  readonly writes?: readonly string[];
  /** The claims of all tokens of the open rows and of the history. */
  readonly claims: StatedClaims;
  /** All versions of the partition, of facts and audit rows. Default: nothing comes back. */
  readonly history?: readonly FactRow[];
  /** Default: none. */
  readonly retractions?: readonly Retraction[];
}

/** Without an object: all objects. */
export interface Retraction {
  readonly valid: Period;
  readonly object?: string;
}

/**
 * Plans the withdrawal of sources and of single statements: each fact loses their writes, and a
 * fact that rests on them alone is closed. In its periods the facts that they had displaced hold
 * again, as the strategy decides without them; a choice of a person or a policy before it stays.
 * Retractions of the same commit also remove their periods; the order of the statements has no
 * influence. Reads as of earlier system times still return what was believed.
 * @throws MemoryError the errors of `planAssert`
 */
export function planWithdraw(writing: PlanInput, withdrawals: Withdrawals): Plan {
  const retractions = (withdrawals.retractions ?? []).map(({ valid, ...of }) => ({
    ...of,
    valid: readPeriod(valid),
  }));
  return new PlanBuilder(writing).withdrawAll({ ...withdrawals, retractions });
}

/** A plan under construction. */
class PlanBuilder {
  readonly declaration: PredicateDeclaration;
  readonly #partition: Partition;
  readonly #systemTime: Instant;
  readonly #seq: number;
  readonly #merge: MergeProvenance;
  readonly #trust: TrustProvenance | undefined;
  readonly #answers: ReadonlyMap<string, Answer>;
  readonly #claims = new Set<string>();
  readonly #ends = new Set<string>();
  #open: readonly Item[];
  #withdrawn: Period | undefined;

  constructor({
    partition,
    declaration,
    open,
    latest,
    at,
    seq,
    merge,
    trust,
    answers = [],
  }: PlanInput) {
    const { space, subject, predicate } = partition;
    this.#partition = { space, subject, predicate };
    this.declaration = declaration;
    this.#seq = seq;
    this.#merge = merge;
    this.#trust = trust;
    this.#answers = readAnswers(answers);
    const earlier = open.reduce((last, row) => later(last, row.system_time_start), latest);
    this.#systemTime = systemTime(at, earlier);
    this.#open = open.map((row) => ({ row, isNew: false, parts: [validOf(row)] }));
  }

  /** The item of an assertion: the row that it becomes without conflicts. */
  asserted(assertion: Omit<Assertion, 'valid'>, valid: Period): Item {
    return this.#item(assertion, valid, this.#claims);
  }

  /** The item of an end. Its claim may also assert the period before the end. */
  ended(ending: Ending): Item {
    return {
      ...this.#item(ending, readPeriod({ from: ending.ends, to: OPEN_END }), this.#ends),
      isEnd: true,
    };
  }

  #item(assertion: Omit<Assertion, 'valid'>, { from, to }: Period, claims: Set<string>): Item {
    const {
      claim,
      object,
      confidence,
      provenance,
      strategy = this.declaration.strategy,
    } = assertion;
    if (strategy !== this.declaration.strategy) {
      throw new MemoryError(
        'strategy_not_allowed',
        `The predicate ${this.#partition.predicate} declares the strategy ${this.declaration.strategy}. Leave out the strategy of the assertion.`,
        { evidence: { declared: this.declaration.strategy, given: strategy } },
      );
    }
    if (claims.has(claim)) {
      throw new MemoryError(
        'repeated_claim',
        'The batch has one claim twice. Remove one of them.',
        {
          evidence: { claim },
        },
      );
    }
    claims.add(claim);
    const { space, subject, predicate } = this.#partition;
    const stamp = this.#stamp();
    // In canonical order. Derived rows keep it.
    const row: FactRow = {
      asserted_from: from,
      asserted_seq: this.#seq,
      cardinality: stamp.cardinality,
      confidence,
      entry_id: stamp.entry_id,
      fact_id: claim,
      lineage: claim,
      object,
      predicate,
      provenance_id: provenance,
      resolution_id: null,
      resolution_strategy_id: stamp.resolution_strategy_id,
      row_kind: 'current',
      seq: stamp.seq,
      space,
      subject,
      system_time_end: stamp.system_time_end,
      system_time_start: stamp.system_time_start,
      valid_from: from,
      valid_to: to,
    };
    return { row, isNew: true, parts: [{ from, to }] };
  }

  /**
   * Removes a period from the facts of one object, or of all objects. Returns the removed part of
   * each row.
   */
  withdraw(valid: Period, object: string | undefined): Period[] {
    this.#withdrawn = valid;
    const key = object === undefined ? undefined : objectKey(object);
    const isMeant = ({ row }: Item): boolean => key === undefined || objectKey(row.object) === key;
    const meant = this.#open.filter(isMeant).map(({ row }) => validOf(row));
    this.#open = this.#open.map((item) =>
      isMeant(item) ? { ...item, parts: leftovers(validOf(item.row), [valid]) } : item,
    );
    return meant.flatMap((whole) => intersection(whole, valid) ?? []);
  }

  withdrawAll({
    retractions,
    ...withdrawal
  }: Withdrawals & { readonly retractions: readonly Retraction[] }): Plan {
    const { strategy } = this.declaration;
    const { sources, writes = [], claims, history = [] } = withdrawal;
    const withdrawn = new Set([...tokensOfSources(sources, claims), ...writes]);
    const without = (row: FactRow, gone: ReadonlySet<string>): FactRow | undefined =>
      withoutWrites(row, { withdrawn: gone, claims, strategy });
    const isMeant = ({ object }: Retraction, row: FactRow): boolean =>
      object === undefined || objectKey(object) === objectKey(row.object);
    const changed = this.#open.flatMap(({ row }) => {
      const left = without(row, withdrawn);
      const retracted = retractions.filter((each) => isMeant(each, row)).map(({ valid }) => valid);
      const isCut = retracted.some((valid) => overlaps(validOf(row), valid));
      return left === row && !isCut
        ? []
        : [{ row, left, parts: leftovers(validOf(row), retracted) }];
    });
    const closed = new Set(changed.map(({ row }) => row));
    const standing = this.#open.filter(({ row }) => !closed.has(row));
    const lefts = changed.flatMap(({ left, parts }): Item[] =>
      left === undefined || parts.length === 0
        ? []
        : [{ row: left, isNew: true, isLeft: true, parts }],
    );
    const displaced = displacedBy({ history, withdrawn, strategy, without });
    const gaps = [
      ...changed.filter(({ row, left }) => left !== row).map(({ row }) => validOf(row)),
      ...displaced.ended,
    ];
    const beside = [...standing.map(({ row }) => row), ...lefts.map(({ row }) => row)];
    const back = displaced.items(joinedPeriods(gaps), beside).flatMap((item) => {
      const retracted = retractions
        .filter((each) => isMeant(each, item.row))
        .map(({ valid }) => valid);
      const parts = item.parts.flatMap((part) => leftovers(part, retracted));
      return parts.length === 0 ? [] : [{ ...item, parts }];
    });
    const { beliefs, contests } = settle(
      this.#partition,
      { ...this.declaration, remainder: 'keep' },
      [...standing, ...lefts, ...back],
      this.#answers,
      { merge: this.#merge, trust: this.#trust },
    );
    const stay = new Set(
      beliefs.filter((belief) => this.#stands(belief)).map(({ head }) => head.row),
    );
    const names = new FactIds(this.#systemTime, stay);
    // A claim that loses again has its audit row already.
    const known = new Set(back.map(({ row }) => row));
    const lost = contests.flatMap((contest, i) => {
      const losers = contest.losers.filter(({ items }) => items.some(({ row }) => !known.has(row)));
      if (losers.length === 0) return [];
      return auditRows({ ...contest, losers }, i, this.#stamp(), {
        merge: this.#merge,
        trust: this.#trust,
      });
    });
    const insert = beliefs
      .filter(({ head }) => !stay.has(head.row))
      .map((belief) => this.#rowOf(belief, names));
    const close = this.#open.map(({ row }) => row).filter((row) => !stay.has(row));
    const marked = displaced.lost.length === 0 ? [] : [this.#mark(displaced.lost, history)];
    return {
      kind: 'plan',
      systemTime: this.#systemTime,
      close: close
        .sort(byTime)
        .map(({ fact_id, system_time_start }) => ({ fact_id, system_time_start })),
      insert: [...insert, ...lost, ...marked].sort(byTime),
    };
  }

  /** The record of withdrawn statements that had lost, so that they never come back. */
  #mark(tokens: readonly string[], history: readonly FactRow[]): FactRow {
    const ofOne = history.find((row) => tokens.some((token) => row.provenance_id.includes(token)))!;
    const { strategy } = this.declaration;
    const request = hashText(plainText({ withdrawn: [...tokens].sort(), at: this.#systemTime }));
    const { lineage: claim } = ofOne;
    const witness = {
      loser: claim,
      members: [],
      request,
      resolution_id: request,
      strategy,
      winner: claim,
      withdrawn: true,
    };
    return {
      ...ofOne,
      ...this.#stamp(),
      fact_id: markOf(request),
      object: plainText(witness),
      provenance_id: [...tokens].sort().reduce(this.#merge),
      row_kind: 'audit',
      resolution_id: request,
    };
  }

  plan(asserted: readonly Item[], declaration: PredicateDeclaration): Plan | QuestionPlan {
    // The other rows neither overlap nor change.
    const met = [
      ...asserted.map(({ row }) => validOf(row)),
      ...(this.#withdrawn === undefined ? [] : [this.#withdrawn]),
    ];
    const open = this.#open.filter(({ row }) => met.some((valid) => overlaps(validOf(row), valid)));
    const { beliefs, contests, questions, most } = settle(
      this.#partition,
      declaration,
      [...open, ...asserted],
      this.#answers,
      { merge: this.#merge, trust: this.#trust },
    );
    if (questions.length > 0) return { kind: 'ask', questions, most };
    const stay = new Set(
      beliefs.filter((belief) => this.#stands(belief)).map(({ head }) => head.row),
    );
    const close = open.map(({ row }) => row).filter((row) => !stay.has(row));
    const names = new FactIds(this.#systemTime, stay);
    const believed = beliefs
      .filter(({ head }) => !stay.has(head.row))
      .map((belief) => this.#rowOf(belief, names));
    const lost = contests.flatMap((contest, i) =>
      auditRows(contest, i, this.#stamp(), { merge: this.#merge, trust: this.#trust }),
    );
    const insert = [...believed, ...lost].sort(byTime);
    const claims = new Set(insert.map(({ lineage }) => lineage));
    const stated = new Set(asserted.map(({ row }) => row.lineage));
    const merged = [...stated].filter((claim) => !claims.has(claim));
    return {
      kind: 'plan',
      systemTime: this.#systemTime,
      close: close
        .sort(byTime)
        .map(({ fact_id, system_time_start }) => ({ fact_id, system_time_start })),
      insert,
      ...(merged.length > 0 && { merged: merged.sort() }),
    };
  }

  /**
   * Whether the fact is an unchanged open row. A winner that loses nothing gets no new version
   * (docs/decisions/017-memory.md).
   */
  #stands({ head: { row, isNew }, items, from, to }: Belief): boolean {
    return !isNew && items.length === 1 && row.valid_from === from && row.valid_to === to;
  }

  #rowOf(belief: Belief, names: FactIds): FactRow {
    const { row, isNew } = belief.head;
    const { resolution_strategy_id, ...stamp } = this.#stamp();
    return {
      ...row,
      ...stamp,
      resolution_strategy_id: isNew ? resolution_strategy_id : row.resolution_strategy_id,
      fact_id: names.of(row),
      valid_from: belief.from,
      valid_to: belief.to,
      confidence: belief.confidence,
      provenance_id: belief.provenance,
    };
  }

  #stamp() {
    return {
      system_time_start: this.#systemTime,
      system_time_end: OPEN_END,
      resolution_strategy_id: this.declaration.strategy,
      entry_id: THIS_ENTRY,
      seq: this.#seq,
      cardinality: this.declaration.cardinality,
    };
  }
}

/** The periods without overlaps. */
function joinedPeriods(periods: readonly Period[]): Period[] {
  const joined: Period[] = [];
  for (const each of periods) joined.push(...leftovers(each, joined));
  return joined;
}

/**
 * Ids for the rows of one plan. The first row of a fact keeps its id, and the others are numbered.
 */
class FactIds {
  readonly #systemTime: Instant;
  readonly #taken: Set<string>;
  readonly #numbers = new Map<string, number>();

  constructor(systemTime: Instant, stay: Iterable<FactRow>) {
    this.#systemTime = systemTime;
    this.#taken = new Set([...stay].map(({ fact_id }) => fact_id));
  }

  of({ fact_id, lineage }: FactRow): string {
    if (!this.#taken.has(fact_id)) {
      this.#taken.add(fact_id);
      return fact_id;
    }
    const number = (this.#numbers.get(lineage) ?? 0) + 1;
    this.#numbers.set(lineage, number);
    return `${lineage}::${this.#systemTime}::${number}`;
  }
}

/**
 * Refuses forbidden overlaps: any two rows of a single-valued predicate, otherwise two rows of one
 * object. Also checks a predicate that is to become single-valued (docs/decisions/017-memory.md).
 * @throws MemoryError `overlaps_open`, and the errors of `checkFacts`
 */
export function checkOpen(open: readonly FactRow[], declaration: PredicateDeclaration): void {
  checkFacts(open);
  requireNonOverlapping(open.filter(isOpen), declaration);
}

/** Compares exact objects. With object keys, stores with older rows could refuse every addition. */
function requireNonOverlapping(
  open: readonly FactRow[],
  { cardinality }: PredicateDeclaration,
): void {
  const ends = new Map<string, FactRow>();
  for (const row of [...open].sort((a, b) => (a.valid_from < b.valid_from ? -1 : 1))) {
    const { space, subject, predicate, object } = row;
    const key = JSON.stringify([
      space,
      subject,
      predicate,
      ...(cardinality === 'single-valued' ? [] : [object]),
    ]);
    const before = ends.get(key);
    if (before !== undefined && overlaps(validOf(before), validOf(row))) {
      throw new MemoryError(
        'overlaps_open',
        `Open facts overlap, so the predicate cannot be ${cardinality}. Retract one of them in a trajectory whose domain has the earlier declaration.`,
        {
          evidence: { rows: [keyText(before), keyText(row)] },
        },
      );
    }
    ends.set(key, row);
  }
}
