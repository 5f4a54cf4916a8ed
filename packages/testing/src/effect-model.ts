import type { Batch, EffectKeyRow, EffectWrite, LoggedTransaction } from 'assize/internal/ledger';
import fc from 'fast-check';
import { transactionOf } from './effect-rows.ts';
import { blobOf, entryAfter, entryAt } from './store-rows.ts';

// A minimal effect log to compare stores with. Each write is checked alone, row by row, on a copy
// of all rows.

/** A generated transaction: an open one, if there is one, or any. */
interface Drawn {
  readonly which: 'open' | 'any';
  readonly number: number;
}

/** A generated write; most of them fit. */
export interface GeneratedWrite {
  readonly entry: 'none' | 'next' | 'wrong';
  readonly fence: 'right' | 'before' | 'after';
  readonly begun: readonly {
    readonly which: 'new' | 'any';
    readonly number: number;
    readonly body: string;
  }[];
  readonly records: readonly (Drawn & {
    readonly place: 'next' | 'again' | 'gap';
    readonly text: string;
  })[];
  readonly keys: readonly (Drawn & { readonly key: 'new' | 'any'; readonly n: number })[];
  readonly ended: readonly Drawn[];
  readonly blob: boolean;
  readonly thenWaits: boolean;
}

const EPOCHS = 8;
const KEYS = 12;

const number = fc.nat(EPOCHS - 1);
const which = mostly<Drawn['which']>('open', 'any');

export const generatedWrites: fc.Arbitrary<GeneratedWrite[]> = fc.array(
  fc.record({
    entry: mostly<GeneratedWrite['entry']>('none', 'next', 'next', 'next', 'wrong'),
    fence: mostly<GeneratedWrite['fence']>('right', 'before', 'after'),
    begun: few(
      fc.record({ which: mostly<'new' | 'any'>('new', 'any'), number, body: mostly('', 'other') }),
      2,
    ),
    records: few(
      fc.record({
        which,
        number,
        place: mostly<'next' | 'again' | 'gap'>('next', 'again', 'gap'),
        text: mostly('', 'other'),
      }),
      3,
    ),
    keys: few(
      fc.record({ which, number, key: mostly<'new' | 'any'>('new', 'any'), n: fc.nat(1) }),
      2,
    ),
    ended: few(fc.record({ which, number }), 1),
    blob: fc.boolean(),
    thenWaits: fc.boolean(),
  }),
  { maxLength: 25, size: '+1' },
);

function few<T>(item: fc.Arbitrary<T>, maxLength: number): fc.Arbitrary<T[]> {
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant<T[]>([]) },
    { weight: 3, arbitrary: fc.array(item, { maxLength }) },
  );
}

function mostly<T>(usual: T, ...others: T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );
}

interface Transaction extends LoggedTransaction {
  readonly records: string[];
  hasEnded: boolean;
}

interface Content {
  readonly transactions: Transaction[];
  readonly keys: EffectKeyRow[];
}

/** Answers by their status; `misuse` is an error. */
export type EffectAnswer = 'written' | 'conflict' | 'fenced' | 'taken' | 'misuse';

export class EffectModel {
  fence = 0;
  lastEpoch = 0;
  #content: Content = { transactions: [], keys: [] };
  readonly #entries = entryChain();

  /** The generated write as a batch on the model's current rows. */
  batch(drawn: GeneratedWrite): Batch {
    const begun = drawn.begun.map((each, at) => {
      const epoch = each.which === 'new' ? this.#newEpoch + at : each.number + 1;
      return transactionOf(Math.min(epoch, EPOCHS), each.body);
    });
    const open = [...this.open, ...begun].map(({ epoch }) => epoch);
    const epochOf = (each: Drawn): number =>
      each.which === 'open' && open.length > 0 ? open[each.number % open.length]! : each.number + 1;
    const places = new Map<number, number>();
    const records = drawn.records.map((each) => {
      const epoch = epochOf(each);
      const next = places.get(epoch) ?? this.#find(epoch)?.records.length ?? 0;
      if (each.place === 'next') places.set(epoch, next + 1);
      const place = Math.max(0, next + { next: 0, again: -1, gap: 1 }[each.place]);
      return { epoch, place, record: `${epoch} ${place} ${each.text}` };
    });
    const effects: EffectWrite = {
      fence: Math.max(1, this.fence + { right: 0, before: -1, after: 1 }[drawn.fence]),
      begun,
      records,
      keys: drawn.keys.map((each, at) => {
        const key = each.key === 'new' ? this.#content.keys.length + at : each.number;
        return { key: keyHash(key), epoch: epochOf(each), n: each.n };
      }),
      ended: drawn.ended.map(epochOf),
    };
    const entries = this.#entries.draw(drawn.entry);
    return { entries, blobs: drawn.blob ? [blobOf(JSON.stringify(effects))] : [], effects };
  }

