import { hash } from 'node:crypto';
import { type ArgumentSchema, arg, checkArgument } from 'assize/internal/base';
import type { EntryRow, Hash } from 'assize/internal/ledger';

/**
 * A batch that was sent, and the answer to its caller. `failed`: the answer was that nothing was
 * written (a conflict, or an error). `unknown`: the store could not tell, or the caller ended
 * before the answer; `returned` is then Infinity.
 */
export interface Append {
  readonly operation: 'append';
  /** The caller. It has one call in flight at a time, or its calls do not depend on each other. */
  readonly client: string;
  readonly invoked: number;
  readonly returned: number;
  readonly result: 'committed' | 'failed' | 'unknown';
  /** The ids of all its entries, in order. */
  readonly ids: readonly Hash[];
}

/** A read of the entries of one trajectory, from its first one. */
export interface Read {
  readonly operation: 'read';
  readonly client: string;
  readonly invoked: number;
  readonly returned: number;
  readonly trajectory_id: string;
  /** Either all ids, in order of seq, or their number and the last id. */
  readonly ids?: readonly Hash[];
  readonly entries?: number;
  readonly head?: Hash;
}

/**
 * Times come from one clock that never goes back, in any unit. A call lies within its times and may
 * be shorter.
 */
export type Operation = Append | Read;

/** A violation, with the clause of the contract that it breaks. */
export interface Violation {
  readonly code: /** Chain: a gap, fork, wrong parent, duplicate id, or mismatched payload and id. */
    | 'gap'
    | 'wrong_parent'
    | 'id_twice'
    | 'tampered'
    /** (a) A committed batch is missing, or was committed for two callers. */
    | 'lost'
    | 'committed_twice'
    /** (b) A failed batch is present, or a batch in doubt is partly present. */
    | 'written_though_failed'
    | 'torn'
    /** An entry that no caller sent. */
    | 'out_of_thin_air'
    /**
     * (c) Two batches are in the wrong order: the one that was answered before the other was sent
     * comes second.
     */
    | 'out_of_order'
    /**
     * (d) A read is not a prefix of the chain. Or a client, or a read after an answer, saw less
     * than was present.
     */
    | 'read_no_prefix'
    | 'read_went_back'
    | 'read_stale'
    | 'read_ahead';
  readonly detail: string;
}

export interface HistoryReport {
  readonly violations: readonly Violation[];
  readonly committed: number;
  readonly failed: number;
  /** Number of batches in doubt, and of those that are present. */
  readonly unknown: number;
  readonly unknownWritten: number;
}

const SPAN = { operation: arg.text, client: arg.text, invoked: arg.number, returned: arg.number };
const APPEND = arg.members({ ...SPAN, ids: arg.list(arg.text) });
const READ = arg.members({
  ...SPAN,
  trajectory_id: arg.text,
  ids: arg.optional(arg.list(arg.text)),
});
const OPERATION: ArgumentSchema = (value) =>
  ((value as Partial<Operation> | null | undefined)?.operation === 'append' ? APPEND : READ)(value);
const ROW = arg.members({
  id: arg.text,
  trajectory_id: arg.text,
  seq: arg.whole,
  payload: arg.text,
});

/**
 * Checks whether a ledger can result from the calls that its callers saw. `entries`: all entries of
 * the store afterwards, each trajectory in order of seq. The check uses only the store's port.
 *
 * The chain is the order of its versions, so no order has to be searched: the check takes O(n log
 * n).
 *
 * @throws ArgumentError `bad_argument`
 */
export function checkHistory(
  history: readonly Operation[],
  entries: readonly EntryRow[],
): HistoryReport {
  checkArgument(arg.list(OPERATION), history, 'history');
  checkArgument(arg.list(ROW), entries, 'entries');
  const violations: Violation[] = [];
  const report = (code: Violation['code'], detail: string): void =>
    void violations.push({ code, detail });
  const appends = history.filter((operation) => operation.operation === 'append');
  const reads = history.filter((operation) => operation.operation === 'read');
  const chains = checkChains(entries, report);
  const places = new Map(entries.map((row) => [row.id, row]));
  const sent = checkAppends(appends, places, report);
  for (const chain of chains.values()) checkOrder(chain, sent, report);
  checkReads(reads, chains, sent, report);
  const inDoubt = appends.filter(({ result }) => result === 'unknown');
  return {
    violations,
    committed: appends.filter(({ result }) => result === 'committed').length,
    failed: appends.filter(({ result }) => result === 'failed').length,
    unknown: inDoubt.length,
    unknownWritten: inDoubt.filter(({ ids }) => ids.some((id) => places.has(id))).length,
  };
}

