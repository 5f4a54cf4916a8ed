import { form, requireForm } from '#base';
import { addMicros, type Instant, maxInstant } from '#canon';
import { auditRows, confirmedProvenance } from './audit.ts';
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
  requireConfidence,
  requireText,
  THIS_ENTRY,
  validOf,
} from './fact.ts';
import type { Item } from './group.ts';
import { intersection, leftovers, OPEN_END, overlaps, type Period, period, readPeriod } from './period.ts';
import { declarePredicate, type PredicateDeclaration } from './predicate.ts';
import { type Answer, type Question, readAnswers } from './question.ts';
import { type Belief, settle } from './settle.ts';
import { requireStrategy, type Strategy } from './strategy.ts';

/** What a change of one partition starts from, and is stamped with. */
export interface Writing {
  readonly partition: Partition;
  readonly declaration: PredicateDeclaration;
  /** The open current rows of the partition, in any order. Those that overlap nothing of what is written may be left out. */
  readonly open: readonly FactRow[];
  /** The latest system time at which the partition was changed; null where it never was. */
  readonly latest: Instant | null;
  /** The time of the commit. */
  readonly at: Instant;
  /** Its place in the true order: greater than that of every commit before. */
  readonly seq: number;
  readonly merge: MergeProvenance;
  /** What was answered to the questions of an earlier try. */
  readonly answers?: readonly Answer[];
}

/** What somebody says is so. */
export interface Assertion {
  /** Its id, as `claimId` makes it. */
  readonly claim: string;
  readonly object: string;
  readonly valid: Period;
  readonly confidence: number;
  readonly provenance: Provenance;
  /** Only the one that the predicate declares is taken; for who wants to be sure of it. */
  readonly strategy?: Strategy;
}

/** What happens to the rows of a partition, all at one system time. */
export interface Plan {
  readonly kind: 'plan';
  readonly systemTime: Instant;
  /** Their `system_time_end` becomes the system time. */
  readonly close: readonly RowKey[];
  readonly insert: readonly FactRow[];
  /** Claims that were said and have no row: another one says the same. In code-unit order; absent where there are none. */
  readonly merged?: readonly string[];
}

/** Nothing happens before this is answered: one question for each distinct conflict set. What was believed stays so meanwhile. */
export interface Ask {
  readonly kind: 'ask';
  readonly questions: readonly Question[];
  /** Characters that an entry takes for what comes of the answers, at most. */
  readonly most: number;
}

/**
 * The system time of a change: the commit's, or a microsecond after the partition's latest. So no row ends in the tick in which it
 * began, and what was read as of the past stays (memory.md §5.4 no. 12).
 * @throws CanonError `bad_instant`, also where the calendar ends
 */
export function systemTime(at: Instant, latest: Instant | null): Instant {
  return latest === null ? maxInstant(at, at) : maxInstant(at, addMicros(latest, 1));
}

/**
 * Plans for what is said to be so, one saying or many at once. All are of one commit, and so no order is between them: the plan is the
 * same for every order of the batch. The same object at a common time is no contradiction: it adds its provenance and widens. For another
 * object the declared operator decides, in each atomic segment by itself; who loses there keeps the rest, as declared; each loser
 * has an audit row for each segment that it lost.
 * @throws MemoryError `bad_text`, `bad_confidence`, `no_instant`, `empty_period`, `reversed_period`, `strategy_not_allowed`,
 * `unknown_strategy`, `repeated_claim`, `repeated_answer`, `stale_answer`, `unknown_member`; for the writing `wrong_partition`, `overlaps_open`,
 * `duplicate_key`, and as `declarePredicate` and `checkFact` do; CanonError `bad_instant`; ArgumentError `bad_argument`
 */
export function planAssert(writing: Writing, assertions: readonly Assertion[]): Plan | Ask {
  requireForm(form.list(form.object), assertions, 'assertions');
  const work = begin(writing);
  return work.plan(
    assertions.map((assertion) => work.asserted(assertion, readPeriod(assertion.valid, 'valid'))),
    work.declaration,
  );
}

/**
 * Plans for what has become different: from an instant on and without an end yet, it is so. What was before stays believed until then,
 * also where the remainder of losers is not kept. Whether what was believed from then on gives way is the operator's to say.
 * @throws MemoryError `not_single_valued`: where there are several values it does not say which of them it follows; and as `planAssert` does
 */
