import { isAssizeError, type Json } from 'assize/internal/base';
import { contentHash, type Instant, isInstant } from 'assize/internal/canon';
import { type Hash, isHash } from 'assize/internal/ledger';
import { type Oracle, type OracleAnswer, seededRandom, turnQuestion } from 'assize/internal/oracle';
import type { TurnPorts } from 'assize/internal/runtime';
import { AgentError } from './errors.ts';

/**
 * One turn of a run, recorded as one answer in the oracle log. The choice of the next agent is
 * arbitration (Agentic Redux, Definitions A.31 and A.34). A counselor's decision is an oracle
 * answer (Definition A.20), and so are time and randomness. The log has the turn before any
 * proposal.
 */
export type Turn = AgentTurn | CounselTurn;

/** The position of a turn, and the inputs of its ruling. */
export interface TurnPlace {
  /**
   * Hash of the previous turn; null for the first. An entry names its turn, and so pins all earlier
   * turns.
   */
  readonly previous: Hash | null;
  /** The head that the turn found. */
  readonly after: Hash;
  /** The time of the ruling, or the head's time if that is later. */
  readonly at: Instant;
  /** Randomness for the entries: 64 hex digits. */
  readonly seed: string;
  /**
   * The entry stores the answers' hashes under a salt. Absent in older turns, with entries that
   * store the hashes in place.
   */
  readonly salted?: true;
}

export interface AgentTurn extends TurnPlace {
  readonly agent: string;
  readonly does: 'propose' | 'wait' | 'done';
  /** The head of the slice. Before `after` if other writers committed first. */
  readonly invoked: Hash;
  /** Hash of the slice. */
  readonly slice: Hash;
  /** Hash of the decision and of its questions and answers. */
  readonly decision: Hash;
  /** `wait`: the agent is asked again at this instant. */
  readonly until?: Instant;
  /** `wait`: the agent's own proposal that was pending. The agent is asked again after its end. */
  readonly awaits?: Hash;
}

export interface CounselTurn extends TurnPlace {
  readonly counsel: Counsel;
}

/** A counselor's decision on a pending proposal. `later`: no decision yet. */
export type CounselDecision =
  | {
      readonly do: 'approve';
      readonly principal: string;
      readonly method: string;
      readonly override?: boolean;
      readonly reason?: string;
      readonly replacement?: readonly Json[];
      /** Amends the proposal: the same action with these arguments. */
      readonly args?: Json;
    }
  | {
      readonly do: 'reject';
      readonly principal: string;
      readonly method: string;
      readonly reason: string;
    }
  | { readonly do: 'later' };

/** The decision with the pending proposal and the digest that the counselor saw. */
export type Counsel = CounselDecision & { readonly pending: Hash; readonly digest: Hash };

/** A turn in the log, or undefined. @throws AgentError `damaged`; OracleError `damaged` */
export async function readTurn(
  oracle: Oracle,
  trajectory: string,
  turn: number,
): Promise<RecordedTurn | undefined> {
  const notRecorded = new Error('the turn is not recorded yet');
  const call = (): never => {
    throw notRecorded;
  };
  try {
    return recordedTurn(turn, await oracle.consult({ ...turnQuestion(trajectory, turn), call }));
  } catch (error) {
    if (error === notRecorded || isAssizeError(error, 'oracle_miss')) return undefined;
    throw error;
  }
}

/**
 * Records a turn in the log.
 * @throws AgentError `concurrent_run` if the log has another turn at this number
 */
export async function recordTurn(
  oracle: Oracle,
  trajectory: string,
  turn: number,
  made: Turn,
): Promise<RecordedTurn> {
  const answer = await oracle.consult({
    ...turnQuestion(trajectory, turn),
    call: () => made as unknown as Json,
  });
  if (answer.hash === contentHash(made)) return recordedTurn(turn, answer);
  throw new AgentError(
    'concurrent_run',
    `Another process took turn ${turn} of ${trajectory}. Run its agents in one process at a time.`,
    {
      evidence: { turn },
      retryable: true,
    },
  );
}

/** A turn with the fields that its observation needs. */
export interface RecordedTurn {
  readonly number: number;
  readonly turn: Turn;
  readonly key: string;
  readonly value: Json;
  /** The hash of the answer. */
  readonly hash: Hash;
}

/** @throws AgentError `damaged` */
export function recordedTurn(
  number: number,
  { value, oracle_key: key, hash }: OracleAnswer,
): RecordedTurn {
  if (isTurn(value)) return { number, turn: value as unknown as Turn, key, value, hash };
  throw new AgentError(
    'damaged',
    `The entry ${key} of the oracle log is not turn ${number}. Check that the log belongs to this trajectory.`,
    {
      evidence: { turn: number, key },
    },
  );
}

function isTurn(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const turn = value as Partial<AgentTurn & CounselTurn>;
  const isPlaced =
    (turn.previous === null || isHash(turn.previous)) &&
    isHash(turn.after) &&
    isInstant(turn.at) &&
    isHash(turn.seed);
  if (typeof turn.counsel === 'object')
    return isPlaced && isHash(turn.counsel?.pending) && isHash(turn.counsel.digest);
  const isDecided = isHash(turn.invoked) && isHash(turn.slice) && isHash(turn.decision);
  if (turn.until !== undefined && !isInstant(turn.until)) return false;
  if (turn.awaits !== undefined && !isHash(turn.awaits)) return false;
  return (
    isPlaced &&
    isDecided &&
    typeof turn.agent === 'string' &&
    ['propose', 'wait', 'done'].includes(turn.does ?? '')
  );
}

/** The time and randomness of a turn's ruling. */
export function portsOf({ at, seed, salted }: Turn): TurnPorts {
  return { at, random: (head) => seededRandom(`${seed} ${head}`), unsalted: salted !== true };
}
