import {
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { tally } from '../../../../tests/support/tools/effect-sink.ts';
import { listing, put } from '../../../../tests/support/tools/files-stage.ts';
import { calling, folder, hash } from '../../tests/support/file-calls.ts';
import type { Disk } from './disk.ts';
import { fileScope, fileTools } from './file-tools.ts';
import { canonical, identity, type Root, scopeOf } from './root.ts';

async function transacting(root: string, body: (tx: any) => unknown, args = 'order') {
  const assize = runtimeOver(new MemoryStore(), [tally], {
    tools: fileTools({ root, bytesMax: 1_000 }),
  });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const writes = [fileScope(root, '.'), fileScope(root, '.', true)];
  const options = { writ: writFor('alice'), writes, retries: 0 };
  return trajectory.transaction(options, async (tx) => {
    const value = await body(tx);
    tx.propose({ action: 'count', role: 'counter', args });
    return value;
  });
}

describe('in a transaction', () => {
  test('nothing is on disk before the commit, and reads see the planned changes', async () => {
    const root = folder({ 'a.txt': 'one two', 'gone.txt': 'x', 'from.txt': 'moved' });
    const before = listing(root);
    const { value, effects } = await transacting(root, async (tx) => {
      const written = await tx.call('files.write', { path: 'new/b.txt', content: 'bé' });
      await tx.call('files.edit', { path: 'a.txt', edits: [{ old: 'two', new: 'three' }] });
      await tx.call('files.delete', { path: 'gone.txt' });
      await tx.call('files.move', { from: 'from.txt', to: 'new/to.txt' });
      expect(listing(root)).toEqual(before);
      return {
        written,
        a: await tx.call('files.read', { path: 'a.txt' }),
        b: await tx.call('files.read', { path: 'new/b.txt', encoding: 'base64' }),
        gone: await tx.call('files.read', { path: 'gone.txt' }),
        list: await tx.call('files.list', { recursive: true }),
      };
    });
    expect(effects).toBe('settled');
    expect(value).toMatchObject({
      written: { path: join(root, 'new/b.txt'), hash: hash('bé'), bytes: 3, mode: 0o644 },
      a: { content: 'one three', hash: hash('one three') },
      b: { content: Buffer.from('bé').toString('base64'), bytes: 3 },
      gone: null,
      list: {
        entries: [
          { path: 'a.txt', is: 'file' },
          { path: 'new', is: 'folder' },
          { path: 'new/b.txt', is: 'file' },
          { path: 'new/to.txt', is: 'file' },
        ],
        isCut: false,
      },
    });
    expect(listing(root)).toEqual({
      'a.txt': '644 one three',
      'new/': '',
      'new/b.txt': '644 b\u00c3\u00a9',
      'new/to.txt': '644 moved',
    });
  });

  test.each([
    [
      'a condition that does not hold',
      'files.write',
      { path: 'a.txt', content: '', ifHash: hash('other') },
      /Read the file again/,
    ],
    [
      'a new file that is there',
      'files.write',
      { path: 'a.txt', content: '', ifHash: null },
      /expects no file/,
    ],
    ['a folder', 'files.write', { path: 'dir', content: '' }, /is a folder/],
    ['the root', 'files.write', { path: '.', content: '' }, /is a folder/],
    [
      'what is below a file',
      'files.write',
      { path: 'a.txt/b', content: '' },
      /not a folder|is a file/,
    ],
    ['a second name', 'files.write', { path: 'hard.txt', content: '' }, /hard link/],
    ['too much', 'files.write', { path: 'b', content: 'x'.repeat(1_001) }, /more than/],
    ['what is not there', 'files.delete', { path: 'none' }, /there is no file/],
    [
      'a text that is not there',
      'files.edit',
      { path: 'a.txt', edits: [{ old: 'zzz', new: '' }] },
      /does not have/,
    ],
    [
      'a text that is there twice',
      'files.edit',
      { path: 'a.txt', edits: [{ old: 'a', new: '' }] },
      /2 times/,
    ],
    ['a place that is taken', 'files.move', { from: 'a.txt', to: 'dir/c.txt' }, /exists already/],
    ['no text', 'files.read', { path: 'bytes' }, /base64/],
    ['no folder', 'files.list', { path: 'none' }, /no folder/],
  ])('%s is refused before the commit, and nothing is done', async (_, tool, input, why) => {
    const root = folder({ 'a.txt': 'a a', 'dir/c.txt': 'c', 'one.txt': '1' });
    writeFileSync(join(root, 'bytes'), Buffer.from([0xff, 0xfe]));
    linkSync(join(root, 'one.txt'), join(root, 'hard.txt'));
    const before = listing(root);
    const refused = transacting(root, async (tx) => {
      await tx.call('files.write', { path: 'sibling', content: 'x' });
      await tx.call(tool, input);
    });
    await expect(refused).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringMatching(why),
    });
    expect(listing(root)).toEqual(before);
  });

  test('a file or input above the size of a call is refused, with its name', async () => {
    const root = folder({ 'large.txt': '\n'.repeat(600_000) });
    const assize = runtimeOver(new MemoryStore(), [tally], { tools: fileTools({ root }) });
    const trajectory = await assize.create(tally, { trajectoryId: 't' });
    const options = { writ: writFor('alice'), writes: [fileScope(root, '.', true)], retries: 0 };
    const calling = (tool: string, input: object) =>
      trajectory.transaction(options, async (tx) => void (await tx.call(tool, input)));
    await expect(calling('files.read', { path: 'large.txt' })).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringMatching(/large\.txt has 600000 bytes, .* Read a part of the file/),
    });
    await expect(
      calling('files.write', { path: 'a', content: 'x'.repeat(2 ** 20) }),
    ).rejects.toMatchObject({
      code: 'bad_input',
      message:
        'The input of files.write is not valid: as JSON it has more than 1048576 bytes; pass less at a time.',
    });
  });

  test('a listing is cut before it is more than a call may answer', async () => {
    const root = folder();
    const far = Array.from({ length: 15 }, (_, i) => `${i}`.padStart(250, 'n')).join('/');
    for (let i = 0; i < 300; i++) put(root, `${far}/${i}`, '');
    const { value } = await transacting(root, (tx) => tx.call('files.list', { recursive: true }));
    expect(value).toMatchObject({ isCut: true });
    expect((value as any).entries.length).toBeGreaterThan(200);
  });

  test('concurrent plans for a file are serial, and none fails after its commit', async () => {
    const root = folder({ 'a.txt': 'old' });
    const assize = runtimeOver(new MemoryStore(), [tally], { tools: fileTools({ root }) });
    const trajectory = await assize.create(tally, { trajectoryId: 't' });
    const options = { writ: writFor('alice'), writes: [fileScope(root, '.', true)], retries: 0 };
    const edit = (instead: string) =>
      trajectory.transaction(options, async (tx) => {
        await tx.call('files.edit', { path: 'a.txt', edits: [{ old: 'old', new: instead }] });
        tx.propose({ action: 'count', role: 'counter', args: instead });
      });
    const [first, second] = await Promise.allSettled([edit('first'), edit('second')]);
    expect(first).toMatchObject({ status: 'fulfilled', value: { effects: 'settled' } });
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'tool_failed' } });
    expect(listing(root)).toEqual({ 'a.txt': '644 first' });
  });

  test('calls that are planned together see each other', async () => {
    const root = folder({ 'a.txt': 'a' });
    const twice = transacting(root, (tx) =>
      Promise.all([
        tx.call('files.delete', { path: 'a.txt' }),
        tx.call('files.delete', { path: 'a.txt' }),
      ]),
    );
    await expect(twice).rejects.toMatchObject({ code: 'tool_failed' });
    expect(listing(root)).toEqual({ 'a.txt': '644 a' });
  });
});

