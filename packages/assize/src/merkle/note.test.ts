import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codeOf, damaged, hex, RUBBISH } from '../../../../tests/support/ledger/merkle-fixtures.ts';
import { saidOf } from '../../../../tests/support/said-of.ts';
import {
  formatNote,
  formatSignatures,
  NOTE_BYTES_MAX,
  parseNote,
  parseSignatures,
  SIGNATURES_MAX,
} from './note.ts';

/** c2sp.org/signed-note. */
const QUASIMODO = `Ognuno sta solo sul cuor della terra
trafitto da un raggio di sole:

ed è subito sera.

— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=
`;
const LINE = '\u2014 a.example AAAAAQI=\n';

describe('a note', () => {
  test('of the standard is read: the last empty line divides it', () => {
    const note = parseNote(QUASIMODO);
    expect(note.text.endsWith('\n\ned è subito sera.\n')).toBe(true);
    expect(note.signatures.map(({ name, keyId, value }) => [name, keyId, value.length])).toEqual([
      ['quasimodo.example/salvatore', '367ba04b', 64],
    ]);
    expect(formatNote(note)).toBe(QUASIMODO);
    expect(parseNote(Buffer.from(QUASIMODO))).toEqual(note);
  });

  test('may have empty lines and signature lines in its text', () => {
    for (const text of [
      '\n',
      'a\n',
      'a\n\n',
      '\n\n\n',
      `a\n\n${LINE}`,
      `${LINE}`,
      '\ufeffa\n',
      'a\u0085\u2028b\n',
    ]) {
      const note = parseNote(`${text}\n${LINE}${LINE}`);
      expect(note.text).toBe(text);
      expect(note.signatures.length).toBe(2);
      expect(formatNote(note)).toBe(`${text}\n${LINE}${LINE}`);
    }
  });

  test.each<[string, string | Uint8Array]>([
    ['nothing', ''],
    ['no signature', 'text\n\n'],
    ['no empty line', `text\n${LINE}`],
    ['no text at all', `\n${LINE}`],
    ['an empty line at its end', `text\n\n${LINE}\n`],
    ['an empty line within the signatures', `text\n\n${LINE}\n${LINE.slice(2)}`],
    ['no newline at its end', `text\n\n${LINE.slice(0, -1)}`],
    ['windows newlines', `text\r\n\r\n${LINE}`],
    ['a hyphen', `text\n\n- a.example AAAAAQI=\n`],
    ['another dash', `text\n\n\u2013 a.example AAAAAQI=\n`],
    ['no space after the dash', `text\n\n\u2014a.example AAAAAQI=\n`],
    ['two spaces', `text\n\n\u2014 a.example  AAAAAQI=\n`],
    ['a space at the end of a line', `text\n\n\u2014 a.example AAAAAQI= \n`],
    ['no name', `text\n\n\u2014  AAAAAQI=\n`],
    ['no signature value', `text\n\n\u2014 a.example\n`],
    ['a name with +', `text\n\n\u2014 a+b AAAAAQI=\n`],
    ['a name with another space', `text\n\n\u2014 a\u00a0b AAAAAQI=\n`],
    ['three words', `text\n\n\u2014 a b AAAAAQI=\n`],
    ['a key id alone', `text\n\n\u2014 a.example AAAAAQ==\n`],
    ['half a key id', `text\n\n\u2014 a.example AAA=\n`],
    ['no padding', `text\n\n\u2014 a.example AAAAAQI\n`],
    ['bits beside', `text\n\n\u2014 a.example AAAAAQJ=\n`],
    ['Base64 of URLs', `text\n\n\u2014 a.example AAAA_-AA\n`],
    ['a tab in the text', `te\txt\n\n${LINE}`],
    ['a zero', `te\0xt\n\n${LINE}`],
    ['half a surrogate pair', `te\ud800xt\n\n${LINE}`],
    ['bytes that are not UTF-8', Buffer.concat([Buffer.of(0xff), Buffer.from(`\n\n${LINE}`)])],
    ['one good and one bad signature', `text\n\n${LINE}\u2014 b.example ?\n`],
  ])('with %s is refused', (_name, source) => {
    expect(saidOf(() => parseNote(source))).toMatch('bad_input: The document is not a signed note');
  });

  test('may have as many signatures as it says, and be as long', () => {
    expect(SIGNATURES_MAX).toBeGreaterThanOrEqual(16);
    const signed = (count: number) => `text\n\n${LINE.repeat(count)}`;
    expect(parseNote(signed(SIGNATURES_MAX)).signatures.length).toBe(SIGNATURES_MAX);
    expect(saidOf(() => parseNote(signed(SIGNATURES_MAX + 1)))).toMatch(
      /^bad_input: .*: it has more than/,
    );
    expect(saidOf(() => parseNote(signed(30_000)))).toMatch(/^bad_input: .*: it has more than/);
    const fill = NOTE_BYTES_MAX - 2 - Buffer.byteLength(LINE);
    expect(parseNote(`${'x'.repeat(fill)}\n\n${LINE}`).text.length).toBe(fill + 1);
    expect(saidOf(() => parseNote(`${'x'.repeat(fill + 1)}\n\n${LINE}`))).toMatch(
      'bad_input: The document is not a signed note',
    );
    const postQuantum = `\u2014 a.example ${Buffer.alloc(5_000).toString('base64')}\n`;
    expect(parseNote(`text\n\n${postQuantum.repeat(16)}`).signatures.length).toBe(16);
  });
});

