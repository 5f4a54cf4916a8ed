import { interrupt, isGraphInterrupt } from '@langchain/langgraph';
import type { Configurable } from './place.ts';

/** The answers with which a node was resumed, in their order. */
export interface NodeAnswers {
  readonly answers: readonly unknown[];
  /** The answers from this place on came with this run. Those before it are old. */
  readonly freshFrom: number;
}

/** The answers of each node that runs. */
const ANSWERS = new WeakMap<object, NodeAnswers>();

/**
 * Every answer that the node was resumed with until now. The calls of one node share them, in any
 * order of their asking.
 */
export function answersOf(configurable: Configurable): NodeAnswers {
  const scratchpad = scratchpadOf(configurable);
  const known = ANSWERS.get(scratchpad ?? configurable);
  if (known !== undefined) return known;
  const freshFrom = freshIn(scratchpad, configurable['__pregel_resume_map']);
  const found = { answers: drained(), freshFrom };
  ANSWERS.set(scratchpad ?? configurable, found);
  return found;
}

/** The notes of LangGraph about a node that runs. */
interface Scratchpad {
  readonly resume?: unknown;
  readonly nullResume?: unknown;
}

function scratchpadOf(configurable: Configurable): Scratchpad | undefined {
  const found = configurable['__pregel_scratchpad'];
  return typeof found === 'object' && found !== null ? found : undefined;
}

/**
 * The place of the answer that came with this run: without a name, or by the id of its interrupt.
 * Where LangGraph does not tell, every answer is old.
 */
function freshIn(scratchpad: Scratchpad | undefined, byId: unknown): number {
  const { resume, nullResume } = scratchpad ?? {};
  if (!Array.isArray(resume)) return Number.POSITIVE_INFINITY;
  if (nullResume !== undefined) return resume.length;
  const last: unknown = resume.at(-1);
  const isGiven = typeof byId === 'object' && byId !== null && resume.length > 0 && Object.values(byId).includes(last);
  return isGiven ? resume.length - 1 : resume.length;
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
