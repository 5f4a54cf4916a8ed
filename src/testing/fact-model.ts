import fc from 'fast-check';
import type {
  Batch,
  ContentRef,
  FactKey,
  FactQuery,
  FactStore,
  FactVersion,
  FactWrite,
  Hash,
  PartitionName,
  PartitionState,
} from '#ledger';
import {
  type Ask,
  type Assertion,
  answerOf,
  type Cardinality,
  MemoryError,
  OPEN_END,
  OPEN_START,
  type Plan,
  planAssert,
  planChange,
  planCorrect,
  planRetract,
  type Strategy,
  type Writing,
} from '#memory';
import { changeOfPlan, day, keyOfRow, namesOf, rowOf } from './fact-rows.ts';
import { blobOf, entryAfter, entryAt } from './store-rows.ts';

// A store of facts as plain as can be, to compare stores with: all versions in one list, and every question a filter of it.

/** Texts whose order by code points is not that of UTF-16, nor that of any language. */
export const SPACES: readonly string[] = ['clinic', 'Clinic'];
export const SUBJECTS: readonly string[] = ['\u{1f600}', '\uffff', 'alice'];
export const PREDICATES: readonly string[] = ['medication', 'Tag', 'é'];

/** Of each predicate; the last is declared anew by whoever writes. */
const CARDINALITIES: readonly (Cardinality | undefined)[] = ['single-valued', 'multi-valued', undefined];

const STRATEGIES: readonly Strategy[] = ['lww', 'evi', 'await'];
const DAYS = 8;

/** A change as it is drawn; what fits is most likely. */
export interface GeneratedChange {
  readonly space: number;
  readonly subject: number;
  readonly predicate: number;
  readonly cardinality: Cardinality;
  readonly strategy: number;
  readonly verb: 'assert' | 'change' | 'correct' | 'retract';
  readonly said: readonly {
    readonly object: number;
    readonly from: number;
    readonly days: number;
    readonly confidence: number;
  }[];
  readonly at: number;
  readonly damage: 'none' | 'late' | 'early' | 'time' | 'closes' | 'again';
}

/** A batch as it is drawn. */
export interface GeneratedBatch {
  readonly changes: readonly GeneratedChange[];
  readonly entry: 'none' | 'next' | 'wrong';
  readonly erases: 'nothing' | 'an object' | 'names';
  readonly which: number;
  readonly thenWaits: boolean;
}

