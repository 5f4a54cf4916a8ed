import type { Instant } from '#canon';
import {
  checkRow,
  type Entry,
  type FactWrite,
  factWrites,
  type Hash,
  type LedgerStore,
  type TrajectoryInfo,
  ValueReader,
} from '#ledger';
import { RuntimeError } from '../../errors.ts';

/** Approximate number of entries in memory at a time, over all trajectories. */
const ROWS_AT_ONCE = 20_000;
const PAGE_MIN = 10;
const PAGE_MAX = 1_000;
/** Number of entries with concurrent reads of their texts. */
const READ_AT_ONCE = 32;

/**
 * All fact changes that the entries record, for a store. The changes of one partition come in the
 * order of their versions, across trajectories. Entries come by time; if clocks differ, an early
 * entry is kept back until its version is next. So memory holds some pages of entries, and a number
 * per partition. Needs no Merkle log.
 *
 * `onKeptBack`: for ledgers with entries left out. Called at the end with each change that follows
 * a missing version.
 *
 * @throws LedgerFault for a changed entry or text; RuntimeError `invalid_ledger` if a version is
 * missing or duplicated, or if two partitions have one name: such a ledger was combined from
 * several
 */
export async function* recordedChanges(
  store: LedgerStore,
  trajectories: readonly TrajectoryInfo[],
  onRead: (entries: number) => void = () => undefined,
  onKeptBack?: (write: FactWrite) => void,
): AsyncGenerator<FactWrite> {
  const values = new ValueReader(store);
  const order = new VersionOrder();
  let group: Entry[] = [];
  const taken = async (): Promise<FactWrite[]> => {
    const writes = await Promise.all(group.map((entry) => factWrites(entry, values)));
    group = [];
    return writes.flat().flatMap((write) => order.take(write));
  };
  for await (const entry of beliefCommits(store, trajectories, onRead)) {
    group.push(entry);
    if (group.length === READ_AT_ONCE) yield* await taken();
  }
  yield* await taken();
  for (const write of order.blocked()) {
    if (onKeptBack === undefined) throw order.incomplete(write);
    onKeptBack(write);
  }
}

/** Orders changes by version. */
class VersionOrder {
  readonly #versions: Map<Hash, number> = new Map();
  readonly #names: Map<string, Hash> = new Map();
  readonly #ahead: Map<string, FactWrite> = new Map();

  /** The changes that are next. @throws RuntimeError `invalid_ledger` */
  take(write: FactWrite): FactWrite[] {
    const { partition, names, version } = write;
    const { space, subject, predicate, branch } = partition;
    const name = JSON.stringify([space, subject, predicate, branch]);
    const hash = this.#names.get(name) ?? names.hash;
    const last = this.#versions.get(names.hash) ?? 0;
    if (hash !== names.hash) throw invalid(write, 'occurs twice under one name');
    if (version <= last || this.#ahead.has(placeOf(write)))
      throw invalid(write, `has version ${version} twice`);
    // The source's partition had this version where the branch starts.
    if (write.inherit !== undefined) {
      if (last > 0) throw invalid(write, 'has two first versions');
      this.#versions.set(names.hash, version - 1);
    }
    this.#names.set(name, hash);
    this.#ahead.set(placeOf(write), write);
    const ready: FactWrite[] = [];
    for (let next = this.#next(names.hash); next !== undefined; next = this.#next(names.hash))
      ready.push(next);
    return ready;
  }

  /** The changes that follow a missing version. */
  blocked(): Iterable<FactWrite> {
    return this.#ahead.values();
  }

  incomplete(write: FactWrite): RuntimeError {
    return invalid(write, `has no version ${(this.#versions.get(write.names.hash) ?? 0) + 1}`);
  }

  #next(hash: Hash): FactWrite | undefined {
    const version = (this.#versions.get(hash) ?? 0) + 1;
    const place = placeOf({ names: { hash }, version });
    const write = this.#ahead.get(place);
    if (write === undefined) return undefined;
    this.#ahead.delete(place);
    this.#versions.set(hash, version);
    return write;
  }
}

function placeOf({
  names,
  version,
}: {
  readonly names: { readonly hash: Hash };
  readonly version: number;
}): string {
  return `${version} ${names.hash}`;
}

/** Without the names of the partition: they may be sensitive. */
function invalid({ names, version }: FactWrite, what: string): RuntimeError {
  return new RuntimeError(
    'invalid_ledger',
    `The facts cannot be rebuilt: a partition ${what} (its names are in the blob ${names.hash}). Do not import entries of two stores that assert the same facts.`,
    { evidence: { names: names.hash, version } },
  );
}

/** A trajectory that is being read, with its next commits that change facts. */
interface TrajectoryCursor {
  readonly trajectoryId: string;
  readonly length: number;
  from: number;
  entries: Entry[];
}

/** Commits that change facts, by time; the commits of one trajectory in their order. */
async function* beliefCommits(
  store: LedgerStore,
  trajectories: readonly TrajectoryInfo[],
  onRead: (entries: number) => void,
): AsyncGenerator<Entry> {
  const limit = Math.max(
    PAGE_MIN,
    Math.min(PAGE_MAX, Math.floor(ROWS_AT_ONCE / Math.max(1, trajectories.length))),
  );
  let read = 0;
  const readOn = async (reading: TrajectoryCursor): Promise<void> => {
    while (reading.entries.length === 0 && reading.from < reading.length) {
      const { trajectoryId, from, length } = reading;
      const rows = await store.entries(trajectoryId, {
        from,
        limit: Math.min(limit, length - from),
      });
      if (rows.length === 0) return;
      reading.from += rows.length;
      reading.entries = rows
        .filter(({ kind, seq }) => kind === 'commit' && seq < length)
        .map(checkRow)
        .filter(believes);
      read += rows.length;
      onRead(read);
    }
  };
  // The earliest is last, because items are taken from the end.
  const readings: TrajectoryCursor[] = [];
  const put = (reading: TrajectoryCursor): void => {
    if (reading.entries.length > 0)
      readings.splice(placeFor(timeOf(reading), readings), 0, reading);
  };
  for (const { trajectory_id: trajectoryId, entries: length } of trajectories) {
    const reading: TrajectoryCursor = { trajectoryId, length, from: 0, entries: [] };
    await readOn(reading);
    put(reading);
  }
  for (let reading = readings.pop(); reading !== undefined; reading = readings.pop()) {
    yield reading.entries.shift()!;
    await readOn(reading);
    put(reading);
  }
}

function believes({ payload }: Entry): boolean {
  return payload.kind === 'commit' && payload.delta.beliefs.length > 0;
}

function timeOf({ entries: [first] }: TrajectoryCursor): Instant {
  return first!.payload.at;
}

/** The index in a list sorted latest first: before all items that are not later. */
function placeFor(at: Instant, readings: readonly TrajectoryCursor[]): number {
  let [low, high] = [0, readings.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeOf(readings[middle]!) > at) low = middle + 1;
    else high = middle;
  }
  return low;
}
