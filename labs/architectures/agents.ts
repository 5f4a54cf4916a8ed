import {
  ArgumentError,
  arg,
  deepFreeze,
  isRecord,
  type Json,
  thrownText,
} from 'assize/internal/base';
import { copyJson } from 'assize/internal/canon';
import type { Domain, Intent } from 'assize/internal/kernel';
import type { AgentProposal } from './architecture.ts';
import { ArchitectureError } from './errors.ts';
import type { Evaluator } from './evaluator.ts';

/** The decision of an agent on a slice: it proposes an action, or nothing. */
export type AgentDecision =
  | { readonly action: string; readonly args: Json }
  | 'wait'
  | 'done'
  | undefined;

/**
 * An agent (Agentic Redux, Definition A.21), the same under each architecture. `decide` is a
 * function of the slice alone: for an equal slice it returns an equal decision.
 */
export interface ComparedAgent<Slice = any> {
  readonly name: string;
  readonly role: AgentProposal['role'];
  readonly decide: (slice: Slice) => AgentDecision | Promise<AgentDecision>;
}

/** An agent of a case: given by the caller, or generated. */
export interface Decider {
  readonly name: string;
  readonly role: AgentProposal['role'];
  /** The proposal after the agent has read a state. Undefined: none. */
  decide(read: Json, evaluator: Evaluator): Intent | undefined | Promise<Intent | undefined>;
}

export const AGENT_FORM = arg.members({
  name: arg.of('a text that is not empty', (value) => typeof value === 'string' && value !== ''),
  role: arg.members({ name: arg.text, params: arg.record(arg.text) }),
  decide: arg.code,
});

/**
 * @throws ArgumentError `bad_argument` for a repeated name, or for a role that the domain does not
 * have
 */
export function requireAgents(domain: Domain, agents: readonly ComparedAgent[]): void {
  const names = new Set<string>();
  for (const [i, { name, role }] of agents.entries()) {
    if (names.has(name))
      throw badAgent(i, `has the name ${name}, but another agent has it too; pass other names`);
    names.add(name);
    if (!Object.hasOwn(domain.roles, role.name))
      throw badAgent(
        i,
        `has the role ${role.name}; ${domain.name} has ${Object.keys(domain.roles).join(', ')}`,
      );
    const wanted = domain.roles[role.name]?.params ?? [];
    if (
      wanted.length === Object.keys(role.params).length &&
      wanted.every((param) => role.params[param])
    )
      continue;
    throw badAgent(i, `needs the parameters of its role: ${wanted.join(', ') || 'none'}`);
  }
}

function badAgent(index: number, problem: string): ArgumentError {
  const argument = `options.agents.${index}`;
  return new ArgumentError('bad_argument', `The argument ${argument} ${problem}.`, {
    evidence: { argument },
  });
}

/** An agent of the caller. It sees its slice of the state that it reads, and nothing else. */
export class GivenAgent implements Decider {
  readonly name: string;
  readonly role: AgentProposal['role'];
  readonly #agent: ComparedAgent;
  /** The decisions by the canonical text of the read state. */
  readonly #decided: Map<string, Intent | undefined> = new Map();

  constructor(agent: ComparedAgent) {
    this.name = agent.name;
    this.role = deepFreeze({ name: agent.role.name, params: { ...agent.role.params } });
    this.#agent = agent;
  }

  /** @throws ArchitectureError `function_failed` */
  async decide(read: Json, evaluator: Evaluator): Promise<Intent | undefined> {
    const seen = evaluator.textOf(read);
    if (!this.#decided.has(seen))
      this.#decided.set(seen, await this.#decision(evaluator.slice(read, this.role)));
    return this.#decided.get(seen);
  }

  async #decision(slice: unknown): Promise<Intent | undefined> {
    let decided: unknown;
    try {
      decided = await this.#agent.decide(deepFreeze(slice));
    } catch (cause) {
      throw this.#failed(
        `its decision threw an error: ${thrownText(cause).replace(/\.$/, '')}`,
        cause,
      );
    }
    if (decided === undefined || decided === 'wait' || decided === 'done') return undefined;
    const { action, args } = (isRecord(decided) ? decided : {}) as {
      readonly action?: unknown;
      readonly args?: unknown;
    };
    if (typeof action !== 'string' || action === '')
      throw this.#failed('it decided on no proposal; return an action with args, wait or done');
    try {
      return { action, role: this.role, args: deepFreeze(copyJson(args)) };
    } catch (cause) {
      throw this.#failed(
        `the arguments of ${action} are not JSON: ${thrownText(cause).replace(/\.$/, '')}`,
        cause,
      );
    }
  }

  #failed(what: string, cause?: unknown): ArchitectureError {
    const because = cause === undefined ? {} : { cause };
    return new ArchitectureError('function_failed', `The agent ${this.name} failed: ${what}.`, {
      evidence: { agent: this.name },
      ...because,
    });
  }
}

/**
 * A generated agent. It proposes the first of its proposals that every rule allows on the state
 * that it has read. Run one after the other, such agents break no rule under any architecture.
 */
export class GeneratedAgent implements Decider {
  readonly name: string;
  readonly role: AgentProposal['role'];
  readonly #wishes: readonly Intent[];

  constructor(name: string, wishes: readonly [Intent, ...Intent[]]) {
    this.name = name;
    this.role = wishes[0].role;
    this.#wishes = wishes;
  }

  decide(read: Json, evaluator: Evaluator): Intent | undefined {
    return this.#wishes.find((wish) => evaluator.isValid(read, wish));
  }
}
