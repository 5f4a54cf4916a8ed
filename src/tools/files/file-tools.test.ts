import {
  chmodSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Call, Delivery, Tool } from '#effects';
import { MemoryStore } from '#stores';
import { tally } from '../../../tests/support/effects-stage.ts';
import { listing, newFolder, put } from '../../../tests/support/files-stage.ts';
import { runtimeOver, writFor } from '../../../tests/support/runtime.ts';
import type { Disk } from './disk.ts';
import { fileScope, fileTools } from './file-tools.ts';
import { hashOf } from './operations.ts';
import { canonical, identity, type Root, scopeOf } from './root.ts';

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true });
});

function folder(files: Readonly<Record<string, string>> = {}): string {
  const root = newFolder();
  made.push(root);
  for (const [path, content] of Object.entries(files)) put(root, path, content);
  return root;
}

/** A tool, and what it is called with. */
function calling(root: string, delivery: Delivery = 'externalised', disk: (disk: Disk) => Disk = (same) => same) {
  const tools = new Map(fileTools({ root, delivery, bytesMax: 1_000, disk }).map((tool) => [tool.name, tool]));
  const of = (name: string): Tool => tools.get(`files.${name}`)!;
  const call = (key: string, epoch = 1): Call => ({ key, epoch, signal: new AbortController().signal });
  return {
    of,
    run: async (name: string, input: unknown, key = name, epoch = 1) =>
      of(name).spec.execute(of(name).parse(input), call(key, epoch), []),
    undo: async (name: string, input: unknown, key = name) =>
      of(name).spec.compensate!(of(name).parse(input), null, call(key)),
    ask: async (name: string, input: unknown, key = name) => of(name).spec.reconcile!(of(name).parse(input), call(key)),
  };
}

async function transacting(root: string, body: (tx: any) => unknown, args = 'order') {
  const assize = runtimeOver(new MemoryStore(), [tally], { tools: fileTools({ root, bytesMax: 1_000 }) });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const writes = [fileScope(root, '.'), fileScope(root, '.', true)];
  const options = { writ: writFor('alice'), writes, retries: 0 };
  return trajectory.transaction(options, async (tx) => {
    const value = await body(tx);
    tx.propose({ action: 'count', role: 'counter', args });
    return value;
  });
}

const hash = (text: string): string => hashOf(Buffer.from(text));

/** A disk that does nothing any more from the first such step on, or from right after it. */
function dying(which: (step: string, path: string) => boolean, when: 'before' | 'after'): (disk: Disk) => Disk {
  let isDead = false;
  return (disk) =>
    new Proxy(disk, {
      get:
        (target, name) =>
        async (path: string, ...rest: unknown[]) => {
          const isIt = which(String(name), path);
          isDead ||= isIt && when === 'before';
          if (isDead) throw new Error('the process has ended');
          const answer = await Reflect.apply(Reflect.get(target, name) as () => unknown, target, [path, ...rest]);
          isDead ||= isIt;
          return answer;
        },
    });
}

/** A disk that does nothing any more after such a step at a path. */
function dyingAt(step: string, path: string): (disk: Disk) => Disk {
  return dying((each, at) => each === step && at === path, 'after');
}

