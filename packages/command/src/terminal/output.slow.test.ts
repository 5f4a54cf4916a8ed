import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { Output, OutputClosed } from './output.ts';
import { line } from './printable.ts';

function output(columns?: number): {
  out: Output;
  text: () => string;
  close: (code: string) => void;
} {
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

  test('escapes characters that would move or hide text', () => {
    const { out, text } = output();
    out.table([{ title: 'what' }], [['two\nlines \u001b[2J \u202e']]);
    expect(text()).toBe('what\ntwo\\nlines \\u001b[2J \\u202e\n');
  });

  test('is as wide as it is on a terminal that does not know its width', () => {
    const { out, text } = output(0);
    out.table([{ title: 'id' }, { title: 'detail' }], [['1', 'word '.repeat(40).trim()]]);
    expect(text().split('\n')[1]).toMatch(/^1 +(word ?){40}$/);
  });

  test('gives the last column the remaining width of the terminal', () => {
    const { out, text } = output(40);
    out.table([{ title: 'id' }, { title: 'detail' }], [['0123456789', 'word '.repeat(12).trim()]]);
    for (const row of text().trimEnd().split('\n')) expect(row.length).toBeLessThanOrEqual(40);
    expect(text().match(/word/g)).toHaveLength(12);
  });
});

describe('a table of many rows', () => {
  const columns = [{ title: 'n', align: 'right' as const }, { title: 'what' }, { title: 'detail' }];
  // The widest of a column come late, and are few.
  const rows = Array.from({ length: 1_000 }, (_, n) => [
    n,
    n === 900 ? 'the widest' : 'a',
    'word '.repeat(200).trim(),
  ]);

  test('has columns of one width, wherever the widest stands', () => {
    const { out, text } = output();
    out.table(columns, rows);
    const [head, ...lines] = text().trimEnd().split('\n');
    expect(lines).toHaveLength(rows.length);
    expect(head).toBe('  n  what        detail');
    for (const [n, line] of lines.entries()) {
      const [, what, detail] = rows[n] as [number, string, string];
      expect(line).toBe(`${String(n).padStart(3)}  ${what.padEnd(10)}  ${detail}`);
    }
  });

  test('is laid out also where it has more words than a call takes arguments', () => {
    const { out, text } = output(60);
    out.table(columns, rows);
    const lines = text().trimEnd().split('\n');
    expect(lines.every((line) => line.length <= 60)).toBe(true);
    expect(text().match(/word/g)).toHaveLength(200_000);
  });
});

describe('a table that is wider than the terminal', () => {
  const columns = ['seq', 'id', 'at', 'action', 'reason', 'detail'].map((title) => ({ title }));
  const rows = [
    ['0', '0123456789ab', '2026-01-01T00:00:00Z', 'spend', '', ''],
    [
      '1',
      '0123456789ac',
      '2026-01-01T00:00:00Z',
      'respond_to_relapse',
      'RELAPSE_RESPONSE_IS_HUMAN',
      'word '.repeat(30).trim(),
    ],
  ];

  test('prints the overflow of a row below it, complete and broken between words', () => {
    const { out, text } = output(80);
    out.table(columns, rows);
    const lines = text().trimEnd().split('\n');
    expect(lines.slice(0, 4)).toEqual([
      'seq  id            at                    action',
      '      reason  detail',
      '0    0123456789ab  2026-01-01T00:00:00Z  spend',
      '1    0123456789ac  2026-01-01T00:00:00Z  respond_to_relapse',
    ]);
    expect(lines[4]).toMatch(/^ {6}RELAPSE_RESPONSE_IS_HUMAN {2}word word/);
    expect(text().match(/word/g)).toHaveLength(30);
  });

  test('drops, shortens and cuts the columns that allow it, before any overflow', () => {
    const { out, text } = output(72);
    const narrow = { id: 'drop', at: 'time', reason: 'cut', detail: 'cut' } as const;
    out.table(
      columns.map(({ title }) => ({
        title,
        ...(title in narrow && { narrow: narrow[title as 'id'] }),
      })),
      rows,
    );
    expect(text().trimEnd().split('\n')).toEqual([
      'seq  at           action              reason           detail',
      '0    01-01 00:00  spend',
      '1    01-01 00:00  respond_to_relapse  RELAPSE_RESPON…  word word word…',
    ]);
  });

  test('never exceeds its edge or loses a word, at any width of the widest word', () => {
    const cell = fc
      .array(fc.stringMatching(/^[a-z]{1,40}$/), { maxLength: 12 })
      .map((words) => words.join(' '));
    const table = fc.integer({ min: 1, max: 6 }).chain((count) =>
      fc.array(fc.array(cell, { minLength: count, maxLength: count }), {
        minLength: 1,
        maxLength: 4,
      }),
    );
    fc.assert(
      fc.property(table, fc.integer({ min: 40, max: 120 }), (rows, width) => {
        const { out, text } = output(width);
        out.table(
          (rows[0] as string[]).map((_, i) => ({ title: `t${i}` })),
          rows,
        );
        const widest = Math.max(
          ...rows
            .flat()
            .flatMap((text) => text.split(' '))
            .map((word) => word.length),
        );
        const first = Math.max(...rows.map(([one = '']) => one.length));
        for (const line of text().split('\n'))
          expect(line.length).toBeLessThanOrEqual(Math.max(width, first, 6 + widest));
        const words = (of: string): string[] =>
          of
            .split(/\s+/)
            .filter((word) => /^[a-z]+$/.test(word))
            .sort();
        expect(words(text())).toEqual(words(rows.flat().join(' ')));
      }),
      { numRuns: cases(300) },
    );
  });
});

describe('a line', () => {
  test('makes its values visible, once', () => {
    const inner = line`<${'\u001b'}>`;
    expect(line`${inner} and ${'\n'} and ${7}`.text).toBe('<\\u001b> and \\n and 7');
  });
});

test('after the reader closes, the next line ends the work', () => {
  const { out, close } = output();
  out.line(line`one`);
  close('EPIPE');
  expect(() => out.line(line`two`)).toThrow(OutputClosed);
});
