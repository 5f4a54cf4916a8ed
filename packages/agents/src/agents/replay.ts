import {
  arg,
  checkArgument,
  isAssizeError,
  isInstance,
  type Json,
  thrownText,
} from 'assize/internal/base';
import { canonicalize, type Instant, instantToMillis, maxInstant } from 'assize/internal/canon';
import { type Domain, requireOwnDomain } from 'assize/internal/kernel';
import {
  type EntryRow,
  type Hash,
  isEffectPending,
  LedgerFault,
  type Payload,
  readRow,
} from 'assize/internal/ledger';
import {
  type Clock,
  createOracle,
  type OracleStore,
  type Random,
  turnQuestion,
} from 'assize/internal/oracle';
import {
  type ApprovalOptions,
  Assize,
  type AssizeOptions,
  type Background,
  type MemoryRuntimeOptions,
  type ProposalInput,
  RuntimeError,
  Trajectory,
} from 'assize/internal/runtime';
import { type Agent, type Population, populationOf } from './agent.ts';
import type { OracleSources } from './agent-oracle-session.ts';
import { decide, type RecordedDecision } from './decide.ts';
import { AgentError } from './errors.ts';
import { type RecordedEntry, recordedEntries } from './recorded-rows.ts';
import { type ReplayedLedger, type ReplayPosition, ReplayStore } from './replay-store.ts';
import {
  type AgentTurn,
  type CounselTurn,
  portsOf,
  type RecordedTurn,
  readTurn,
  type Turn,
} from './turn.ts';
import { proposalOf, proposeIn, resolveIn, type TurnOutcome } from './turn-ruling.ts';

export interface ReplaySource {
  readonly store: ReplayedLedger;
  readonly oracleStore: Pick<OracleStore, 'oracleGet'>;
  readonly trajectoryId: string;
}

/**
 * The options of the runtime that recorded the run. `signer` is required for signed entries: an id
 * covers the signature, and Ed25519 repeats it for the same key. `memory.judge` is required if a
 * judge decided; it needs an oracle that replays its log, so no judge is called.
 */
export interface ReplayRunOptions extends Pick<AssizeOptions, 'anchors' | 'policy' | 'signer'> {
  /** Default: the longest time limit of a pending proposal in the ledger. */
  readonly approvals?: Pick<ApprovalOptions, 'timeoutMs' | 'maxPending'>;
  readonly memory?: Pick<MemoryRuntimeOptions, 'judge'>;
}

export interface RunReplay {
  readonly trajectoryId: string;
  /** Number of equal turns. */
  readonly turns: number;
  /**
   * Number of entries without a turn, including the first one, and of entries with tool calls. They
   * are copied as recorded.
   */
  readonly takenAsRecorded: number;
  /** The head after the replay. */
  readonly headId: Hash;
  readonly recordedHead: Hash;
  readonly same: boolean;
  /** The position and the reason of the first difference. The replay ends there. */
  readonly firstDifference?: RunDifference;
}

/**
 * `oracle_miss`: the log lacks the answer to a question. `erased`: an entry erased the answer.
 * `slice`: an agent sees another slice. `decision`: an agent decides or asks differently. `entry`:
 * the turn makes another entry, or none. `ledger`: a turn does not fit the entries or the next
 * turn.
 */
export interface RunDifference {
  readonly kind: 'oracle_miss' | 'erased' | 'slice' | 'decision' | 'entry' | 'ledger';
  readonly turn: number;
  /** The agent of the turn. Undefined for a counselor's turn and for a missing one. */
  readonly agent?: string;
  /** The seq of the next entry. */
  readonly seq: number;
  readonly detail: string;
  readonly cause?: unknown;
}

/**
 * Replays a run in memory, from the ledger and the oracle log alone: every decision, arbitration,
 * ruling and entry. Stops at the same head or at the first difference. Makes no call, reads no
 * clock, draws no random number and writes nothing.
 *
 * @throws AgentError `bad_argument`, `damaged`, `signer_needed`; RuntimeError `not_found`,
 * `domain_mismatch`, `invalid_ledger`; OracleError `damaged`; ArgumentError `bad_argument`
 */