describe('a path', () => {
  test('is one, however it is named', () => {
    const root = folder({ 'dir/a.txt': 'a' });
    symlinkSync('dir', join(root, 'link'));
    symlinkSync(join(root, 'dir/a.txt'), join(root, 'leaf'));
    const { of } = calling(root);
    const claimOf = (path: string) =>
      of('write').claims(of('write').parse({ path, content: '' }))[0]!.scope.text;
    const one = fileScope(root, 'dir/a.txt');
    for (const path of [
      'dir/a.txt',
      './dir//a.txt',
      'dir/../link/a.txt',
      'leaf',
      join(root, 'link/./a.txt'),
      'link/../dir/a.txt',
    ])
      expect(claimOf(path)).toBe(one);
    expect(claimOf('link/new/b.txt')).toBe(fileScope(root, 'dir/new/b.txt'));
    expect(claimOf('a:b*c%2e')).toBe(`fs:${root}/a~3ab~2ac~252e`);
    // Unicode twins are kept apart by waiting.
    expect(claimOf('e\u0301')).toBe(claimOf('\u00e9'));
  });

  test.each([
    ['..', /leads out/],
    ['../x', /leads out/],
    ['/etc/passwd', /leads out/],
    ['out/passwd', /leads out/],
    ['circle/x', /circle/],
    ['.assize/files', /reserved for/],
    ['dir/.ASSIZE-x', /reserved for/],
    ['', /not a path/],
    ['a\0b', /not a path/],
  ])('%j is refused', (path, why) => {
    const root = folder({ 'dir/a': '' });
    symlinkSync('/etc', join(root, 'out'));
    symlinkSync('circle', join(root, 'circle'));
    const { of } = calling(root);
    expect(() => of('write').parse({ path, content: '' })).toThrow(why);
  });

  test('with a name that no file can have is refused', () => {
    const { of } = calling(folder());
    const parse = (path: string) => () => of('write').parse({ path, content: '' });
    const most = '\u00e9'.repeat(127);
    expect(parse(`new/${most}x`)).not.toThrow();
    for (const path of [`new/${most}xx`, `${most}xx/new`])
      expect(parse(path)).toThrow(/longer than 255 bytes/);
  });

  test('of a link itself cannot be deleted or moved', () => {
    const root = folder({ a: '' });
    symlinkSync('a', join(root, 'link'));
    const { of } = calling(root);
    expect(() => of('delete').parse({ path: 'link' })).toThrow(/symbolic link/);
    expect(() => of('move').parse({ from: 'a', to: 'link/' })).toThrow(/symbolic link/);
  });

  test.each([
    ['write', { path: 'dir/..', content: '' }],
    ['edit', { path: '.', edits: [{ old: 'a', new: 'b' }] }],
    ['delete', { path: '.' }],
    ['move', { from: '.', to: 'x' }],
    ['move', { from: 'dir/a', to: '.' }],
  ])('of the folder of the tools is not a path of a file: %s', async (name, input) => {
    const root = folder({ 'dir/a': 'a' });
    const done = calling(root).run(name, input);
    await expect(done).rejects.toMatchObject({
      isFinal: true,
      message: `${root} is a folder. Move, write and delete its files one by one`,
    });
    expect(listing(root)).toMatchObject({ 'dir/a': '644 a' });
  });

  test('folds names that its file system takes for one name', () => {
    const root: Root = { path: '/Root', foldsCase: true, foldsForm: true };
    const exact: Root = { ...root, foldsCase: false, foldsForm: false };
    expect(identity(root, '/Root/A/e\u0301')).toBe(identity(root, '/Root/a/\u00c9'));
    expect(scopeOf(root, '/Root/READ.me')).toBe('fs:/Root/read.me');
    expect(identity(exact, '/Root/A')).not.toBe(identity(exact, '/Root/a'));
    expect(canonical(exact, '/Root/A/../b')).toEqual({ path: '/Root/b' });
  });

  test('where a link was put in after it was claimed is not followed', async () => {
    const root = folder({ 'dir/a.txt': 'a', 'b.txt': 'b' });
    const outside = folder({ 'a.txt': 'outside' });
    const { of, run } = calling(root);
    const inputs = ['dir/a.txt', 'b.txt'].map((path) =>
      of('write').parse({ path, content: 'new' }),
    );
    renameSync(join(root, 'dir'), join(root, 'was'));
    symlinkSync(outside, join(root, 'dir'));
    unlinkSync(join(root, 'b.txt'));
    symlinkSync(join(outside, 'a.txt'), join(root, 'b.txt'));
    for (const [i, input] of inputs.entries()) {
      const call = { key: `k${i}`, signal: new AbortController().signal };
      await expect(of('write').spec.execute(input, call, [])).rejects.toMatchObject({
        isFinal: true,
      });
    }
    expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe('outside');
    await expect(run('write', { path: 'dir/a.txt', content: '' })).rejects.toThrow(/leads out/);
  });
});

