import type { Json } from '#base';
import { type Instant, isInstant } from '#canon';
import type { Clock } from './clock.ts';
import { OracleError } from './errors.ts';
import type { Oracle } from './oracle.ts';
import type { CallScope } from './question.ts';
import { checkedCount, type Random } from './random.ts';

/** The origin of calls: one agent in one trajectory, in one speculative branch or none. */
export type Caller = Omit<CallScope, 'kind' | 'ordinal'>;

/** The scopes of a caller's calls, in order. */
export interface CallSequence {
  next(): CallScope;
}

/**
 * Numbers a caller's calls from 0, or from its last number. One sequence per caller serves every
 * kind of call, since the request is in the key too. A replay must take from it in the same order.
 */
export function callSequence(caller: Caller, from = 0): CallSequence {
  let ordinal = from;
  return { next: () => ({ ...caller, kind: 'call', ordinal: ordinal++ }) };
}

/** A clock with recorded readings: a replay reads the same instants. */
export interface RecordedClock {
  now(): Promise<Instant>;
}

/** Recorded random bytes: a replay draws the same ones. */
export interface RecordedRandom {
  bytes(count: number): Promise<Uint8Array>;
}

/** Readings of `clock` through the log. A replay does not read `clock`. */
export function oracleClock(oracle: Oracle, calls: CallSequence, clock: Clock): RecordedClock {
  return {
    now: async () => {
      const scope = calls.next();
      const answer = await oracle.ask({
        scope,
        request: { ask: 'clock' },
        call: () => clock.now(),
      });
      if (isInstant(answer)) return answer;
      throw new OracleError('bad_argument', 'The recorded answer is not an instant for a clock.', {
        evidence: { given: answer, scope },
      });
    },
  };
}

/** Drawings of `random` through the log, as hex. A replay does not read `random`. */
export function oracleRandom(oracle: Oracle, calls: CallSequence, random: Random): RecordedRandom {
  return {
    bytes: async (count) => {
      const request = { ask: 'random', bytes: checkedCount(count) };
      const scope = calls.next();
      const answer = await oracle.ask({
        scope,
        request,
        call: () => Buffer.from(random.bytes(count)).toString('hex'),
      });
      if (isHexOf(answer, count)) return new Uint8Array(Buffer.from(answer, 'hex'));
      throw new OracleError(
        'damaged',
        `The recorded answer is not ${count} random bytes. Restore the store from a backup.`,
        {
          evidence: { scope },
        },
      );
    },
  };
}

function isHexOf(value: Json, bytes: number): value is string {
  return typeof value === 'string' && value.length === bytes * 2 && /^[0-9a-f]*$/.test(value);
}
