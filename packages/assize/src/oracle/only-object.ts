import { arg, checkArgument } from '#base';

/** Maximum number of places at which a JSON object is looked for. */
const TRIES_MAX = 1_000;

/**
 * The end of the reasoning that some models write before their answer. The start is often in the
 * prompt, and then missing here.
 */
const REASONING_END = /<\/(think|thinking|reasoning)>|<\|channel\|>final<\|message\|>/gi;

/**
 * The text of the one JSON object in an answer, whatever is around it: reasoning, sentences, a
 * fence. Undefined if there is none or more than one, because the right one is then unknown.
 */
export function onlyObject(answer: string): string | undefined {
  checkArgument(arg.text, answer, 'answer');
  const found = objectIn(answer);
  const end = [...answer.matchAll(REASONING_END)].at(-1);
  // The mark can also be in a text of the object.
  if (end === undefined || found?.includes(end[0])) return found;
  return objectIn(answer.slice(end.index + end[0].length));
}

function objectIn(text: string): string | undefined {
  let found: string | undefined;
  let tries = 0;
  for (let at = text.indexOf('{'); at !== -1; ) {
    if (++tries > TRIES_MAX) return undefined;
    const end = endOf(text, at);
    // An object that is cut off: a part of it is not the answer.
    if (end === undefined && /^\{\s*"/.test(text.slice(at, at + 64))) return undefined;
    const object = end === undefined ? undefined : text.slice(at, end);
    if (object === undefined || !isJson(object)) {
      at = text.indexOf('{', at + 1);
      continue;
    }
    if (found !== undefined) return undefined;
    found = object;
    at = text.indexOf('{', end);
  }
  return found;
}

/** The end of the braces that open at a place, or undefined if they stay open. */
function endOf(text: string, at: number): number | undefined {
  let depth = 0;
  for (const { 0: token, index } of text.slice(at).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/gs)) {
    if (token === '{') depth += 1;
    else if (token === '}' && --depth === 0) return at + index + 1;
  }
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
