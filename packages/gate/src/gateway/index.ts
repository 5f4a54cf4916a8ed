/**
 * The domain for tool calls: any call of any tool is one action, judged by the rules of one file.
 *
 * Guarantees: no committed call breaks a rule of the rules in force at its time, in any order of
 * proposals. A limit is never exceeded, and a standing approval never spends more than its budget.
 * A tool that neither the rules nor a pin know asks. A rule that cannot be evaluated denies.
 *
 * Not promised: that a caller which only asks makes the call, makes it once, or reports it. Such a
 * call is listed as open until its report.
 */
export { BEGIN_HOURS, canBegin } from './actions/begin.ts';
export {
  type CallArgs,
  type CallDigested,
  callArgs,
  callDigest,
  callIdOf,
  PARTS_MAX,
  USES,
} from './actions/call.ts';
export { type Configuration, rulesDigest } from './actions/configure.ts';
export { type Gap, gapArgs } from './actions/gap.ts';
export { definitionHash, type PinArgs, pinsUnasked } from './actions/pin.ts';
export { isTidyForEver, needsTidy } from './actions/tidy.ts';
export { type CaseOptions, runCases, type StepResult } from './cases/run-cases.ts';
export { configuration, type GatewayTool, isConfigured } from './configuration.ts';
export {
  coveredCalls,
  type ForeseenUse,
  type Spent,
  type StandingMaximum,
  type StandingTerms,
  standingMaximum,
} from './covered-calls.ts';
export { GatewayError, type GatewayErrorCode } from './errors.ts';
export {
  type GatewayOptions,
  gateway,
  gatewayUnder,
  isApprover,
} from './gateway.ts';
export { unknownAgentTools } from './judge/agent-tools.ts';
export type { AnsweringRule } from './judge/answering-rule.ts';
export { isBuiltInPattern, isBuiltInTool } from './judge/built-in-tools.ts';
export { placesFor, rulesInForce, specOf } from './judge/compiled-rules.ts';
export { folderOf, hasStar, isUnder, mayBeUnder, readPath } from './judge/path-name.ts';
export { resourcesOf } from './judge/resources.ts';
export { HOME_SECRETS, SECRETS } from './judge/secrets.ts';
export { type NoTurn, runOf, turnOf } from './judge/turns.ts';
export { agentName, serverName } from './name-forms.ts';
export { SERVER, TOOL } from './names.ts';
export {
  filesOf,
  isAlwaysDenied,
  type PinnedTool,
  pinnedTools,
  type ToolFiles,
  type WaitingCall,
  waitingCalls,
} from './one-server.ts';
export { isToBegin, type OpenCall, openCalls, openRows, SILENT_MS } from './open-calls.ts';
export { rulesIn } from './rule-text.ts';
export { flowText } from './rules/flow-text.ts';
export {
  faultText,
  type ReadCase,
  type RulesFault,
  type RulesFile,
  readCases,
  readRules,
  readTrial,
  type TrialSet,
  trialFileOf,
} from './rules/read-rules.ts';
export type { Limit, ReadFirst, Rule, Rules, ToolClass, ToolSpec } from './rules/rules.ts';
export { enforcing } from './rules/rules.ts';
export { type RulesWarning, warningsOf } from './rules/warnings.ts';
export { fileText, ruleLine } from './rules/written.ts';
export { rulesPolicy } from './rules-policy.ts';
export { type Observation, observationOf, observingText, rulesStatus } from './rules-status.ts';
export { type AskedCall, leftBy, type Pins, rulesToAllow } from './rules-to-allow.ts';
export {
  isGlob,
  isSandboxInForce,
  type ProfileFor,
  type ProfileNote,
  profileOf,
  type SandboxProfile,
  sandboxDigest,
} from './sandbox-profile.ts';
export type { CallRow, GatewayState, Session, StandingApproval } from './schema.ts';
export { type UncoveredTerm, uncoveredTerms } from './uncovered-terms.ts';
export { type UndoCall, undoCallOf } from './undo-call.ts';
export { RulesAlone, unrecordedFileOf } from './without-server.ts';
