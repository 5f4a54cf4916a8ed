import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { visible, visibleJson } from './visible.ts';

const NASTY = '\u001b[31m\u009b0m\u202e\u2066\u200b\ufeff\u00ad\u2028\u{e0041}\u007f\0';

describe('visible', () => {
  test('escapes characters that move, hide or reverse text', () => {
    expect(visible('a\nb\tc\r')).toBe('a\\nb\\tc\\r');
    expect(visible('\u001b[2J')).toBe('\\u001b[2J');
    expect(visible('\u202eabc\u200b')).toBe('\\u202eabc\\u200b');
    expect(visible('\u{e0041}')).toBe('\\u{e0041}');
    expect(visible('\ud800')).toBe('\\ud800');
  });

  test('leaves readable text unchanged', () => {
    expect(visible('Zoë 日本 € 😀 ’')).toBe('Zoë 日本 € 😀 ’');
  });
});

describe('visibleJson', () => {
  test('is the same value, with nothing unseen in its text', () => {
    const value = { [NASTY]: [NASTY, { a: 'line\nbreak' }] };
    const text = visibleJson(value);
    expect(JSON.parse(text)).toEqual(value);
    expect(text).toMatch(/^[\n\x20-\x7e]*$/);
  });

  test('is the same value for every JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(visibleJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
