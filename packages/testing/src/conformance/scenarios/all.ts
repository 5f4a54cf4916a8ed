import type { Ability } from '../protocol/messages.ts';
import {
  crashRecorded,
  crashReplyLost,
  crashReserved,
  crashSent,
  forkAfterEffect,
} from './crashes.ts';
import {
  approvedOnce,
  concurrentApprovals,
  deniedThenApproved,
  doubleResume,
  expired,
  noDecision,
  noPerson,
  oneOfTwo,
  unusableAnswer,
} from './decisions.ts';
import { silentHook, unusableHook } from './hooks.ts';
import {
  otherRun,
  otherTool,
  repeatedId,
  shownIsMade,
  staleAnswer,
  tamperedArguments,
} from './other-calls.ts';
import { newIdAfterError, retryAfterTimeout, siblings } from './retries.ts';
import { crashGoesOn, crashTakenBack, endlessRun, failedRun, lostChange } from './runs.ts';
import type { Scenario } from './scenario.ts';

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
  lostChange,
  failedRun,
  crashGoesOn,
  crashTakenBack,
  endlessRun,
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