const generatedChange: fc.Arbitrary<GeneratedChange> = fc.record({
  space: mostly(0, 1),
  subject: fc.nat(SUBJECTS.length - 1),
  predicate: fc.nat(PREDICATES.length - 1),
  cardinality: fc.constantFrom<Cardinality>('single-valued', 'multi-valued'),
  strategy: fc.nat(STRATEGIES.length - 1),
  verb: fc.constantFrom('assert', 'assert', 'change', 'correct', 'retract'),
  said: fc.array(
    fc.record({
      object: fc.nat(3),
      from: fc.nat(DAYS),
      days: fc.integer({ min: 1, max: DAYS }),
      confidence: fc.constantFrom(0, 0.25, 0.1 + 0.2, 1),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  at: fc.nat(20),
  damage: mostly<GeneratedChange['damage']>('none', 'late', 'early', 'time', 'closes', 'again'),
});

export const generatedBatches: fc.Arbitrary<GeneratedBatch[]> = fc.array(
  fc.record({
    changes: fc.array(generatedChange, { minLength: 1, maxLength: 2 }),
    entry: mostly<GeneratedBatch['entry']>('none', 'next', 'next', 'next', 'wrong'),
    erases: mostly<GeneratedBatch['erases']>('nothing', 'an object', 'names'),
    which: fc.nat(100),
    thenWaits: fc.boolean(),
  }),
  { maxLength: 30, size: '+1' },
);

function mostly<T>(usual: T, ...others: T[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
}

/** Queries about what such changes leave, with any restrictions. */
export const generatedQueries: fc.Arbitrary<FactQuery[]> = fc.array(
  fc.record(
    {
      space: mostly(SPACES[0]!, SPACES[1]!, 'nobody'),
      subject: fc.constantFrom(...SUBJECTS, 'bob'),
      predicate: fc.constantFrom(...PREDICATES),
      kind: fc.constantFrom<NonNullable<FactQuery['kind']>>('current', 'audit', 'all'),
      valid: fc.oneof(
        fc.constant(OPEN_START),
        fc.nat(2 * DAYS).map((n) => day(n + 1)),
      ),
      system: fc.oneof(
        fc.constant<'now'>('now'),
        fc.nat(30).map((n) => day(100 + n)),
      ),
      lineage: fc.nat(30).map((n) => `claim ${n}`),
      limit: fc.integer({ min: 1, max: 4 }),
    },
    { requiredKeys: ['space'] },
  ),
  { minLength: 10, maxLength: 10 },
);

/** Answers by their status; `misuse` is an error. */
export type FactAnswer = 'committed' | 'conflict' | 'outdated' | 'misuse';

interface Partition {
  name: PartitionName;
  readonly names: ContentRef;
  version: number;
  latest: string;
}

export class FactModel {
  rows: FactVersion[] = [];
  /** All changes that were committed, in order. */
  readonly history: FactWrite[] = [];
  readonly erased = new Set<Hash>();
  #partitions: Partition[] = [];
  readonly #entries: ReturnType<typeof entryAfter>[] = [];
  #claims = 0;

  /** What is drawn, as a batch on what the model has now. Planned by the planners of `assize/memory`. */
  batch(drawn: GeneratedBatch): Batch {
    const facts = new Map<string, FactWrite>();
    for (const change of drawn.changes) {
      const write = this.#planned(change);
      if (write !== undefined) facts.set(JSON.stringify(write.partition), write);
    }
    const n = this.#claims;
    const wrong = entryAt('t', this.#entries.length + 1, 'f'.repeat(64), n);
    const entries = { none: [], next: [entryAfter(this.#entries.at(-1), 't', n)], wrong: [wrong] }[drawn.entry];
    const erasable =
      drawn.erases === 'an object'
        ? this.rows.map(({ content }) => content.hash)
        : drawn.erases === 'names'
          ? this.#partitions.map(({ names }) => names.hash)
          : [];
    const by = blobOf('eraser').hash;
    const erased = erasable.length === 0 ? [] : [{ hash: erasable[drawn.which % erasable.length]!, by }];
    return { entries, blobs: [], erased, facts: [...facts.values()] };
  }

  /** What a store may answer; where it is `committed`, the model has it from now on. */
  commit({ entries, erased = [], facts = [] }: Batch): readonly FactAnswer[] {
    const [entry] = entries;
    const head = this.#entries.at(-1);
    const refusals: FactAnswer[] = [];
    if (entry !== undefined && (entry.seq !== this.#entries.length || entry.parent !== (head?.id ?? null)))
      refusals.push('conflict');
    const before = { rows: this.rows, partitions: structuredClone(this.#partitions) };
    for (const write of facts) {
      const answer = this.#change(write);
      if (answer !== 'committed') refusals.push(answer);
    }
    if (refusals.length > 0) {
      this.rows = before.rows;
      this.#partitions = before.partitions;
      return refusals.includes('outdated') ? refusals.filter((each) => each !== 'misuse') : refusals;
    }
    if (entry !== undefined) this.#entries.push(entry);
    this.history.push(...facts);
    for (const { hash } of erased) this.#erase(hash);
    return ['committed'];
  }

  get head(): string | undefined {
    return this.#entries.at(-1)?.id;
  }

  get partitions(): readonly PartitionName[] {
    return this.#partitions.map(({ name }) => name);
  }

  get spaces(): string[] {
    return [...new Set(this.rows.map(({ space }) => space))].sort(byCodePoints);
  }

  state(name: PartitionName): PartitionState | undefined {
    const found = this.#find(name);
    if (found === undefined) return undefined;
    const open = this.#of(name).filter(isOpen);
    const { names, version, latest } = found;
    return { names, version, latest, open: open.sort((a, b) => byCodePoints(a.valid_from, b.valid_from)) };
  }

  query({
    space,
    subject,
    predicate,
    kind = 'current',
    valid,
    system,
    lineage,
    after,
    limit = 1_000,
  }: FactQuery): FactVersion[] {
    const found = this.rows
      .filter((row) => row.space === space)
      .filter((row) => subject === undefined || row.subject === subject)
      .filter((row) => predicate === undefined || row.predicate === predicate)
      .filter((row) => kind === 'all' || row.row_kind === kind)
      .filter((row) => valid === undefined || (row.valid_from <= valid && row.valid_to > valid))
      .filter((row) => system !== 'now' || row.system_time_end === OPEN_END)
      .filter((row) => system === undefined || system === 'now' || row.system_time_start <= system)
      .filter((row) => system === undefined || system === 'now' || row.system_time_end > system)
      .filter((row) => lineage === undefined || row.lineage === lineage)
      .sort(byOrder);
    const from = after === undefined ? 0 : found.filter((row) => byOrder(row, after) <= 0).length;
    return found.slice(from, from + limit);
  }

  /** As planned on what the model has; undefined where that can't be planned, or would change nothing. */
  #planned(drawn: GeneratedChange): FactWrite | undefined {
    const partition = {
      space: SPACES[drawn.space]!,
      subject: SUBJECTS[drawn.subject]!,
      predicate: PREDICATES[drawn.predicate]!,
    };
    const state = this.state(partition);
    const version = (state?.version ?? 0) + 1;
    const writing: Writing = {
      partition,
      declaration: {
        cardinality: CARDINALITIES[drawn.predicate] ?? drawn.cardinality,
        strategy: STRATEGIES[drawn.strategy]!,
        remainder: 'keep',
      },
      open: (state?.open ?? []).map(rowOf),
      latest: state?.latest ?? null,
      at: day(100 + drawn.at),
      seq: version,
      merge: (a, b) => [...new Set([...a.split('+'), ...b.split('+')])].sort().join('+'),
    };
    const plan = this.#plan(drawn, writing);
    if (plan === undefined || (plan.insert.length === 0 && plan.close.length === 0)) return undefined;
    const names = state?.names ?? namesOf(partition);
    const write = changeOfPlan(partition, names, version, plan, blobOf(`entry ${this.#claims}`).hash);
    return this.#damaged(drawn, write);
  }

  #plan(drawn: GeneratedChange, writing: Writing): Plan | undefined {
    const said = drawn.said.map(({ object, from, days, confidence }): Assertion => {
      const claim = `claim ${this.#claims++}`;
      const valid = { from: from === 0 ? OPEN_START : day(from), to: from + days > DAYS ? OPEN_END : day(from + days) };
      return { claim, object: `object ${object}`, valid, confidence, provenance: `w:${claim}` };
    });
    const [first] = said as [Assertion];
    const plan = (): Plan | Ask => planBy(drawn.verb, writing, said, first);
    try {
      const planned = plan();
      if (planned.kind === 'plan') return planned;
      const answers = planned.questions.map((question) => answerOf(question, 0));
      const answered = planBy(drawn.verb, { ...writing, answers }, said, first);
      return answered.kind === 'plan' ? answered : undefined;
    } catch (error) {
      // A predicate that was multi-valued before may have overlaps; and of several values none follows another.
      if (error instanceof MemoryError) return undefined;
      throw error;
    }
  }

  #damaged({ damage }: GeneratedChange, write: FactWrite): FactWrite {
    const [first] = write.insert;
    const [closed] = this.#of(write.partition).filter((row) => !isOpen(row));
    if (damage === 'late') return renumbered(write, write.version + 1);
    if (damage === 'early' && write.version > 1) return renumbered(write, write.version - 1);
    if (damage === 'time') return retimed(write, day(99));
    if (damage === 'closes')
      return { ...write, close: [...write.close, ...write.close.slice(0, 1), ...(closed ? [keyOfRow(closed)] : [])] };
    if (damage === 'again' && first !== undefined) return { ...write, insert: [...write.insert, first] };
    return write;
  }

  #change(given: FactWrite): 'committed' | 'outdated' | 'misuse' {
    const isGone = this.erased.has(given.names.hash);
    const gone = `{"$erased":"${given.names.hash}"}`;
    const name = isGone ? { space: gone, subject: gone, predicate: gone } : given.partition;
    const there = this.#find(name);
    if (given.version !== (there?.version ?? 0) + 1) return 'outdated';
    if (there !== undefined && given.system_time <= there.latest) return 'misuse';
    if (there !== undefined && given.names.hash !== there.names.hash) return 'misuse';
    for (const key of given.close) {
      const at = this.rows.findIndex((row) => isSame(row, name) && isKey(row, key) && isOpen(row));
      if (at === -1) return 'misuse';
      this.rows = this.rows.with(at, { ...this.rows[at]!, system_time_end: given.system_time });
    }
    for (const row of given.insert) {
      if (this.rows.some((other) => other.space === name.space && isKey(other, row))) return 'misuse';
      const object = this.erased.has(row.content.hash) ? `{"$erased":"${row.content.hash}"}` : row.object;
      const added = { ...row, ...name, object };
      const isBeside = (other: FactVersion): boolean =>
        isOpen(other) && other.valid_from < row.valid_to && row.valid_from < other.valid_to;
      if (isOpen(added) && row.cardinality === 'single-valued' && this.#of(name).some(isBeside)) return 'misuse';
      this.rows = [...this.rows, added];
    }
    if (there === undefined)
      this.#partitions.push({ name, names: given.names, version: given.version, latest: given.system_time });
    else Object.assign(there, { version: given.version, latest: given.system_time });
    return 'committed';
  }

  #erase(hash: Hash): void {
    this.erased.add(hash);
    const gone = `{"$erased":"${hash}"}`;
    const partition = this.#partitions.find(({ names }) => names.hash === hash);
    this.rows = this.rows.map((row) => {
      const named = partition !== undefined && isSame(row, partition.name);
      const said = row.content.hash === hash;
      return {
        ...row,
        ...(named && { space: gone, subject: gone, predicate: gone }),
        ...(said && { object: gone }),
      };
    });
    if (partition !== undefined) partition.name = { space: gone, subject: gone, predicate: gone };
  }

  #find(name: PartitionName): Partition | undefined {
    return this.#partitions.find((each) => isSame(each.name, name));
  }

  #of(name: PartitionName): FactVersion[] {
    return this.rows.filter((row) => isSame(row, name));
  }
}

/** All that a store has of facts, as one text for each space. */
export async function exportFacts(store: FactStore): Promise<string[]> {
  const texts: string[] = [];
  for (const space of await store.spaces()) {
    const rows: FactVersion[] = [];
    for (let page = await store.facts({ space, kind: 'all', limit: 20 }); page.length > 0; ) {
      rows.push(...page);
      page = await store.facts({ space, kind: 'all', limit: 20, after: page.at(-1)! });
    }
    texts.push(JSON.stringify(rows));
  }
  return texts;
}

function planBy(
  verb: GeneratedChange['verb'],
  writing: Writing,
  said: readonly Assertion[],
  first: Assertion,
): Plan | Ask {
  switch (verb) {
    case 'assert':
      return planAssert(writing, said);
    case 'change':
      return planChange(writing, { ...first, from: first.valid.from });
    case 'correct':
      return planCorrect(writing, first);
    case 'retract':
      return planRetract(writing, { valid: first.valid });
  }
}

function renumbered(write: FactWrite, version: number): FactWrite {
  return { ...write, version, insert: write.insert.map((row) => ({ ...row, seq: version })) };
}

function retimed(write: FactWrite, time: string): FactWrite {
  return { ...write, system_time: time, insert: write.insert.map((row) => ({ ...row, system_time_start: time })) };
}

function isOpen(row: FactVersion): boolean {
  return row.row_kind === 'current' && row.system_time_end === OPEN_END;
}

function isSame(a: PartitionName, b: PartitionName): boolean {
  return a.space === b.space && a.subject === b.subject && a.predicate === b.predicate;
}

function isKey(a: FactKey, b: FactKey): boolean {
  return a.fact_id === b.fact_id && a.system_time_start === b.system_time_start;
}

function byOrder(a: FactVersion, b: FactVersion): number {
  const columns = ['subject', 'predicate', 'system_time_start', 'valid_from', 'fact_id'] as const;
  return columns.map((column) => byCodePoints(a[column], b[column])).find((order) => order !== 0) ?? 0;
}

// The bytes of UTF-8 stand in the order of code points.
function byCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