  /** The answers that a store may give. If one is `written`, the model stores the batch. */
  write({ entries, effects }: Batch): readonly EffectAnswer[] {
    const { fence, begun = [], records = [], keys = [], ended = [] } = effects!;
    const content = structuredClone(this.#content);
    const refusals: EffectAnswer[] = [];
    if (entries.length > 0 && !this.#entries.fits(entries[0]!.seq, entries[0]!.parent))
      refusals.push('conflict');
    if (fence !== this.fence) refusals.push('fenced');
    let isMisuse = false;
    const need = (isRight: unknown): void => {
      isMisuse ||= !isRight;
    };
    const find = (at: number) => content.transactions.find((each) => each.epoch === at);
    for (const row of begun) {
      const there = find(row.epoch);
      if (there === undefined) content.transactions.push({ ...row, records: [], hasEnded: false });
      else need(there.body === row.body && there.trajectory_id === row.trajectory_id);
    }
    for (const { epoch: at, place, record } of records) {
      const there = find(at);
      if (place === there?.records.length && !there.hasEnded) there.records.push(record);
      else need(there?.records[place] === record);
    }
    for (const row of keys) {
      const there = content.keys.find(({ key }) => key === row.key);
      if (there !== undefined && (there.epoch !== row.epoch || there.n !== row.n))
        refusals.push('taken');
      need(find(row.epoch) !== undefined);
      if (there === undefined) {
        content.keys.push(row);
        need(find(row.epoch)?.hasEnded === false);
      }
    }
    for (const at of ended) {
      const there = find(at);
      need(there !== undefined);
      if (there !== undefined) there.hasEnded = true;
    }
    if (isMisuse && fence === this.fence) refusals.push('misuse');
    if (refusals.length > 0) return refusals;
    this.#content = content;
    if (entries.length > 0) this.#entries.add(entries[0]!);
    this.lastEpoch = Math.max(this.lastEpoch, ...begun.map((row) => row.epoch));
    return ['written'];
  }

  get #newEpoch(): number {
    return Math.max(0, ...this.#content.transactions.map((each) => each.epoch)) + 1;
  }

  get head(): string | undefined {
    return this.#entries.head?.id;
  }

  get open(): LoggedTransaction[] {
    const open = this.#content.transactions.filter(({ hasEnded }) => !hasEnded);
    return open.sort((a, b) => a.epoch - b.epoch).map((transaction) => logged(transaction));
  }

  /** The transactions, for every epoch that may have started. */
  get transactions(): readonly (readonly [epoch: number, LoggedTransaction | undefined])[] {
    return Array.from({ length: EPOCHS }, (_, n) => [n + 1, logged(this.#find(n + 1))] as const);
  }

  get keys(): readonly (readonly [key: string, EffectKeyRow | undefined])[] {
    const count = Math.max(KEYS, this.#content.keys.length);
    return Array.from({ length: count }, (_, n) => [
      keyHash(n),
      this.#content.keys.find(({ key }) => key === keyHash(n)),
    ]);
  }

  #find(at: number): Transaction | undefined {
    return this.#content.transactions.find((each) => each.epoch === at);
  }
}

function keyHash(n: number): string {
  return blobOf(`key ${n}`).hash;
}

function logged(transaction: Transaction): LoggedTransaction;
function logged(transaction: Transaction | undefined): LoggedTransaction | undefined;
function logged(transaction: Transaction | undefined): LoggedTransaction | undefined {
  if (transaction === undefined) return undefined;
  const { hasEnded: _, ...rest } = transaction;
  return rest;
}

/** The single trajectory of all batches. */
function entryChain() {
  const rows: ReturnType<typeof entryAfter>[] = [];
  let drawn = 0;
  return {
    draw: (how: GeneratedWrite['entry']) => {
      drawn += 1;
      if (how === 'none') return [];
      return [
        how === 'next'
          ? entryAfter(rows.at(-1), 't', drawn)
          : entryAt('t', rows.length + 1, 'f'.repeat(64), drawn),
      ];
    },
    fits: (seq: number, parent: string | null) =>
      seq === rows.length && parent === (rows.at(-1)?.id ?? null),
    add: (row: ReturnType<typeof entryAfter>) => void rows.push(row),
    get head() {
      return rows.at(-1);
    },
  };
}
