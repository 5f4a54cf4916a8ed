import { afterEach, describe, expect, test, vi } from 'vitest';
import { plotter } from './plot.ts';
import type { Table } from './table.ts';

const table: Table = {
  source: 'Table 4',
  title: 'tasks <done> & "counted"',
  unit: '%',
  keys: ['workload', 'fp'],
  columns: ['Tx-Full', 'No-Tx'],
  rows: [
    {
      keys: ['WebArena', 0.1],
      cells: [
        { measured: 100, within: 2, paper: 97 },
        { measured: 44, within: 10, paper: 26 },
      ],
    },
    {
      keys: ['WebArena', 0.3],
      cells: [
        { measured: 90, within: 6, paper: 92 },
        { measured: 7, within: 4 },
      ],
    },
    { keys: ['OSWorld', 0.3], cells: [{ measured: 93, within: 5 }, { measured: 'not run' }] },
  ],
  notes: [],
  plot: { sort: 'line', x: 'fp', y: 'tasks done' },
};

/**
 * The contents between the tags of a text, if each tag has its own closing tag and no other content
 * exists.
 */
function textsOf(svg: string): string[] {
  const open: string[] = [];
  const texts: string[] = [];
  const rest = svg.replace(
    /<(\/?)([A-Za-z][\w:-]*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|([^<>]+)/g,
    (_, end, name, _attributes, empty, text) => {
      if (text !== undefined) {
        if (/&(?!(?:amp|lt|gt|quot|apos|#\d+);)/.test(text))
          throw new Error(`not escaped: ${text}`);
        texts.push(text.trim());
      } else if (end === '/') {
        if (open.pop() !== name) throw new Error(`${name} is closed, and was not open`);
      } else if (empty !== '/') open.push(name);
      return '';
    },
  );
  if (rest !== '' || open.length > 0)
    throw new Error(`not well-formed: ${rest.slice(0, 80)} ${open.join()}`);
  return texts.filter((text) => text !== '');
}

describe.each(['line', 'bar'] as const)('as %s', (sort) => {
  test('an image is well-formed and contains its labels', async () => {
    const svg = (await plotter())({ ...table, plot: { ...table.plot!, sort } });
    expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    const texts = textsOf(svg);
    for (const label of [
      'Table 4: tasks &lt;done&gt; &amp; &quot;counted&quot;',
      'tasks done (%)',
      'fp',
      '0.1',
      '0.3',
      '100',
      'WebArena: Tx-Full',
      'WebArena: No-Tx',
      'OSWorld: Tx-Full',
    ])
      expect(texts).toContain(label);
  });

  test('the same table is the same image', async () => {
    const draw = await plotter();
    const drawn = { ...table, plot: { ...table.plot!, sort } };
    const first = draw(drawn);
    draw(table);
    expect(draw(drawn)).toBe(first);
  });
});

test('magnitudes apart are drawn on an axis that has them at equal steps', async () => {
  const rows = [10, 100, 1_000, 10_000].map((measured, i) => ({
    keys: ['x', i],
    cells: [{ measured }],
  }));
  const plot = { sort: 'line', x: 'fp', y: 'time', log: true } as const;
  const texts = textsOf(
    (await plotter())({ ...table, unit: 'µs', columns: ['total'], rows, plot }),
  );
  for (const label of ['10', '100', '1,000', '10,000']) expect(texts).toContain(label);
  expect(texts).not.toContain('2,000');
});

test('a known series has the same colour in all images', async () => {
  const draw = await plotter(['Tx-Full', 'CR', 'No-Tx']);
  const coloursOf = (columns: readonly string[]): string[] => {
    const rows = [{ keys: ['x', 1], cells: columns.map(() => ({ measured: 1 })) }];
    const svg = draw({ ...table, columns, rows, plot: { sort: 'bar', x: 'fp', y: 'y' } });
    return [
      ...new Set([...svg.matchAll(/fill="(#[0-9a-f]{6})"/g)].map(([, color]) => color as string)),
    ];
  };
  const both = coloursOf(['Tx-Full', 'No-Tx']);
  for (const color of coloursOf(['No-Tx'])) expect(both).toContain(color);
  expect(coloursOf(['No-Tx'])).not.toEqual(coloursOf(['Tx-Full']));
});

test('numbers among the keys are named in the legend', async () => {
  const rows = [3, 20].map((retries) => ({ keys: ['x', retries], cells: [{ measured: retries }] }));
  const svg = (await plotter())({
    ...table,
    keys: ['mode', 'retries'],
    columns: ['success'],
    rows,
    plot: { sort: 'bar', x: 'mode', y: 'y' },
  });
  expect(textsOf(svg)).toEqual(
    expect.arrayContaining(['retries 3: success', 'retries 20: success']),
  );
});

test('only named keys and columns make series; each label is at its position', async () => {
  const places = Array.from({ length: 12 }, (_, i) => `a place of the name ${i}`);
  const rows = places.map((place, i) => ({
    keys: [place, `detail ${i}`],
    cells: [{ measured: i }, { measured: 10 * i }],
  }));
  const plot = { sort: 'bar', x: 'workload', y: 'y', keys: [], columns: ['No-Tx'] } as const;
  const texts = textsOf((await plotter())({ ...table, unit: 'µs', rows, plot }));
  for (const i of places.keys()) expect(texts.join(' ')).toContain(` ${i} `);
  expect(texts).toContain('No-Tx');
  expect(texts.join(' ')).not.toMatch(/Tx-Full|detail/);
  // Of the column that is drawn, the second one.
  expect(texts).toContain('120');
});

test('of columns those are drawn that the plot names, each from its own cells', async () => {
  const draw = await plotter();
  const rows = [
    { keys: ['x', 1], cells: [{ measured: 7 }, { measured: 50_000 }, { measured: 3 }] },
  ];
  const plot = { sort: 'bar', x: 'fp', y: 'y' } as const;
  const { unit: _, ...rest } = table;
  const drawn = draw({
    ...rest,
    columns: ['a', 'b', 'c'],
    rows,
    plot: { ...plot, columns: ['c', 'a'] },
  });
  const alone = draw({
    ...rest,
    columns: ['c', 'a'],
    rows: [{ keys: ['x', 1], cells: [{ measured: 3 }, { measured: 7 }] }],
    plot,
  });
  expect(drawn).toBe(alone);
  expect(() =>
    draw({ ...rest, columns: ['a'], rows: [], plot: { ...plot, columns: ['d'] } }),
  ).toThrow(
    expect.objectContaining({
      code: 'bad_input',
      message: expect.stringContaining('no column d; it has a'),
    }),
  );
});

test('every axis position is labelled; long labels take several lines', async () => {
  const places = Array.from(
    { length: 13 },
    (_, i) => `after the call number ${i}, before that is written`,
  );
  const rows = places.map((place) => ({ keys: [place, 1], cells: [{ measured: 1 }] }));
  const svg = (await plotter())({
    ...table,
    columns: ['a'],
    rows,
    plot: { sort: 'bar', x: 'workload', y: 'y' },
  });
  const words = textsOf(svg).join(' ');
  for (const i of places.keys()) expect(words).toMatch(new RegExp(`\\b${i},`));
  expect(textsOf(svg)).not.toContain(places[0]);
});

describe('input that cannot be drawn is refused', () => {
  test.each([
    ['a key', { keys: ['rate'] }, 'workload, fp'],
    ['a column', { columns: ['rate'] }, 'Tx-Full, No-Tx'],
  ])('%s that it has not', async (_, apart, there) => {
    const draw = await plotter();
    expect(() => draw({ ...table, plot: { ...table.plot!, ...apart } })).toThrow(
      expect.objectContaining({ code: 'bad_input', message: expect.stringContaining(there) }),
    );
  });

  test('a table that says nothing of it', async () => {
    const { plot: _, ...rest } = table;
    const draw = await plotter();
    expect(() => draw(rest)).toThrow(expect.objectContaining({ code: 'bad_input' }));
  });

  test('an axis that is not a key', async () => {
    const draw = await plotter();
    expect(() => draw({ ...table, plot: { ...table.plot!, x: 'rate' } })).toThrow(
      expect.objectContaining({
        code: 'bad_input',
        message: expect.stringContaining('workload, fp'),
      }),
    );
  });

  test('a value that is not a table', async () => {
    const draw = await plotter();
    expect(() => draw({} as Table)).toThrow(expect.objectContaining({ code: 'bad_argument' }));
  });
});

describe('without echarts', () => {
  afterEach(() => vi.doUnmock('echarts'));

  test('the error names the package to install', async () => {
    vi.doMock('echarts', () => {
      throw new Error('it is not there');
    });
    await expect(plotter()).rejects.toMatchObject({
      code: 'not_installed',
      message: expect.stringContaining('npm install echarts'),
    });
  });
});
