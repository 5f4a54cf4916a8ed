import type { Json } from 'assize/internal/base';
import type { AgentProposal } from './architecture.ts';

/**
 * `skew`: the proposal broke no rule on the state that its agent had read, and another submission
 * came in between. `let_through`: the proposal broke the rule there too, in any order.
 */
export type ViolationKind = 'skew' | 'let_through';

/** A step of the shortest schedule. JSON. */
export type ComparedStep =
  | { readonly does: 'read'; readonly agent: string }
  | {
      readonly does: 'submit';
      readonly agent: string;
      readonly action: string;
      readonly args: Json;
      readonly outcome: 'committed' | 'rejected' | 'escalated' | 'held';
      /** Why it was not committed. */
      readonly reason?: string;
      /** The rules that pass before the step, and not after it. */
      readonly breaks?: readonly { readonly rule: string; readonly detail: string }[];
    };

/** A rule that an architecture lets agents break, with the shortest schedule found. JSON. */
export interface Violation {
  readonly rule: string;
  readonly kind: ViolationKind;
  /** The schedules in which the rule breaks in this way. */
  readonly schedules: number;
  readonly detail: string;
  /** The proposals that lead from a starting state of the domain or the caller to `start`. */
  readonly reached_by: readonly AgentProposal[];
  readonly start: Json;
  /** No step can be left out. */
  readonly steps: readonly ComparedStep[];
  /** The states before and after the last step. The rule does not pass on the second one. */
  readonly before: Json;
  readonly after: Json;
}

/** The questions of an architecture to its model. JSON. */
export interface ModelFigures {
  /** Asked in this comparison, also to find the shortest schedules. */
  readonly asked: number;
  /** Answered by the record, or by an equal question before. */
  readonly recorded: number;
  /** Tokens of the asked questions whose provider counts them. */
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** The figures of one architecture. JSON. */
export interface ArchitectureFigures {
  readonly architecture: string;
  readonly schedules: number;
  readonly proposals: number;
  readonly committed: number;
  readonly rejected: number;
  readonly escalated: number;
  /** Proposals that wait for the decision of a person about another one. */
  readonly held: number;
  /** Rejected or escalated proposals that break no rule on the current state. */
  readonly refused_valid: number;
  /** Rejected proposals whose answer of the adjudicator could not be read. */
  readonly unreadable: number;
  /** Schedules in which a committed state breaks a rule (Agentic Redux, Definition A.55). */
  readonly broken_schedules: number;
  /** In the order of the domain's rules. At most one of each kind for a rule. */
  readonly violations: readonly Violation[];
  /** Present if a model was asked. */
  readonly model?: ModelFigures;
}

/** The same agents and schedules under several architectures. JSON. */
export interface ArchitectureComparison {
  readonly domain: { readonly name: string; readonly version: string; readonly hash: string };
  readonly seed: number;
  /** Whether the caller gave the agents, or they were generated. */
  readonly agents: 'given' | 'generated';
  /** Agents of each case, and turns of each agent. */
  readonly population: number;
  readonly turns: number;
  /** The pairs of a starting state and a population. */
  readonly cases: number;
  /**
   * Generated cases that were chosen because two of their proposals break a rule together. The
   * figures are therefore no rates of a running system.
   */
  readonly contended_cases: number;
  /** The schedules that each architecture ran. */
  readonly schedules: number;
  /** Whether every possible schedule of each case was run. */
  readonly exhaustive: boolean;
  /** Actions that no generated agent proposes, because they call tools. */
  readonly left_out: readonly string[];
  readonly architectures: readonly ArchitectureFigures[];
}
