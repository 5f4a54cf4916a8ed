import { interrupt, isGraphInterrupt } from '@langchain/langgraph';
import type { Configurable } from './place.ts';

/** The answers of each node that runs, in their order. */
const ANSWERS = new WeakMap<object, readonly unknown[]>();

/**
 * Every answer that the node was resumed with until now, in their order. The calls of one node
 * share them, in any order of their asking.
 */
export function answersOf(configurable: Configurable): readonly unknown[] {
  const scratchpad = configurable['__pregel_scratchpad'];
  const node = typeof scratchpad === 'object' && scratchpad !== null ? scratchpad : configurable;
  const known = ANSWERS.get(node);
  if (known !== undefined) return known;
  const answers = drained();
  ANSWERS.set(node, answers);
  return answers;
}

/** A question without a recorded answer throws, and is not asked of a person here. */
function drained(): readonly unknown[] {
  const answers: unknown[] = [];
  for (;;) {
    try {
      answers.push(interrupt(null));
    } catch (error) {
      if (isGraphInterrupt(error)) return answers;
      // Without a checkpointer there are no answers.
      return [];
    }
  }
}
