import type { Json } from '#base';
import { BELIEVE_ACTION, type MemoryStatement } from '#kernel';
import {
  type CommitPayload,
  type Hash,
  type LedgerStore,
  type PendingPayload,
  readRow,
  type Stored,
  ValueReader,
} from '#ledger';
import { MemoryError } from '#memory';

type Entry = Pick<PendingPayload, 'trajectory_id' | 'seq'>;
type Withdrawal = Omit<Extract<MemoryStatement, { verb: 'withdraw' }>, 'source'> & {
  readonly source: string;
  readonly entry: Hash;
};

const PAGE = 256;

/** The withdrawals of sources that a trajectory has recorded since a proposal was submitted. */
export class WithdrawnSources {
  readonly #store: LedgerStore;
  readonly #pending: PendingPayload;
  readonly #found: Withdrawal[] = [];
  /** The next entry to read. */
  #next: number | undefined;

  constructor(store: LedgerStore, pending: PendingPayload) {
    this.#store = store;
    this.#pending = pending;
  }

  /** Whether all entries before that position were read. */
  hasRead(seq: number): boolean {
    return this.#next !== undefined && this.#next >= seq;
  }

  async read(): Promise<void> {
    const values = new ValueReader(this.#store);
    this.#next ??= await submittedAt(this.#pending, this.#store);
    for (;;) {
      const rows = await this.#store.entries(this.#pending.trajectory_id, {
        from: this.#next,
        limit: PAGE,
      });
      for (const row of rows) {
        if (row.kind !== 'commit') continue;
        const { action } = readRow(row).payload as CommitPayload;
        const sayings =
          action.name === BELIEVE_ACTION ? await sayingsOf(row, action.args, values) : [];
        for (const saying of sayings)
          if (saying.verb === 'withdraw' && saying.source !== undefined)
            this.#found.push({ ...saying, source: saying.source, entry: row.id });
      }
      this.#next += rows.length;
      if (rows.length < PAGE) return;
    }
  }

  /** The refusal of statements if the source of one of them was withdrawn. */
  refusalOf(statements: readonly MemoryStatement[]): MemoryError | undefined {
    for (const one of statements) {
      if (one.verb === 'retract' || one.verb === 'withdraw' || one.source === undefined) continue;
      const by = this.#found.find((each) => states(one, each));
      if (by === undefined) continue;
      const { source } = one;
      return new MemoryError(
        'wrong_state',
        `The proposal states a fact of the source ${JSON.stringify(source)}, which was withdrawn after the proposal. Reject it, and state its other facts again.`,
        { evidence: { source, entry: by.entry } },
      );
    }
    return undefined;
  }
}

/**
 * The position of the proposal's first entry. Each approval except the last submits the proposal
 * again.
 */
async function submittedAt({ seq, resolves }: PendingPayload, store: LedgerStore): Promise<number> {
  const row = resolves === undefined ? undefined : await store.resolve(resolves);
  return row === undefined ? seq : submittedAt(readRow(row).payload as PendingPayload, store);
}

/**
 * The withdrawn source of a pending statement of facts. Such a proposal can only be rejected.
 * Undefined also for an action of a domain: only the domain can derive its facts.
 */
export async function withdrawnSourceOf(
  pending: PendingPayload,
  store: LedgerStore,
): Promise<string | undefined> {
  const { action } = pending.proposal;
  if (action.name !== BELIEVE_ACTION) return undefined;
  const statements = await sayingsOf(pending, action.args, new ValueReader(store));
  const withdrawn = new WithdrawnSources(store, pending);
  await withdrawn.read();
  return withdrawn.refusalOf(statements)?.evidence['source'] as string | undefined;
}

/** A pending proposal with the partitions of the facts that it states for a source. */
export interface PendingClaims {
  readonly id: Hash;
  readonly of: readonly { readonly subject: string; readonly predicate: string }[];
}

/** The pending proposals that state facts of a source in a space, oldest first. */
export async function pendingClaimsOf(
  { source, space }: { readonly source: string; readonly space: string },
  open: readonly { readonly id: Hash; readonly payload: PendingPayload }[],
  store: LedgerStore,
): Promise<PendingClaims[]> {
  const values = new ValueReader(store);
  const found: PendingClaims[] = [];
  for (const { id, payload } of open) {
    const { action } = payload.proposal;
    if (action.name !== BELIEVE_ACTION) continue;
    const sayings = await sayingsOf(payload, action.args, values);
    const of = sayings.filter(
      (saying) => saying.verb !== 'retract' && states(saying, { space, source }),
    );
    if (of.length > 0)
      found.push({ id, of: of.map(({ subject, predicate }) => ({ subject, predicate })) });
  }
  return found;
}

/** Whether the statement is of that source, in that space or partition. */
function states(
  saying: MemoryStatement,
  of: {
    readonly space: string;
    readonly source: string;
    readonly subject?: string;
    readonly predicate?: string;
  },
): boolean {
  return (
    saying.verb !== 'retract' &&
    saying.source === of.source &&
    saying.space === of.space &&
    (of.subject === undefined || saying.subject === of.subject) &&
    (of.predicate === undefined || saying.predicate === of.predicate)
  );
}

/** None if they were erased. */
async function sayingsOf(
  entry: Entry,
  args: Stored,
  values: ValueReader,
): Promise<readonly MemoryStatement[]> {
  const read = await values.read<Json>(entry, args);
  return 'value' in read
    ? (read.value as unknown as { readonly sayings: readonly MemoryStatement[] }).sayings
    : [];
}
