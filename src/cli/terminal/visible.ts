/**
 * What comes from a model, a ledger or a file may hold characters that move the cursor, change colours, reverse the
 * reading direction or cannot be seen at all. Nobody should approve what they were made to misread, so all of them are
 * written out.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** One line of text, with everything unseen written as an escape: `\n`, `\u202e`, `\u{e0041}`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (char) => NAMED[char] ?? escaped(char));
}

function escaped(char: string): string {
  const code = char.codePointAt(0) as number;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : unit(code);
}

/** JSON text of the same value in which everything unseen is a JSON escape; lines are broken by `indent` only. */
export function visibleJson(value: unknown, indent = 2): string {
  // Inside strings JSON has escaped line breaks already, so those that are left are its own.
  return JSON.stringify(value, null, indent).replace(UNSEEN, (char) =>
    char === '\n' ? char : [...Array(char.length).keys()].map((i) => unit(char.charCodeAt(i))).join(''),
  );
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}
