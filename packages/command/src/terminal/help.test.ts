import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitted } from './help.ts';

test('a broken sentence is rewrapped to the line; a new one stays on its own', () => {
  const text = 'It is one sentence that was\nbroken here: and goes on.\nThis is another one.';
  expect(fitted(text, 30)).toBe(
    'It is one sentence that was\nbroken here: and goes on.\nThis is another one.',
  );
  expect(fitted(text, 60)).toBe(
    'It is one sentence that was broken here: and goes on.\nThis is another one.',
  );
});

test('an overlong command continues below, each option with its value', () => {
  const text =
    '\nExample:\n  assize do notes --subject "patient 7" \\\n    --object \'a b\' --dry-run --key anchor.key\n\nAfter.';
  expect(fitted(text, 44)).toBe(
    '\nExample:\n  assize do notes --subject "patient 7" \\\n    --object \'a b\' --dry-run \\\n    --key anchor.key\n\nAfter.',
  );
  expect(fitted(text, 100)).toContain(
    '  assize do notes --subject "patient 7" --object \'a b\' --dry-run --key anchor.key\n',
  );
});

test('a list keeps its lines', () => {
  const text = '  one  that is\n  two  that is longer than a line';
  expect(fitted(text, 20)).toBe('  one  that is\n  two  that is\n    longer than a\n    line');
});

test('no word is lost or moved, and no line is too long that has two of them', () => {
  const word = fc.stringMatching(/^[a-z]{1,12}[.,:]?$/);
  const words = fc.array(word, { minLength: 1, maxLength: 20 });
  const line = fc
    .tuple(fc.constantFrom('', '', '  ', '  assize '), words)
    .map(([head, said]) => head + said.join(' '));
  const widths = fc.integer({ min: 20, max: 60 });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), widths, (lines, width) => {
      const found = fitted(lines.join('\n'), width);
      const said = (text: string): string[] =>
        text.split(/\s+/).filter((one) => one !== '' && one !== '\\');
      expect(said(found)).toEqual(said(lines.join('\n')));
      for (const one of found.split('\n'))
        if (said(one).length > 1) expect(one.length).toBeLessThanOrEqual(width);
      expect(fitted(found, width)).toBe(found);
    }),
  );
});
