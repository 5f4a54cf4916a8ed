import { isInstance, type Json } from '#base';
import { CanonError, type CanonLimits, copyJson, DEFAULT_LIMITS, WORLD_LIMITS } from '#canon';
import { EffectError } from '#effects';

/** Size limits of an answer that is held in memory only, for the compensation of its call. */
export const UNDO_ANSWER_BYTES_MAX: Partial<CanonLimits> = Object.freeze({
  ...WORLD_LIMITS,
  depthMax: 512,
  foreign: true,
});

const FOREIGN = Object.freeze({ foreign: true });

/** The maximum size of an answer, as a part of a sentence. */
const ROOM = `as JSON it has more than ${DEFAULT_LIMITS.bytesMax} bytes, or more than ${DEFAULT_LIMITS.nodesMax} values, or is nested deeper than ${DEFAULT_LIMITS.depthMax}`;

/**
 * A copy of an answer. Undefined if it is too long to store. @throws CanonError for a value that is
 * not JSON
 */
export function keepable(answer: unknown): Json | undefined {
  try {
    return copyJson(answer, FOREIGN);
  } catch (error) {
    if (isTooMuch(error)) return undefined;
    throw error;
  }
}

/**
 * A copy of an answer that is too long to store. Undefined if it also exceeds the memory limit or
 * is not JSON.
 */
export function longer(answer: Json): Json | undefined {
  try {
    return copyJson(answer, UNDO_ANSWER_BYTES_MAX);
  } catch {
    return undefined;
  }
}

/**
 * A copy of the answer of a tool that changed nothing, so that there is nothing to compensate.
 *
 * @throws EffectError `too_much`, `tool_failed`, naming the tool
 */
export function answerOf(tool: string, answer: unknown): Json {
  try {
    return copyJson(answer ?? null, FOREIGN);
  } catch (cause) {
    const evidence = { tool };
    if (isTooMuch(cause))
      throw new EffectError('too_much', `The answer of ${tool} is too long: ${ROOM}. Request less at a time.`, {
        evidence,
        cause,
      });
    const why = (cause as Error).message.replace(/\.$/, '');
    throw new EffectError('tool_failed', `The answer of ${tool} is not JSON: ${why}.`, { evidence, cause });
  }
}

/** The error for the body, which does not receive the answer of an executed call. */
export function tooLong(tool: string, key: string): EffectError {
  return new EffectError(
    'too_much',
    `${tool} was executed, but its answer is too long to store: ${ROOM}. Continue without the answer, or let the transaction fail to compensate it; return less from the tool.`,
    { evidence: { tool, key } },
  );
}

/**
 * A copy of a residue or a mitigation. If it is too long to store, a placeholder. @throws
 * CanonError for a value that is not JSON
 */
export function storedResidue(tool: string, left: unknown): Json {
  const kept = keepable(left);
  return kept === undefined ? oversizedResidue(tool) : kept;
}

/** The placeholder for a value that is too long to store. */
export function oversizedResidue(tool: string): Json {
  return { unknown: `what ${tool} has answered when it was undone is too long to be kept: ${ROOM}` };
}

function isTooMuch(error: unknown): boolean {
  return isInstance(error, CanonError) && ['too_large', 'too_many_nodes', 'too_deep'].includes(error.code);
}
