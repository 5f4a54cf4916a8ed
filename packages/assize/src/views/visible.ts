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
