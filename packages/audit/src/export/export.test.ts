import { faultyStore } from '@assize/testing/internal/faulty-store.ts';
import { MemoryStore } from '@assize/testing/memory';
import { generateKeys, hashText } from 'assize/internal/canon';
import { type Batch, blobLine, type EntryRow, integrateLog, logHead } from 'assize/internal/ledger';
import type { Store } from 'assize/internal/stores';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  branchMembers,
  ChainWriter,
  commitMembers,
  everyKind,
  keysOf,
  rejectionMembers,
  rootMembers,
  second,
} from '../../../../tests/support/ledger/rows.ts';
import { exportLines, importLines, readExport, splitLines } from './index.ts';
import { ExportReader } from './read.ts';

async function collect(lines: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const line of lines) text += line;
  return text;
}

/** Chunks with arbitrary borders, even inside a character. */
async function* pieces(text: string, size = 7_001): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const linesOf = (text: string, size?: number): AsyncGenerator<string> =>
  splitLines(pieces(text, size));

async function exported(store: Store): Promise<string> {
  await integrateLog(store);
  return collect(exportLines(store));
}

async function storeOf(
  rows: readonly EntryRow[],
  blobs: { hash: string; text: string }[] = [],
): Promise<Store> {
  const store = new MemoryStore();
  for (const row of rows) await store.commit({ entries: [row], blobs });
  return store;
}

/** All kinds of entries, signed and not, with blobs, and a branch. */
async function rich(): Promise<Store> {
  const { rows, blobs } = everyKind(keysOf(1));
  const store = await storeOf(rows, blobs);
  const writer = new ChainWriter('more');
  writer.add('root', rootMembers({ n: 0, text: '\u2028 é \u0000 "\\ 😀' }));
  for (let n = 1; n < 30; n++) {
    if (n % 5 === 0) writer.add('rejection', rejectionMembers({ at: second(n) }));
    else
      writer.add('commit', {
        ...commitMembers([{ op: 'replace', path: '/n', value: n }]),
        at: second(n),
      });
  }
  await store.commit({ entries: writer.rows, blobs: [] });
  const branch = new ChainWriter('branch');
  branch.add('branch', { ...branchMembers(writer.rows[4]!), at: second(100) });
  await store.commit({ entries: branch.rows, blobs: [] });
  return store;
}

test('export, import, export: the same bytes, the same log, the same rows', async () => {
  const store = await rich();
  const text = await exported(store);
  const other = new MemoryStore();
  const { entries, imported } = await importLines(other, linesOf(text));
  expect(imported).toBe(entries);
  expect(await exported(other)).toBe(text);
  expect(await logHead(other)).toEqual(await logHead(store));
  for (const { trajectory_id } of await store.trajectories()) {
    expect(await other.entries(trajectory_id)).toEqual(await store.entries(trajectory_id));
  }
  // A repeated import changes nothing.
  expect(await importLines(other, linesOf(text))).toEqual({
    entries,
    imported: 0,
    marked: 0,
    beliefs: 0,
    unerased: 0,
  });
  expect(await exported(other)).toBe(text);
});

test('an import that was cut off is made again from the beginning', async () => {
  const text = await exported(await rich());
  const lines = text.split('\n');
  for (const cut of [1, 2, 5, 20, lines.length - 2]) {
    const other = new MemoryStore();
    const part = `${lines.slice(0, cut).join('\n')}\n`;
    await expect(importLines(other, linesOf(part))).rejects.toMatchObject({
      code: 'bad_export',
      evidence: { line: cut + 1 },
    });
    await importLines(other, linesOf(text));
    expect(await exported(other)).toBe(text);
  }
});

test('a part of the log is an export of its own', async () => {
  const store = await rich();
  await integrateLog(store);
  const half = await collect(exportLines(store, { size: 12 }));
  const other = new MemoryStore();
  expect(await importLines(other, linesOf(half))).toEqual({
    entries: 12,
    imported: 12,
    marked: 0,
    beliefs: 0,
    unerased: 0,
  });
  expect(await exported(other)).toBe(half);
  const whole = await exported(store);
  await importLines(other, linesOf(whole));
  expect(await exported(other)).toBe(whole);
});

test('a log that lost an entry has no export: a shorter one would look whole', async () => {
  const store = await rich();
  await integrateLog(store);
  const size = await store.logSize();
  const logged = store.logged.bind(store);
  for (const lost of [0, 7, size - 1]) {
    const all = await logged(0, size);
    store.logged = async (from, limit) =>
      all.filter((_, at) => at !== lost && at >= from).slice(0, limit);
    await expect(collect(exportLines(store))).rejects.toMatchObject({
      code: 'bad_export',
      message: expect.stringContaining('an entry from position'),
    });
  }
  store.logged = logged;
  // Of more than there are, all.
  expect(await collect(exportLines(store, { size: size + 9 }))).toBe(
    await collect(exportLines(store)),
  );
});

