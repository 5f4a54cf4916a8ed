// Strings that break careless stores: quoting, collation, normalisation, JSON types, lengths.

/** Composed and decomposed, other case, trailing blanks, invisible characters. */
export const LOOKALIKES: readonly string[] = [
  'caf\u00e9',
  'cafe\u0301',
  'CAF\u00c9',
  'CAFE\u0301',
  'cafe',
  'cafe ',
  ' cafe',
  'cafe\u00a0',
  'cafe\u200b',
  'c\u0430fe',
  '\ufeffcafe',
  'stra\u00dfe',
  'strasse',
  '\u0131',
  'i',
  'I',
  '\u0130',
  '1',
  '01',
  '1.0',
];

export const AWKWARD_TEXTS: readonly string[] = [
  '{"a":1}',
  '',
  ' ',
  "'; DROP TABLE entry; --",
  '%_"`[]\\',
  '\\x61',
  '$1 ? :name @name',
  'caf\u00e9',
  'cafe\u0301',
  'CAFE\u0301',
  '\u2028',
  '\u2029 and \u0085',
  '\u{1f600}\u200d\u2028\ufeff\uffff',
  '\u{10ffff}\ue000',
  '\n\r\t\u0001\u007f',
  '\r\n',
  'null',
];

/** A store that parses and rewrites these would write other bytes. */
export const JSON_TEXTS: readonly string[] = [
  '{"a":"\\u0000"}',
  '{"a":"\\u2028\\u00e9\\/"}',
  '{"a":"\u2028\u00e9/"}',
  '{"a":"\\ud83d\\ude00"}',
  '{"a":"\\ud800"}',
  '{"b":1,"a":2}',
  '{"a":1,"a":2}',
  '{ "a" : [ 1 , 2 ] }',
  '{"n":[1.0,1e2,-0,0.1e-7,1e400,123456789012345678901234567890]}',
  '{"__proto__":{"x":1},"constructor":null}',
  '[[[[[[[[[[[[]]]]]]]]]]]]',
  '"text"',
  ' null\n',
];

/** A string of that many UTF-16 code units, of all UTF-8 lengths. It hardly compresses. */
export function longText(length: number): string {
  const cut = BLOCK.repeat(Math.ceil(length / BLOCK.length)).slice(0, length);
  return cut.isWellFormed() ? cut : `${cut.slice(0, -1)}.`;
}

/** Longer than the window of any compression that a database would use on one row. */
const BLOCK: string = (() => {
  let text = '';
  for (let state = 1; text.length < 200_000; ) {
    state = (state * 48_271) % 2_147_483_647;
    const kind = state % 8;
    if (kind === 0) text += String.fromCodePoint(0x1f300 + (state % 512));
    else if (kind === 1) text += String.fromCharCode(0x4e00 + (state % 20_000));
    else if (kind === 2) text += String.fromCharCode(0xc0 + (state % 512));
    else text += String.fromCharCode(0x20 + (state % 95));
  }
  return text;
})();
