import { approvedOnce } from './approved-once.ts';
import { concurrentApprovals } from './concurrent-approvals.ts';
import { crashRecorded } from './crash-recorded.ts';
import { crashReplyLost } from './crash-reply-lost.ts';
import { crashReserved } from './crash-reserved.ts';
import { crashSent } from './crash-sent.ts';
import { deniedThenApproved } from './denied-then-approved.ts';
import { doubleResume } from './double-resume.ts';
import { expired } from './expired.ts';
import { forkAfterEffect } from './fork-after-effect.ts';
import { noDecision } from './no-decision.ts';
import { oneOfTwo } from './one-of-two.ts';
import { otherRun } from './other-run.ts';
import { retryAfterTimeout } from './retry-after-timeout.ts';
import type { Scenario } from './scenario.ts';
import { shownIsMade } from './shown-is-made.ts';
import { siblings } from './siblings.ts';
import { silentHook } from './silent-hook.ts';
import { staleAnswer } from './stale-answer.ts';
import { tamperedArguments } from './tampered-arguments.ts';

/** Every scenario, in the order of the table. The first one is the control of the others. */
export const SCENARIOS: readonly [Scenario, ...Scenario[]] = [
  approvedOnce,
  doubleResume,
  tamperedArguments,
  otherRun,
  staleAnswer,
  oneOfTwo,
  concurrentApprovals,
  deniedThenApproved,
  noDecision,
  expired,
  crashReserved,
  crashSent,
  crashReplyLost,
  crashRecorded,
  forkAfterEffect,
  retryAfterTimeout,
  siblings,
  silentHook,
  shownIsMade,
];