export function planChange(
  writing: Writing,
  change: Omit<Assertion, 'valid'> & { readonly from: Instant },
): Plan | Ask {
  requireForm(form.object, change, 'change');
  const work = begin(writing);
  if (work.declaration.cardinality !== 'single-valued') {
    throw new MemoryError(
      'not_single_valued',
      'Of several values none follows another; assert one and retract the other.',
    );
  }
  const valid = period(change.from, OPEN_END);
  return work.plan([work.asserted(change, valid)], { ...work.declaration, remainder: 'keep' });
}

/**
 * Plans for what was recorded wrongly: in that period it was so, and not as believed. No operator is asked, since nothing contradicts:
 * what was believed there is withdrawn by who may do that. It remains as of before; outside of the period it stays believed.
 * `was` says which object was wrong, and it is corrected where that is believed, and nowhere else, so that the plan may be empty; without
 * it all that is believed there was, which needs a predicate with one value at a time, and it is so in all of the period.
 * @throws MemoryError `not_single_valued`, and as `planAssert` does
 */
export function planCorrect(writing: Writing, correction: Assertion & { readonly was?: string }): Plan | Ask {
  requireForm(form.object, correction, 'correction');
  const work = begin(writing);
  const { was } = correction;
  if (was === undefined && work.declaration.cardinality !== 'single-valued') {
    throw new MemoryError('not_single_valued', 'There may be several values: say which of them was wrong (`was`).');
  }
  const valid = readPeriod(correction.valid, 'valid');
  const wrong = work.withdraw(valid, was);
  const asserted = work.asserted(correction, valid);
  const parts = was === undefined ? asserted.parts : wrong;
  return work.plan(parts.length === 0 ? [] : [{ ...asserted, parts }], { ...work.declaration, remainder: 'keep' });
}

/**
 * Plans for what is not believed any more, in a period that has to be given: all objects, or one. Nothing is deleted; outside of the
 * period it stays believed. Where nothing was believed, the plan is empty.
 * @throws MemoryError as `planAssert` does
 */
export function planRetract(
  writing: Writing,
  retraction: { readonly valid: Period; readonly object?: string },
): Plan | Ask {
  requireForm(form.object, retraction, 'retraction');
  const work = begin(writing);
  work.withdraw(readPeriod(retraction.valid, 'valid'), retraction.object);
  return work.plan([], { ...work.declaration, remainder: 'keep' });
}

function begin(writing: Writing): Work {
  requireForm(WRITING, writing, 'writing');
  return new Work(writing);
}

const WRITING = form.members({
  partition: form.object,
  declaration: form.object,
  open: form.list(form.object),
  seq: form.whole,
  merge: form.code,
});

/** One plan in the making. */
class Work {
  readonly declaration: PredicateDeclaration;
  readonly #partition: Partition;
  readonly #systemTime: Instant;
  readonly #seq: number;
  readonly #merge: MergeProvenance;
  readonly #answers: ReadonlyMap<string, Answer>;
  readonly #claims = new Set<string>();
  #open: readonly Item[];
  #withdrawn: Period | undefined;