test('a mode by which its owner may not read it is refused', () => {
  const { of } = calling(folder());
  const parse = (mode: number) => () => of('write').parse({ path: 'a', content: '', mode });
  for (const mode of [0, 0o200, 0o377]) expect(parse(mode)).toThrow(/must let the owner read/);
  expect(parse(0o400)).not.toThrow();
});

test('a list of very many names is cut', async () => {
  const names = Array.from({ length: 130_000 }, (_, i) => ({
    name: String(i),
    is: 'file' as const,
  }));
  const root = folder({ 'many/x': '' });
  const disk = (real: Disk): Disk => ({
    ...real,
    names: async (path) => (path === join(root, 'many') ? names : real.names(path)),
  });
  const listed: any = await calling(root, 'buffered', disk).run('list', { recursive: true });
  expect(listed).toMatchObject({ isCut: true, entries: { length: 10_000 } });
  expect(listed.entries.slice(0, 3)).toEqual([
    { path: 'many', is: 'folder' },
    { path: 'many/0', is: 'file' },
    { path: 'many/1', is: 'file' },
  ]);
});

test('content that can’t be restored is passed to mitigate', async () => {
  const root = folder({ a: 'old' });
  const asked: unknown[] = [];
  const mitigate = (input: any, residue: unknown) => {
    asked.push([input.path, residue]);
    return 'told';
  };
  const assize = runtimeOver(new MemoryStore(), [tally], {
    tools: fileTools({ root, delivery: 'externalised', mitigate }),
  });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const writes = [fileScope(root, '.', true)];
  await trajectory.transaction({ writ: writFor('alice'), writes, retries: 0 }, async (tx) => {
    await tx.call('files.write', { path: 'a', content: 'mine' });
    put(root, 'a', 'theirs');
    tx.propose({ action: 'count', role: 'counter', args: 'forbidden' });
  });
  await assize.recoverEffects();
  const path = join(root, 'a');
  expect(asked).toMatchObject([[path, { path, why: 'another program changed it since' }]]);
  expect(listing(root)).toEqual({ a: '644 theirs' });
});

