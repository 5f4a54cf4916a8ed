import {
  arg,
  checkArgument,
  deepFreeze,
  isAssizeError,
  isRecord,
  type Json,
  thrownText,
} from 'assize/internal/base';
import { copyJson, WORLD_LIMITS } from 'assize/internal/canon';
import { stateFault } from 'assize/internal/kernel';
import type { AgentProposal, Architecture, Execution, Outcome, Setting } from './architecture.ts';
import { ArchitectureError } from './errors.ts';

/** The verdict of an adjudicator on a proposal. */
export type Verdict =
  | { readonly verdict: 'approve' }
  | {
      readonly verdict: 'reject' | 'escalate';
      readonly reason: string;
      /** The id of the rule that decided. */
      readonly rule?: string;
      /** True if an answer could not be read, and therefore rejects. */
      readonly unreadable?: true;
    };

/** A proposal that fits types and footprints, as an adjudicator sees it. Frozen. */
export interface Submission {
  readonly proposal: AgentProposal;
  /** The state that the agent has read. */
  readonly read: Json;
  /** The current state. */
  readonly state: Json;
  /** The state after the proposal. */
  readonly candidate: Json;
}

/** The function μ of a meta-agent (Agentic Redux, Definition A.25). */
export type Adjudicator = (submission: Submission, setting: Setting) => Verdict | Promise<Verdict>;

/** A verdict with its proposal. */
export interface LoggedVerdict {
  readonly proposal: AgentProposal;
  readonly verdict: Verdict;
}

/** A state with its log and its review queue (Agentic Redux, Definition A.28). */
export interface Frame {
  readonly state: Json;
  readonly log: readonly LoggedVerdict[];
  readonly queue: readonly LoggedVerdict[];
}

/** The function κ: the frame after a verdict (Agentic Redux, Definition A.32). */
export type Discipline = (
  frame: Frame,
  submission: Submission,
  verdict: Verdict,
) => Frame | Promise<Frame>;

export interface ArchitectureParts {
  readonly name: string;
  readonly adjudicator: Adjudicator;
  /** Default: `commitApproved`. */
  readonly discipline?: Discipline;
}

/**
 * The discipline of a log: an approved candidate becomes the state, and an escalated proposal joins
 * the queue. Each verdict is logged.
 */
export const commitApproved: Discipline = (
  { state, log, queue },
  { proposal, candidate },
  verdict,
) => {
  const logged = { proposal, verdict };
  return {
    state: verdict.verdict === 'approve' ? candidate : state,
    log: [...log, logged],
    queue: verdict.verdict === 'escalate' ? [...queue, logged] : queue,
  };
};

const PARTS = arg.options<ArchitectureParts>({
  name: arg.of('a text that is not empty', (value) => typeof value === 'string' && value !== ''),
  adjudicator: arg.code,
  discipline: arg.optional(arg.code),
});

/**
 * An architecture of an adjudicator μ and a discipline κ. A proposal that does not fit types or
 * footprints is rejected before both.
 *
 * @throws ArgumentError `bad_argument`. Its executions: ArchitectureError `function_failed`
 */
export function architecture(parts: ArchitectureParts): Architecture {
  checkArgument(PARTS, parts, 'parts');
  const { name, adjudicator, discipline = commitApproved } = parts;
  const whole = { name, adjudicator, discipline };
  return Object.freeze({ name, begin: (setting: Setting) => new PartsExecution(whole, setting) });
}

class PartsExecution implements Execution {
  readonly #parts: Required<ArchitectureParts>;
  readonly #setting: Setting;
  #frame: Frame;

  constructor(parts: Required<ArchitectureParts>, setting: Setting) {
    this.#parts = parts;
    this.#setting = setting;
    this.#frame = { state: setting.start, log: [], queue: [] };
  }

  state(): Json {
    return this.#frame.state;
  }

  async submit(proposal: AgentProposal, read: Json): Promise<Outcome> {
    const { state } = this.#frame;
    const evaluation = this.#setting.evaluate(state, proposal);
    if ('refused' in evaluation) {
      const { reason, detail } = evaluation.refused;
      return { outcome: 'rejected', reason: `${reason}: ${detail}` };
    }
    const submission = deepFreeze({ proposal, read, state, candidate: evaluation.candidate });
    const verdict = await this.#verdictOn(submission);
    this.#frame = await this.#frameAfter(submission, verdict);
    if (verdict.verdict === 'approve') return { outcome: 'committed' };
    const { verdict: said, ...why } = verdict;
    return { outcome: said === 'reject' ? 'rejected' : 'escalated', ...why };
  }

  async #verdictOn(submission: Submission): Promise<Verdict> {
    const { adjudicator } = this.#parts;
    const verdict: unknown = await this.#settled('adjudicator', () =>
      adjudicator(submission, this.#setting),
    );
    if (isVerdict(verdict)) return verdict;
    throw this.#failed(
      'adjudicator returned no verdict; return approve, or reject or escalate with a reason',
    );
  }

  async #frameAfter(submission: Submission, verdict: Verdict): Promise<Frame> {
    const { discipline } = this.#parts;
    const frame = this.#frame;
    const next: unknown = await this.#settled('discipline', () =>
      discipline(frame, submission, verdict),
    );
    if (!isFrame(next))
      throw this.#failed('discipline returned no frame; return state, log and queue');
    if (next.state === submission.state || next.state === submission.candidate) return next;
    return { ...next, state: this.#checkedState(next.state) };
  }

  #checkedState(given: Json): Json {
    let state: Json;
    try {
      state = copyJson(given, WORLD_LIMITS);
    } catch (cause) {
      throw this.#failed(
        `discipline returned a state that is not JSON: ${thrownText(cause)}`,
        cause,
      );
    }
    const fault = stateFault(this.#setting.domain.state, state);
    if (fault === undefined) return deepFreeze(state);
    throw this.#failed(`discipline returned a state that does not fit the domain: ${fault}`);
  }

  /** An error of the package, such as a model that cannot be reached, passes through. */
  async #settled<T>(part: string, work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (isAssizeError(cause) || this.#setting.signal?.aborted === true) throw cause;
      throw this.#failed(`${part} threw an error: ${thrownText(cause)}`, cause);
    }
  }

  #failed(what: string, cause?: unknown): ArchitectureError {
    const { name } = this.#parts;
    const message = `The architecture ${name} failed: its ${what.replace(/\.$/, '')}.`;
    const because = cause === undefined ? {} : { cause };
    return new ArchitectureError('function_failed', message, {
      evidence: { architecture: name },
      ...because,
    });
  }
}

function isVerdict(given: unknown): given is Verdict {
  if (!isRecord(given)) return false;
  const { verdict, reason, rule } = given as Readonly<Record<string, unknown>>;
  if (verdict === 'approve') return true;
  const isNamed = rule === undefined || typeof rule === 'string';
  return (verdict === 'reject' || verdict === 'escalate') && typeof reason === 'string' && isNamed;
}

function isFrame(given: unknown): given is Frame {
  if (!isRecord(given)) return false;
  const { state, log, queue } = given as Readonly<Record<string, unknown>>;
  return state !== undefined && Array.isArray(log) && Array.isArray(queue);
}
