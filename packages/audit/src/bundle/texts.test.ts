import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { bytesInPage, filledPage } from './texts.ts';

const PAGE = '<script type="application/json" id="bundle"></script>';

test('the size of a filled page is known before it is filled', () => {
  const empty = filledPage(PAGE, new Map([['a', new Uint8Array()]])).length;
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom('<', '"', '\\', '\n', '\0', '\u2028', '😀'), fc.string()),
  });
  fc.assert(
    fc.property(text, (given) => {
      const file = Buffer.from(given);
      expect(filledPage(PAGE, new Map([['a', file]])).length).toBe(empty + bytesInPage(file));
    }),
    { numRuns: cases(200) },
  );
});
