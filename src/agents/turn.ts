import { isAssizeError, type Json } from '#base';
import { contentHash, type Instant, isInstant } from '#canon';
import { type Hash, isHash } from '#ledger';
import { type Oracle, type OracleAnswer, seededRandom, turnQuestion } from '#oracle';
import type { TurnPorts } from '#runtime';
import { AgentError } from './errors.ts';

/**
 * One turn of a run, which is one answer in the oracle log: who was next is arbitration (seed 000, Definitions A.31 and
 * A.34), what a counselor said is an oracle answer (Definition A.20), and so are time and chance. It is in the log before
 * anything is proposed.
 */
export type Turn = AgentTurn | CounselTurn;

/** Where a turn stands, and what is ruled on in it with. */
export interface TurnPlace {
  /** Hash of the turn before, so that an entry, which names its turn, pins all turns that led to it; null for the first. */
  readonly previous: Hash | null;
  /** The head that the turn found. */
  readonly after: Hash;
  /** What is ruled on is of this time, or of the head's where that is later. */
  readonly at: Instant;
  /** Chance for what the entries need of it: 64 hex digits. */
  readonly seed: string;
  /** The entry has hashes of what was consulted under a salt; absent in turns of before, whose entries have them in place. */
  readonly salted?: true;
}

export interface AgentTurn extends TurnPlace {
  readonly agent: string;
  readonly does: 'propose' | 'wait' | 'done';
  /** The head that the slice was made of; before `after` where others were faster. */
  readonly invoked: Hash;
  /** Hash of the slice. */
  readonly slice: Hash;
  /** Hash of the decision, and of the questions and answers that it came of. */
  readonly decision: Hash;
}

export interface CounselTurn extends TurnPlace {
  readonly counsel: Counsel;
}

/** What a counselor says to what is pending. `later`: nothing yet. */
export type CounselDecision =
  | {
      readonly do: 'approve';
      readonly principal: string;
      readonly method: string;
      readonly override?: boolean;
      readonly reason?: string;
      readonly replacement?: readonly Json[];
    }
  | { readonly do: 'reject'; readonly principal: string; readonly method: string; readonly reason: string }
  | { readonly do: 'later' };

/** With what it is about, and the digest of what was shown. */
export type Counsel = CounselDecision & { readonly pending: Hash; readonly digest: Hash };

/** A turn that is in the log; undefined where there is none. @throws AgentError `bad_turn`; OracleError `oracle_corrupt` */
export async function readTurn(oracle: Oracle, trajectory: string, turn: number): Promise<RecordedTurn | undefined> {
  const nobody = new Error('nobody took it yet');
  const call = (): never => {
    throw nobody;
  };
  try {
    return recordedTurn(turn, await oracle.consult({ ...turnQuestion(trajectory, turn), call }));
  } catch (error) {
    if (error === nobody || isAssizeError(error, 'oracle_miss')) return undefined;
    throw error;
  }
}

/**
 * Puts a turn into the log. @throws AgentError `run_taken` when there is another one by now
 */
export async function recordTurn(oracle: Oracle, trajectory: string, turn: number, made: Turn): Promise<RecordedTurn> {
  const answer = await oracle.consult({ ...turnQuestion(trajectory, turn), call: () => made as unknown as Json });
  if (answer.hash === contentHash(made)) return recordedTurn(turn, answer);
  throw new AgentError(
    'run_taken',
    `Turn ${turn} of ${trajectory} was taken by somebody else; one runs its agents at a time.`,
    {
      evidence: { turn },
      retryable: true,
    },
  );
}

/** A turn with what an observation of it needs. */
export interface RecordedTurn {
  readonly number: number;
  readonly turn: Turn;
  readonly key: string;
  readonly value: Json;
  /** Of the answer. */
  readonly hash: Hash;
}

/** @throws AgentError `bad_turn` */
export function recordedTurn(number: number, { value, oracle_key: key, hash }: OracleAnswer): RecordedTurn {
  if (isTurn(value)) return { number, turn: value as unknown as Turn, key, value, hash };
  throw new AgentError('bad_turn', `The oracle log holds something else than turn ${number} under ${key}.`, {
    evidence: { turn: number, key },
  });
}

function isTurn(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const turn = value as Partial<AgentTurn & CounselTurn>;
  const isPlaced =
    (turn.previous === null || isHash(turn.previous)) && isHash(turn.after) && isInstant(turn.at) && isHash(turn.seed);
  if (typeof turn.counsel === 'object') return isPlaced && isHash(turn.counsel?.pending) && isHash(turn.counsel.digest);
  const isDecided = isHash(turn.invoked) && isHash(turn.slice) && isHash(turn.decision);
  return (
    isPlaced && isDecided && typeof turn.agent === 'string' && ['propose', 'wait', 'done'].includes(turn.does ?? '')
  );
}

/** Time and chance of what is ruled on in a turn. */
export function portsOf({ at, seed, salted }: Turn): TurnPorts {
  return { at, random: (head) => seededRandom(`${seed} ${head}`), unsalted: salted !== true };
}
