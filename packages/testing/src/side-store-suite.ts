import {
  SIDE_BODY_BYTES_MAX,
  SIDE_CHANGES_MAX,
  SIDE_NAME_MAX,
  type SideChange,
  type SideStore,
} from 'assize/internal/ledger';
import fc from 'fast-check';
import { expect } from 'vitest';
import { AWKWARD_TEXTS, LOOKALIKES } from './laws/texts.ts';
import { SideModel } from './side-model.ts';
import { type Bench, type Closable, runSuite, type StoreSuite } from './suite.ts';

type Store = SideStore & Closable;

export type SideStoreSuite = StoreSuite<Store>;

/**
 * The rules of every side store: rows as given, in the order of keys, and puts that compare and set
 * all of their rows or none. Call it in a test file of the store.
 */
export function sideStoreSuite(suite: SideStoreSuite): void {
  runSuite('side', suite, SIDE_LAWS);
}

export const SIDE_LAWS: readonly ((bench: Bench<Store>) => void)[] = [
  rowLaws,
  comparisonLaws,
  modelLaws,
  handleLaws,
];

/** The usual number of runs of a property; each run opens its own store. */
const RUNS = 40;

function change(key: string, expected: number | null, body: string | null): SideChange {
  return { kind: 'k', key, expected, body };
}

async function versionOf(store: Store, key: string): Promise<number> {
  return (await store.sideGet('k', key))!.version;
}

function rowLaws({ law, openNew }: Bench<Store>): void {
  law('an empty store has no side rows', async () => {
    const store = await openNew();
    expect(await store.sideGet('k', 'a')).toBeUndefined();
    expect(await store.sideList('k', { limit: 10 })).toEqual([]);
    expect(await store.sidePut([])).toBe(true);
  });

  law('side rows of one kind are listed by key in code-point order, in pages', async () => {
    const store = await openNew();
    const keys = ['a', 'B', 'b', '\ufb04', '\u{1f600}', 'é', 'aa', '_'];
    const ordered = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    for (const key of keys) expect(await store.sidePut([change(key, null, `"${key}"`)])).toBe(true);
    expect(await store.sidePut([{ kind: 'other', key: 'c', expected: null, body: '1' }])).toBe(
      true,
    );
    const listed = await store.sideList('k', { limit: 100 });
    expect(listed.map(({ key }) => key)).toEqual(ordered);
    expect(await store.sideList('k', { limit: 3 })).toEqual(listed.slice(0, 3));
    expect(await store.sideList('k', { after: ordered[2]!, limit: 2 })).toEqual(listed.slice(3, 5));
    // The key of a page need not exist.
    expect(await store.sideList('k', { after: 'a!', limit: 1 })).toEqual([
      await store.sideGet('k', 'aa'),
    ]);
  });

  law('side rows come back exactly as given', async () => {
    const store = await openNew();
    const names = [...AWKWARD_TEXTS, ...LOOKALIKES].filter(
      (name) => name !== '' && name.normalize('NFC') === name,
    );
    const long = [
      'x'.repeat(SIDE_NAME_MAX),
      '\u{1f600}'.repeat(SIDE_NAME_MAX / 2),
      '\uffee'.repeat(SIDE_NAME_MAX),
    ];
    const body = (name: string): string => JSON.stringify(name);
    for (const name of [...new Set([...names, ...long])]) {
      expect(
        await store.sidePut([{ kind: name, key: name, expected: null, body: body(name) }]),
        name,
      ).toBe(true);
      expect(await store.sideGet(name, name)).toEqual({
        kind: name,
        key: name,
        version: expect.any(Number),
        body: body(name),
      });
    }
    const large = JSON.stringify('é'.repeat((SIDE_BODY_BYTES_MAX - 2) / 2));
    expect(await store.sidePut([change('large', null, large)])).toBe(true);
    expect(await store.sideGet('k', 'large')).toMatchObject({ body: large });
  });

  law('a later mutation of a passed or returned side row changes no stored one', async () => {
    const store = await openNew();
    const given = { kind: 'k', key: 'a', expected: null, body: '1' };
    expect(await store.sidePut([given])).toBe(true);
    given.body = '2';
    const got = (await store.sideGet('k', 'a')) as { body: string };
    if (!Object.isFrozen(got)) got.body = '2';
    expect(await store.sideGet('k', 'a')).toMatchObject({ body: '1' });
  });

  law('side rows that no row can hold are refused, and nothing is written', async () => {
    const store = await openNew();
    const fit = change('a', null, '1');
    const wrong: readonly unknown[] = [
      ...['', 'x'.repeat(SIDE_NAME_MAX + 1), 'a\0b', '\ud800', 'cafe\u0301', 1].flatMap((name) => [
        { ...fit, key: name },
        { ...fit, kind: name },
      ]),
      ...[0, -1, 0.5, '1', undefined].map((expected) => ({ ...fit, expected })),
      ...['', '{', '{ }', '{"b":1,"a":2}', '"\ud800"', 'undefined', 1, undefined].map((body) => ({
        ...fit,
        body,
      })),
      { ...fit, body: `"${'x'.repeat(SIDE_BODY_BYTES_MAX - 1)}"` },
      null,
    ];
    for (const each of wrong) {
      const put = store.sidePut([change('b', null, '1'), each as SideChange]);
      await expect(put, JSON.stringify(each)).rejects.toMatchObject({
        code: 'store_invalid_input',
      });
    }
    const many = Array.from({ length: SIDE_CHANGES_MAX + 1 }, (_, n) => change(`${n}`, null, '1'));
    for (const list of [
      [fit, fit],
      [fit, { ...fit, body: null }],
      many,
      'a',
      null,
    ] as readonly unknown[]) {
      const put = store.sidePut(list as readonly SideChange[]);
      await expect(put).rejects.toMatchObject({ code: 'store_invalid_input' });
    }
    await expect(store.sideGet('', 'a')).rejects.toMatchObject({ code: 'store_invalid_input' });
    await expect(store.sideGet('k', 'a\0')).rejects.toMatchObject({ code: 'store_invalid_input' });
    await expect(store.sideList('k', { limit: 0 })).rejects.toMatchObject({
      code: 'store_invalid_input',
    });
    await expect(store.sideList('k', { after: '\ud800', limit: 1 })).rejects.toMatchObject({
      code: 'store_invalid_input',
    });
    expect(await store.sideList('k', { limit: 10 })).toEqual([]);
  });
}

