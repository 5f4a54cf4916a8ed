import { arg, checkArgument, isInstance, refuseDuplicatePackage } from 'assize/internal/base';
import { contentHash, type Instant, WORLD_LIMITS } from 'assize/internal/canon';
import { type Hash, observationsOf, type PendingPayload } from 'assize/internal/ledger';
import {
  type Clock,
  type Oracle,
  type Random,
  systemClock,
  systemRandom,
  turnNamedBy,
} from 'assize/internal/oracle';
import { Trajectory } from 'assize/internal/runtime';
import {
  type Agent,
  type AgentOracle,
  type CallResult,
  type LastRuling,
  type Population,
  populationOf,
} from './agent.ts';
import { AgentOracleSession, type OracleSources } from './agent-oracle-session.ts';
import { ConcurrentDecisions, type Invoked } from './concurrent-decisions.ts';
import { decide, type Invoking, type RecordedDecision } from './decide.ts';
import { AgentError } from './errors.ts';
import {
  type AgentTurn,
  type CounselDecision,
  type CounselTurn,
  type RecordedTurn,
  readTurn,
  recordTurn,
  type Turn,
  type TurnPlace,
} from './turn.ts';
import { proposeIn, resolveIn, type TurnOutcome, toldRuling, turnKeyOf } from './turn-ruling.ts';

export interface RunOptions {
  /** The runtime's oracle log, in record mode. */
  readonly oracle: Oracle;
  /** Chooses the next agent. Default: in order, or the first agent to decide. */
  readonly arbiter?: Arbiter;
  /**
   * Called for a pending proposal, and again after each change of the head while it returns
   * `later`.
   */
  readonly counsel?: (pending: OpenPending) => CounselDecision | Promise<CounselDecision>;
  /**
   * All agents decide concurrently, each on the state at the end of its last turn. Default: the
   * next agent decides alone.
   */
  readonly concurrent?: boolean;
  /** Maximum number of turns. Default: 1,000, for agents that never finish. */
  readonly maxTurns?: number;
  /**
   * Whether changed agents may continue the run after a proposal that has its ruling in the ledger.
   * That turn is then not decided again. Default: false. The last turn is decided again, and must
   * be the same.
   */
  readonly continueChanged?: boolean;
  /** Ends the run after the turn in progress. */
  readonly signal?: AbortSignal;
  readonly onTurn?: (done: CompletedTurn) => void;
  /**
   * The clock for turns and `AgentOracle.now` if the log has no time yet. Default: the system
   * clock.
   */
  readonly clock?: Clock;
  readonly random?: Random;
}

/**
 * Chooses the next agent (Definition A.31). It must ask the oracle for inputs other than its
 * arguments, so that it repeats the choice after a crash.
 */
export type Arbiter = (candidates: readonly string[], at: Arbitration) => string | Promise<string>;

export interface Arbitration {
  readonly turn: number;
  /** The agent of the previous turn. */
  readonly last: string | undefined;
  readonly oracle: AgentOracle;
}

export interface OpenPending {
  readonly id: Hash;
  readonly payload: PendingPayload;
}

/** A finished turn. */
export interface CompletedTurn extends TurnOutcome {
  readonly number: number;
  readonly turn: Turn;
  readonly head: Hash;
}

export interface RunReport {
  /**
   * `done`: all agents are done. `waiting`: the others wait for a change that no agent will make.
   * `pending`: a pending proposal stops the others. `turns`: the maximum was reached. `aborted`: by
   * the signal.
   */
  readonly ended: 'done' | 'waiting' | 'pending' | 'turns' | 'aborted';
  /** Number of turns of the run, including earlier calls. */
  readonly turns: number;
  readonly head: Hash;
  /** The first instant at which an agent that waits is to be asked again. */
  readonly wakeAt?: Instant;
}

/**
 * Runs agents on a trajectory, one turn after the other, until no agent has a proposal. A
 * trajectory has one run: another call resumes it, however the first call ended. No turn is
 * repeated, no logged call is repeated, and a finished agent stays finished. The agents must be
 * unchanged.
 *
 * Other writers may append concurrently; `replayRun` copies their entries. An error of an agent, an
 * arbiter or the store ends the run at that point.
 *
 * @throws AgentError; OracleError; the errors of an agent, arbiter or counsel; the errors of
 * `Trajectory.propose`; ArgumentError `bad_argument`
 */
export async function runAgents(
  trajectory: Trajectory,
  agents: readonly Agent[],
  options: RunOptions,
): Promise<RunReport> {
  return runFrom(trajectory, agents, options, undefined);
}

