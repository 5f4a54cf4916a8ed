import { DidNothing, EffectError, type Tool } from 'assize/internal/effects';
import type { Transaction } from 'assize/internal/runtime';
import { LostResponse } from './faulty.ts';
import type { Mode } from './modes.ts';
import { openStage, RETRIES } from './stage.ts';
import type { Environment, Step } from './task.ts';

/** The result of a step, as reported to its caller. */
export interface StepReport {
  /** Undefined where it was done. */
  readonly error: unknown;
  /** How often it was tried again. */
  readonly retries: number;
  /** Its effect, or one of it, waits for a person. */
  readonly waits: boolean;
  /** The answer of the tool, if the call was done. */
  readonly answer?: unknown;
}

export interface CallerOptions {
  /** How often a step is tried again, where the mode does. */
  readonly retries?: number | undefined;
  /** The runtime's attempts per effect, if the mode retries. Default: the runtime's own number. */
  readonly tries?: number | undefined;
}

/** Does steps one after the other, as a mode does. */
export interface Caller {
  step(n: number, step: Step): Promise<StepReport>;
  close(): Promise<void>;
}

/** `tools`: those of the environment, with the faults that are to meet them. */
export async function callerIn(
  mode: Mode,
  environment: Environment,
  tools: readonly Tool[],
  { retries = RETRIES, tries }: CallerOptions = {},
): Promise<Caller> {
  if (mode.transactional) return transactional(mode, tools, { retries, tries });
  if (mode.checkpoint) return checkpointed(environment, tools, retries);
  return direct(tools);
}

/** One transaction a step. It claims what the call touches. */
async function transactional(
  mode: Mode,
  tools: readonly Tool[],
  { retries, tries }: CallerOptions & { readonly retries: number },
): Promise<Caller> {
  const stage = await openStage({ mode, tools, retries, tries: mode.retry ? tries : undefined });
  const step = async (n: number, { tool, input }: Step): Promise<StepReport> => {
    const claims = claimsOf(toolNamed(tools, tool), input);
    let begun = 0;
    const told = (error: unknown, waits: boolean): StepReport => ({
      error,
      retries: Math.max(0, begun - 1),
      waits,
    });
    try {
      const { effects, ruling, value } = await stage.transact(
        { name: `step ${n}`, ...claims },
        (tx) => {
          begun++;
          return called(tx, tool, input);
        },
      );
      if (ruling.ruling !== 'committed')
        return told(new Error(`the step was ${ruling.ruling}`), false);
      if (effects === 'settled') return { ...told(undefined, false), answer: value };
      return told(new Error('the effect needs a human decision'), true);
    } catch (error) {
      return told(error, waitsForPerson(error));
    }
  };
  return { step, close: () => stage.close() };
}

/**
 * A failed read does nothing, so the transaction restarts, as it does after a tool that did
 * nothing.
 */
async function called(tx: Transaction, tool: string, input: unknown): Promise<unknown> {
  try {
    return await tx.call(tool, input);
  } catch (error) {
    if (!(error instanceof DidNothing || error instanceof LostResponse)) throw error;
    throw new EffectError('tool_failed', `${tool} was not read: ${error.message}.`, {
      cause: error,
      retryable: true,
    });
  }
}

function waitsForPerson(error: unknown): boolean {
  return (
    error instanceof EffectError &&
    (error.code === 'outcome_unknown' || error.code === 'resource_in_doubt')
  );
}

/** The scopes that a transaction claims for a call. */
export function claimsOf(tool: Tool, input: unknown): { reads: string[]; writes: string[] } {
  const claims = tool.claims(tool.parse(input));
  const textsOf = (access: 'read' | 'write'): string[] =>
    claims.filter((claim) => claim.access === access).map(({ scope }) => scope.text);
  return { reads: textsOf('read'), writes: textsOf('write') };
}

/**
 * Restores the checkpoint after a fault and retries the step. Effects outside the checkpoint stay.
 */
function checkpointed(environment: Environment, tools: readonly Tool[], retries: number): Caller {
  const call = directCaller(tools);
  return {
    step: async (_, step) => {
      for (let again = 0; ; again++) {
        const snapshot = environment.snapshot();
        try {
          const answer = await call(step);
          return { error: undefined, retries: again, waits: false, answer };
        } catch (error) {
          await environment.restore(snapshot);
          if (again >= retries) return { error, retries: again, waits: false };
        }
      }
    },
    close: async () => {},
  };
}

/** The caller receives the errors of the tool. */
function direct(tools: readonly Tool[]): Caller {
  const call = directCaller(tools);
  return {
    step: async (_, step) => {
      try {
        const answer = await call(step);
        return { error: undefined, retries: 0, waits: false, answer };
      } catch (error) {
        return { error, retries: 0, waits: false };
      }
    },
    close: async () => {},
  };
}

/**
 * Without a runtime, a tool of any class executes when it is called. No layer passes a key on, so
 * each call has its own key.
 */
export function directCaller(tools: readonly Tool[]): (step: Step) => Promise<unknown> {
  let calls = 0;
  return async ({ tool: name, input }) => {
    const tool = toolNamed(tools, name);
    const call = { key: `call ${calls++}`, signal: NEVER };
    return tool.spec.execute(tool.parse(input) as never, call, []);
  };
}

const NEVER = new AbortController().signal;

/** @throws TypeError where there is none */
export function toolNamed(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined)
    throw new TypeError(
      `There is no tool ${name}. The tools are ${tools.map((each) => each.name).join(', ')}.`,
    );
  return tool;
}
