import { CallError } from '@assize/gate/internal/calls';
import type {
  Agent,
  FunctionTool,
  RunContext,
  RunState,
  RunToolApprovalItem,
} from '@openai/agents';
import { hasNamedArgs } from './call-args.ts';
import type { StateAnswer } from './options.ts';

/** The member of a gated tool that holds its calls. */
export const GATED: unique symbol = Symbol('assize.gated');

/** A tool with its calls, for the functions that are given a paused call. */
export interface GatedTool<Calls extends object = object> extends FunctionTool<any, any, any> {
  readonly [GATED]: Calls;
}

/** The answers that this process was given to paused calls of one run. */
interface RunAnswers {
  /** The agents whose tools the SDK has prepared for the run. */
  readonly agents: WeakSet<Agent<any, any>>;
  readonly byCalls: WeakMap<object, Map<string, StateAnswer>>;
}

const ANSWERS = new WeakMap<RunContext<any>, RunAnswers>();

/** The same by the count of tokens. An agent that is a tool shares it with the outer run. */
const BY_USAGE = new WeakMap<object, RunAnswers>();

/**
 * Takes the answers to paused calls of gated tools from now on, so that the SDK sees none. The call
 * stays undecided in the state until the ledger has decided. An answer of another process in
 * a state is not taken.
 */
export function takeAnswers(context: RunContext<any>, agent: Agent<any, any>): void {
  const known = ANSWERS.get(context);
  if (known !== undefined) {
    known.agents.add(agent);
    return;
  }
  const answers = BY_USAGE.get(context.usage) ?? { agents: new WeakSet(), byCalls: new WeakMap() };
  answers.agents.add(agent);
  ANSWERS.set(context, answers);
  BY_USAGE.set(context.usage, answers);
  const { approveTool, rejectTool } = context;
  Object.defineProperties(context, {
    approveTool: {
      configurable: true,
      value: (
        item: RunToolApprovalItem,
        options: { readonly alwaysApprove?: boolean } = {},
      ): void => {
        const { alwaysApprove = false } = options;
        if (!took(answers, item, { type: 'approve' }, alwaysApprove))
          approveTool.call(context, item, options);
      },
    },
    rejectTool: {
      configurable: true,
      value: (
        item: RunToolApprovalItem,
        options: { readonly alwaysReject?: boolean; readonly message?: string } = {},
      ): void => {
        const { alwaysReject = false, message } = options;
        const answer = { type: 'reject', ...(message !== undefined && { message }) } as const;
        if (!took(answers, item, answer, alwaysReject)) rejectTool.call(context, item, options);
      },
    },
  });
}

/** Takes the answers to the paused calls of a state, also if the SDK has not prepared its tools. */
export function takeAnswersTo(state: RunState<any, any>): void {
  for (const item of state.getInterruptions())
    if (gatedIn(item) !== undefined) takeAnswers(state._context, item.agent);
}

/** The answer to a call. It is given once. */
export function answerTo(
  context: RunContext<any>,
  calls: object,
  callId: string,
): StateAnswer | undefined {
  const given = ANSWERS.get(context)?.byCalls.get(calls);
  const answer = given?.get(callId);
  given?.delete(callId);
  return answer;
}

/** The calls of the gated tool that a paused call is about. Undefined for another tool. */
export function gatedIn<Calls extends object>(item: RunToolApprovalItem): Calls | undefined {
  const { agent, rawItem } = item;
  if (rawItem.type !== 'function_call') return undefined;
  const found = agent.tools.find(
    (tool) => tool.type === 'function' && tool.name === rawItem.name && GATED in tool,
  );
  return (found as GatedTool<Calls> | undefined)?.[GATED];
}

/** The model's id of a paused call. */
export function modelCallIdOf({ rawItem }: RunToolApprovalItem): string {
  return rawItem.type === 'function_call' ? rawItem.callId : '';
}

function took(
  answers: RunAnswers,
  item: RunToolApprovalItem,
  answer: StateAnswer,
  isForAll: boolean,
): boolean {
  const calls = gatedIn(item);
  if (calls === undefined) return false;
  if (isForAll) {
    const tool = item.name ?? '';
    const text = `An answer for every later call of ${tool} does not decide one call. Let a person record a standing approval.`;
    throw new CallError('bad_argument', text, { evidence: { tool } });
  }
  // The SDK itself asks about arguments that are not an object. Only its own record answers that.
  if (!answers.agents.has(item.agent) || !hasNamedArgs(item.arguments ?? '')) return false;
  const given = answers.byCalls.get(calls) ?? new Map<string, StateAnswer>();
  answers.byCalls.set(calls, given.set(modelCallIdOf(item), answer));
  return true;
}
