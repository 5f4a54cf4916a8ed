import { ToolMessage } from '@langchain/core/messages';
import type { ModelCall } from './past-results.ts';

/** The words of a node for a failed tool. */
export function failureOf(
  error: unknown,
  { id, name }: Pick<ModelCall, 'id' | 'name'>,
): ToolMessage {
  return new ToolMessage({
    content: `${error}\n Please fix your mistakes.`,
    tool_call_id: id,
    name,
    status: 'error',
  });
}