type Report = (code: Violation['code'], detail: string) => void;
type Chains = ReadonlyMap<string, readonly EntryRow[]>;

function checkChains(entries: readonly EntryRow[], report: Report): Chains {
  const chains = new Map<string, EntryRow[]>();
  const ids = new Set<Hash>();
  for (const row of entries) {
    const where = `${row.trajectory_id} seq ${row.seq}`;
    const chain = chains.get(row.trajectory_id) ?? [];
    chains.set(row.trajectory_id, chain);
    if (row.seq !== chain.length)
      report('gap', `${where} is at the position of seq ${chain.length}`);
    if (row.parent !== (chain.at(-1)?.id ?? null))
      report('wrong_parent', `${where} does not name the previous entry`);
    if (ids.has(row.id)) report('id_twice', `${where} has the id ${row.id} of another entry`);
    if (hash('sha256', row.payload) !== row.id)
      report('tampered', `${where}: the payload does not hash to its id`);
    ids.add(row.id);
    chain.push(row);
  }
  return chains;
}

/**
 * The time when a present entry was first sent, and the time of the first `committed` answer to its
 * batch.
 */
interface Sending {
  invoked: number;
  returned: number;
}

/** (a) and (b). */
function checkAppends(
  appends: readonly Append[],
  places: ReadonlyMap<Hash, EntryRow>,
  report: Report,
): ReadonlyMap<Hash, Sending> {
  const sent = new Map<Hash, Sending>();
  const committed = new Set<Hash>();
  const excused = new Set(
    appends.filter(({ result }) => result !== 'failed').flatMap(({ ids }) => ids),
  );
  for (const append of appends) {
    const { client, ids, result, invoked, returned } = append;
    const there = ids.filter((id) => places.has(id));
    const what = `the batch of ${client} at ${invoked} (${ids[0]})`;
    if (result === 'committed') {
      if (there.length < ids.length)
        report(
          'lost',
          `${what} was committed, but ${there.length} of ${ids.length} entries are present`,
        );
      if (ids.some((id) => committed.has(id)))
        report('committed_twice', `${what} was committed before`);
      for (const id of ids) committed.add(id);
    }
    if (result === 'unknown' && there.length > 0 && there.length < ids.length) {
      report('torn', `of ${what}, ${there.length} of ${ids.length} entries are present`);
    }
    // A batch that was sent again is present correctly if any of its calls was not refused.
    if (result === 'failed' && there.some((id) => !excused.has(id))) {
      report('written_though_failed', `${what} was refused, but is present`);
    }
    for (const id of there) {
      const before = sent.get(id) ?? {
        invoked: Number.POSITIVE_INFINITY,
        returned: Number.POSITIVE_INFINITY,
      };
      sent.set(id, {
        invoked: Math.min(before.invoked, invoked),
        returned: Math.min(
          before.returned,
          result === 'committed' ? returned : Number.POSITIVE_INFINITY,
        ),
      });
    }
  }
  for (const { id, trajectory_id, seq } of places.values()) {
    if (!sent.has(id))
      report('out_of_thin_air', `no client sent ${trajectory_id} seq ${seq} (${id})`);
  }
  return sent;
}

/**
 * (c), from the end of a chain: the earliest answer to any later entry must not precede the sending
 * of this one.
 */
function checkOrder(
  chain: readonly EntryRow[],
  sent: ReadonlyMap<Hash, Sending>,
  report: Report,
): void {
  let earliest = Number.POSITIVE_INFINITY;
  for (const { id, trajectory_id, seq } of chain.toReversed()) {
    const { invoked, returned } = sent.get(id) ?? {
      invoked: Number.NEGATIVE_INFINITY,
      returned: Number.POSITIVE_INFINITY,
    };
    if (earliest < invoked) {
      report(
        'out_of_order',
        `${trajectory_id} seq ${seq} was sent at ${invoked}, after a later one was answered at ${earliest}`,
      );
    }
    earliest = Math.min(earliest, returned);
  }
}