function comparisonLaws({ law, openNew }: Bench<Store>): void {
  law('a put writes only over the expected version', async () => {
    const store = await openNew();
    expect(await store.sidePut([change('a', 1, '1')])).toBe(false);
    expect(await store.sidePut([change('a', null, '1')])).toBe(true);
    const first = await versionOf(store, 'a');
    expect(await store.sidePut([change('a', null, '2')])).toBe(false);
    expect(await store.sidePut([change('a', first + 1, '2')])).toBe(false);
    expect(await store.sidePut([change('a', first, '2')])).toBe(true);
    expect(await store.sidePut([change('a', first, '3')])).toBe(false);
    expect(await store.sidePut([change('a', first, null)])).toBe(false);
    expect(await store.sideGet('k', 'a')).toMatchObject({ body: '2' });
  });

  law('versions rise with each write, also after a deletion', async () => {
    const store = await openNew();
    const versions: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      expect(await store.sidePut([change('a', null, '1')])).toBe(true);
      versions.push(await versionOf(store, 'a'));
      expect(await store.sidePut([change('a', versions.at(-1)!, '1')])).toBe(true);
      versions.push(await versionOf(store, 'a'));
      expect(await store.sidePut([change('a', versions.at(-1)!, null)])).toBe(true);
      expect(await store.sideGet('k', 'a')).toBeUndefined();
      expect(await store.sidePut([change('a', versions.at(-1)!, null)])).toBe(false);
    }
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
    expect(versions[0]).toBeGreaterThan(0);
  });

  law('a put of several rows writes all of them or none', async () => {
    const store = await openNew();
    await store.sidePut([change('a', null, '1'), change('b', null, '1')]);
    const [a, b] = [await versionOf(store, 'a'), await versionOf(store, 'b')];
    const before = await store.sideList('k', { limit: 10 });
    const others = [change('a', a, '2'), change('b', b, null), change('c', null, '2')];
    for (const wrong of [change('d', 7, '2'), change('e', 1, null)]) {
      expect(await store.sidePut([...others, wrong])).toBe(false);
      expect(await store.sidePut([wrong, ...others])).toBe(false);
    }
    expect(await store.sidePut([...others.slice(0, 2), change('a!', a, '2')])).toBe(false);
    expect(await store.sidePut([change('c', null, '2'), change('b', null, '2')])).toBe(false);
    expect(await store.sideList('k', { limit: 10 })).toEqual(before);
    expect(await store.sidePut(others)).toBe(true);
    expect((await store.sideList('k', { limit: 10 })).map(({ key, body }) => [key, body])).toEqual([
      ['a', '2'],
      ['c', '2'],
    ]);
  });

  law('a put can require that a row is absent, and writes nothing to it', async () => {
    const store = await openNew();
    expect(await store.sidePut([change('a', null, '1'), change('b', null, null)])).toBe(true);
    expect(await store.sideGet('k', 'b')).toBeUndefined();
    expect(await store.sidePut([change('b', null, '1'), change('a', null, null)])).toBe(false);
    expect(await store.sideGet('k', 'b')).toBeUndefined();
  });
}

const KEYS = ['a', 'b', 'c'];

interface GeneratedChange {
  readonly key: string;
  readonly expects: 'the version' | 'no row' | 'an old version';
  readonly body: string | null;
}