/** The recorded turns before a run in a copy of its trajectory. */
export interface EarlierTurns {
  /** The time and the randomness of a turn. A separate run reads them from clock and random. */
  readonly placeOf: (turn: number) => Pick<TurnPlace, 'at' | 'seed'>;
  /** The pending proposal that blocked the proposal of a turn. No entry has it. */
  readonly frozenBy: ReadonlyMap<number, Hash>;
}

/**
 * Same as `runAgents`. With `earlier`, the turns in the log are taken as recorded and none of them
 * is decided again, so that other agents continue the run.
 *
 * @throws the errors of `runAgents`
 */
export async function runFrom(
  trajectory: Trajectory,
  agents: readonly Agent[],
  options: RunOptions,
  earlier: EarlierTurns | undefined,
): Promise<RunReport> {
  checkArgument(arg.object, options, 'options');
  refuseDuplicatePackage(trajectory, 'The trajectory');
  refuseDuplicatePackage(options.oracle, 'The option oracle');
  return new Run(trajectory, populationOf(agents, trajectory.domain), options, earlier).go();
}

/** An agent's status after its last turn. */
interface AgentStatus {
  /** Number of its decisions so far. */
  number: number;
  /** `wait`: the hash of the slice that must change, or the instant, or the proposal that ends. */
  waits: Pick<AgentTurn, 'slice' | 'until' | 'awaits'> | undefined;
  /** The pending proposal that must end first. */
  frozenBy: Hash | undefined;
  isDone: boolean;
  /** The turn of its last proposal. */
  proposed: number | undefined;
}

const TURNS_MAX = 1_000;

class Run {
  readonly #trajectory: Trajectory;
  readonly #agents: Population;
  readonly #options: RunOptions;
  readonly #earlier: EarlierTurns | undefined;
  readonly #outside: OracleSources;
  readonly #ended: AbortController = new AbortController();
  readonly #standings: Map<string, AgentStatus> = new Map();
  readonly #thinking: ConcurrentDecisions = new ConcurrentDecisions();
  /** The head at which a counselor answered `later`, by pending proposal. */
  readonly #putOff: Map<Hash, Hash> = new Map();
  #turn: number = 0;
  #previous: Hash | null = null;
  /** The agent of the last turn. */
  #last: string | undefined;

  constructor(
    trajectory: Trajectory,
    agents: Population,
    options: RunOptions,
    earlier: EarlierTurns | undefined,
  ) {
    checkOptions(options);
    const { oracle, clock = systemClock, random = systemRandom } = options;
    this.#trajectory = trajectory;
    this.#agents = agents;
    this.#options = options;
    this.#earlier = earlier;
    this.#outside = { oracle, clock, random, ended: this.#ended.signal };
  }

  async go(): Promise<RunReport> {
    try {
      return await this.#go();
    } finally {
      // Agents that are still deciding have made no decision.
      this.#ended.abort();
    }
  }

  async #go(): Promise<RunReport> {
    await this.#takeUp();
    // Later, a revoked writ must not stop the other agents.
    if (this.#turn === 0) this.#checkGrants();
    const { maxTurns = TURNS_MAX, signal } = this.#options;
    const end = this.#turn + maxTurns;
    while (!signal?.aborted) {
      if (this.#turn === end) return this.#report('turns');
      const pending = this.#forCounsel();
      if (pending !== undefined) {
        await this.#takeCounsel(pending);
        continue;
      }
      const next = await this.#next();
      if (next === 'aborted') break;
      if (next === undefined) return this.#report(this.#endReason());
      await this.#take(next);
    }
    return this.#report('aborted');
  }

  // ── where the run was left ──

  /**
   * The results of all earlier turns. The last one is repeated, because it may have been
   * interrupted.
   */
  async #takeUp(): Promise<void> {
    const { id } = this.#trajectory;
    let last: RecordedTurn | undefined;
    for (;;) {
      const recorded = await readTurn(this.#outside.oracle, id, this.#turn);
      if (recorded === undefined) break;
      if (last !== undefined) this.#note(last, {});
      if (last !== undefined) this.#noteFrozen(last);
      last = recorded;
      this.#turn++;
    }
    if (last === undefined) return;
    this.#note(last, this.#earlier === undefined ? await this.#again(last) : {});
    this.#noteFrozen(last);
  }

  #noteFrozen({ turn, number }: RecordedTurn): void {
    const by = this.#earlier?.frozenBy.get(number);
    if (by !== undefined && 'agent' in turn) this.#standing(turn.agent).frozenBy = by;
  }

