import type { Json } from 'assize/internal/base';
import type { Instant } from 'assize/internal/canon';
import type { Domain } from 'assize/internal/kernel';

/** A proposal of an agent, in its role. */
export interface AgentProposal {
  /** The name of the agent. */
  readonly agent: string;
  readonly role: { readonly name: string; readonly params: Readonly<Record<string, string>> };
  readonly action: string;
  readonly args: Json;
}

/** A rule that does not pass. */
export interface BrokenRule {
  readonly rule: string;
  readonly detail: string;
}

/** The result of a proposal on a state, by the rules of the domain. */
export type Evaluation =
  /** It fits no type or footprint, or its preconditions do not hold. */
  | { readonly refused: { readonly reason: string; readonly detail: string } }
  /** The state that it leads to, and the rules that do not pass there. */
  | { readonly candidate: Json; readonly broken: readonly BrokenRule[] };

/** A question to a model, as its adjudicator reports it. */
export interface AskedQuestion {
  /** False if the record had the answer. */
  readonly isNew: boolean;
  /** Tokens, if the provider counted them. */
  readonly usage?: { readonly input: number; readonly output: number };
}

/** The inputs of one execution. */
export interface Setting {
  readonly domain: Domain;
  /** The state at the beginning. All rules pass on it. */
  readonly start: Json;
  /** The time of all proposals. */
  readonly at: Instant;
  /** Aborted when the comparison ends early. */
  readonly signal?: AbortSignal;
  /** Evaluates a proposal on any state. The states stay unchanged. */
  readonly evaluate: (state: Json, proposal: AgentProposal) => Evaluation;
  /** Counts a question to a model. */
  readonly onQuestion: (asked: AskedQuestion) => void;
}

/** The outcome of one submitted proposal. */
export type Outcome =
  | { readonly outcome: 'committed' }
  | {
      readonly outcome: 'rejected' | 'escalated';
      readonly reason: string;
      readonly rule?: string;
      /** True if the answer of the adjudicator could not be read. It then counts as a rejection. */
      readonly unreadable?: true;
    }
  /** It waits, because a person has not yet decided about another proposal. */
  | { readonly outcome: 'held'; readonly reason: string };

/** One run of an architecture, from one state on. */
export interface Execution {
  /** The current state. */
  state(): Json;
  /** Submits a proposal of an agent that decided by its slice of `read`, an earlier state. */
  submit(proposal: AgentProposal, read: Json): Outcome | Promise<Outcome>;
  /** Called once after the last proposal, also after an error. */
  close?(): void | Promise<void>;
}

/**
 * An agent architecture (Agentic Redux, Definition A.33) without its agents and its schedule. The
 * comparison supplies both, so that all architectures have the same ones.
 */
export interface Architecture {
  /** Its name in the result. */
  readonly name: string;
  begin(setting: Setting): Execution | Promise<Execution>;
}
