import type { HeldCall } from '@assize/gate/internal/calls';
import { RunState } from '@openai/agents';
import { type ArgumentSchema, arg, checkArgument, isInstance } from 'assize/internal/base';
import { gatedIn, modelCallIdOf, takeAnswersTo } from './answers.ts';
import type { ToolCalls } from './tool-calls.ts';

export const STATE: ArgumentSchema = arg.of('a RunState of @openai/agents', (value) =>
  isInstance(value, RunState),
);

/**
 * The paused calls of gated tools that wait for a person. Each has its arguments, the rule that
 * asks, its digest, and its page in the console. The answers to the state count from now on, also
 * if it was restored with a context of your own.
 *
 * @throws ArgumentError `bad_argument`; CallError `no_identity`; the errors of `Gate.judge`
 */
export async function heldCalls(state: RunState<any, any>): Promise<readonly HeldCall[]> {
  checkArgument(STATE, state, 'state');
  const { _context: context, _trace: trace } = state;
  takeAnswersTo(state);
  const held: HeldCall[] = [];
  for (const item of state.getInterruptions()) {
    const calls = gatedIn<ToolCalls>(item);
    if (calls === undefined) continue;
    const found = await calls.held(
      context,
      modelCallIdOf(item),
      item.arguments ?? '',
      trace?.groupId ?? undefined,
    );
    if (found !== undefined) held.push(found);
  }
  return held;
}
