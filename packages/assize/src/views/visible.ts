/**
 * Text from a model, a ledger or a file may contain characters that move the cursor, change
 * colours, reverse the reading direction or are invisible. They could mislead an approver, so all
 * of them are escaped.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** One line of text, with every invisible character as an escape: `\n`, `\u202e`, `\u{e0041}`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (char) => NAMED[char] ?? escaped(char));
}

/** Letters that are read from right to left (Bidi_Class R and AL), by their blocks. */
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE (UAX 9). */
const [BEGIN, END] = ['\u2068', '\u2069'] as const;

/** A visible text for a place among other words. Its direction of reading does not move them. */
export function isolated(text: string): string {
  return RIGHT_TO_LEFT.test(text) ? `${BEGIN}${text}${END}` : text;
}

/** The parts of a text with isolates: at each odd index, the begin or the end of one. */
export function isolatesIn(text: string): string[] {
  return text.split(/([\u2068\u2069])/);
}

/** As `visible`, for words with isolates, of at most `max` characters. An isolate has its end. */
export function visibleWords(text: string, max: number = Infinity): string {
  const seen = isolatesIn(text).map((part, n) => (n % 2 === 1 ? part : visible(part)));
  const short = cut(seen.join(''), max - END.length);
  return short.lastIndexOf(BEGIN) > short.lastIndexOf(END) ? `${short}${END}` : short;
}

/** At most `max` characters. A cut text ends in an ellipsis. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function escaped(char: string): string {
  const code = char.codePointAt(0) as number;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : unit(code);
}

/**
 * JSON text of the same value in which every invisible character is a JSON escape. Only `indent`
 * adds line breaks.
 */
export function visibleJson(value: unknown, indent = 2): string {
  // JSON has escaped the line breaks inside strings already, so the remaining ones belong to the
  // layout.
  return JSON.stringify(value, null, indent).replace(UNSEEN, (char) =>
    char === '\n'
      ? char
      : [...Array(char.length).keys()].map((i) => unit(char.charCodeAt(i))).join(''),
  );
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}