  async #again(recorded: RecordedTurn): Promise<TurnOutcome> {
    const { turn, number } = recorded;
    if ('counsel' in turn) {
      const isOpen = this.#trajectory.approvals
        .pending()
        .some(({ id }) => id === turn.counsel.pending);
      return isOpen ? resolveIn(this.#trajectory, turn.counsel, recorded) : {};
    }
    if (turn.does !== 'propose') return {};
    const agent = this.#agents.get(turn.agent);
    if (agent === undefined) throw changed(number, turn.agent, 'is not one of the agents');
    if (this.#options.continueChanged === true && (await this.#isRuled(agent, number))) return {};
    const slice = await this.#trajectory.sliceAt(turn.invoked, agent.role.name, agent.role.params);
    const decided = await this.#decide(agent, slice, { anyName: true });
    if (decided.decision !== turn.decision || decided.does !== turn.does)
      throw changed(number, turn.agent, 'now decides differently');
    return proposeIn(this.#trajectory, agent, decided, recorded);
  }

  async #isRuled({ name, writ }: Agent, number: number): Promise<boolean> {
    return (
      (await Trajectory.rulingOn(this.#trajectory, turnKeyOf(name, number), writ)) !== undefined
    );
  }

  // ── the next agent ──

  /** A pending proposal that no counselor was asked about since the head moved. */
  #forCounsel(): OpenPending | undefined {
    if (this.#options.counsel === undefined) return undefined;
    return this.#trajectory.approvals
      .pending()
      .find(({ id }) => this.#putOff.get(id) !== this.#trajectory.head);
  }

  async #next(): Promise<Invoked | 'aborted' | undefined> {
    return this.#options.concurrent === true ? this.#nextOfMany() : this.#nextAlone();
  }

  async #nextAlone(): Promise<Invoked | undefined> {
    const candidates = this.#candidates();
    if (candidates.length === 0) return undefined;
    return this.#invoke(await this.#arbitrate(candidates, (names) => this.#afterLast(names)));
  }

  async #nextOfMany(): Promise<Invoked | 'aborted' | undefined> {
    const thinking = this.#thinking;
    for (const name of this.#candidates()) {
      if (!thinking.has(name)) thinking.begin(name, this.#invoke(name));
    }
    if (!(await thinking.waitForAny(this.#options.signal)))
      return this.#options.signal?.aborted ? 'aborted' : undefined;
    const name = await this.#arbitrate(thinking.finished(), ([first]) => first as string);
    return thinking.take(name);
  }

  #candidates(): string[] {
    const open = this.#trajectory.approvals.pending();
    const pending = new Set(open.map(({ id }) => id));
    return [...this.#agents.keys()].filter((name) => {
      const { isDone, waits, frozenBy } = this.#standing(name);
      if (isDone || (frozenBy !== undefined && pending.has(frozenBy))) return false;
      // A writ that was revoked, or has expired, shows no slice.
      if (!this.#isGranted(name)) return false;
      return (
        waits === undefined || this.#isOver(waits, open) || waits.slice !== this.#sliceHash(name)
      );
    });
  }

  /** Whether the time of a wait has come, or the agent's own pending proposal has ended. */
  #isOver(
    { until, awaits }: Pick<AgentTurn, 'until' | 'awaits'>,
    open: readonly OpenPending[],
  ): boolean {
    if (until !== undefined && this.#outside.clock.now() >= until) return true;
    return (
      awaits !== undefined && !open.some(({ payload }) => payload.proposal.proposal_id === awaits)
    );
  }

  /** The agent's last proposal, if it is pending. */
  #ownPending(name: string): Hash | undefined {
    const { proposed } = this.#standing(name);
    if (proposed === undefined) return undefined;
    const { approvals, id } = this.#trajectory;
    const own = approvals
      .pending()
      .find(({ payload }) =>
        observationsOf(payload).some((one) => turnNamedBy(id, one) === proposed),
      );
    return own?.payload.proposal.proposal_id;
  }

  async #arbitrate(
    candidates: readonly string[],
    otherwise: (names: readonly string[]) => string,
  ): Promise<string> {
    const { arbiter } = this.#options;
    if (arbiter === undefined) return otherwise(candidates);
    const invocation = {
      trajectory: this.#trajectory.id,
      agent: 'assize.arbiter',
      number: this.#turn,
      anyName: true,
    };
    const oracle = new AgentOracleSession(this.#outside, invocation);
    const at = { turn: this.#turn, last: this.#last, oracle: oracle.oracle };
    const chosen = await arbiter(Object.freeze([...candidates]), at);
    await oracle.end();
    if (candidates.includes(chosen)) return chosen;
    throw new AgentError(
      'function_failed',
      `The arbiter chose ${chosen}. Return one of ${candidates.join(', ')}.`,
    );
  }

  #afterLast(names: readonly string[]): string {
    const all = [...this.#agents.keys()];
    const from = this.#last === undefined ? 0 : all.indexOf(this.#last) + 1;
    const inTurn = [...all.slice(from), ...all.slice(0, from)];
    return inTurn.find((name) => names.includes(name)) as string;
  }

  #endReason(): RunReport['ended'] {
    if ([...this.#agents.keys()].every((name) => this.#standing(name).isDone)) return 'done';
    return this.#trajectory.approvals.pending().length > 0 ? 'pending' : 'waiting';
  }

  // ── one turn ──

  /**
   * The decision of an agent on its slice. If another process decides on the agent's pending
   * proposal meanwhile, the agent decides again, with the slice after that decision.
   */
  async #invoke(name: string): Promise<Invoked> {
    const agent = this.#agents.get(name) as Agent;
    for (;;) {
      const invoked = this.#trajectory.head;
      try {
        return { decided: await this.#decide(agent, this.#slice(name)), invoked };
      } catch (error) {
        if (!isInstance(error, OlderSlice)) throw error;
      }
    }
  }

  #decide(
    agent: Agent,
    slice: unknown,
    how: Pick<Invoking, 'anyName'> = {},
  ): Promise<RecordedDecision> {
    const { number } = this.#standing(agent.name);
    const pending = this.#ownPending(agent.name);
    const ofSlice = async <T>(read: Promise<T>): Promise<T> => {
      const answer = await read;
      // The answer is newer than the slice, and the agent would see a ruling without its effect.
      if (pending !== undefined && this.#ownPending(agent.name) !== pending) throw new OlderSlice();
      return answer;
    };
    const lastCalls = (): Promise<readonly CallResult[]> => ofSlice(this.#lastCalls(agent));
    const lastRuling = (): Promise<LastRuling | null> => ofSlice(this.#lastRuling(agent));
    return decide(
      { agent, trajectory: this.#trajectory.id, number, slice, lastCalls, lastRuling, ...how },
      this.#outside,
    );
  }

  async #lastCalls({ name, writ }: Agent): Promise<readonly CallResult[]> {
    const { proposed } = this.#standing(name);
    if (proposed === undefined) return [];
    const outcomes = await Trajectory.callsOf(this.#trajectory, turnKeyOf(name, proposed), writ);
    return outcomes.map(({ tool, phase, answer }) => ({
      tool,
      phase,
      ...(answer === undefined ? {} : { answer }),
    }));
  }

  async #lastRuling({ name, writ }: Agent): Promise<LastRuling | null> {
    const { proposed } = this.#standing(name);
    if (proposed === undefined) return null;
    return toldRuling(await Trajectory.rulingOn(this.#trajectory, turnKeyOf(name, proposed), writ));
  }

  async #take({ decided, invoked }: Invoked): Promise<void> {
    const { agent, does, slice, decision, until } = decided;
    const awaits = does === 'wait' ? this.#ownPending(agent) : undefined;
    const ends = { ...(until !== undefined && { until }), ...(awaits !== undefined && { awaits }) };
    const recorded = await this.#record<AgentTurn>({
      agent,
      does,
      invoked,
      slice,
      decision,
      ...ends,
    });
    const outcome = await proposeIn(
      this.#trajectory,
      this.#agents.get(agent) as Agent,
      decided,
      recorded,
    );
    this.#over(recorded, outcome);
  }

  async #takeCounsel({ id, payload }: OpenPending): Promise<void> {
    // The counselor may change its copy of the proposal.
    const { digest } = payload;
    const decision = await this.#options.counsel?.({ id, payload });
    const { do: does } = decision ?? {};
    if (decision === undefined || (does !== 'approve' && does !== 'reject' && does !== 'later'))
      throw new AgentError(
        'function_failed',
        'The decision of the counselor is not valid. Return approve, reject or later.',
      );
    const counsel = { ...decision, pending: id, digest };
    const recorded = await this.#record<CounselTurn>({ counsel });
    const outcome = await resolveIn(this.#trajectory, counsel, recorded);
    if (outcome.ruling === undefined) this.#putOff.set(id, this.#trajectory.head);
    this.#over(recorded, outcome);
  }

  #record<T extends Turn>(turn: Omit<T, keyof TurnPlace>): Promise<RecordedTurn> {
    const { oracle, clock, random } = this.#outside;
    const { at, seed } = this.#earlier?.placeOf(this.#turn) ?? placeNow(clock, random);
    const { head: after } = this.#trajectory;
    const place: TurnPlace = { previous: this.#previous, after, at, seed, salted: true };
    const made = { ...turn, ...place } as unknown as Turn;
    return recordTurn(oracle, this.#trajectory.id, this.#turn, made);
  }

  #over(recorded: RecordedTurn, outcome: TurnOutcome): void {
    this.#turn++;
    this.#note(recorded, outcome);
    const { number, turn } = recorded;
    this.#options.onTurn?.({ number, turn, head: this.#trajectory.head, ...outcome });
  }

  #note({ turn, hash, number }: RecordedTurn, { ruling }: TurnOutcome): void {
    this.#previous = hash;
    if ('counsel' in turn) return;
    this.#last = turn.agent;
    const standing = this.#standing(turn.agent);
    standing.number++;
    standing.isDone = turn.does === 'done';
    if (turn.does === 'propose') standing.proposed = number;
    // A copy, because `onTurn` gets the turn.
    standing.waits = turn.does === 'wait' ? { ...turn } : undefined;
    standing.frozenBy = ruling?.ruling === 'frozen' ? ruling.by : undefined;
  }

  #standing(name: string): AgentStatus {
    let standing = this.#standings.get(name);
    if (standing === undefined) {
      standing = {
        number: 0,
        waits: undefined,
        frozenBy: undefined,
        isDone: false,
        proposed: undefined,
      };
      this.#standings.set(name, standing);
    }
    return standing;
  }

  #checkGrants(): void {
    for (const { name, role } of this.#agents.values()) {
      if (this.#isGranted(name)) continue;
      throw new AgentError(
        'forbidden',
        `The writ of the agent ${name} does not cover the role ${role.name}, so the agent gets no slice. Issue a writ with the scope of the role.`,
        { evidence: { agent: name } },
      );
    }
  }

  #isGranted(name: string): boolean {
    const { writ, role } = this.#agents.get(name) as Agent;
    return Trajectory.grantsRole(this.#trajectory, writ, role);
  }

  #sliceHash(name: string): Hash {
    return contentHash(this.#slice(name), WORLD_LIMITS);
  }

  #slice(name: string): unknown {
    const { role } = this.#agents.get(name) as Agent;
    return this.#trajectory.slice(role.name, role.params);
  }

  #report(ended: RunReport['ended']): RunReport {
    const wakeAt = ended === 'done' ? undefined : this.#wakeAt();
    return {
      ended,
      turns: this.#turn,
      head: this.#trajectory.head,
      ...(wakeAt !== undefined && { wakeAt }),
    };
  }

  #wakeAt(): Instant | undefined {
    const times = [...this.#standings.values()].map(({ waits }) => waits?.until);
    return times.filter((at) => at !== undefined).sort()[0];
  }
}

function placeNow(clock: Clock, random: Random): Pick<TurnPlace, 'at' | 'seed'> {
  const seed = Buffer.from(random.bytes(32)).toString('hex');
  return { at: clock.now(), seed };
}

/** The agent's pending proposal was decided after its slice was taken. */
class OlderSlice extends Error {}

function changed(turn: number, agent: string, what: string): AgentError {
  return new AgentError(
    'nondeterministic_agent',
    `Turn ${turn} cannot be resumed: ${agent} ${what}. Run the recorded agents.`,
    { evidence: { turn, agent } },
  );
}

/** @throws AgentError `bad_argument` */
function checkOptions({ oracle, clock, random, maxTurns = TURNS_MAX }: RunOptions): void {
  checkArgument(arg.optional(arg.members({ now: arg.code })), clock, 'options.clock');
  checkArgument(arg.optional(arg.members({ bytes: arg.code })), random, 'options.random');
  if (oracle?.mode !== 'record')
    throw new AgentError(
      'bad_argument',
      'A run needs an oracle in mode `record`. Use replayRun for a replay.',
    );
  if (!Number.isSafeInteger(maxTurns) || maxTurns < 0)
    throw new AgentError('bad_argument', 'maxTurns must be a whole number from 0.');
}
