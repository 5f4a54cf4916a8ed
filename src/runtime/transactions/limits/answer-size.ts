import type { Json } from '#base';
import { CanonError, type CanonLimits, copyJson, DEFAULT_LIMITS, WORLD_LIMITS } from '#canon';
import { EffectError } from '#effects';

/** Of an answer that is held in memory alone, for what undoes its call. */
export const LONG: Partial<CanonLimits> = Object.freeze({ ...WORLD_LIMITS, depthMax: 512, foreign: true });

const FOREIGN = Object.freeze({ foreign: true });

/** How much an answer may be, as a sentence says it. */
const ROOM = `as JSON it has more than ${DEFAULT_LIMITS.bytesMax} bytes, or more than ${DEFAULT_LIMITS.nodesMax} values, or is nested deeper than ${DEFAULT_LIMITS.depthMax}`;

/** A copy of an answer; undefined where it is more than is kept. @throws CanonError for what is no JSON */
export function keepable(answer: unknown): Json | undefined {
  try {
    return copyJson(answer, FOREIGN);
  } catch (error) {
    if (isTooMuch(error)) return undefined;
    throw error;
  }
}

/** A copy of what is more than is kept; undefined where it is more yet, or turns out to be no JSON. */
export function longer(answer: Json): Json | undefined {
  try {
    return copyJson(answer, LONG);
  } catch {
    return undefined;
  }
}

/**
 * A copy of what was answered by a tool that has changed nothing with that: there is nothing to be undone.
 *
 * @throws EffectError `too_much`, `tool_failed`, naming the tool
 */
export function answerOf(tool: string, answer: unknown): Json {
  try {
    return copyJson(answer ?? null, FOREIGN);
  } catch (cause) {
    const evidence = { tool };
    if (isTooMuch(cause))
      throw new EffectError('too_much', `What ${tool} has answered is too long: ${ROOM}; ask it for less at a time.`, {
        evidence,
        cause,
      });
    const why = (cause as Error).message.replace(/\.$/, '');
    throw new EffectError('tool_failed', `What ${tool} has answered is no JSON: ${why}.`, { evidence, cause });
  }
}

/** For the body, which was to have the answer of what was done. */
export function tooLong(tool: string, key: string): EffectError {
  return new EffectError(
    'too_much',
    `${tool} was done, but what it has answered is too long to be kept: ${ROOM}. It is not called again for that; let the transaction fail, and it is undone, or go on without the answer. Have the tool answer less.`,
    { evidence: { tool, key } },
  );
}

/** A copy of what a tool has left, or has done about that; where it is more than is kept, what says so. @throws CanonError for what is no JSON */
export function keptOf(tool: string, left: unknown): Json {
  const kept = keepable(left);
  return kept === undefined ? notKept(tool) : kept;
}

/** In the place of that. */
export function notKept(tool: string): Json {
  return { unknown: `what ${tool} has answered when it was undone is too long to be kept: ${ROOM}` };
}

function isTooMuch(error: unknown): boolean {
  return error instanceof CanonError && ['too_large', 'too_many_nodes', 'too_deep'].includes(error.code);
}