describe('in a transaction', () => {
  test('nothing is on the disk before the commit, and reads see what is planned', async () => {
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
      /read it again/,
    ],
    ['a new file that is there', 'files.write', { path: 'a.txt', content: '', ifHash: null }, /not to be there/],
    ['a folder', 'files.write', { path: 'dir', content: '' }, /is a folder/],
    ['the root', 'files.write', { path: '.', content: '' }, /is a folder/],
    ['what is below a file', 'files.write', { path: 'a.txt/b', content: '' }, /no folder|is a file/],
    ['a second name', 'files.write', { path: 'hard.txt', content: '' }, /hard link/],
    ['too much', 'files.write', { path: 'b', content: 'x'.repeat(1_001) }, /more than/],
    ['what is not there', 'files.delete', { path: 'none' }, /there is no file/],
    ['a text that is not there', 'files.edit', { path: 'a.txt', edits: [{ old: 'zzz', new: '' }] }, /does not have/],
    ['a text that is there twice', 'files.edit', { path: 'a.txt', edits: [{ old: 'a', new: '' }] }, /2 times/],
    ['a place that is taken', 'files.move', { from: 'a.txt', to: 'dir/c.txt' }, /is there already/],
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
    await expect(refused).rejects.toMatchObject({ code: 'tool_failed', message: expect.stringMatching(why) });
    expect(listing(root)).toEqual(before);
  });

  test('two that plan at once on one file come one after the other, and none after its commit too late', async () => {
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

  test('calls that are planned at once see each other', async () => {
    const root = folder({ 'a.txt': 'a' });
    const twice = transacting(root, (tx) =>
      Promise.all([tx.call('files.delete', { path: 'a.txt' }), tx.call('files.delete', { path: 'a.txt' })]),
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
    const claimOf = (path: string) => of('write').claims(of('write').parse({ path, content: '' }))[0]!.scope.text;
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
    ['.assize/files', /kept for/],
    ['dir/.ASSIZE-x', /kept for/],
    ['', /no path/],
    ['a\0b', /no path/],
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
    for (const path of [`new/${most}xx`, `${most}xx/new`]) expect(parse(path)).toThrow(/more than 255 bytes/);
  });

  test('of a link itself is no file to delete or move', () => {
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
  ])('of the folder of the tools is none of a file: %s', async (name, input) => {
    const root = folder({ 'dir/a': 'a' });
    const done = calling(root).run(name, input);
    await expect(done).rejects.toMatchObject({
      isFinal: true,
      message: `${root} is a folder; files are moved, written and deleted one by one`,
    });
    expect(listing(root)).toMatchObject({ 'dir/a': '644 a' });
  });

  test('folds what its file system takes for one name', () => {
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
    const inputs = ['dir/a.txt', 'b.txt'].map((path) => of('write').parse({ path, content: 'new' }));
    renameSync(join(root, 'dir'), join(root, 'was'));
    symlinkSync(outside, join(root, 'dir'));
    unlinkSync(join(root, 'b.txt'));
    symlinkSync(join(outside, 'a.txt'), join(root, 'b.txt'));
    for (const [i, input] of inputs.entries()) {
      const call = { key: `k${i}`, signal: new AbortController().signal };
      await expect(of('write').spec.execute(input, call, [])).rejects.toMatchObject({ isFinal: true });
    }
    expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe('outside');
    await expect(run('write', { path: 'dir/a.txt', content: '' })).rejects.toThrow(/leads out/);
  });
});

test('a mode by which its owner may not read it is refused', () => {
  const { of } = calling(folder());
  const parse = (mode: number) => () => of('write').parse({ path: 'a', content: '', mode });
  for (const mode of [0, 0o200, 0o377]) expect(parse(mode)).toThrow(/has to let its owner read/);
  expect(parse(0o400)).not.toThrow();
});

test('a list of very many names is cut', async () => {
  const names = Array.from({ length: 130_000 }, (_, i) => ({ name: String(i), is: 'file' as const }));
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

describe('what was done at once', () => {
  const WRITE = { path: 'sub/a.txt', content: 'new' };

  test('is undone to the byte and the mode, and the folders made for it go', async () => {
    const root = folder();
    put(root, 'b', 'old', 0o4711);
    const before = listing(root);
    const { run, undo, ask } = calling(root);
    await run('write', WRITE);
    await run('write', { path: 'b', content: 'x', mode: 0o600 }, 'b');
    expect(listing(root)).toEqual({ b: '600 x', 'sub/': '', 'sub/a.txt': '644 new' });
    expect(await ask('write', WRITE)).toMatchObject({ happened: true, result: { hash: hash('new') } });
    for (let again = 0; again < 2; again++) {
      expect(await undo('write', { path: 'b', content: 'x' }, 'b')).toEqual({ undone: 'all' });
      expect(await undo('write', WRITE)).toEqual({ undone: 'all' });
    }
    expect(listing(root)).toEqual(before);
    expect(await ask('write', WRITE)).toEqual({ happened: false });
  });

  test('under one key is done once', async () => {
    const root = folder();
    const { run } = calling(root);
    const first = await run('write', WRITE);
    put(root, 'sub/a.txt', 'somebody else');
    expect(await run('write', WRITE)).toEqual(first);
    expect(listing(root)).toMatchObject({ 'sub/a.txt': '644 somebody else' });
  });

  test.each([
    ['write', WRITE, 'sub/a.txt'],
    ['delete', { path: 'c' }, 'c'],
    ['move', { from: 'c', to: 'sub/c' }, 'sub/c'],
  ])('%s stays where somebody has changed it since, who is told of', async (name, input, path) => {
    const root = folder({ c: 'c' });
    const { run, undo } = calling(root);
    await run(name, input);
    put(root, path, 'theirs');
    const before = listing(root);
    expect(await undo(name, input)).toMatchObject({
      undone: 'partly',
      residue: { why: expect.stringMatching(/since/) },
    });
    expect(listing(root)).toEqual(before);
  });

  test('of which its journal is gone, is not taken for undone', async () => {
    const root = folder();
    const { run, undo } = calling(root);
    await run('write', WRITE);
    rmSync(join(root, '.assize'), { recursive: true });
    expect(await undo('write', WRITE)).toMatchObject({ undone: 'partly' });
  });

  test('was not done where only what was staged for it is put away', async () => {
    const root = folder({ 'a.txt': 'old' });
    const input = { path: 'a.txt', content: 'new' };
    const isStaged = (path: string): boolean => path.endsWith('.staged');
    const first = calling(
      root,
      'externalised',
      dying((step, path) => step === 'rename' && isStaged(path), 'before'),
    );
    await expect(first.run('write', input)).rejects.toThrow(/ended/);
    const second = calling(
      root,
      'externalised',
      dying((step, path) => step === 'remove' && isStaged(path), 'after'),
    );
    await expect(second.ask('write', input)).rejects.toThrow(/ended/);
    expect(await calling(root).ask('write', input)).toEqual({ happened: false });
    expect(listing(root)).toEqual({ 'a.txt': '644 old' });
  });

  test.each([
    ['once', 1],
    ['for good', Number.POSITIVE_INFINITY],
  ])('was not done where a disk could %s not keep the name of what the journal says', async (_, times) => {
    const root = folder({ 'a.txt': 'old' });
    const input = { path: 'a.txt', content: 'new' };
    let refused = 0;
    let isReady = false;
    const failing = (disk: Disk): Disk => ({
      ...disk,
      rename: async (from, to) => {
        await disk.rename(from, to);
        isReady ||= to.endsWith('.json');
      },
      sync: async (path) => {
        if (isReady && refused++ < times) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' });
        return disk.sync(path);
      },
    });
    const dies = dying((step, path) => isReady && step === 'remove' && path.endsWith('.staged'), 'after');
    const first = calling(root, 'externalised', (disk) => dies(failing(disk)));
    await expect(first.run('write', input)).rejects.toThrow();
    expect(refused).toBeGreaterThan(0);
    const next = calling(root);
    expect(await next.ask('write', input)).toEqual({ happened: false });
    await next.run('write', input);
    expect(listing(root)).toEqual({ 'a.txt': '644 new' });
  });

  test('is undone again where that came to no end', async () => {
    const root = folder({ c: 'c' });
    await calling(root).run('delete', { path: 'c' });
    const first = calling(
      root,
      'externalised',
      dying((step, path) => step === 'rename' && /restoring$/.test(path), 'after'),
    );
    await expect(first.undo('delete', { path: 'c' })).rejects.toThrow(/ended/);
    const { ask, undo } = calling(root);
    expect(await ask('delete', { path: 'c' })).toMatchObject({ happened: true });
    expect(await undo('delete', { path: 'c' })).toEqual({ undone: 'all' });
    expect(await ask('delete', { path: 'c' })).toEqual({ happened: false });
    expect(listing(root)).toEqual({ c: '644 c' });
  });

  test.each([
    ['delete', { path: 'c' }, 'write', { path: 'c', content: 'next' }],
    ['move', { from: 'c', to: 'd' }, 'write', { path: 'd', content: 'next' }],
    ['move', { from: 'c', to: 'd' }, 'delete', { path: 'd' }],
    ['move', { from: 'c', to: 'd' }, 'move', { from: 'd', to: 'c' }],
  ])('%s %j is known for done, whatever %s %j does there next', async (name, input, next, then) => {
    const root = folder({ c: 'c' });
    const { run, ask } = calling(root);
    const result = await run(name, input, 'first');
    await run(next, then, 'next');
    const after = listing(root);
    expect(await ask(name, input, 'first')).toEqual({ happened: true, result });
    expect(await run(name, input, 'first')).toEqual(result);
    expect(listing(root)).toEqual(after);
  });

  test('is known for done from when that was found out', async () => {
    const root = folder({ c: 'c' });
    const first = calling(
      root,
      'externalised',
      dying((step, path) => step === 'remove' && path === join(root, 'c'), 'after'),
    );
    await expect(first.run('delete', { path: 'c' })).rejects.toThrow(/ended/);
    const { ask } = calling(root);
    expect(await ask('delete', { path: 'c' })).toMatchObject({ happened: true });
    put(root, 'c', 'other');
    expect(await ask('delete', { path: 'c' })).toMatchObject({ happened: true });
  });

  test('is not told for sure where nobody can', async () => {
    const root = folder({ c: 'c' });
    const first = calling(
      root,
      'externalised',
      dying((step, path) => step === 'remove' && path === join(root, 'c'), 'after'),
    );
    await expect(first.run('delete', { path: 'c' })).rejects.toThrow(/ended/);
    put(root, 'c', 'other');
    await expect(calling(root).ask('delete', { path: 'c' })).rejects.toThrow(/Nobody can tell/);
  });

  test.each([
    ['that has the same bytes', 'precious', (id: string) => id],
    ['where no time of birth was noted', 'theirs', shortOf],
    ['too large to be looked at', 'x'.repeat(1_001), shortOf],
  ])('is neither done again nor forgotten for a file of the same number %s', async (_, theirs, noted) => {
    const root = folder({ c: 'precious' });
    const first = calling(root, 'externalised', dyingAt('remove', join(root, 'c')));
    await expect(first.run('delete', { path: 'c' })).rejects.toThrow(/ended/);
    put(root, 'c', theirs);
    const { dev, ino } = statSync(join(root, 'c'));
    amend(root, 'delete.json', ({ before, ...rest }) => {
      const born = before.id.split(':')[2];
      return { ...rest, before: { ...before, id: noted(`${dev}:${ino}:${born}`) } };
    });
    const { ask, run } = calling(root);
    await expect(ask('delete', { path: 'c' })).rejects.toThrow(/Nobody can tell/);
    await expect(run('delete', { path: 'c' })).rejects.toThrow(/Nobody can tell/);
    expect(listing(root)).toEqual({ c: `644 ${theirs}` });
    expect(kept(root)).toEqual(['delete.before', 'delete.json']);
  });

  test.each([
    ['delete', { path: 'c' }, 'before'],
    ['delete', { path: 'c' }, 'after'],
    ['move', { from: 'c', to: 'd' }, 'before'],
    ['move', { from: 'c', to: 'd' }, 'after'],
  ] as const)('%s %j is understood as an earlier version noted it, with a crash %s it', async (name, input, when) => {
    const root = folder({ c: 'c' });
    const dies = dying((step, path) => /^(remove|rename)$/.test(step) && path === join(root, 'c'), when);
    await expect(calling(root, 'externalised', dies).run(name, input)).rejects.toThrow(/ended/);
    amend(root, `${name}.json`, ({ attempt: _, before, ...rest }) => {
      const { hash, mode, id } = before;
      return { ...rest, before: { hash, mode, id: shortOf(id) } };
    });
    const { ask, undo } = calling(root);
    expect(await ask(name, input)).toMatchObject({ happened: when === 'after' });
    if (when === 'after') expect(await undo(name, input)).toEqual({ undone: 'all' });
    expect(listing(root)).toEqual({ c: '644 c' });
  });

  describe('and of which somebody took away what was staged', () => {
    const input = { path: 'a', content: 'new' };
    async function cleanedAway(files: Readonly<Record<string, string>>): Promise<string> {
      const root = folder(files);
      const dies = dying((step, path) => step === 'rename' && path.endsWith('.staged'), 'before');
      await expect(calling(root, 'externalised', dies).run('write', input)).rejects.toThrow(/ended/);
      for (const name of readdirSync(root)) if (name.endsWith('.staged')) rmSync(join(root, name));
      return root;
    }

    test.each([[{ a: 'old' }], [{}]])('was not done where all is as it was: %j', async (files) => {
      const root = await cleanedAway(files);
      const before = listing(root);
      const { ask, run } = calling(root);
      expect(await ask('write', input)).toEqual({ happened: false });
      expect(listing(root)).toEqual(before);
      await run('write', input);
      expect(listing(root)).toEqual({ a: '644 new' });
    });

    test('is not told for sure where somebody has changed the file', async () => {
      const root = await cleanedAway({ a: 'old' });
      put(root, 'a', 'theirs');
      const { ask, undo } = calling(root);
      await expect(ask('write', input)).rejects.toThrow(/Nobody can tell/);
      expect(await undo('write', input)).toMatchObject({ undone: 'partly' });
      expect(listing(root)).toEqual({ a: '644 theirs' });
    });
  });

  test('has no bits but those of permissions', async () => {
    const root = folder({ b: 'b' });
    put(root, 'a', 'old', 0o6755);
    chmodSync(join(root, 'b'), 0o4711);
    const { run } = calling(root);
    expect(await run('write', { path: 'a', content: 'new' })).toMatchObject({ mode: 0o755 });
    await run('edit', { path: 'b', edits: [{ old: 'b', new: 'c' }] });
    expect(listing(root)).toEqual({ a: '755 new', b: '711 c' });
  });

  test.each([
    ['write', { path: 'a', content: 'new' }],
    ['delete', { path: 'a' }],
  ])(
    '%s is undone without the bits by which a file acts for its owner, where that was another one',
    async (name, input) => {
      const root = folder();
      put(root, 'a', 'old', 0o4755);
      const theirs = (disk: Disk): Disk => ({
        ...disk,
        look: async (path) => {
          const seen = await disk.look(path);
          return seen.is === 'file' && seen.mode === 0o4755 ? { ...seen, owner: '12345:12345' } : seen;
        },
      });
      const { run, undo } = calling(root, 'externalised', theirs);
      await run(name, input);
      for (let again = 0; again < 2; again++) expect(await undo(name, input)).toEqual({ undone: 'all' });
      expect(listing(root)).toEqual({ a: '755 old' });
    },
  );

  test.each([
    ['delete', { path: 'c' }],
    ['write', { path: 'c', content: 'new' }],
  ])('%s is not forgotten by a call that stood still while another took over', async (name, input) => {
    const root = folder({ c: 'precious' });
    const [still, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const stops = (disk: Disk): Disk => ({
      ...disk,
      remove: async (path) => {
        still.resolve();
        await goOn.promise;
        return disk.remove(path);
      },
    });
    const lease = new AbortController();
    const { of } = calling(root, 'externalised', stops);
    const late = of(name).spec.execute(of(name).parse(input), { key: name, epoch: 1, signal: lease.signal }, []);
    await still.promise;
    lease.abort();
    const { ask, run, undo } = calling(root);
    expect(await ask(name, input)).toEqual({ happened: false });
    await run(name, input);
    goOn.resolve();
    await expect(late).rejects.toThrow(/too late/);
    expect(await undo(name, input)).toEqual({ undone: 'all' });
    expect(listing(root)).toEqual({ c: '644 precious' });
  });

  test.each([
    ['delete', { path: 'd/f' }],
    ['move', { from: 'd/f', to: 'g' }],
  ])('%s is undone for good, with the folders that are made again for it', async (name, input) => {
    const root = folder({ 'd/f': 'f' });
    const steps: string[] = [];
    const told = (disk: Disk): Disk => ({
      ...disk,
      sync: async (path) => {
        steps.push(`sync ${path}`);
        return disk.sync(path);
      },
      makeFolder: async (path) => {
        steps.push(`make ${path}`);
        return disk.makeFolder(path);
      },
    });
    const { run, undo } = calling(root, 'externalised', told);
    await run(name, input);
    rmSync(join(root, 'd'), { recursive: true });
    steps.length = 0;
    expect(await undo(name, input)).toEqual({ undone: 'all' });
    const madeAt = steps.indexOf(`make ${join(root, 'd')}`);
    expect(steps[madeAt + 1]).toBe(`sync ${root}`);
  });

  test('is kept until a later transaction acts there, and no longer', async () => {
    const root = folder({ a: '0' });
    const { run, undo } = calling(root);
    await run('write', { path: 'a', content: '1' }, 'k1', 1);
    await run('write', { path: 'a', content: '2' }, 'k2', 1);
    await run('write', { path: 'b', content: '1' }, 'k3', 1);
    expect(kept(root)).toEqual(['k1.before', 'k1.json', 'k2.before', 'k2.json', 'k3.json']);
    expect(await undo('write', { path: 'a', content: '2' }, 'k2')).toEqual({ undone: 'all' });
    expect(await undo('write', { path: 'a', content: '1' }, 'k1')).toEqual({ undone: 'all' });
    expect(listing(root)).toEqual({ a: '644 0', b: '644 1' });
    await run('write', { path: 'a', content: '3' }, 'k4', 2);
    expect(kept(root)).toEqual(['k3.json', 'k4.before', 'k4.json']);
  });

  test('nothing is done for a call that may take no longer', async () => {
    const root = folder();
    const { of } = calling(root);
    const call = { key: 'k', signal: AbortSignal.abort() };
    await expect(of('write').spec.execute(of('write').parse(WRITE), call, [])).rejects.toThrow(/too late/);
    expect(listing(root)).toEqual({});
  });

  test('no more folders are made for a call whose time is over', async () => {
    const root = folder();
    const stop = new AbortController();
    const made: string[] = [];
    const disk = (real: Disk): Disk => ({
      ...real,
      makeFolder: (path) => {
        if (path.startsWith(join(root, 'a'))) {
          made.push(path);
          stop.abort();
        }
        return real.makeFolder(path);
      },
    });
    const write = fileTools({ root, disk }).find(({ name }) => name === 'files.write')!;
    const input = write.parse({ path: 'a/a/a/a/x', content: '' });
    const late = write.spec.execute(input, { key: 'k', signal: stop.signal }, []);
    await expect(late).rejects.toThrow(/too late/);
    expect([made, listing(root)]).toEqual([[join(root, 'a')], {}]);
  });

  test.skipIf(process.getuid!() === 0)('a folder that can not be written to leaves nothing', async () => {
    const root = folder({ 'dir/a': 'a' });
    chmodSync(join(root, 'dir'), 0o555);
    const { run } = calling(root);
    await expect(run('write', { path: 'dir/b', content: 'b' })).rejects.toMatchObject({ name: 'DidNothing' });
    chmodSync(join(root, 'dir'), 0o755);
    expect(kept(root)).toEqual([]);
  });
});

test('what could not be put back is given to mitigate', async () => {
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
  expect(asked).toMatchObject([[path, { path, why: 'somebody has changed it since' }]]);
  expect(listing(root)).toEqual({ a: '644 theirs' });
});

/** Which file it is, as earlier versions have written it. */
function shortOf(id: string): string {
  return id.split(':').slice(0, 2).join(':');
}

/** Writes an entry of the journal anew. */
function amend(root: string, name: string, change: (entry: any) => unknown): void {
  const path = Object.keys(listing(join(root, '.assize'))).find((each) => each.endsWith(`/${name}`))!;
  const entry = JSON.parse(readFileSync(join(root, '.assize', path), 'utf8'));
  writeFileSync(join(root, '.assize', path), JSON.stringify(change(entry)));
}

function kept(root: string): string[] {
  const all = listing(join(root, '.assize'));
  return Object.keys(all)
    .filter((path) => !path.endsWith('/'))
    .map((path) => path.split('/').at(-1)!)
    .sort();
}

test.each([
  ['what there is not', { delivry: 'externalised' }, 'no member "delivry"; there are root, name, delivery'],
  ['what there is not, beside what there is', { bytesMax: 1, bytesmax: 1 }, 'no member "bytesmax"'],
  ['another delivery', { delivery: 'later' }, '/delivery: it has to be "buffered" or "externalised"'],
  ['no bytes', { bytesMax: 0 }, '/bytesMax: '],
  ['a disk that is none', { disk: {} }, '/disk: it has to be a function, and is an object'],
])('%s is refused by name', (_, options, why) => {
  const make = () => fileTools({ root: folder(), ...options } as never);
  expect(make).toThrow(expect.objectContaining({ code: 'invalid_tool', message: expect.stringContaining(why) }));
});

test('a root that can not be used is refused by name', () => {
  const root = folder({ file: '' });
  for (const bad of ['relative', join(root, 'none'), join(root, 'file'), '/proc'])
    expect(() => fileTools({ root: bad })).toThrow(expect.objectContaining({ code: 'invalid_tool' }));
  expect(() => fileScope(root, '../x')).toThrow(expect.objectContaining({ code: 'bad_input' }));
});
