import type { Tool } from 'assize/internal/effects';
import { toolNamed } from '../callers.ts';
import { RETRIES } from '../stage.ts';

/** The scopes that a transaction declares. A baseline compares them as texts. */
export interface BaselineClaims {
  readonly reads?: readonly string[];
  readonly writes: readonly string[];
}

/** The function through which the body of a transaction calls a tool. */
export type BaselineCall = (tool: string, input: unknown) => Promise<unknown>;
export type BaselineBranch = (call: BaselineCall) => Promise<unknown>;

/** The index of the branch that stays. */
export type ChooseBranch = (failed: readonly boolean[]) => number;

/**
 * A protocol of databases or services, over the same tools as the runtime. It has no ledger, no
 * log and no approvals.
 */
export interface Baseline {
  /**
   * Runs one branch, or several; one of these stays.
   *
   * @throws the error of the branch that stays, or of a tool after all retries
   */
  transact(
    claims: BaselineClaims,
    branches: readonly BaselineBranch[],
    choose?: ChooseBranch,
  ): Promise<void>;
  /** Bodies that started: one a transaction, and one more for each that started over. */
  readonly begun: number;
  /** Tool calls that were made again. */
  readonly retries: number;
}

/** A call that was answered. */
export interface DoneCall {
  readonly tool: Tool;
  readonly input: unknown;
  readonly key: string;
  readonly result: unknown;
}

/** Calls the tools, and again after an error, as often as the modes that retry. */
export class BaselineTools {
  retries = 0;
  readonly #tools: readonly Tool[];
  #keys = 0;

  constructor(tools: readonly Tool[]) {
    this.#tools = tools;
  }

  named(name: string): Tool {
    return toolNamed(this.#tools, name);
  }

  /** `key`: the same one for each try. Default: each try has its own key. */
  async done(name: string, input: unknown, key?: string): Promise<DoneCall> {
    const tool = this.named(name);
    for (let again = 0; ; again++) {
      const used = key ?? this.newKey();
      try {
        const result: unknown = await tool.spec.execute(
          tool.parse(input) as never,
          { key: used, signal: NEVER },
          [],
        );
        return { tool, input, key: used, result };
      } catch (error) {
        if (again === RETRIES) throw error;
        this.retries++;
      }
    }
  }

  newKey(): string {
    return `call ${this.#keys++}`;
  }

  /** Compensates these calls, the last one first. */
  async undo(calls: readonly DoneCall[]): Promise<void> {
    for (const { tool, input, key, result } of calls.toReversed())
      await tool.spec.compensate?.(tool.parse(input) as never, result as never, {
        key,
        signal: NEVER,
      });
  }
}

const NEVER = new AbortController().signal;

export function isRead({ spec }: Tool): boolean {
  return spec.class === 'read';
}

/** The outcome of branches that ran concurrently. */
export interface Chosen {
  readonly index: number;
  /** Of the branch that stays. */
  readonly error?: unknown;
}

export async function runBranches(
  branches: readonly BaselineBranch[],
  callOf: (branch: number) => BaselineCall,
  choose: ChooseBranch = () => 0,
): Promise<Chosen> {
  const ended = await Promise.allSettled(branches.map((branch, i) => branch(callOf(i))));
  const index = choose(ended.map(({ status }) => status === 'rejected'));
  const end = ended[index]!;
  return end.status === 'rejected' ? { index, error: end.reason } : { index };
}
