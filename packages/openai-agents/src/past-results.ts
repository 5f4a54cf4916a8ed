import type { HeldCall } from '@assize/gate/internal/calls';
import { isInterimText } from '@assize/gate/internal/tool-calls';
import { type AgentInputItem, type FunctionTool, RunContext, RunState } from '@openai/agents';
import { arg, checkArgument, isInstance } from 'assize/internal/base';
import { GATED, type GatedTool } from './answers.ts';
import type { ToolCalls } from './tool-calls.ts';

/** A conversation as the ledger sees it. */
export interface LedgerAnswers {
  /** The calls that still wait for a person. */
  readonly waiting: readonly HeldCall[];
  /** The items, with a result for each call. That of a call that waits says so. */
  readonly items: AgentInputItem[];
}

/**
 * The items of a conversation with a result for each call of `gatedTools` that has none, as the
 * user wrote on while it waited. An approved call is made now, once. The items are for the next
 * run.
 *
 * @param from - the state of a run that was interrupted, whose own history leaves out the calls
 * that wait; or the items of a later run
 * @param context - that of the runs; it names them
 * @throws ArgumentError `bad_argument`; CallError; the errors of `Gate.run`
 */
export async function assizeAnswers(
  tools: readonly FunctionTool<any, any, any>[],
  from: RunState<any, any> | readonly AgentInputItem[],
  context?: unknown,
): Promise<LedgerAnswers> {
  checkArgument(arg.list(arg.object), tools, 'tools');
  if (!isInstance(from, RunState)) checkArgument(ITEMS, from, 'from');
  const run = new RunContext(context);
  const gated = new Map(
    tools.flatMap((tool) =>
      GATED in tool ? [[tool.name, (tool as GatedTool<ToolCalls>)[GATED]] as const] : [],
    ),
  );
  const known = itemsOf(from).filter((item) => !isInterim(item));
  const done = new Set(
    known.flatMap((item) => (item.type === 'function_call_result' ? [item.callId] : [])),
  );
  const waiting: HeldCall[] = [];
  const placed: AgentInputItem[] = [];
  for (const item of known) {
    placed.push(item);
    const calls =
      item.type === 'function_call' && !done.has(item.callId) ? gated.get(item.name) : undefined;
    if (calls === undefined || item.type !== 'function_call') continue;
    const { text, held } = await calls.past(run, item);
    if (held !== undefined) waiting.push(held);
    const { name, callId } = item;
    placed.push({
      type: 'function_call_result',
      name,
      callId,
      status: 'completed',
      output: { type: 'text', text },
    });
  }
  return { waiting, items: placed };
}

const ITEMS = arg.list(arg.object);

function itemsOf(from: RunState<any, any> | readonly AgentInputItem[]): readonly AgentInputItem[] {
  if (!isInstance(from, RunState)) return from;
  const { history } = from;
  const known = new Set(
    history.flatMap((item) => (item.type === 'function_call' ? [item.callId] : [])),
  );
  const calls = from
    .getInterruptions()
    .flatMap(({ rawItem }) => (rawItem.type === 'function_call' ? [rawItem] : []));
  return [...history, ...calls.filter(({ callId }) => !known.has(callId))];
}

function isInterim(item: AgentInputItem): boolean {
  if (item.type !== 'function_call_result') return false;
  const { output } = item;
  return isInterimText(typeof output === 'object' && 'text' in output ? output.text : output);
}
