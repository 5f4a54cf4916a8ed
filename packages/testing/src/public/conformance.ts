/**
 * `@assize/testing/conformance`: a suite that any runtime of agents can be put through, in any
 * language: is a call that a person approved made once, whatever is resumed, repeated, forked or
 * killed?
 */
export {
  type Ability,
  type Answers,
  ConformanceError,
  type ConformanceErrorCode,
  type ConformanceOptions,
  type ConformanceReport,
  type DriverCommand,
  type DriverHandlers,
  type DriverIdentity,
  type DriverSettings,
  type DriverSetup,
  type Effect,
  type EffectOptions,
  type Finding,
  type FindingKind,
  type PersonAnswer,
  type Progress,
  runConformance,
  type ScenarioVerdict,
  sendEffect,
  serveDriver,
  type Told,
  type ToolName,
  type WaitingCall,
  type WantedCall,
} from '#conformance';
