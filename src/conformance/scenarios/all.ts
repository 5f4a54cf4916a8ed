import type { Ability } from '../protocol/messages.ts';
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
import { newIdAfterError } from './new-id-after-error.ts';
import { noDecision } from './no-decision.ts';
import { noPerson } from './no-person.ts';
import { oneOfTwo } from './one-of-two.ts';
import { otherRun } from './other-run.ts';
import { otherTool } from './other-tool.ts';
import { repeatedId } from './repeated-id.ts';
import { retryAfterTimeout } from './retry-after-timeout.ts';
import type { Scenario } from './scenario.ts';
import { shownIsMade } from './shown-is-made.ts';
import { siblings } from './siblings.ts';
import { silentHook } from './silent-hook.ts';
import { staleAnswer } from './stale-answer.ts';
import { tamperedArguments } from './tampered-arguments.ts';
import { unusableAnswer } from './unusable-answer.ts';
import { unusableHook } from './unusable-hook.ts';

/** Every scenario, in the order of the table. The first one is the control of the others. */
export const SCENARIOS: readonly [Scenario, ...Scenario[]] = [
  approvedOnce,
  doubleResume,
  tamperedArguments,
  otherTool,
  repeatedId,
  otherRun,
  staleAnswer,
  oneOfTwo,
  concurrentApprovals,
  deniedThenApproved,
  noDecision,
  unusableAnswer,
  noPerson,
  expired,
  crashReserved,
  crashSent,
  crashReplyLost,
  crashRecorded,
  forkAfterEffect,
  retryAfterTimeout,
  newIdAfterError,
  siblings,
  silentHook,
  unusableHook,
  shownIsMade,
];

/** The abilities without which no runtime can make an approved call once. */
const CORE_ABILITIES: ReadonlySet<Ability> = new Set<Ability>(['restart', 'retry']);

/**
 * The scenarios that every runtime has to be able to run, and to pass: those that need no other
 * ability than `restart` and `retry`.
 */
export const CORE_SCENARIOS: readonly Scenario[] = SCENARIOS.filter(({ needs }) =>
  needs.every((need) => CORE_ABILITIES.has(need)),
);
