import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { composedJson, copyJson, normalForm } from '#canon';
import { everyWordOf, objectKey, wordsOf } from '#memory';

/** Two marks that stand the other way round once they are in order. */
const UNORDERED = '\u0315\u0300';

test('is the engine’s where no more than 100 marks follow each other', () => {
  const unit = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.constantFrom('e', UNORDERED, '\u0f73', '\uff9e'),
  );
  fc.assert(
    fc.property(
      fc.array(unit, { maxLength: 25 }),
      fc.constantFrom('NFC', 'NFKD'),
      (units, form) => {
        const text = units.join('');
        expect(normalForm(text, form)).toBe(text.normalize(form));
      },
    ),
    { numRuns: 100 },
  );
});

test('normalization skips longer runs of marks, but not the text around them', () => {
  const many = UNORDERED.repeat(51);
  expect(normalForm(`e\u0301 a${many} e\u0301`, 'NFC')).toBe(`é a${many} é`);
  expect(normalForm(`a${'\uff9e\u0334'.repeat(51)} ﬁ`, 'NFKD')).toBe(
    `a${'\uff9e\u0334'.repeat(51)} fi`,
  );
  expect(objectKey(`e\u0301 a${many}`)).toBe(`é a${many}`);
});

test('never has the engine put more marks in order than that', () => {
  const composed = vi.spyOn(String.prototype, 'normalize');
  onTestFinished(() => composed.mockRestore());
  const object = `a ${UNORDERED.repeat(8_000)}`;
  expect([objectKey(object), [...wordsOf(object)], [...everyWordOf(object)]]).toEqual([
    object,
    ['a'],
    ['a'],
  ]);
  const given = composed.mock.contexts.flatMap((text) => String(text).match(/\p{M}+/gu) ?? []);
  expect(Math.max(0, ...given.map((marks) => marks.length))).toBeLessThanOrEqual(100);
});

test('a composed value has composed texts only, and is composed once', () => {
  const text = fc
    .array(fc.constantFrom('e', '\u0301', 'é', 'a', '\u0323'), { maxLength: 4 })
    .map((units) => units.join(''));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.integer(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(text, tie('value'), { maxKeys: 3 }),
    ),
  }));
  fc.assert(
    fc.property(value, (given) => {
      const json = copyJson(given);
      const naive = JSON.stringify(json).normalize('NFC');
      let composed: ReturnType<typeof composedJson>;
      try {
        composed = composedJson(json);
      } catch (error) {
        expect(error).toMatchObject({ message: expect.stringContaining('the same composed form') });
        return;
      }
      expect(composed).toEqual(JSON.parse(naive));
      expect(composedJson(composed)).toBe(composed);
      expect(JSON.stringify(copyJson(composed))).toBe(JSON.stringify(composed));
    }),
    { numRuns: 500 },
  );
});
