import { setTimeout as sleep } from 'node:timers/promises';
import { addMicros, instantFromMillis, parseCanonical } from '#canon';
import type {
  Batch,
  BlobRow,
  CommitResult,
  EffectKeyRow,
  EffectPage,
  EffectRefusal,
  EffectStore,
  EffectWrite,
  EntryRow,
  Lease,
  LedgerStore,
  LoggedTransaction,
  OpenEffectPage,
  SideChange,
  SidePage,
  SideRow,
  SideStore,
  SnapshotRow,
  SnapshotStore,
  TrajectoryInfo,
} from '#ledger';
import type { OracleRow, OracleStore } from '#oracle';
import { StoreError } from '#stores';

/**
 * The possible faults of a store. A test checks that each makes at least one law of the suites
 * fail.
 */
export type Flaw =
  | 'takes any parent'
  | 'takes any seq'
  | 'trusts every clock'
  | 'takes an id twice'
  | 'keeps the rows before a conflict'
  | 'keeps the blobs of a conflict'
  | 'judges what waits by what is written'
  | 'lets a conflict take its neighbours with it'
  | 'says again what it said before'
  | 'moves the head for nothing'
  | 'keeps trajectories of a batch apart'
  | 'normalises names'
  | 'trims names'
  | 'cuts names'
  | 'reads JSON'
  | 'cuts texts at 64 KiB'
  | 'keeps the caller’s objects'
  | 'overwrites'
  | 'can’t have a blob twice'
  | 'lists by name'
  | 'has no page'
  | 'finds anything that has it'
  | 'finds all'
  | 'shows what waits'
  | 'takes anything'
  | 'empties the queue at a refusal'
  | 'forgets what waits when it closes'
  | 'answers nothing more when it closes'
  | 'goes on when it is closed'
  | 'forgets'
  | 'knows only its own heads'
  | 'closes the place'
  | 'is never empty'
  | 'writes each answer'
  | 'mixes up questions'
  | 'shows what was erased'
  | 'takes in again what was erased'
  | 'erases for a conflict'
  | 'remembers the last eraser'
  | 'keeps the newest snapshot'
  | 'keeps a snapshot from before an erasure'
  | 'keeps snapshots through an erasure'
  | 'keeps a snapshot of nothing'
  | 'drops one snapshot'
  | 'drops everything'
  | 'counts versions by row'
  | 'gives turns to all'
  | 'keeps turns of who has closed'
  | 'ends whoever’s turn it is'
  | 'forgets transactions that have ended'
  | 'opens again what has ended'
  | 'sorts numbers as texts'
  | 'knows only its own effects'
  | 'lets go of keys'
  | 'gives a key to all'
  | 'keeps the rows before a refusal'
  | 'takes any place'
  | 'lets a refusal take its neighbours with it'
  | 'leaves out the effects of a batch'
  | 'keeps the effects of a conflict'
  | 'writes a batch whose effects are refused'
  | 'gives tenures to all'
  | 'knows only the epochs that are open'
  | 'has no fence'
  | 'waits on for who has given up'
  | 'leaves those who wait when it closes'
  | 'keeps the tenure of who has closed';

interface Effects {
  transactions: {
    row: Omit<LoggedTransaction, 'records'>;
    records: Map<number, string>;
    hasEnded: boolean;
  }[];
  keys: EffectKeyRow[];
}

interface Place {
  rows: EntryRow[];
  effects: Effects;
  fence: number;
  /** The holder of the lease. */
  holder: { readonly of: PlainStore } | undefined;
  /** Callbacks of the waiting stores. These then check the lease again. */
  wake: Set<() => void>;
  blobs: Map<string, string>;
  erased: Map<string, string>;
  answers: Map<string, OracleRow>;
  within: Map<string, Set<string>>;
  snapshots: Map<string, SnapshotRow>;
  side: SideRow[];
  sideVersion: number;
  closed: boolean;
  /** The holder of the write lock, by trajectory, and the function that releases it. */
  turns: Map<
    string,
    { readonly of: PlainStore; readonly over: Promise<void>; readonly end: () => void }
  >;
}

/** So long a turn is waited for. */
const PATIENCE_MS = 200;

const places = new Map<string, Place>();

