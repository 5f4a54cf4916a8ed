/**
 * A suite that any runtime of agents can be put through: approve once, execute once. A runtime is
 * reached through a driver, a program of its own that speaks lines of JSON.
 *
 * Guarantees: a verdict is about the effects at a sink in another process, never about the word of
 * the runtime. Every process that the suite starts is ended, by its id.
 * Never: part of a production program.
 */
export type { DriverCommand } from './driver/driver-process.ts';
export { type EffectOptions, sendEffect } from './driver/effect-of.ts';
export { type DriverHandlers, type DriverSetup, serveDriver } from './driver/serve-driver.ts';
export { ConformanceError, type ConformanceErrorCode } from './errors.ts';
export type { Finding, FindingKind } from './judge.ts';
export {
  type Ability,
  type Answers,
  type DriverIdentity,
  type DriverSettings,
  type PersonAnswer,
  PROTOCOL,
  type Progress,
  type Told,
  type ToolName,
  type WaitingCall,
  type WantedCall,
} from './protocol/messages.ts';
export {
  type ConformanceOptions,
  type ConformanceReport,
  runConformance,
  type ScenarioVerdict,
} from './run-conformance.ts';
export { CORE_SCENARIOS, SCENARIOS } from './scenarios/all.ts';
export type { Effect } from './sink/effect.ts';
export { cellOf, conformanceMarkdown } from './table.ts';
export { unjudgedReport } from './unjudged-report.ts';