test('a large export comes through in groups', async () => {
  const writer = new ChainWriter('long');
  writer.add('root', rootMembers({ n: 0 }));
  for (let n = 1; n < 1_700; n++)
    writer.add('commit', {
      ...commitMembers([{ op: 'replace', path: '/n', value: n }]),
      at: second(n),
    });
  const text = await exported(await storeOf(writer.rows));
  const other = new MemoryStore();
  const seen: number[] = [];
  await importLines(other, linesOf(text, 65_536), { onProgress: (entries) => seen.push(entries) });
  expect(seen.at(-1)).toBe(1_700);
  expect(seen.length).toBeGreaterThan(3);
  expect(await exported(other)).toBe(text);
});

describe('a fault is named by its line', () => {
  const wrong = async (text: string): Promise<unknown> => {
    try {
      for await (const _ of readExport(linesOf(text))) {
        // Only read.
      }
    } catch (error) {
      return (error as { evidence: { line: number } }).evidence.line;
    }
    return 'nothing';
  };

  test('every byte of an export changed, one at a time', async () => {
    const writer = new ChainWriter('t');
    writer.add('root', rootMembers({ n: 0 }));
    for (let n = 1; n < 4; n++)
      writer.add('commit', {
        ...commitMembers([{ op: 'replace', path: '/n', value: n }]),
        at: second(n),
      });
    const text = await exported(await storeOf(writer.rows));
    expect(await wrong(text)).toBe('nothing');
    const bytes = Buffer.from(text);
    let line = 1;
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = changed[at]! ^ (at % 2 === 0 ? 0x01 : 0x20);
      const found = await wrong(
        changed.toString('latin1').includes('\ufffd') ? '' : changed.toString('utf8'),
      );
      // A removed or added newline shifts the rest.
      expect([line, line + 1]).toContain(found);
      if (bytes[at] === 0x0a) line++;
    }
  });

  test('lines taken out, put in twice, or in another order', async () => {
    const text = await exported(await rich());
    const lines = text.trimEnd().split('\n');
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('drop', 'double', 'swap'),
        fc.nat(lines.length - 1),
        fc.nat(lines.length - 1),
        async (what, a, b) => {
          const changed = [...lines];
          if (what === 'drop') changed.splice(a, 1);
          else if (what === 'double') changed.splice(a, 0, lines[a]!);
          else [changed[a], changed[b]] = [lines[b]!, lines[a]!];
          const same = changed.join('\n') === lines.join('\n');
          expect((await wrong(`${changed.join('\n')}\n`)) === 'nothing').toBe(same);
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each<[string, (text: string) => string]>([
    ['nothing at all', () => ''],
    ['another format', (text) => text.replace('export/v1', 'export/v2')],
    ['a byte order mark', (text) => `\ufeff${text}`],
    ['Windows line ends', (text) => text.replaceAll('\n', '\r\n')],
    ['a space after a comma', (text) => text.replace(',"payload"', ', "payload"')],
    ['no newline at the end', (text) => text.slice(0, -1)],
    ['something after the trailer', (text) => `${text}{}\n`],
    [
      'a trailer of fewer entries',
      (text) => text.replace(/"entries":(\d+)/, (_, n) => `"entries":${Number(n) - 1}`),
    ],
    ['another root', (text) => text.replace(/"root":"[0-9a-f]{64}"/, `"root":"${'0'.repeat(64)}"`)],
    ['an empty line', (text) => text.replace('\n', '\n\n')],
    ['a list', (text) => text.replace('\n', '\n[]\n')],
  ])('%s', async (_what, change) => {
    expect(await wrong(change(await exported(await rich())))).not.toBe('nothing');
  });

  test('blobs before one entry that are together more than any entry needs', async () => {
    const [header = ''] = (await exported(await rich())).split('\n');
    const blob = (text: string): string => `{"blob":${text},"hash":"${hashText(text)}"}`;
    const many = async function* (): AsyncGenerator<string> {
      yield header;
      for (let n = 0; n < 70_000; n++) yield blob(`${n}`);
    };
    const read = (async () => {
      for await (const _ of readExport(many()));
    })();
    const evidence = { line: 65_538 };
    await expect(read).rejects.toMatchObject({ code: 'bad_export', evidence });
    const reader = new ExportReader(20);
    for (const line of [header, blob('"abcdefgh"')]) reader.take(line);
    expect(() => reader.take(blob('"abcdefghi"'))).toThrow(
      'Line 3 of the export is not valid: the blobs before one entry exceed 20 characters.',
    );
    // The limit comes before the parser.
    expect(() => reader.take(`{"blob":${'x'.repeat(100)}`)).toThrow('exceed 20 characters');
    reader.take(blob('"ABCDEFGH"'));
  });

  test('each entry may have as many before it', async () => {
    const lines = (await exported(await rich())).split('\n').slice(0, -1);
    const units = [0];
    for (const line of lines) {
      if (line.startsWith('{"id"')) units.push(0);
      else if (line.startsWith('{"blob"'))
        units[units.length - 1]! +=
          line.length - blobLine({ hash: '0'.repeat(64), text: '' }).length + 1;
    }
    const most = Math.max(...units);
    expect(units.reduce((sum, each) => sum + each)).toBeGreaterThan(most);
    const take = (reader: ExportReader): void => lines.forEach((line) => void reader.take(line));
    take(new ExportReader(most));
    expect(() => take(new ExportReader(most - 1))).toThrow('before one entry');
  });

  test('an unneeded blob, and a needed blob that is missing', async () => {
    const text = await exported(await rich());
    const blob = `{"blob":"x","hash":"${hashText('"x"')}"}\n`;
    const trailer = text.lastIndexOf('{"entries"');
    expect(await wrong(text.slice(0, trailer) + blob + text.slice(trailer))).not.toBe('nothing');
    const needed = /\{"blob":.*\n/.exec(text)![0];
    expect(await wrong(text.replace(needed, ''))).not.toBe('nothing');
  });
});

test('another ledger at the same places is a conflict', async () => {
  const text = await exported(await rich());
  const other = new ChainWriter('more');
  other.add('root', rootMembers({ n: 7 }));
  const store = await storeOf(other.rows);
  await expect(importLines(store, linesOf(text))).rejects.toMatchObject({
    code: 'wrong_state',
    message: expect.stringContaining('The store has another entry at'),
  });
});

test('entries are imported one by one only after their references are stored', async () => {
  const source = await rich();
  const text = await exported(source);
  const store = await storeOf((await source.entries('more')).slice(0, 1));
  const doubtful = faultyStore(store, ({ args: [batch] }) =>
    batch !== undefined && (batch as Batch).entries?.length === 0 ? { kind: 'lost' } : undefined,
  );
  await expect(importLines(doubtful, linesOf(text))).rejects.toMatchObject({
    code: 'commit_unknown',
    message: expect.stringContaining('The store did not confirm'),
  });
  expect(await store.trajectories()).toHaveLength(1);
  await importLines(store, linesOf(text));
  expect((await store.trajectories()).length).toBe((await source.trajectories()).length);
});

test('concurrent imports write each entry once and see no foreign ledger', async () => {
  const source = await rich();
  const text = await exported(source);
  const store = new MemoryStore();
  // Every write loses against the other writer.
  const raced = new Proxy(store, {
    get: (_target, name) => {
      const member = Reflect.get(store, name);
      if (name !== 'commit') return typeof member === 'function' ? member.bind(store) : member;
      return async (batch: Batch) => {
        for (const row of batch.entries.slice(0, 1))
          await store.commit({ entries: [row], blobs: batch.blobs });
        return store.commit(batch);
      };
    },
  });
  const { imported } = await importLines(raced, linesOf(text));
  expect(imported).toBe(0);
  expect(await exported(store)).toBe(text);
});

test('a store changed by hand is exported unchanged and refused on import', async () => {
  const { privateKey: _none } = generateKeys();
  const store = await rich();
  await integrateLog(store);
  const spoilt = new Proxy(store, {
    get: (_target, name) => {
      if (name !== 'logged') return (Reflect.get(store, name) as () => unknown).bind(store);
      return async (from: number, limit: number) =>
        (await store.logged(from, limit)).map((row) =>
          row.trajectory_id === 'more' && row.seq === 3
            ? { ...row, payload: row.payload.replace('"value":3', '"value":4') }
            : row,
        );
    },
  });
  const text = await collect(exportLines(spoilt));
  await expect(importLines(new MemoryStore(), linesOf(text))).rejects.toMatchObject({
    code: 'bad_export',
    message: expect.stringContaining('more seq 3: the payload does not hash to the id'),
  });
});

test('pieces of a stream may end anywhere', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme' })),
      fc.integer({ min: 1, max: 9 }),
      async (given, size) => {
        const lines = given.map((line) => line.replaceAll('\n', ''));
        const read: string[] = [];
        for await (const line of splitLines(
          pieces(lines.map((line) => `${line}\n`).join(''), size),
        ))
          read.push(line);
        expect(read).toEqual(lines);
      },
    ),
  );
});
