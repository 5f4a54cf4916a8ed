/**
 * Tool calls of agents: asked about, decided by the rules or a person, started once, and closed
 * with their outcome, in a trajectory of the domain gateway.
 *
 * Guarantees: each call starts at most once, in any process; an approval is for exactly one call.
 * Never: makes a call by itself. `Gate` makes one it is given, after the ledger has recorded its
 * start.
 */

export { argsUnder } from './args-under.ts';
export {
  type AskedCall,
  type CallContent,
  callIdOf,
  hasHiddenMember,
  runCallIdOf,
  sessionIdOf,
} from './asked-call.ts';
export type { CallPart } from './call-part.ts';
export type { CallPort, PersonsDecision, ShownCall } from './call-port.ts';
export type { AgentAction, CallWorld, EntryPlace, Observed, ProposeOptions } from './call-world.ts';
export { closeCall, closeCallsOf, type Outcome, REPORTED_BYTES_MAX } from './close-call.ts';
export {
  type DecideOptions,
  type Decision,
  decideCall,
  digestOf,
  type Judgement,
  judgeCall,
} from './decide-call.ts';
export { CallError, type CallErrorCode } from './errors.ts';
export {
  type BegunCall,
  type CallEnd,
  errorOf,
  GATE,
  Gate,
  type GateCall,
  type GateOptions,
  type JudgedEnd,
  type Make,
  type MakeOptions,
  type PendingEnd,
  type RunOptions,
  type TakenBack,
  type Tools,
} from './gate.ts';
export type { Approver, HeldCall } from './held-call.ts';
export { isInterruption } from './interruption.ts';
export { maySettle } from './may-settle.ts';
export { NewestRules } from './newest-rules.ts';
export {
  type ConnectGateOptions,
  connectGate,
  type OpenGateOptions,
  openGate,
} from './open-gate.ts';
export { outcomeOf } from './outcome-of.ts';
export { ofPlain, toPlain } from './plain-value.ts';
export { withReaches } from './reaching.ts';
export {
  newestFirst,
  type RuleCount,
  type RulesReport,
  rulesReport,
  spanBefore,
} from './rules-report.ts';
export { type AgentSession, attend, fail, hasFailed, inDoubt, leave } from './sessions.ts';
export {
  type RecordedTerms,
  StandingLog,
  type StandingRecord,
  type StandingStatus,
  type StandingUse,
  spentBy,
  standingStatus,
} from './standing-log.ts';
export { StandingReader } from './standing-reader.ts';
export {
  SHOWN_CALLS_MAX,
  type StandingUseView,
  type StandingView,
  standingView,
} from './standing-view.ts';
export {
  type LeftCall,
  type SessionUndo,
  type UndoOfCall,
  undoCalls,
  undoOf,
} from './undo-calls.ts';
export { upgradeGateway } from './upgrade-gateway.ts';