  constructor({ partition, declaration, open, latest, at, seq, merge, answers = [] }: Writing) {
    const { space, subject, predicate } = partition;
    for (const [name, text] of Object.entries({ space, subject, predicate })) requireText(text, name);
    this.#partition = { space, subject, predicate };
    this.declaration = declarePredicate(declaration);
    this.#seq = seq;
    this.#merge = merge;
    this.#answers = readAnswers(answers);
    checkFacts(open);
    for (const row of open) requireOpenIn(this.#partition, row);
    requireApart(open, this.declaration);
    const earlier = [latest, ...open.map((row) => row.system_time_start)];
    this.#systemTime = earlier.map((before) => systemTime(at, before)).reduce((a, b) => maxInstant(a, b));
    this.#open = open.map((row) => ({ row, isNew: false, parts: [validOf(row)] }));
  }

  /** The item of an assertion: the row that it would be, were nothing else there. */
  asserted(assertion: Omit<Assertion, 'valid'>, { from, to }: Period): Item {
    const { claim, object, confidence, provenance, strategy = this.declaration.strategy } = assertion;
    for (const [name, text] of Object.entries({ claim, object, provenance })) requireText(text, name);
    requireConfidence(confidence);
    requireStrategy(strategy);
    if (strategy !== this.declaration.strategy) {
      throw new MemoryError(
        'strategy_not_allowed',
        `The predicate ${this.#partition.predicate} declares ${this.declaration.strategy}; leave the strategy of a fact out.`,
        { evidence: { declared: this.declaration.strategy, given: strategy } },
      );
    }
    if (this.#claims.has(claim)) {
      throw new MemoryError('repeated_claim', 'A batch has each claim once; take out the other.', {
        evidence: { claim },
      });
    }
    this.#claims.add(claim);
    const { space, subject, predicate } = this.#partition;
    const stamp = this.#stamp();
    // In canonical order, which whatever is made of it keeps.
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

  /** Takes a period from what is believed: of one object, or of all. And what it takes, of each row that it is taken from. */
  withdraw(valid: Period, object: string | undefined): Period[] {
    if (object !== undefined) requireText(object, 'object');
    this.#withdrawn = valid;
    const key = object === undefined ? undefined : objectKey(object);
    const isMeant = ({ row }: Item): boolean => key === undefined || objectKey(row.object) === key;
    const meant = this.#open.filter(isMeant).map(({ row }) => validOf(row));
    this.#open = this.#open.map((item) =>
      isMeant(item) ? { ...item, parts: leftovers(validOf(item.row), [valid]) } : item,
    );
    return meant.flatMap((whole) => intersection(whole, valid) ?? []);
  }

  plan(asserted: readonly Item[], declaration: PredicateDeclaration): Plan | Ask {
    // The others neither meet anything nor change.
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
    );
    if (questions.length > 0) return { kind: 'ask', questions, most };
    const stay = new Set(beliefs.filter((belief) => this.#stands(belief)).map(({ head }) => head.row));
    const close = open.map(({ row }) => row).filter((row) => !stay.has(row));
    const names = new Names(this.#systemTime, stay);
    const believed = beliefs.filter(({ head }) => !stay.has(head.row)).map((belief) => this.#rowOf(belief, names));
    const lost = contests.flatMap((contest, i) => auditRows(contest, i, this.#stamp(), this.#merge));
    const insert = [...believed, ...lost].sort(byTime);
    const claims = new Set(insert.map(({ lineage }) => lineage));
    const merged = asserted.map(({ row }) => row.lineage).filter((claim) => !claims.has(claim));
    return {
      kind: 'plan',
      systemTime: this.#systemTime,
      close: close.sort(byTime).map(({ fact_id, system_time_start }) => ({ fact_id, system_time_start })),
      insert,
      ...(merged.length > 0 && { merged: merged.sort() }),
    };
  }

  /** Whether it is an open row, as it is: a winner that loses nothing gets no new version (memory.md §5.4 no. 4). */
  #stands({ head: { row, isNew }, items, from, to }: Belief): boolean {
    return !isNew && items.length === 1 && row.valid_from === from && row.valid_to === to;
  }

  #rowOf(belief: Belief, names: Names): FactRow {
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
      provenance_id: confirmedProvenance(belief.items, this.#merge),
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

/** Ids of the rows of one plan: the first of what becomes of a fact keeps its id, the others are numbered. */
class Names {
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

function requireOpenIn({ space, subject, predicate }: Partition, row: FactRow): void {
  if (row.space === space && row.subject === subject && row.predicate === predicate && isOpen(row)) return;
  throw new MemoryError('wrong_partition', 'What is written starts from the open current rows of its partition.', {
    evidence: { row: keyText(row) },
  });
}

/**
 * Refuses rows of which two overlap that may not: two at all of a predicate with one value at a time, else two of one object. So it is
 * also what a predicate is asked that shall have one value at a time from now on (decisions §6.6).
 * @throws MemoryError `overlaps_open`, and as `declarePredicate` and `checkFacts` do
 */
export function checkOpen(open: readonly FactRow[], declaration: PredicateDeclaration): void {
  checkFacts(open);
  requireApart(open.filter(isOpen), declarePredicate(declaration));
}

/** By what was said, letter by letter: by objects' keys, what stands in a store since these were not compared could be added to no more. */
function requireApart(open: readonly FactRow[], { cardinality }: PredicateDeclaration): void {
  const ends = new Map<string, FactRow>();
  for (const row of [...open].sort((a, b) => (a.valid_from < b.valid_from ? -1 : 1))) {
    const { space, subject, predicate, object } = row;
    const key = JSON.stringify([space, subject, predicate, ...(cardinality === 'single-valued' ? [] : [object])]);
    const before = ends.get(key);
    if (before !== undefined && overlaps(validOf(before), validOf(row))) {
      throw new MemoryError(
        'overlaps_open',
        `What is believed overlaps: ${cardinality} it can’t be. Retract one in a trajectory whose domain declares it as it was.`,
        {
          evidence: { rows: [keyText(before), keyText(row)] },
        },
      );
    }
    ends.set(key, row);
  }
}