export async function replayRun(
  source: ReplaySource,
  domain: Domain,
  agents: readonly Agent[],
  options: ReplayRunOptions,
): Promise<RunReplay> {
  checkArgument(
    arg.members({ store: arg.object, oracleStore: arg.object, trajectoryId: arg.text }),
    source,
    'source',
  );
  checkArgument(arg.members({ hash: arg.text, roles: arg.object }), domain, 'domain');
  checkArgument(arg.members({ signer: arg.optional(arg.object) }), options, 'options');
  requireOwnDomain(domain);
  const population = populationOf(agents, domain);
  const entries = await entriesOf(source);
  checkSigner(entries, options);
  return new Replay(source, domain, population, entries, options).run();
}

/**
 * Unfinished work in the ledger belongs to other processes. A replay leaves it, and writes to no
 * other trajectory.
 */
export class ReplayAssize extends Assize {
  protected override async complete(): Promise<void> {}

  protected override get background(): Background {
    return { follows: false };
  }
}

class Replay {
  readonly #source: ReplaySource;
  readonly #agents: Population;
  readonly #entries: readonly RecordedEntry[];
  readonly #places: Map<Hash, number>;
  readonly #store: ReplayStore;
  readonly #assize: Assize;
  readonly #outside: OracleSources;
  /** Number of decisions so far, by agent. */
  readonly #numbers: Map<string, number> = new Map();
  /** Each agent's slice at the end of its last turn. Concurrent agents are invoked there. */
  readonly #seen: Map<string, { readonly head: Hash; readonly slice: unknown }> = new Map();
  #trajectory!: Trajectory;
  #taken: number = 0;
  /** The previous turn. */
  #previous: RecordedTurn | undefined;

