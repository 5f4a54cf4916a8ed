/**
 * Architectures: the same agents, in the same schedules, under a microservices architecture, a
 * judge that is a language model, and the kernel (Agentic Redux, §1.1, Definitions A.25 to A.33).
 *
 * Guarantees: all architectures get the same agents, states and schedules. The same seed and the
 * same answers of models give the same result. The kernel is the runtime itself, and not a model of
 * it. Each violation comes with a schedule from which no step can be left out.
 *
 * Not promised: that a rule without a violation cannot break. The search has bounds, and the result
 * names them.
 *
 * Never: writes to a ledger of the caller, calls a tool, or repairs the answer of a judge.
 */
export type { AgentDecision, ComparedAgent } from './agents.ts';
export type {
  AgentProposal,
  Architecture,
  AskedQuestion,
  BrokenRule,
  Evaluation,
  Execution,
  Outcome,
  Setting,
} from './architecture.ts';
export { compareArchitectures } from './compare.ts';
export { ArchitectureError, type ArchitectureErrorCode } from './errors.ts';
export { type JudgedOptions, judged } from './judge/judged.ts';
export { kernel } from './kernel.ts';
export { microservices } from './microservices.ts';
export { COMPARE_LIMITS, type CompareOptions } from './options.ts';
export {
  type Adjudicator,
  type ArchitectureParts,
  architecture,
  commitApproved,
  type Discipline,
  type Frame,
  type LoggedVerdict,
  type Submission,
  type Verdict,
} from './parts.ts';
export type {
  ArchitectureComparison,
  ArchitectureFigures,
  ComparedStep,
  ModelFigures,
  Violation,
  ViolationKind,
} from './report.ts';
