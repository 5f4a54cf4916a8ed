import { isDeepStrictEqual } from 'node:util';
import { interrupt, isGraphInterrupt } from '@langchain/langgraph';
import type { Configurable } from './place.ts';

/** The answers with which a node was resumed, in their order. */
export interface NodeAnswers {
  readonly answers: readonly unknown[];
  /** The place of the answer that came with this run. The others are old. -1: none came. */
  readonly freshAt: number;
  /** Whether that answer came under the id of its interrupt, and not to all that wait. */
  readonly isById: boolean;
}

/** The answers of each node that runs. */
const ANSWERS = new WeakMap<object, NodeAnswers>();

/**
 * Every answer that the node was resumed with until now. The calls of one node share them, in any
 * order of their asking.
 */
export function answersOf(configurable: Configurable): NodeAnswers {
  const scratchpad = scratchpadOf(configurable);
  const node = nodeOf(configurable);
  const known = ANSWERS.get(node);
  if (known !== undefined) return known;
  const byId = configurable['__pregel_resume_map'];
  const freshAt = freshIn(scratchpad, byId);
  const found = { answers: drained(), freshAt, isById: typeof byId === 'object' && byId !== null };
  ANSWERS.set(node, found);
  return found;
}

/** The notes of LangGraph about a node that runs. */
interface Scratchpad {
  readonly resume?: unknown;
  readonly nullResume?: unknown;
}

/** The object that the calls of one node share. */
export function nodeOf(configurable: Configurable): object {
  return scratchpadOf(configurable) ?? configurable;
}

function scratchpadOf(configurable: Configurable): Scratchpad | undefined {
  const found = configurable['__pregel_scratchpad'];
  return typeof found === 'object' && found !== null ? found : undefined;
}

/**
 * The place of the answer that came with this run: by the id of its interrupt, or to all. LangGraph
 * gives an answer to all again in later runs, so one that is there already is old.
 */
function freshIn(scratchpad: Scratchpad | undefined, byId: unknown): number {
  const { resume, nullResume } = scratchpad ?? {};
  if (!Array.isArray(resume)) return -1;
  if (typeof byId === 'object' && byId !== null)
    return resume.length > 0 && Object.values(byId).includes(resume.at(-1))
      ? resume.length - 1
      : -1;
  const isNew =
    nullResume !== undefined && !resume.some((answer) => isDeepStrictEqual(answer, nullResume));
  return isNew ? resume.length : -1;
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
