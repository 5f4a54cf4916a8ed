import { arg, checkArgument } from 'assize/internal/base';
import type { Finding, VerificationState } from './schema.ts';

/**
 * No findings yet, and the experts with how many each may have at a time.
 *
 * @throws ArgumentError `bad_argument`
 */
export function verificationInitial(
  queues: Readonly<Record<string, number>> = {},
): VerificationState {
  checkArgument(arg.record(arg.whole), queues, 'queues');
  const experts = Object.fromEntries(
    Object.entries(queues).map(([expert, queue]) => [expert, { queue }]),
  );
  return { experts, findings: {} };
}

/** A record on which nothing stands. */
export function newFinding(): Finding {
  return {
    events: 0,
    identity: {},
    submissions: {},
    evidence: {},
    attempts: {},
    ratings: {},
    assignments: {},
    verdicts: {},
    reports: {},
  };
}
