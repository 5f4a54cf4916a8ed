import { describe, expect, test } from 'vitest';
import { Output, OutputClosed } from './output.ts';
import { line } from './printable.ts';

function output(columns?: number): { out: Output; text: () => string; close: (code: string) => void } {
  const written: string[] = [];
  let fail: (error: Error) => void = () => undefined;
  const stream = {
    isTTY: columns !== undefined,
    columns,
    write: (text: string) => written.push(text),
    on: (_: string, listener: (error: Error) => void) => {
      fail = listener;
    },
  };
  return {
    out: new Output(stream as unknown as NodeJS.WriteStream),
    text: () => written.join(''),
    close: (code) => fail(Object.assign(new Error(code), { code })),
  };
}

describe('a table', () => {
  test('has no lines, numbers on the right and nothing at the ends of its lines', () => {
    const { out, text } = output();
    out.table(
      [{ title: 'n', align: 'right' }, { title: 'what' }],
      [
        [1, 'one'],
        [100, 'a hundred'],
      ],
    );
    expect(text()).toBe('  n  what\n  1  one\n100  a hundred\n');
  });

  test('shows what would move or hide text', () => {
    const { out, text } = output();
    out.table([{ title: 'what' }], [['two\nlines \u001b[2J \u202e']]);
    expect(text()).toBe('what\ntwo\\nlines \\u001b[2J \\u202e\n');
  });

  test('gives the last column what a terminal leaves it', () => {
    const { out, text } = output(40);
    out.table([{ title: 'id' }, { title: 'detail' }], [['0123456789', 'word '.repeat(12).trim()]]);
    for (const row of text().trimEnd().split('\n')) expect(row.length).toBeLessThanOrEqual(40);
    expect(text().match(/word/g)).toHaveLength(12);
  });
});

describe('a line', () => {
  test('makes its values visible, once', () => {
    const inner = line`<${'\u001b'}>`;
    expect(line`${inner} and ${'\n'} and ${7}`.text).toBe('<\\u001b> and \\n and 7');
  });
});

test('when nobody reads on, the next line ends the work', () => {
  const { out, close } = output();
  out.line(line`one`);
  close('EPIPE');
  expect(() => out.line(line`two`)).toThrow(OutputClosed);
});
