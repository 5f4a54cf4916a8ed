import { isInstance, type Json } from 'assize/internal/base';
import { CanonError, copyJson, parseStrict } from 'assize/internal/canon';
import { onlyObject } from 'assize/internal/oracle';
import type { ChatCall } from './chat-model.ts';

/** Maximum length of a text in which an object is looked for. */
const SEARCHED_MAX = 262_144;
/** Maximum length of unreadable arguments in an answer. */
const KEPT_MAX = 4_096;

/** A call with arguments that a provider gives as text. No text means no arguments. */
export function callOf(name: string, args: unknown): ChatCall {
  if (args === undefined || args === null) return { name, input: {} };
  if (typeof args !== 'string') return givenCall(name, args);
  if (args.trim() === '') return { name, input: {} };
  const input = jsonIn(args);
  if (input !== undefined) return { name, input };
  return unreadableCall(name, args);
}

/** Some providers give the arguments as a value. It can have numbers that the log refuses. */
function givenCall(name: string, args: unknown): ChatCall {
  try {
    return { name, input: copyJson(args, { foreign: true }) };
  } catch (error) {
    if (!isInstance(error, CanonError)) throw error;
    return unreadableCall(name, JSON.stringify(args) ?? '');
  }
}

function unreadableCall(name: string, args: string): ChatCall {
  return { name, unreadable: args.slice(0, KEPT_MAX).toWellFormed() };
}

/** The JSON that a text is, or the one JSON object in it. Undefined if there is none. */
export function jsonIn(text: string): Json | undefined {
  const whole = parsed(text.trim());
  if (whole !== undefined || text.length > SEARCHED_MAX) return whole;
  const only = onlyObject(text);
  return only === undefined ? undefined : parsed(only);
}

function parsed(text: string): Json | undefined {
  try {
    return parseStrict(text);
  } catch (error) {
    if (isInstance(error, CanonError)) return undefined;
    throw error;
  }
}