const generatedPuts = fc.array(
  fc.uniqueArray(
    fc.record<GeneratedChange>({
      key: fc.constantFrom(...KEYS),
      expects: fc.constantFrom(
        'the version',
        'the version',
        'the version',
        'no row',
        'an old version',
      ),
      body: fc.option(fc.constantFrom('1', '"two"', '{"three":3}'), { freq: 3 }),
    }),
    { selector: ({ key }) => key, minLength: 1 },
  ),
  { maxLength: 12 },
);

function modelLaws({ law, openNew, runs }: Bench<Store>): void {
  law('any puts give the result of a plain model', async () => {
    const run = async (puts: readonly (readonly GeneratedChange[])[]): Promise<void> => {
      const store = await openNew();
      const model = new SideModel();
      for (const put of puts) {
        const versions = await Promise.all(
          KEYS.map(async (key) => (await store.sideGet('k', key))?.version ?? null),
        );
        const changes = put.map(({ key, expects, body }) => {
          const version = versions[KEYS.indexOf(key)]!;
          const expected =
            expects === 'no row'
              ? null
              : expects === 'the version'
                ? version
                : (version ?? 2) - 1 || 1;
          return change(key, expected, body);
        });
        const stored = new Map(KEYS.map((key, n) => [key, versions[n] ?? null]));
        expect(await store.sidePut(changes)).toBe(model.put(changes, stored));
        const rows = await store.sideList('k', { limit: 10 });
        expect(rows.map(({ key, body }) => [key, body])).toEqual(model.rows);
      }
      await store.close();
    };
    await fc.assert(fc.asyncProperty(generatedPuts, run), { numRuns: runs(RUNS) });
  });

  law('of concurrent puts that expect one version, one is written', async () => {
    const store = await openNew();
    for (let expected: number | null = null, round = 0; round < 4; round += 1) {
      const puts = Array.from({ length: 20 }, (_, n) =>
        store.sidePut([change('a', expected, `${n}`)]),
      );
      const written = (await Promise.all(puts)).flatMap((isWritten, n) =>
        isWritten ? [`${n}`] : [],
      );
      const row = (await store.sideGet('k', 'a'))!;
      expect(written).toEqual([row.body]);
      expected = row.version;
    }
  });
}

function handleLaws({ law, newPlace, openAt, openNew }: Bench<Store>): void {
  law('a store opened again has the side rows, and those that close still wrote', async () => {
    const place = newPlace();
    const store = await openAt(place);
    await store.sidePut([change('a', null, '1')]);
    const version = await versionOf(store, 'a');
    const putting = store.sidePut([change('b', null, '2')]);
    await store.close();
    expect(await putting).toBe(true);
    const again = await openAt(place);
    expect((await again.sideList('k', { limit: 10 })).map(({ body }) => body)).toEqual(['1', '2']);
    expect(await again.sidePut([change('a', version, null)])).toBe(true);
    expect(await again.sidePut([change('a', null, '3')])).toBe(true);
    expect(await versionOf(again, 'a')).toBeGreaterThan(version);
  });

  law('of two handles that count with compare-and-set, no count is lost', async () => {
    const place = newPlace();
    const stores = [await openAt(place), await openAt(place)];
    const count = async (store: Store): Promise<void> => {
      for (let counted = 0; counted < 10; ) {
        const row = await store.sideGet('k', 'count');
        const body = `${Number(row?.body ?? 0) + 1}`;
        if (await store.sidePut([change('count', row?.version ?? null, body)])) counted += 1;
      }
    };
    await Promise.all(stores.map(count));
    for (const store of stores)
      expect(await store.sideGet('k', 'count')).toMatchObject({ body: '20' });
  });

  law('two handles that move rows in opposite orders end, and lose no row', async () => {
    const place = newPlace();
    const stores = [await openAt(place), await openAt(place)];
    await stores[0]!.sidePut(KEYS.map((key) => change(key, null, '0')));
    const move = async (store: Store, keys: readonly string[]): Promise<void> => {
      for (let moved = 0; moved < 8; ) {
        const rows = await store.sideList('k', { limit: 10 });
        const changes = keys.map((key) => {
          const row = rows.find((each) => each.key === key)!;
          return change(key, row.version, `${Number(row.body) + 1}`);
        });
        if (await store.sidePut(changes)) moved += 1;
      }
    };
    await Promise.all([move(stores[0]!, KEYS), move(stores[1]!, KEYS.toReversed())]);
    const rows = await stores[0]!.sideList('k', { limit: 10 });
    expect(rows.map(({ body }) => body)).toEqual(['16', '16', '16']);
  });

  law('a closed store refuses side rows', async () => {
    const store = await openNew();
    await store.close();
    for (const call of [
      () => store.sideGet('k', 'a'),
      () => store.sideList('k', { limit: 1 }),
      () => store.sidePut([change('a', null, '1')]),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'store_closed' });
    }
  });
}
