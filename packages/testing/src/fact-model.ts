import { isInstance } from 'assize/internal/base';
import type {
  Batch,
  BranchPartition,
  BranchPartitionQuery,
  ContentRef,
  FactKey,
  FactPlace,
  FactQuery,
  FactStore,
  FactVersion,
  FactWrite,
  Hash,
  PartitionName,
  PartitionRead,
  PartitionState,
} from 'assize/internal/ledger';
import {
  type Assertion,
  answerOf,
  type Cardinality,
  MemoryError,
  OPEN_END,
  OPEN_START,
  type Plan,
  type PlanInput,
  planAssert,
  planChange,
  planCorrect,
  planRetract,
  type QuestionPlan,
  type Strategy,
} from 'assize/internal/memory';
import fc from 'fast-check';
import { changeOfPlan, day, keyOfRow, namesOf, rowOf } from './fact-rows.ts';
import { blobOf, entryAfter, entryAt } from './store-rows.ts';

// A minimal store of facts to compare stores with: one list of all versions, and each query filters
// it.

/** Strings that sort differently by code points than by UTF-16 or by any language. */
export const SPACES: readonly string[] = ['clinic', 'Clinic'];
export const SUBJECTS: readonly string[] = ['\u{1f600}', '\uffff', 'alice'];
export const PREDICATES: readonly string[] = ['medication', 'Tag', 'é'];

/** The cardinality of each predicate; the writer declares the last one again. */
const CARDINALITIES: readonly (Cardinality | undefined)[] = [
  'single-valued',
  'multi-valued',
  undefined,
];

/** The shared facts, and two branches. */
export const BRANCHES: readonly (string | undefined)[] = [undefined, 'try', '\u{1f600}'];

const STRATEGIES: readonly Strategy[] = ['lww', 'evi', 'await'];
const DAYS = 8;

/** A generated change; most of them fit. */
export interface GeneratedChange {
  readonly space: number;
  readonly branch: number;
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
  /** For the first change of a branch: whether it inherits the current shared facts. */
  readonly inherits: boolean;
  /**
   * Another partition that the change was planned on: its branch and subject, and the offset of its
   * version.
   */
  readonly reads:
    | { readonly branch: number; readonly subject: number; readonly off: number }
    | undefined;
  readonly damage:
    | 'none'
    | 'begins again'
    | 'takes over too much'
    | 'late'
    | 'early'
    | 'time'
    | 'closes'
    | 'again';
}

/** A generated batch. */
export interface GeneratedBatch {
  readonly changes: readonly GeneratedChange[];
  readonly entry: 'none' | 'next' | 'wrong';
  readonly erases: 'nothing' | 'an object' | 'names';
  readonly which: number;
  readonly thenWaits: boolean;
}

const generatedChange: fc.Arbitrary<GeneratedChange> = fc.record({
  space: mostly(0, 1),
  branch: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.nat(BRANCHES.length - 1) },
  ),
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
  inherits: fc.boolean(),
  reads: fc.option(
    fc.record({
      branch: fc.nat(BRANCHES.length - 1),
      subject: fc.nat(SUBJECTS.length - 1),
      off: mostly(0, 1, -1),
    }),
    { nil: undefined },
  ),
  damage: mostly<GeneratedChange['damage']>(
    'none',
    'begins again',
    'takes over too much',
    'late',
    'early',
    'time',
    'closes',
    'again',
  ),
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
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );
}