  constructor(
    source: ReplaySource,
    domain: Domain,
    agents: Population,
    entries: readonly RecordedEntry[],
    options: ReplayRunOptions,
  ) {
    const { store, oracleStore, trajectoryId } = source;
    this.#source = source;
    this.#agents = agents;
    this.#entries = entries;
    this.#places = new Map(entries.map(({ entry }, seq) => [entry.id, seq]));
    this.#store = new ReplayStore(store, trajectoryId);
    const { anchors, policy, signer, approvals, memory } = options;
    this.#assize = new ReplayAssize({
      anchors,
      ...(policy && { policy }),
      ...(signer && { signer }),
      // No listener of the recorded runtime is called.
      // Without the listeners: they heard of the proposals when these were recorded.
      approvals: {
        timeoutMs: approvals?.timeoutMs ?? recordedTimeout(entries),
        ...(approvals?.maxPending !== undefined && { maxPending: approvals.maxPending }),
      },
      ...(memory?.judge && { memory: { judge: memory.judge } }),
      store: this.#store,
      oracle: oracleStore,
      domains: [domain],
      ports: { clock: NO_CLOCK, random: NO_CHANCE, pause: async () => undefined },
    });
    const log = { oracleGet: (key: string) => oracleStore.oracleGet(key), oraclePut: nothing };
    this.#outside = {
      oracle: createOracle({ store: log, clock: NO_CLOCK, mode: 'replay' }),
      clock: NO_CLOCK,
      random: NO_CHANCE,
    };
  }

  async run(): Promise<RunReplay> {
    await this.#takeAsRecorded(1);
    let turns = 0;
    let difference: RunDifference | undefined;
    for (;;) {
      const recorded = await this.#read(turns);
      difference =
        recorded === undefined ? await this.#afterLast(turns) : await this.#take(recorded);
      if (recorded === undefined || difference !== undefined) break;
      turns++;
    }
    const recordedHead = (this.#entries.at(-1) as RecordedEntry).entry.id;
    const headId = this.#trajectory.head;
    return {
      trajectoryId: this.#source.trajectoryId,
      turns,
      takenAsRecorded: this.#taken,
      headId,
      recordedHead,
      same: difference === undefined && headId === recordedHead,
      ...(difference === undefined ? {} : { firstDifference: difference }),
    };
  }

  async #take(recorded: RecordedTurn): Promise<RunDifference | undefined> {
    const { turn } = recorded;
    const previous = this.#previous;
    this.#previous = recorded;
    if (turn.previous !== (previous?.hash ?? null))
      return this.#differs(
        previous ?? recorded,
        'ledger',
        'the next turn does not follow this turn',
      );
    const fault = await this.#reach(recorded);
    if (fault !== undefined) return this.#differs(recorded, 'ledger', fault);
    return 'counsel' in turn ? this.#takeCounsel(recorded, turn) : this.#takeAgent(recorded, turn);
  }

  /**
   * Advances to the head that the turn found. Entries before it without a turn came from other
   * writers.
   */
  async #reach({ turn, number }: RecordedTurn): Promise<string | undefined> {
    const place = this.#places.get(turn.after);
    if (place === undefined) return `its head ${turn.after} is not in the ledger`;
    const next = this.#trajectory.length;
    if (place < next - 1)
      return `its head ${turn.after} is at seq ${place}, and the earlier turns lead further`;
    const made = this.#entries.slice(next, place + 1).find((one) => one.turn !== undefined);
    if (made !== undefined)
      return `seq ${made.entry.seq} names turn ${made.turn} as its turn, but precedes turn ${number}`;
    await this.#takeAsRecorded(place + 1);
    return undefined;
  }

  // ── an agent's turn ──

  async #takeAgent(recorded: RecordedTurn, turn: AgentTurn): Promise<RunDifference | undefined> {
    const agent = this.#agents.get(turn.agent);
    if (agent === undefined)
      return this.#differs(recorded, 'decision', `the agent ${turn.agent} is missing`);
    if (recorded.number === 0) for (const one of this.#agents.values()) this.#see(one);
    const decided = await this.#decide(recorded, turn, agent);
    if ('kind' in decided) return decided;
    const difference =
      turn.does === 'propose' ? await this.#propose(recorded, agent, decided) : undefined;
    this.#see(agent);
    return difference;
  }

  async #decide(
    recorded: RecordedTurn,
    turn: AgentTurn,
    agent: Agent,
  ): Promise<RecordedDecision | RunDifference> {
    const number = this.#numbers.get(agent.name) ?? 0;
    this.#numbers.set(agent.name, number + 1);
    let decided: RecordedDecision;
    try {
      const slice = await this.#sliceAt(turn.invoked, agent);
      const trajectory = this.#trajectory.id;
      decided = await decide({ agent, trajectory, number, slice, anyName: true }, this.#outside);
    } catch (error) {
      const kind =
        (['oracle_miss', 'erased'] as const).find((code) => isAssizeError(error, code)) ??
        'decision';
      if (isInstance(error, LedgerFault))
        return this.#differs(
          recorded,
          'slice',
          `it was invoked on the missing head ${turn.invoked}`,
          error,
        );
      return this.#differs(recorded, kind, messageOf(error), error);
    }
    if (decided.slice !== turn.slice)
      return this.#differs(recorded, 'slice', 'its slice is now different');
    if (decided.decision === turn.decision && decided.does === turn.does) return decided;
    const now = canonicalize((decided.intent ?? decided.does) as unknown as Json).slice(0, 200);
    return this.#differs(
      recorded,
      'decision',
      `recorded ${turn.does}; now ${now}, or its questions are different`,
    );
  }

  async #sliceAt(head: Hash, agent: Agent): Promise<unknown> {
    const seen = this.#seen.get(agent.name);
    this.#seen.delete(agent.name);
    if (seen?.head === head) return seen.slice;
    return this.#trajectory.sliceAt(head, agent.role.name, agent.role.params);
  }

  #see({ name, role }: Agent): void {
    this.#seen.set(name, {
      head: this.#trajectory.head,
      slice: this.#trajectory.slice(role.name, role.params),
    });
  }

  async #propose(
    recorded: RecordedTurn,
    agent: Agent,
    decided: RecordedDecision,
  ): Promise<RunDifference | undefined> {
    const next = this.#entries.findIndex(
      ({ turn }, seq) => seq >= this.#trajectory.length && turn !== undefined,
    );
    const place = this.#entries[next]?.turn === recorded.number ? next : undefined;
    if (place !== undefined && hasCalls(this.#entries[place]))
      return this.#takeCalls(recorded, place, agent, decided);
    return this.#rule(recorded, place, () => proposeIn(this.#trajectory, agent, decided, recorded));
  }

  /**
   * A replay makes no calls, so the entry of a proposal with calls is copied. The entry must be
   * that of this proposal. A deep replay rules on it again.
   */
  async #takeCalls(
    recorded: RecordedTurn,
    place: number,
    agent: Agent,
    decided: RecordedDecision,
  ): Promise<RunDifference | undefined> {
    const { payload } = (this.#entries[place] as RecordedEntry).entry;
    const proposal = proposalOf(agent, decided, recorded) as ProposalInput;
    const now = await this.#trajectory.withTurn(portsOf(recorded.turn), async () =>
      Trajectory.proposalIdOf(this.#trajectory, proposal),
    );
    const then =
      payload.kind === 'pending_approval' ? payload.proposal.proposal_id : proposalIdIn(payload);
    if (now !== then)
      return this.#differs(recorded, 'entry', `it made the proposal ${then}, and now makes ${now}`);
    await this.#takeAsRecorded(place + 1);
    return undefined;
  }

  // ── a counselor's turn ──

  async #takeCounsel(
    recorded: RecordedTurn,
    { at, counsel }: CounselTurn,
  ): Promise<RunDifference | undefined> {
    if (counsel.do === 'later') return undefined;
    const place = this.#entries.findIndex(({ entry: { payload } }, seq) => {
      if (
        seq < this.#trajectory.length ||
        !('resolves' in payload) ||
        payload.resolves !== counsel.pending
      )
        return false;
      // Another writer may have committed first. The turn's own entry has the turn's time and
      // counselor.
      const counselor =
        payload.kind === 'pending_approval' ? payload.approved_by?.at(-1) : payload.counselor;
      const isTheirs = counselor === undefined || counselor.principal === counsel.principal;
      return isTheirs && this.#isOfTime(at, seq);
    });
    // The calls of an approved proposal are not made again.
    if (place !== -1 && hasCalls(this.#entries[place])) {
      await this.#takeAsRecorded(place + 1);
      return undefined;
    }
    const resolving = () => resolveIn(this.#trajectory, counsel, recorded);
    return this.#rule(recorded, place === -1 ? undefined : place, resolving);
  }

  // ── what a turn makes ──

  /**
   * Repeats the ruling and compares the result. `place`: the position of the turn's entry. A turn
   * without an entry was frozen or refused, and must be so again.
   */
  async #rule(
    recorded: RecordedTurn,
    place: number | undefined,
    step: () => Promise<TurnOutcome>,
  ): Promise<RunDifference | undefined> {
    if (place === undefined && (await this.#isLeftOut(recorded))) return undefined;
    if (place !== undefined) await this.#takeAsRecorded(this.#withoutExpired(recorded, place));
    const from = this.#trajectory.length;
    this.#store.seek(this.#momentOf(recorded, place));
    try {
      const { ruling, refused } = await step();
      const isRuled = ruling !== undefined && ruling.ruling !== 'frozen';
      if (isRuled !== (place !== undefined)) {
        const now = refused?.message ?? ruling?.ruling;
        const before = place === undefined ? 'left no entry' : `made seq ${place}`;
        return this.#differs(recorded, 'entry', `it ${before}, and now is ${now}`, refused);
      }
    } catch (error) {
      return this.#differs(recorded, 'entry', messageOf(error), error);
    }
    for (let seq = from; seq < this.#trajectory.length; seq++) {
      const [now] = await this.#store.entries(this.#trajectory.id, { from: seq, limit: 1 });
      const detail = differenceOf(this.#entries[seq], now as EntryRow);
      if (detail !== undefined) return this.#differs(recorded, 'entry', detail);
    }
    return undefined;
  }

  #momentOf({ turn }: RecordedTurn, place: number | undefined): ReplayPosition {
    if (place === undefined) return { at: turn.at };
    const { id, payload } = (this.#entries[place] as RecordedEntry).entry;
    return { at: payload.at, seq: place, id };
  }

  /** The next proposer records expired approvals, so the turn itself may have recorded them. */
  #withoutExpired({ turn }: RecordedTurn, place: number): number {
    let from = place;
    while (from > this.#trajectory.length && this.#expiresIn(turn, from - 1)) from--;
    return from;
  }

  #expiresIn({ at }: Turn, seq: number): boolean {
    const { payload } = (this.#entries[seq] as RecordedEntry).entry;
    return payload.kind === 'rejection' && payload.reason === 'expired' && this.#isOfTime(at, seq);
  }

  /** Whether an entry has the time of the turn. */
  #isOfTime(at: Instant, seq: number): boolean {
    const [before, entry] = this.#entries.slice(seq - 1, seq + 1) as [RecordedEntry, RecordedEntry];
    return entry.entry.payload.at === maxInstant(at, before.entry.payload.at);
  }

  /**
   * Whether a turn without an entry cannot be replayed. It was the last turn and was interrupted,
   * or other writers appended between its head and the next turn's head. The conflicting entry is
   * then unknown.
   */
  async #isLeftOut({ number, turn }: RecordedTurn): Promise<boolean> {
    const next = await this.#read(number + 1);
    if (next === undefined) return true;
    const until = this.#places.get(next.turn.after) ?? -1;
    for (let seq = this.#trajectory.length; seq <= until; seq++) {
      const { payload } = (this.#entries[seq] as RecordedEntry).entry;
      const mattered = payload.kind === 'pending_approval' || 'resolves' in payload;
      if (mattered && !this.#expiresIn(turn, seq)) return true;
    }
    return false;
  }

  /** Copies the recorded entries before this position. */
  async #takeAsRecorded(until: number): Promise<void> {
    const { trajectoryId } = this.#source;
    const from = this.#trajectory?.length ?? 0;
    if (until <= from) return;
    const rows = await this.#source.store.entries(trajectoryId, { from, limit: until - from });
    await this.#store.commit({ entries: rows, blobs: [] });
    this.#taken += rows.length;
    this.#assize.release(trajectoryId);
    this.#trajectory = await this.#assize.open(trajectoryId);
  }

  // ── the end ──

  /**
   * After the last turn, only entries of other writers may follow: no turn may be missing from the
   * log.
   */
  async #afterLast(turn: number): Promise<RunDifference | undefined> {
    const from = this.#trajectory.length;
    const made = this.#entries.slice(from).some((one) => one.turn !== undefined);
    if (!made && (await this.#read(turn + 1)) === undefined) {
      await this.#takeAsRecorded(this.#entries.length);
      return undefined;
    }
    const missing = await this.#outside.oracle
      .ask({ ...turnQuestion(this.#trajectory.id, turn), call: nothing })
      .catch((error: unknown) => error);
    return { kind: 'oracle_miss', turn, seq: from, detail: messageOf(missing), cause: missing };
  }

  #read(turn: number): Promise<RecordedTurn | undefined> {
    return readTurn(this.#outside.oracle, this.#source.trajectoryId, turn);
  }

  #differs(
    { number, turn }: RecordedTurn,
    kind: RunDifference['kind'],
    detail: string,
    cause?: unknown,
  ): RunDifference {
    const who = 'counsel' in turn ? {} : { agent: turn.agent };
    const why = cause === undefined ? {} : { cause };
    return { kind, turn: number, ...who, seq: this.#trajectory.length, detail, ...why };
  }
}

/** The fields in which two entries at one position differ. */
function differenceOf(recorded: RecordedEntry | undefined, now: EntryRow): string | undefined {
  if (recorded?.entry.id === now.id) return undefined;
  if (recorded === undefined)
    return `the ledger has no entry at seq ${now.seq}, and the replay has a ${now.kind}`;
  const before = recorded.entry.payload as unknown as Record<string, Json>;
  const after = readRow(now).payload as unknown as Record<string, Json>;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const different = names.filter(
    (name) => canonicalize(before[name] ?? null) !== canonicalize(after[name] ?? null),
  );
  return `recorded ${recorded.entry.id}, now ${now.id}: different in ${different.join(', ')}`;
}

/** Whether the proposal of an entry has tool calls. */
function hasCalls(recorded: RecordedEntry | undefined): boolean {
  const payload = recorded?.entry.payload;
  if (payload?.kind === 'commit') return payload.delta.effects.length > 0;
  if (payload?.kind === 'pending_approval') return payload.proposal.delta.effects.length > 0;
  return payload?.kind === 'rejection' && payload.intent.calls !== undefined;
}

function proposalIdIn(payload: Payload): Hash | undefined {
  return 'proposal_id' in payload ? payload.proposal_id : undefined;
}

/** @throws RuntimeError `not_found`, `invalid_ledger` */
export async function entriesOf({
  store,
  trajectoryId,
}: Pick<ReplaySource, 'store' | 'trajectoryId'>): Promise<RecordedEntry[]> {
  let entries: RecordedEntry[];
  try {
    entries = await recordedEntries(store, trajectoryId);
  } catch (cause) {
    if (!isInstance(cause, LedgerFault)) throw cause;
    throw new RuntimeError(
      'invalid_ledger',
      `The ledger does not verify, so the run cannot be replayed: ${cause.message}.`,
      {
        evidence: { ...cause.fault },
        cause,
      },
    );
  }
  if (entries.length > 0) return entries;
  throw new RuntimeError('not_found', `The store has no trajectory ${trajectoryId}.`);
}

/** @throws AgentError `signer_needed` */
function checkSigner(entries: readonly RecordedEntry[], { signer }: ReplayRunOptions): void {
  for (const { entry, turn } of entries) {
    const key = entry.payload.signature?.key;
    if (turn === undefined || key === signer?.publicKey) continue;
    const what =
      key === undefined
        ? 'is not signed; pass no signer'
        : `is signed with ${key}; pass that signer`;
    throw new AgentError(
      'signer_needed',
      `The id of an entry covers its signature, and seq ${entry.seq} ${what}.`,
      {
        evidence: { seq: entry.seq, ...(key === undefined ? {} : { key }) },
      },
    );
  }
}

function messageOf(error: unknown): string {
  return thrownText(error);
}

const NO_CLOCK: Clock = { now: nothing };
const NO_CHANCE: Random = { bytes: nothing };

function nothing(): never {
  throw new Error('A replay has no calls, clock, random numbers or writes.');
}

/**
 * The time limit of approvals: the longest of a pending proposal of the ledger, because the time of
 * a rule only shortens it.
 */
export function recordedTimeout(entries: readonly RecordedEntry[]): number | 'never' {
  let longest: number | undefined;
  for (const { entry } of entries) {
    const { payload } = entry;
    if (
      payload.kind !== 'pending_approval' ||
      payload.resolves !== undefined ||
      isEffectPending(payload)
    )
      continue;
    if (payload.expires === undefined) return 'never';
    const ms = instantToMillis(payload.expires) - instantToMillis(payload.at);
    longest = Math.max(longest ?? 0, ms);
  }
  return longest ?? 'never';
}