function newPlace(): Place {
  return {
    rows: [],
    effects: { transactions: [], keys: [] },
    fence: 0,
    holder: undefined,
    wake: new Set(),
    blobs: new Map(),
    erased: new Map(),
    answers: new Map(),
    within: new Map(),
    snapshots: new Map(),
    side: [],
    sideVersion: 0,
    closed: false,
    turns: new Map(),
  };
}

/** The plainest possible store, with selectable flaws, to test the suites themselves. */
export class PlainStore implements LedgerStore, OracleStore, SnapshotStore, EffectStore, SideStore {
  readonly readonly = false;
  readonly #flaws: ReadonlySet<Flaw>;
  readonly #place: Place;
  #queue: (() => void)[] = [];
  #closed = false;
  /** Where this handle alone has heads. */
  readonly #own: EntryRow[] = [];
  readonly #waiting: EntryRow[] = [];
  #judged: readonly EntryRow[] | undefined;
  #conflicts = 0;
  #question: string | undefined;
  #ownEffects: Effects = { transactions: [], keys: [] };
  #refusals = 0;

  constructor(name: string, flaws: readonly Flaw[] = []) {
    this.#flaws = new Set(flaws);
    const known = this.#has('forgets') ? undefined : places.get(name);
    this.#place = known ?? newPlace();
    places.set(name, this.#place);
  }

  async commit(batch: Batch): Promise<CommitResult> {
    this.#checkOpen();
    if (!this.#has('takes anything')) this.#checkBatch(batch);
    const given = this.#has('keeps the caller’s objects') ? batch : structuredClone(batch);
    if (this.#has('shows what waits')) this.#waiting.push(...given.entries);
    return this.#inTurn(() => this.#write(given), { status: 'committed' });
  }

  async resolve(id: string): Promise<EntryRow | undefined> {
    this.#checkHash(id);
    this.#checkOpen();
    return this.#out([...this.#place.rows, ...this.#waiting].find((row) => row.id === id));
  }

  async entries(
    trajectoryId: string,
    options: { from?: number; limit?: number } = {},
  ): Promise<EntryRow[]> {
    const { from = 0, limit = 1_000 } = options;
    const isWrong =
      !isText(trajectoryId) ||
      !(Number.isSafeInteger(from) && from >= 0) ||
      !(Number.isSafeInteger(limit) && limit > 0);
    if (isWrong && !this.#has('takes anything')) throw invalid();
    this.#checkOpen();
    const rows = this.#of(trajectoryId);
    return this.#out(this.#has('has no page') ? rows : rows.slice(from, from + limit));
  }

  async head(trajectoryId: string): Promise<EntryRow | undefined> {
    if (!isText(trajectoryId) && !this.#has('takes anything')) throw invalid();
    this.#checkOpen();
    return this.#out(this.#of(trajectoryId).at(-1));
  }

  async trajectories(): Promise<TrajectoryInfo[]> {
    this.#checkOpen();
    const names = [...new Set(this.#place.rows.map((row) => row.trajectory_id))];
    if (this.#has('lists by name')) names.sort();
    const found = names.map((trajectory_id) => {
      const rows = this.#of(trajectory_id);
      return { trajectory_id, entries: rows.length, head: rows.at(-1)!.id };
    });
    return this.#has('is never empty')
      ? [...found, { trajectory_id: '', entries: 0, head: '' }]
      : found;
  }

  async acquireWriteLock(trajectoryId: string): Promise<(() => void) | undefined> {
    this.#checkOpen();
    const { turns } = this.#place;
    const until = performance.now() + PATIENCE_MS;
    for (let had = turns.get(trajectoryId); had !== undefined; had = turns.get(trajectoryId)) {
      if (this.#has('gives turns to all')) return () => undefined;
      await Promise.race([had.over, sleep(until - performance.now())]);
      if (performance.now() >= until) return undefined;
    }
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const mine = {
      of: this,
      over,
      end: () => {
        if (turns.get(trajectoryId) === mine || this.#has('ends whoever’s turn it is'))
          turns.delete(trajectoryId);
        resolve();
      },
    };
    turns.set(trajectoryId, mine);
    return mine.end;
  }

  async blob(hash: string): Promise<string | undefined> {
    this.#checkHash(hash);
    this.#checkOpen();
    return this.#has('shows what was erased') || !this.#place.erased.has(hash)
      ? this.#place.blobs.get(hash)
      : undefined;
  }

  async erasedBy(hash: string): Promise<string | undefined> {
    this.#checkHash(hash);
    this.#checkOpen();
    return this.#place.erased.get(hash);
  }

  async find(prefix: string): Promise<EntryRow[]> {
    const lower = prefix.toLowerCase();
    if (!/^[0-9a-f]{8,64}$/.test(lower)) throw invalid();
    this.#checkOpen();
    const has = (row: EntryRow): boolean =>
      this.#has('finds anything that has it') ? row.id.includes(lower) : row.id.startsWith(lower);
    const found = this.#place.rows.filter(has);
    return this.#out(this.#has('finds all') ? found : found.slice(0, 2));
  }

  async oracleGet(key: string): Promise<OracleRow | undefined> {
    this.#checkHash(key);
    this.#checkOpen();
    if (this.#has('is never empty'))
      return this.#place.answers.get(key) ?? { key, answer: '', at: '' };
    return this.#out(this.#place.answers.get(key));
  }

  async oracleWithin(
    within: string,
    { after = '', limit }: { after?: string; limit: number },
  ): Promise<OracleRow[]> {
    const { answers } = this.#place;
    const keys = this.#has('finds all')
      ? [...answers.keys()]
      : [...(this.#place.within.get(within) ?? [])];
    const rows = keys.sort().map((key) => answers.get(key) as OracleRow);
    const listed = rows.filter(({ key, erased_by }) => key > after && erased_by === undefined);
    return this.#out(this.#has('has no page') ? listed : listed.slice(0, limit));
  }

  async oracleErased({
    after = '',
    limit,
  }: {
    after?: string;
    limit: number;
  }): Promise<OracleRow[]> {
    const rows = [...this.#place.answers.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    const listed = rows.filter(
      ({ key, erased_by }) => key > after && (this.#has('finds all') || erased_by),
    );
    return this.#out(this.#has('has no page') ? listed : listed.slice(0, limit));
  }

  async oraclePut(row: OracleRow, within?: string): Promise<OracleRow> {
    this.#checkOpen();
    const texts = [row.answer, row.at];
    if (!this.#has('takes anything')) {
      this.#checkHash(row.key);
      if (!texts.every(isText)) throw invalid();
    }
    const given = this.#has('keeps the caller’s objects')
      ? row
      : { ...row, answer: this.#text(row.answer) };
    return this.#inTurn(() => {
      const { answers } = this.#place;
      this.#question ??= row.key;
      const key = this.#has('mixes up questions') ? this.#question : row.key;
      const there = answers.get(key);
      const isFree = there?.erased_by !== undefined && this.#has('takes in again what was erased');
      const first = this.#has('overwrites') || isFree ? given : (there ?? given);
      answers.set(key, first);
      const { within: lists } = this.#place;
      if (within !== undefined) lists.set(within, (lists.get(within) ?? new Set()).add(key));
      return this.#out(this.#has('writes each answer') ? given : first);
    }, given);
  }

  async snapshot(trajectoryId: string): Promise<SnapshotRow | undefined> {
    if (!isText(trajectoryId) && !this.#has('takes anything')) throw invalid();
    this.#checkOpen();
    if (this.#has('is never empty'))
      return { trajectory_id: trajectoryId, seq: 0, hash: '', text: '' };
    return this.#out(this.#place.snapshots.get(this.#name(trajectoryId)));
  }

  async erasures(): Promise<number> {
    this.#checkOpen();
    return this.#place.erased.size;
  }

  async putSnapshot(row: SnapshotRow, erasures: number): Promise<void> {
    this.#checkOpen();
    if (!this.#has('takes anything')) {
      if (!(Number.isSafeInteger(erasures) && erasures >= 0)) throw invalid();
      this.#checkHash(row.hash);
      if (
        ![row.text, row.trajectory_id].every(isText) ||
        !(Number.isSafeInteger(row.seq) && row.seq >= 0)
      )
        throw invalid();
    }
    const given = this.#has('keeps the caller’s objects')
      ? row
      : { ...row, text: this.#text(row.text) };
    return this.#inTurn(() => {
      const { snapshots, rows, erased } = this.#place;
      const name = this.#name(row.trajectory_id);
      if (erasures !== erased.size && !this.#has('keeps a snapshot from before an erasure')) return;
      const isOlder = (snapshots.get(name)?.seq ?? -1) > row.seq;
      if (this.#has('keeps the newest snapshot') && isOlder) return;
      const isBegun = rows.some(({ trajectory_id }) => trajectory_id === name);
      if (isBegun || this.#has('keeps a snapshot of nothing')) snapshots.set(name, given);
    }, undefined);
  }

  async dropSnapshots(): Promise<void> {
    this.#checkOpen();
    return this.#inTurn(() => {
      const { snapshots, rows } = this.#place;
      if (this.#has('drops everything')) rows.length = 0;
      const names = [...snapshots.keys()];
      for (const name of this.#has('drops one snapshot') ? names.slice(1) : names)
        snapshots.delete(name);
    }, undefined);
  }

  async sideGet(kind: string, key: string): Promise<SideRow | undefined> {
    this.#checkSideNames(kind, key);
    this.#checkOpen();
    if (this.#has('is never empty')) return { kind, key, version: 1, body: 'null' };
    return this.#out(this.#side(kind, key));
  }

  async sideList(kind: string, { after = '', limit }: SidePage): Promise<SideRow[]> {
    this.#checkSideNames(kind);
    if (!this.#has('takes anything') && !(isText(after) && isFrom(1, limit))) throw invalid();
    this.#checkOpen();
    const order = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
    const rows = this.#place.side.filter((row) => row.kind === kind && order(row.key, after) > 0);
    rows.sort((a, b) => order(a.key, b.key));
    return this.#out(this.#has('has no page') ? rows : rows.slice(0, limit));
  }

  async sidePut(changes: readonly SideChange[]): Promise<boolean> {
    this.#checkOpen();
    if (!this.#has('takes anything')) this.#checkSideChanges(changes);
    const given = this.#has('keeps the caller’s objects') ? changes : structuredClone(changes);
    return this.#inTurn(() => {
      const isWrong = ({ kind, key, expected }: SideChange): boolean =>
        (this.#side(kind, key)?.version ?? null) !== expected;
      if (
        given.some(isWrong) &&
        !this.#has('keeps the rows before a refusal') &&
        !this.#has('overwrites')
      )
        return false;
      for (const change of given) {
        if (isWrong(change) && !this.#has('overwrites')) return false;
        this.#setSide(change);
      }
      return true;
    }, true);
  }

  #side(kind: string, key: string): SideRow | undefined {
    return this.#place.side.find(
      (row) => row.kind === this.#name(kind) && row.key === this.#name(key),
    );
  }

  #setSide({ kind, key, body }: SideChange): void {
    const place = this.#place;
    const there = this.#side(kind, key);
    place.side = place.side.filter((row) => row !== there);
    const version = this.#has('counts versions by row')
      ? (there?.version ?? 0) + 1
      : ++place.sideVersion;
    if (body !== null)
      place.side.push({ kind: this.#name(kind), key: this.#name(key), version, body });
  }

  #checkSideNames(...names: readonly string[]): void {
    const isName = (name: unknown): boolean =>
      isText(name) &&
      name !== '' &&
      (name as string).length <= 512 &&
      (name as string).normalize() === name;
    if (!names.every(isName) && !this.#has('takes anything')) throw invalid();
  }

  #checkSideChanges(changes: readonly SideChange[]): void {
    if (!Array.isArray(changes) || changes.length > 1_000) throw invalid();
    const isBody = (body: unknown): boolean =>
      body === null ||
      (isText(body) && Buffer.byteLength(body as string) <= 65_536 && isCanonical(body as string));
    for (const change of changes as readonly SideChange[]) {
      if (typeof change !== 'object' || change === null) throw invalid();
      this.#checkSideNames(change.kind, change.key);
      if (!(change.expected === null || isFrom(1, change.expected)) || !isBody(change.body))
        throw invalid();
    }
    if (new Set(changes.map(({ kind, key }) => `${kind}\0${key}`)).size < changes.length)
      throw invalid();
  }

  async leaseEffects(signal?: AbortSignal): Promise<Lease> {
    this.#checkOpen();
    const [mine, place] = [{ of: this }, this.#place];
    if (signal !== undefined && !(signal instanceof AbortSignal) && !this.#has('takes anything'))
      throw invalid();
    while (place.holder !== undefined && !this.#has('gives tenures to all')) {
      if (!this.#has('waits on for who has given up')) signal?.throwIfAborted();
      if (!this.#has('leaves those who wait when it closes')) this.#checkOpen();
      await new Promise<void>((again) => {
        place.wake.add(again);
        signal?.addEventListener('abort', () => again());
      });
    }
    if (!this.#has('waits on for who has given up')) signal?.throwIfAborted();
    if (!this.#has('leaves those who wait when it closes')) this.#checkOpen();
    place.holder = mine;
    place.fence += 1;
    const known = this.#effects.transactions.filter(
      ({ hasEnded }) => !hasEnded || !this.#has('knows only the epochs that are open'),
    );
    const release = async (): Promise<void> => {
      if (place.holder === mine) place.holder = undefined;
      this.#wake();
    };
    return {
      fence: place.fence,
      lastEpoch: Math.max(0, ...known.map(({ row }) => row.epoch)),
      release,
    };
  }

  async logEffects(
    effects: EffectWrite,
    blobs: readonly BlobRow[] = [],
  ): Promise<{ readonly status: 'written' } | EffectRefusal> {
    if (!this.#has('takes anything')) this.#checkEffects(effects);
    const result = await this.commit({ entries: [], blobs, effects });
    return result.status === 'committed' ? { status: 'written' } : (result as EffectRefusal);
  }

  async openEffects(page: OpenEffectPage = {}): Promise<LoggedTransaction[]> {
    const { after = 0, limit, trajectoryId } = page ?? {};
    const isPage = page !== null && isFrom(0, after) && (limit === undefined || isFrom(1, limit));
    const isRight = isPage && ['string', 'undefined'].includes(typeof trajectoryId);
    if (!isRight && !this.#has('takes anything')) throw invalid();
    this.#checkOpen();
    const open = this.#effects.transactions
      .filter(({ hasEnded }) => !hasEnded)
      .map((each) => this.#logged(each));
    const asked = open
      .filter(
        (each) => each.epoch > after && (trajectoryId ?? each.trajectory_id) === each.trajectory_id,
      )
      .sort((a, b) => this.#compare(a.epoch, b.epoch));
    const found = this.#has('has no page') ? asked : asked.slice(0, limit);
    return this.#has('is never empty')
      ? [...found, { epoch: 0, trajectory_id: '', body: '', records: [] }]
      : found;
  }

  async listEffects(page: EffectPage): Promise<LoggedTransaction[]> {
    const { before = Number.POSITIVE_INFINITY, limit, trajectoryId } = page ?? {};
    const isPage = isFrom(1, limit) && (page.before === undefined || isFrom(1, before));
    const isRight = isPage && ['string', 'undefined'].includes(typeof trajectoryId);
    if (!isRight && !this.#has('takes anything')) throw invalid();
    this.#checkOpen();
    const found = this.#effects.transactions
      .map((each) => this.#logged(each))
      .filter(
        (each) =>
          each.epoch < before && (trajectoryId ?? each.trajectory_id) === each.trajectory_id,
      )
      .sort((a, b) => this.#compare(b.epoch, a.epoch));
    return this.#has('has no page') ? found : found.slice(0, limit);
  }

  async effectsOf(epoch: number): Promise<LoggedTransaction | undefined> {
    if (!isFrom(1, epoch) && !this.#has('takes anything')) throw invalid();
    this.#checkOpen();
    const found = this.#effects.transactions.find(({ row }) => row.epoch === epoch);
    if (found?.hasEnded && this.#has('forgets transactions that have ended')) return undefined;
    return found && this.#logged(found);
  }

  async effectKey(key: string): Promise<EffectKeyRow | undefined> {
    this.#checkHash(key);
    this.#checkOpen();
    return this.#out(this.#effects.keys.find((row) => row.key === key));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#has('keeps turns of who has closed')) {
      for (const { of, end } of [...this.#place.turns.values()]) if (of === this) end();
    }
    const isHasty =
      this.#has('forgets what waits when it closes') ||
      this.#has('answers nothing more when it closes');
    if (!isHasty) await this.#drained();
    if (this.#has('closes the place')) this.#place.closed = true;
    const isMine = this.#place.holder?.of === this;
    if (isMine && !this.#has('keeps the tenure of who has closed')) this.#place.holder = undefined;
    this.#wake();
  }

  #has(flaw: Flaw): boolean {
    return this.#flaws.has(flaw);
  }

  #of(trajectoryId: string): EntryRow[] {
    const rows = this.#has('knows only its own heads') ? this.#own : this.#place.rows;
    return rows.filter((row) => row.trajectory_id === this.#name(trajectoryId));
  }

  #inTurn<T>(write: () => T, whenForgotten: T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#queue.length === 0) setImmediate(() => this.#flush());
      this.#queue.push(() => {
        if (this.#closed && this.#has('answers nothing more when it closes')) return;
        const isForgotten = this.#closed && this.#has('forgets what waits when it closes');
        try {
          resolve(isForgotten ? whenForgotten : write());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #flush(): void {
    const before = [...this.#place.rows];
    for (const step of this.#queue.splice(0)) {
      if (this.#has('judges what waits by what is written')) this.#judged = before;
      step();
    }
    this.#judged = undefined;
    this.#conflicts = 0;
    this.#refusals = 0;
    this.#waiting.length = 0;
    this.#question = undefined;
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  }

  #write(batch: Batch): CommitResult {
    const now = instantFromMillis(Date.now());
    const { at = '', maxAheadMs = 0 } = batch.clock ?? {};
    if (!this.#has('trusts every clock') && at > addMicros(now, maxAheadMs * 1_000))
      return { status: 'ahead', now };
    const { rows, blobs, erased } = this.#place;
    const taken: EntryRow[] = [];
    const isKnown = (row: EntryRow): boolean =>
      [...rows, ...taken].some((other) => other.id === row.id);
    if (this.#has('says again what it said before') && batch.entries.some(isKnown))
      return { status: 'committed' };
    const conflict = batch.entries.find((row) => {
      const there = this.#has('keeps trajectories of a batch apart')
        ? rows
        : [...(this.#judged ?? this.#all()), ...taken];
      const head = there.findLast((other) => other.trajectory_id === this.#name(row.trajectory_id));
      const fits =
        (this.#has('takes any seq') || row.seq === (head?.seq ?? -1) + 1) &&
        (this.#has('takes any parent') || row.parent === (head?.id ?? null)) &&
        (this.#has('takes an id twice') || !isKnown(row));
      if (fits) taken.push(this.#kept(row));
      return !fits;
    });
    const isTwice =
      this.#has('can’t have a blob twice') && batch.blobs.some(({ hash }) => blobs.has(hash));
    const isUnlucky =
      this.#has('lets a conflict take its neighbours with it') && this.#conflicts > 0;
    const refused = conflict ?? (isTwice || isUnlucky ? batch.entries[0] : undefined);
    if (refused !== undefined) {
      this.#conflicts += 1;
      if (this.#has('keeps the rows before a conflict')) rows.push(...taken);
      if (this.#has('erases for a conflict'))
        for (const { hash, by } of batch.erased ?? []) erased.set(hash, by);
      if (this.#has('erases for a conflict')) this.#eraseAnswers(batch);
      if (this.#has('keeps the blobs of a conflict'))
        for (const { hash, text } of batch.blobs) blobs.set(hash, text);
      if (this.#has('keeps the effects of a conflict') && batch.effects)
        this.#writeEffects(batch.effects);
      return { status: 'conflict', trajectory_id: refused.trajectory_id, seq: refused.seq };
    }
    const isLeftOut = this.#has('leaves out the effects of a batch') && batch.entries.length > 0;
    if (batch.effects !== undefined && !isLeftOut) {
      const refusal = this.#writeEffects(batch.effects);
      if (refusal !== undefined && !this.#has('writes a batch whose effects are refused'))
        return refusal;
    }
    if (this.#has('moves the head for nothing') && batch.entries.length === 0) rows.pop();
    rows.push(...taken);
    this.#own.push(...taken);
    for (const { hash, text } of batch.blobs) {
      if (erased.has(hash) && !this.#has('takes in again what was erased')) continue;
      erased.delete(hash);
      if (!blobs.has(hash) || this.#has('overwrites')) blobs.set(hash, this.#text(text));
    }
    for (const { hash, by } of batch.erased ?? []) {
      if (!this.#has('keeps snapshots through an erasure')) this.#place.snapshots.clear();
      if (!erased.has(hash) || this.#has('remembers the last eraser')) erased.set(hash, by);
      if (!this.#has('shows what was erased')) blobs.delete(hash);
    }
    if (!this.#has('shows what was erased')) this.#eraseAnswers(batch);
    return { status: 'committed' };
  }

  #eraseAnswers({ erasedAnswers = [] }: Batch): void {
    const { answers } = this.#place;
    for (const { key, by } of erasedAnswers) {
      const { at = '', erased_by } = answers.get(key) ?? {};
      const first = this.#has('remembers the last eraser') ? by : (erased_by ?? by);
      answers.set(key, { key, answer: '', at, erased_by: first });
    }
  }

  #wake(): void {
    const waiting = [...this.#place.wake];
    this.#place.wake.clear();
    for (const again of waiting) again();
  }

  get #effects(): Effects {
    return this.#has('knows only its own effects') ? this.#ownEffects : this.#place.effects;
  }

  /** Whole, or not at all. */
  #writeEffects(write: EffectWrite): EffectRefusal | undefined {
    const isUnlucky = this.#has('lets a refusal take its neighbours with it') && this.#refusals > 0;
    if ((write.fence !== this.#place.fence && !this.#has('has no fence')) || isUnlucky) {
      this.#refusals += 1;
      return { status: 'fenced' };
    }
    const before = structuredClone(this.#effects);
    const undo = (): void => {
      this.#refusals += 1;
      if (this.#has('keeps the rows before a refusal')) return;
      if (this.#has('knows only its own effects')) this.#ownEffects = before;
      else this.#place.effects = before;
    };
    try {
      const refusal = this.#addEffects(write);
      if (refusal !== undefined) undo();
      return refusal;
    } catch (error) {
      undo();
      throw error;
    }
  }

  #addEffects({
    begun = [],
    records = [],
    keys = [],
    ended = [],
  }: EffectWrite): EffectRefusal | undefined {
    const { transactions, keys: taken } = this.#effects;
    const need = (epoch: number) => transactions.find(({ row }) => row.epoch === epoch) ?? fail();
    for (const { epoch, trajectory_id, body } of begun) {
      const there = transactions.find(({ row }) => row.epoch === epoch);
      const row = { epoch, trajectory_id, body: this.#text(body) };
      if (there === undefined) transactions.push({ row, records: new Map(), hasEnded: false });
      else if (there.row.trajectory_id !== trajectory_id || there.row.body !== row.body) fail();
      else if (this.#has('opens again what has ended')) there.hasEnded = false;
    }
    for (const { epoch, place, record } of records) {
      const there = need(epoch);
      const text = this.#text(record);
      if (this.#has('takes any place')) there.records.set(place, text);
      else if (there.records.has(place) && there.records.get(place) !== text) fail();
      else if (!there.records.has(place) && (place !== there.records.size || there.hasEnded))
        fail();
      else there.records.set(place, text);
    }
    for (const row of keys) {
      const there = taken.find(({ key }) => key === row.key);
      const isOther = there !== undefined && (there.epoch !== row.epoch || there.n !== row.n);
      if (isOther && !this.#has('gives a key to all')) return { status: 'taken', ...there };
      if (need(row.epoch).hasEnded && there === undefined && !this.#has('lets go of keys')) fail();
      if (there === undefined)
        taken.push(this.#has('keeps the caller’s objects') ? row : { ...row });
    }
    for (const epoch of ended) {
      need(epoch).hasEnded = true;
      const isOf = (row: EffectKeyRow): boolean => row.epoch === epoch;
      if (this.#has('lets go of keys'))
        taken.splice(0, taken.length, ...taken.filter((row) => !isOf(row)));
    }
    return undefined;
  }

  #logged({ row, records }: Effects['transactions'][number]): LoggedTransaction {
    const places = [...records.keys()].sort((a, b) => this.#compare(a, b));
    return this.#out({ ...row, records: places.map((place) => records.get(place)!) });
  }

  #compare(a: number, b: number): number {
    return this.#has('sorts numbers as texts') ? (`${a}` < `${b}` ? -1 : 1) : a - b;
  }

  #all(): readonly EntryRow[] {
    return this.#has('knows only its own heads') ? this.#own : this.#place.rows;
  }

  #kept(row: EntryRow): EntryRow {
    if (this.#has('keeps the caller’s objects')) return row;
    return {
      ...row,
      trajectory_id: this.#name(row.trajectory_id),
      payload: this.#text(row.payload),
    };
  }

  #name(name: string): string {
    if (this.#has('normalises names')) return name.normalize('NFC');
    if (this.#has('trims names')) return name.trim();
    return this.#has('cuts names') ? name.slice(0, 255) : name;
  }

  #text(text: string): string {
    if (this.#has('cuts texts at 64 KiB')) return text.slice(0, 65_536);
    if (!this.#has('reads JSON')) return text;
    try {
      return JSON.stringify(JSON.parse(text));
    } catch (error) {
      if (error instanceof SyntaxError) return text;
      throw error;
    }
  }

  #out<T>(rows: T): T {
    return this.#has('keeps the caller’s objects') ? rows : structuredClone(rows);
  }

  #checkBatch(batch: Batch): void {
    const isRight =
      batch.entries.every(({ id, seq, trajectory_id, payload, kind }) => {
        const isPlace = Number.isSafeInteger(seq) && seq >= 0;
        return isHash(id) && isPlace && isText(trajectory_id) && isText(payload) && KINDS.has(kind);
      }) &&
      batch.blobs.every(({ hash, text }) => isHash(hash) && isText(text)) &&
      (batch.erased ?? []).every(({ hash, by }) => isHash(hash) && isHash(by)) &&
      (batch.erasedAnswers ?? []).every(({ key, by }) => isHash(key) && isHash(by));
    if (batch.effects !== undefined) this.#checkEffects(batch.effects);
    if (isRight) return;
    if (this.#has('empties the queue at a refusal')) this.#queue.length = 0;
    throw invalid();
  }

  #checkEffects(write: EffectWrite): void {
    const { fence, begun = [], records = [], keys = [], ended = [] } = write ?? {};
    const lists: unknown[] = [begun, records, keys, ended];
    const isRight =
      isFrom(1, fence) &&
      lists.every((list) => Array.isArray(list)) &&
      begun.every((row) => isFrom(1, row.epoch) && isText(row.trajectory_id) && isText(row.body)) &&
      records.every((row) => isFrom(1, row.epoch) && isFrom(0, row.place) && isText(row.record)) &&
      keys.every((row) => isHash(row.key) && isFrom(1, row.epoch) && isFrom(0, row.n)) &&
      ended.every((epoch) => isFrom(1, epoch));
    if (!isRight) throw invalid();
  }

  #checkHash(hash: string): void {
    if (!isHash(hash) && !this.#has('takes anything')) throw invalid();
  }

  #checkOpen(): void {
    if (this.#has('goes on when it is closed')) return;
    if (this.#closed || this.#place.closed)
      throw new StoreError('store_closed', 'This plain store is closed.');
  }
}

const KINDS: ReadonlySet<string> = new Set([
  'root',
  'commit',
  'rejection',
  'pending_approval',
  'delegation',
  'branch',
]);

function fail(): never {
  throw invalid();
}

function isCanonical(body: string): boolean {
  try {
    parseCanonical(body);
    return true;
  } catch {
    return false;
  }
}

function isFrom(min: number, value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min;
}

function isHash(hash: unknown): boolean {
  return typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash);
}

function isText(text: unknown): boolean {
  return typeof text === 'string' && text.isWellFormed() && !text.includes('\0');
}

function invalid(): StoreError {
  return new StoreError('store_invalid_input', 'The plain store was given a wrong argument.');
}
