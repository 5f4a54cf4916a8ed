import { expect, test } from 'vitest';
import { allOf } from '../../../../tests/support/process/async-items.ts';
import { splitLines } from './split-lines.ts';

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

const linesOf = (bytesMax: number, ...texts: readonly string[]): Promise<string[]> =>
  allOf(splitLines(chunks(...texts), bytesMax));

test('only a newline ends a line, wherever the chunks end', async () => {
  expect(await linesOf(99, 'a\u2028b\r', 'c\n\nd', 'é', '\n')).toEqual(['a\u2028b\rc', '', 'dé']);
});

test('a line that has no end is cut off', async () => {
  await expect(linesOf(99, 'a\nb')).rejects.toMatchObject({
    code: 'bad_export',
    evidence: { line: 2 },
  });
});

test('a line over the length limit is refused, and no more of it is read', async () => {
  let read = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) yield Buffer.from(`${++read}`.padStart(10));
  }
  await expect(allOf(splitLines(endless(), 25))).rejects.toMatchObject({
    code: 'bad_export',
    message: 'Line 1 of the export is longer than 25 bytes.',
  });
  expect(read).toBe(3);
  expect(await linesOf(3, 'abc', '\nab', 'c', '\n')).toEqual(['abc', 'abc']);
});