test.each([
  [
    'what there is not',
    { delivry: 'externalised' },
    'no field "delivry". The options are root, name, delivery',
  ],
  ['what there is not, beside what there is', { bytesMax: 1, bytesmax: 1 }, 'no field "bytesmax"'],
  ['another delivery', { delivery: 'later' }, '/delivery: it must be "buffered" or "externalised"'],
  ['no bytes', { bytesMax: 0 }, '/bytesMax: '],
  ['an invalid disk', { disk: {} }, '/disk: it must be a function, but is an object'],
])('%s is refused by name', (_, options, why) => {
  const make = () => fileTools({ root: folder(), ...options } as never);
  expect(make).toThrow(
    expect.objectContaining({ reason: 'invalid_tool', message: expect.stringContaining(why) }),
  );
});

test('a root that can not be used is refused by name', () => {
  const root = folder({ file: '' });
  for (const bad of ['relative', join(root, 'none'), join(root, 'file'), '/proc'])
    expect(() => fileTools({ root: bad })).toThrow(
      expect.objectContaining({ reason: 'invalid_tool' }),
    );
  expect(() => fileScope(root, '../x')).toThrow(expect.objectContaining({ code: 'bad_input' }));
});

test('with nothing open, the contents of the tools’ own folder are not needed', async () => {
  const root = folder({ a: '0' });
  const store = new MemoryStore();
  const inProcess = async (times: number) => {
    const assize = runtimeOver(store, [tally], { tools: fileTools({ root }) });
    const trajectory =
      times === 1 ? await assize.create(tally, { trajectoryId: 't' }) : await assize.open('t');
    const options = { writ: writFor('alice'), writes: [fileScope(root, '.', true)], name: 'one' };
    const { ruling, effects } = await trajectory.transaction(options, async (tx) => {
      await tx.call('files.edit', { path: 'a', edits: [{ old: '0', new: '00' }] });
      await tx.call('files.write', { path: 'sub/b', content: 'b' });
      tx.propose({ action: 'count', role: 'counter', args: 'order' });
    });
    const left = await assize.recoverEffects();
    await assize.close();
    return [ruling.ruling, effects, left, await assize.effects()];
  };
  expect(await inProcess(1)).toEqual(['committed', 'settled', [], []]);
  rmSync(join(root, '.assize'), { recursive: true });
  expect(await inProcess(2)).toEqual(['committed', 'settled', [], []]);
  expect(listing(root)).toEqual({ a: '644 00', 'sub/': '', 'sub/b': '644 b' });
});