/** (d). */
function checkReads(
  reads: readonly Read[],
  chains: Chains,
  sent: ReadonlyMap<Hash, Sending>,
  report: Report,
): void {
  const seen = new Map<string, { returned: number; length: number }[]>();
  const times = new Map<string, ChainTimes>();
  for (const read of reads.toSorted((a, b) => a.invoked - b.invoked)) {
    const { client, trajectory_id, invoked, returned } = read;
    const chain = chains.get(trajectory_id) ?? [];
    const what = `the read of ${trajectory_id} by ${client} at ${invoked}`;
    const length = read.ids?.length ?? read.entries ?? 0;
    const head = read.ids === undefined ? read.head : read.ids.at(-1);
    const same = read.ids?.every((id, seq) => chain[seq]?.id === id) ?? true;
    if (!same || chain[length - 1]?.id !== head) {
      report(
        'read_no_prefix',
        `${what} saw ${length} entries that are not a prefix of the ${chain.length} present`,
      );
      continue;
    }
    const known = times.get(trajectory_id) ?? new ChainTimes(chain, sent);
    times.set(trajectory_id, known);
    const answered = known.answeredBefore(invoked);
    if (length < answered)
      report('read_stale', `${what} saw ${length} entries, ${answered} were answered before`);
    if (length > 0 && known.sentBy(length) > returned) {
      report('read_ahead', `${what} saw ${length} entries, one of them sent after it`);
    }
    const key = `${client}\0${trajectory_id}`;
    const before = seen.get(key) ?? [];
    seen.set(key, before);
    const longest = Math.max(
      0,
      ...before.filter((other) => other.returned <= invoked).map((other) => other.length),
    );
    if (length < longest)
      report('read_went_back', `${what} saw ${length} entries, but ${longest} before`);
    // Only a read that is longer than all others, or answered before them, can matter later.
    before.push({ returned, length });
    if (before.length > 32) seen.set(key, compacted(before, invoked));
  }
}

/** The longest of all reads that were answered before now stands for the others. */
function compacted(
  reads: readonly { returned: number; length: number }[],
  now: number,
): { returned: number; length: number }[] {
  const done = reads.filter(({ returned }) => returned <= now);
  const length = Math.max(0, ...done.map((read) => read.length));
  return [
    { returned: Number.NEGATIVE_INFINITY, length },
    ...reads.filter(({ returned }) => returned > now),
  ];
}

/** The known minimum length of a chain at a time, and the time by which a prefix was sent. */
class ChainTimes {
  /** By time: the answer, and the longest chain that any answer until then implies. */
  readonly #answers: { at: number; length: number }[] = [];
  readonly #sent: number[] = [];

  constructor(chain: readonly EntryRow[], sent: ReadonlyMap<Hash, Sending>) {
    let latest = Number.NEGATIVE_INFINITY;
    for (const { id, seq } of chain) {
      const { invoked, returned } = sent.get(id) ?? {
        invoked: latest,
        returned: Number.POSITIVE_INFINITY,
      };
      latest = Math.max(latest, invoked);
      this.#sent.push(latest);
      if (returned < Number.POSITIVE_INFINITY)
        this.#answers.push({ at: returned, length: seq + 1 });
    }
    this.#answers.sort((a, b) => a.at - b.at);
    let longest = 0;
    for (const answer of this.#answers) {
      longest = Math.max(longest, answer.length);
      answer.length = longest;
    }
  }

  /** The length of the shortest chain that is consistent with the answers before that time. */
  answeredBefore(time: number): number {
    let [low, high] = [0, this.#answers.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#answers[middle]!.at < time) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? 0 : this.#answers[low - 1]!.length;
  }

  /** The time when the last of the first `length` entries was sent. */
  sentBy(length: number): number {
    return this.#sent[length - 1] ?? Number.NEGATIVE_INFINITY;
  }
}