/** Queries on the results of such changes, with any restrictions. */
export const generatedQueries: fc.Arbitrary<FactQuery[]> = fc.array(
  fc.record(
    {
      space: mostly(SPACES[0]!, SPACES[1]!, 'nobody'),
      branch: fc.constantFrom('try', '\u{1f600}', 'nobody'),
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
  since?: string;
  version: number;
  latest: string;
}

export class FactModel {
  rows: FactVersion[] = [];
  /** All committed changes, in order. */
  readonly history: FactWrite[] = [];
  readonly erased = new Set<Hash>();
  #partitions: Partition[] = [];
  readonly #entries: ReturnType<typeof entryAfter>[] = [];
  #claims = 0;

  /**
   * The generated changes as a batch on the model's current facts, planned by the planners of
   * `assize/memory`.
   */
  batch(drawn: GeneratedBatch): Batch {
    const facts = new Map<string, FactWrite>();
    for (const change of drawn.changes) {
      const write = this.#planned(change);
      if (write !== undefined) facts.set(JSON.stringify(write.partition), write);
    }
    const n = this.#claims;
    const wrong = entryAt('t', this.#entries.length + 1, 'f'.repeat(64), n);
    const entries = { none: [], next: [entryAfter(this.#entries.at(-1), 't', n)], wrong: [wrong] }[
      drawn.entry
    ];
    const erasable =
      drawn.erases === 'an object'
        ? this.rows.map(({ content }) => content.hash)
        : drawn.erases === 'names'
          ? this.#partitions.map(({ names }) => names.hash)
          : [];
    const by = blobOf('eraser').hash;
    const erased =
      erasable.length === 0 ? [] : [{ hash: erasable[drawn.which % erasable.length]!, by }];
    return { entries, blobs: [], erased, facts: [...facts.values()] };
  }

  /** The answers that a store may give. If one is `committed`, the model stores the batch. */
  commit({ entries, erased = [], facts = [] }: Batch): readonly FactAnswer[] {
    const [entry] = entries;
    const head = this.#entries.at(-1);
    const refusals: FactAnswer[] = [];
    if (
      entry !== undefined &&
      (entry.seq !== this.#entries.length || entry.parent !== (head?.id ?? null))
    )
      refusals.push('conflict');
    const isAsRead = ({ partition, version }: PartitionRead) =>
      (this.state(partition)?.version ?? 0) === version;
    if (!facts.every(({ reads = [] }) => reads.every(isAsRead))) refusals.push('outdated');
    const before = { rows: this.rows, partitions: structuredClone(this.#partitions) };
    for (const write of facts) {
      const answer = this.#change(write);
      if (answer !== 'committed') refusals.push(answer);
    }
    if (refusals.length > 0) {
      this.rows = before.rows;
      this.#partitions = before.partitions;
      return refusals.includes('outdated')
        ? refusals.filter((each) => each !== 'misuse')
        : refusals;
    }
    if (entry !== undefined) this.#entries.push(entry);
    // Rebuilding does not check the versions that a change was planned on.
    this.history.push(...facts.map(({ reads: _, ...write }) => write));
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
    const shared = this.#partitions.filter(({ name }) => name.branch === undefined);
    return [...new Set(shared.map(({ name }) => name.space))].sort(byCodePoints);
  }

  get branches(): { space: string; branch: string }[] {
    const names = SPACES.flatMap((space) => BRANCHES.map((branch) => ({ space, branch })));
    const of = ({ space, branch }: Memory) =>
      this.#partitions.some(({ name }) => name.space === space && name.branch === branch);
    const there = names.flatMap(({ space, branch }) =>
      branch !== undefined && of({ space, branch }) ? [{ space, branch }] : [],
    );
    return there.sort((a, b) => byCodePoints(a.space, b.space) || byCodePoints(a.branch, b.branch));
  }

  branchPartitions({ space, branch, subject, predicate }: BranchPartitionQuery): BranchPartition[] {
    return this.#partitions
      .filter(({ name }) => name.space === space && name.branch === branch)
      .filter(({ name }) => subject === undefined || name.subject === subject)
      .filter(({ name }) => predicate === undefined || name.predicate === predicate)
      .map(({ name, since }) => ({ ...name, branch, since: since! }))
      .sort((a, b) => byCodePoints(a.subject, b.subject) || byCodePoints(a.predicate, b.predicate));
  }

  state(name: PartitionName): PartitionState | undefined {
    const found = this.#find(name);
    if (found === undefined) return undefined;
    const open = this.#of(name).filter(isOpen);
    const { names, version, latest, since } = found;
    open.sort((a, b) => byCodePoints(a.valid_from, b.valid_from));
    return { names, version, latest, open, ...(since !== undefined && { since }) };
  }

  query({
    space,
    branch,
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
      .filter((row) => row.space === space && row.branch === branch)
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

  /**
   * The change, planned on the model's current facts. Undefined if it cannot be planned or would
   * change nothing.
   */
  #planned(drawn: GeneratedChange): FactWrite | undefined {
    const partition = {
      space: SPACES[drawn.space]!,
      subject: SUBJECTS[drawn.subject]!,
      predicate: PREDICATES[drawn.predicate]!,
    };
    const branch = BRANCHES[drawn.branch];
    const name = branch === undefined ? partition : { ...partition, branch };
    const known = this.state(name);
    const shared = drawn.inherits && branch !== undefined ? this.state(partition) : undefined;
    const source = known === undefined ? shared : undefined;
    const open = source?.open.map((row) => ({ ...row, branch: branch! }));
    const inherit = source === undefined ? undefined : { until: source.latest, rows: open! };
    const seq = Math.max(0, ...(open ?? []).map((row) => row.seq));
    const state = known ?? (source && { ...source, open: open!, version: seq });
    const version = (state?.version ?? 0) + 1;
    const writing: PlanInput = {
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
    if (plan === undefined || (plan.insert.length === 0 && plan.close.length === 0))
      return undefined;
    const names = known?.names ?? namesOf(name);
    const planned = changeOfPlan(name, names, version, plan, blobOf(`entry ${this.#claims}`).hash);
    const write =
      drawn.reads === undefined
        ? planned
        : { ...planned, reads: [this.#reading(partition, drawn.reads)] };
    if (
      drawn.damage === 'begins again' &&
      known !== undefined &&
      shared !== undefined &&
      branch !== undefined
    )
      return beginning(write, {
        until: shared.latest,
        rows: shared.open.map((row) => ({ ...row, branch })),
      });
    // Any other version or time than the inherited one makes the write invalid.
    const { damage } = drawn;
    const isForm = damage === 'late' || damage === 'early' || damage === 'time';
    if (inherit === undefined) return this.#damaged(drawn, write);
    return this.#damaged(isForm ? { ...drawn, damage: 'none' } : drawn, { ...write, inherit });
  }

  #reading(beside: PartitionName, drawn: NonNullable<GeneratedChange['reads']>): PartitionRead {
    const branch = BRANCHES[drawn.branch];
    const partition = {
      ...beside,
      subject: SUBJECTS[drawn.subject]!,
      ...(branch !== undefined && { branch }),
    };
    return { partition, version: Math.max(0, (this.state(partition)?.version ?? 0) + drawn.off) };
  }

  #plan(drawn: GeneratedChange, writing: PlanInput): Plan | undefined {
    const said = drawn.said.map(({ object, from, days, confidence }): Assertion => {
      const claim = `claim ${this.#claims++}`;
      const valid = {
        from: from === 0 ? OPEN_START : day(from),
        to: from + days > DAYS ? OPEN_END : day(from + days),
      };
      // A long string: a store may keep it in another place.
      const text = `object ${object}${object === 3 ? ', and so on'.repeat(30) : ''}`;
      return { claim, object: text, valid, confidence, provenance: `w:${claim}` };
    });
    const [first] = said as [Assertion];
    const plan = (): Plan | QuestionPlan => planBy(drawn.verb, writing, said, first);
    try {
      const planned = plan();
      if (planned.kind === 'plan') return planned;
      const answers = planned.questions.map((question) => answerOf(question, 0));
      const answered = planBy(drawn.verb, { ...writing, answers }, said, first);
      return answered.kind === 'plan' ? answered : undefined;
    } catch (error) {
      // A predicate that was multi-valued before may have overlaps, and several values have no
      // successor.
      if (isInstance(error, MemoryError)) return undefined;
      throw error;
    }
  }

  #damaged({ damage }: GeneratedChange, write: FactWrite): FactWrite {
    const [first] = write.insert;
    if (damage === 'takes over too much' && first !== undefined && write.inherit !== undefined)
      return beginning(write, {
        ...write.inherit,
        rows: [...write.inherit.rows, ...write.inherit.rows.slice(0, 1)],
      });
    const [closed] = this.#of(write.partition).filter((row) => !isOpen(row));
    if (damage === 'late') return renumbered(write, write.version + 1);
    if (damage === 'early' && write.version > 1) return renumbered(write, write.version - 1);
    if (damage === 'time') return retimed(write, day(99));
    if (damage === 'closes')
      return {
        ...write,
        close: [...write.close, ...write.close.slice(0, 1), ...(closed ? [keyOfRow(closed)] : [])],
      };
    if (damage === 'again' && first !== undefined)
      return { ...write, insert: [...write.insert, first] };
    return write;
  }

  #change(given: FactWrite): 'committed' | 'outdated' | 'misuse' {
    const isGone = this.erased.has(given.names.hash);
    const gone = `{"$erased":"${given.names.hash}"}`;
    const name: PartitionName = isGone
      ? { space: gone, subject: gone, predicate: gone }
      : given.partition;
    const there = this.#find(name);
    if (
      given.inherit !== undefined
        ? there !== undefined
        : given.version !== (there?.version ?? 0) + 1
    )
      return 'outdated';
    if (given.repeats?.some((hash) => this.erased.has(hash))) return 'outdated';
    for (const row of given.inherit?.rows ?? []) {
      const isThere = this.rows.some((other) => isOfMemory(other, name) && isKey(other, row));
      if (isThere) return 'misuse';
      this.rows = [...this.rows, this.#asStored(row, name)];
    }
    if (there !== undefined && given.system_time <= there.latest) return 'misuse';
    if (there !== undefined && given.names.hash !== there.names.hash) return 'misuse';
    for (const key of given.close) {
      const at = this.rows.findIndex((row) => isSame(row, name) && isKey(row, key) && isOpen(row));
      if (at === -1) return 'misuse';
      this.rows = this.rows.with(at, { ...this.rows[at]!, system_time_end: given.system_time });
    }
    for (const row of given.insert) {
      if (this.rows.some((other) => isOfMemory(other, name) && isKey(other, row))) return 'misuse';
      const added = this.#asStored(row, name);
      const isBeside = (other: FactVersion): boolean =>
        isOpen(other) && other.valid_from < row.valid_to && row.valid_from < other.valid_to;
      if (isOpen(added) && row.cardinality === 'single-valued' && this.#of(name).some(isBeside))
        return 'misuse';
      this.rows = [...this.rows, added];
    }
    const since = given.inherit?.until ?? OPEN_START;
    const { names, version, system_time: latest } = given;
    if (there === undefined)
      this.#partitions.push({
        name,
        names,
        version,
        latest,
        ...(name.branch !== undefined && { since }),
      });
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
      const { branch, ...plain } = row;
      return {
        ...plain,
        ...(branch !== undefined && !named && { branch }),
        ...(named && { space: gone, subject: gone, predicate: gone }),
        ...(said && { object: gone }),
      };
    });
    if (partition === undefined) return;
    partition.name = { space: gone, subject: gone, predicate: gone };
    delete partition.since;
  }

  #asStored({ branch: _, ...row }: FactVersion, name: PartitionName): FactVersion {
    const object = this.erased.has(row.content.hash)
      ? `{"$erased":"${row.content.hash}"}`
      : row.object;
    return { ...row, ...name, object };
  }

  #find(name: PartitionName): Partition | undefined {
    return this.#partitions.find((each) => isSame(each.name, name));
  }

  #of(name: PartitionName): FactVersion[] {
    return this.rows.filter((row) => isSame(row, name));
  }
}

/** All facts of a store, as one string for each space and for each of its branches. */
export async function exportFacts(store: FactStore): Promise<string[]> {
  const texts: string[] = [];
  const shared = (await store.spaces()).map((space) => ({ space }));
  for (const memory of [...shared, ...(await store.branches())]) {
    const rows: FactVersion[] = [];
    for (let page = await store.facts({ ...memory, kind: 'all', limit: 20 }); page.length > 0; ) {
      rows.push(...page);
      page = await store.facts({ ...memory, kind: 'all', limit: 20, after: page.at(-1)! });
    }
    texts.push(JSON.stringify(rows));
  }
  return texts;
}

function planBy(
  verb: GeneratedChange['verb'],
  writing: PlanInput,
  said: readonly Assertion[],
  first: Assertion,
): Plan | QuestionPlan {
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
  return {
    ...write,
    system_time: time,
    insert: write.insert.map((row) => ({ ...row, system_time_start: time })),
  };
}

function isOpen(row: FactVersion): boolean {
  return row.row_kind === 'current' && row.system_time_end === OPEN_END;
}

type Memory = Pick<PartitionName, 'space' | 'branch'>;

function isOfMemory(a: Memory, b: Memory): boolean {
  return a.space === b.space && a.branch === b.branch;
}

function isSame(a: PartitionName, b: PartitionName): boolean {
  return isOfMemory(a, b) && a.subject === b.subject && a.predicate === b.predicate;
}

/** The first change of a branch, with the version that fits the inherited facts. */
function beginning(write: FactWrite, inherit: NonNullable<FactWrite['inherit']>): FactWrite {
  const version = Math.max(0, ...inherit.rows.map(({ seq }) => seq)) + 1;
  const time = write.system_time > inherit.until ? write.system_time : addDay(inherit.until);
  return { ...retimed(renumbered(write, version), time), inherit };
}

function addDay(instant: string): string {
  return new Date(Date.parse(instant) + 86_400_000).toISOString().replace('Z', '000Z');
}

function isKey(a: FactKey, b: FactKey): boolean {
  return a.fact_id === b.fact_id && a.system_time_start === b.system_time_start;
}

function byOrder(a: FactPlace, b: FactPlace): number {
  const columns = ['subject', 'predicate', 'system_time_start', 'valid_from', 'fact_id'] as const;
  return (
    columns.map((column) => byCodePoints(a[column], b[column])).find((order) => order !== 0) ?? 0
  );
}

// UTF-8 bytes sort in code point order.
function byCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