describe('written', () => {
  const signature = { name: 'a', keyId: '01020304', value: new Uint8Array(66).subarray(1, 65) };

  test('notes and signatures are read back', () => {
    const name = fc.string({ unit: fc.constantFrom(...'az./é\u2014'), minLength: 1 });
    const keyId = fc.nat({ max: 2 ** 31 }).map((id) => id.toString(16).padStart(8, '0'));
    const value = fc.uint8Array({ minLength: 1, maxLength: 80 });
    const text = fc
      .array(fc.constantFrom('', 'a', 'é', LINE.slice(0, -1)))
      .map((lines) => `${lines.join('\n')}\n`);
    fc.assert(
      fc.property(
        text,
        fc.array(fc.record({ name, keyId, value }), { minLength: 1, maxLength: 20 }),
        (body, signatures) => {
          const note = parseNote(formatNote({ text: body, signatures }));
          expect(note.text).toBe(body);
          expect(note.signatures.map(shown)).toEqual(signatures.map(shown));
          expect(parseSignatures(formatSignatures(signatures)).map(shown)).toEqual(
            signatures.map(shown),
          );
        },
      ),
    );
  });

  test('is never a note that would parse differently', () => {
    const note = (text: unknown, ...signatures: unknown[]) =>
      codeOf(() => formatNote({ text, signatures } as never));
    expect(note('a\n', signature)).toBe(undefined);
    for (const text of ['', 'a', 'a\r\n', 'a\0\n', '\ud800\n', undefined])
      expect(note(text, signature)).toBe('bad_input');
    expect(note('a\n')).toBe('bad_input');
    for (const name of ['', 'a b', 'a+b', 'a\n', '\ud800'])
      expect(note('a\n', { ...signature, name })).toBe('bad_input');
    for (const keyId of [
      '',
      '0102',
      '0102030405',
      '010203zz',
      'zz',
      '0102030A',
      '01020304\n',
      undefined,
    ]) {
      expect([keyId, note('a\n', { ...signature, keyId })]).toEqual([keyId, 'bad_input']);
    }
    expect(note('a\n', { ...signature, value: new Uint8Array(0) })).toBe('bad_input');
    expect(saidOf(() => formatSignatures([]))).toMatch(
      'bad_input: The document is not a signed note',
    );
  });
});

test('a parsed note formats to the same text, else it is a MerkleError', () => {
  const same = (source: unknown) => {
    const code = codeOf(() => {
      const note = parseNote(source as string);
      const text =
        typeof source === 'string' ? source : Buffer.from(source as Uint8Array).toString();
      expect(formatNote(note)).toBe(text);
    });
    expect(['bad_input', undefined]).toContain(code);
  };
  fc.assert(fc.property(RUBBISH, same));
  fc.assert(fc.property(damaged(QUASIMODO), same), { numRuns: 3_000 });
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom('\n', '\n\n', '\u2014 ', 'a', ' ', 'AAAAAQI=', LINE),
        maxLength: 12,
      }),
      same,
    ),
    { numRuns: 3_000 },
  );
});

function shown({
  name,
  keyId,
  value,
}: {
  name: string;
  keyId: string;
  value: Uint8Array;
}): unknown {
  return [name, keyId, hex(value)];
}
