import fc from 'fast-check';
import { expect, test } from 'vitest';
import { visible } from '../../packages/assize/src/views/visible.ts';
import { html, markdown } from '../../packages/audit/src/compliance/render/escape.ts';

/** Texts with many of the characters that matter. */
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom(...'<>&"\'`*_[]()!|~@\\:/.wW#\n\t\u202e\u00ad\u2028', 'www.', '://', 'a'),
  }),
);

/** The text that a browser shows for escaped HTML. */
function shown(escaped: string): string {
  const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };
  return escaped.replace(/&(?:#(\d+)|(\w+));/g, (_, code, name) =>
    code === undefined ? (named[name] as string) : String.fromCharCode(Number(code)),
  );
}

test('escaped text has no mark, and is shown as the text it is', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const [page, note] = [html(text), markdown(text)];
      expect(page).not.toMatch(/[<>"']|&(?!#?\w+;)/);
      expect(note).not.toMatch(/[<>[\]`*_|~@\\]|&(?!#\d+;)|:\/\/|www\./i);
      for (const escaped of [page, note]) {
        expect(visible(escaped)).toBe(escaped);
        // A character that no reader sees is shown as its code.
        if (visible(text) === text) expect(shown(escaped)).toBe(text);
      }
    }),
  );
});
