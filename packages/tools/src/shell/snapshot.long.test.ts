import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { asUnprivilegedUser } from '../../../../tests/support/process/as-unprivileged-user.ts';
import { listing } from '../../../../tests/support/tools/files-stage.ts';
import { Snapshots } from './snapshot.ts';

const NOBODY = 65_534;

/** Of a folder with folders inside that take no files. It is not root's. */
function stage(): { readonly root: string; readonly snapshots: Snapshots; readonly place: string } {
  const place = mkdtempSync(join(tmpdir(), 'assize-snapshot-'));
  onTestFinished(() => rmSync(place, { recursive: true }));
  const root = join(place, 'repo');
  const inner = join(root, 'shut', 'inner');
  mkdirSync(inner, { recursive: true });
  for (const folder of [root, join(root, 'shut'), inner]) writeFileSync(join(folder, 'a.txt'), 'a');
  mkdirSync(join(root, 'open'));
  writeFileSync(join(root, 'open', 'b.txt'), 'b');
  if (process.geteuid!() === 0)
    for (const path of [place, root, ...Object.keys(listing(root)).map((at) => join(root, at))])
      chownSync(path, NOBODY, NOBODY);
  for (const folder of [inner, join(root, 'shut')]) chmodSync(folder, 0o555);
  return { root, snapshots: new Snapshots(root), place };
}

/** The contents of the folder, and the modes of its folders. */
function standing(root: string): object {
  const modes = ['.', 'shut', 'shut/inner', 'open'].map(
    (at) => statSync(join(root, at)).mode & 0o7777,
  );
  return { found: listing(root), modes };
}

test.each<[string, (root: string) => Promise<void>]>([
  ['as they were', async () => undefined],
  [
    'opened by the command, and emptied',
    async (root) => {
      for (const folder of ['shut', 'shut/inner']) await chmod(join(root, folder), 0o700);
      await rm(join(root, 'shut'), { recursive: true });
    },
  ],
  ['shut by the command', (root) => chmod(join(root, 'open'), 0o500)],
])('folders inside that take no files are put back with their modes: %s', async (_, command) => {
  const { root, snapshots, place } = stage();
  const before = standing(root);
  await asUnprivilegedUser(async () => {
    for (const key of ['undone', 'cut off']) {
      await snapshots.take(key, 1);
      await command(root);
      await writeFile(join(root, 'a.txt'), 'changed');
      if (key === 'undone') {
        await snapshots.ended(key, null);
        expect(await snapshots.undo(key)).toEqual({ undone: 'all' });
      } else expect(await snapshots.settle(key)).toEqual({ happened: false });
      expect(standing(root)).toEqual(before);
    }
    // Copies of older transactions go, too.
    await snapshots.take('kept', 2);
    await snapshots.take('later', 3);
    await snapshots.delete('later');
  });
  expect(listing(join(place, '.assize-snapshots'))).toEqual({ 'repo/': '' });
});

test('a folder that the command has shut altogether is put back', async () => {
  const { root, snapshots } = stage();
  const before = standing(root);
  await asUnprivilegedUser(async () => {
    await snapshots.take('k', 1);
    await chmod(join(root, 'open'), 0);
    expect(await snapshots.settle('k')).toEqual({ happened: false });
  });
  expect(standing(root)).toEqual(before);
});

test.each(['emptied', 'removed', 'given away'])(
  'a folder that the command has %s regains its owner and its contents',
  async (how) => {
    const { root, snapshots } = stage();
    // Root may give a file to any user, others to their own groups.
    const isRoot = process.geteuid!() === 0;
    const theirs =
      process.getgroups!().find((gid) => gid !== process.getgid!()) ?? process.getgid!();
    symlinkSync('a.txt', join(root, 'link'));
    chownSync(join(root, 'a.txt'), isRoot ? 12_345 : process.geteuid!(), theirs);
    chmodSync(join(root, 'a.txt'), 0o4755);
    const owners = () =>
      ['.', 'a.txt', 'link', ...Object.keys(listing(root))].map((at) => {
        const { uid, gid, mode } = lstatSync(join(root, at));
        return [at, uid, gid, mode];
      });
    const before = owners();
    await snapshots.take('k', 1);
    if (how === 'given away') {
      for (const at of ['.', 'open'])
        chownSync(join(root, at), isRoot ? 0 : process.geteuid!(), theirs);
    } else rmSync(root, { recursive: true });
    if (how === 'emptied') mkdirSync(root);
    if (how === 'emptied' && isRoot) chownSync(root, NOBODY, NOBODY);
    expect(await snapshots.settle('k')).toEqual({ happened: false });
    expect(owners()).toEqual(before);
  },
);

test.runIf(process.geteuid?.() === 0)(
  'a file that acts for its owner does not do so for the restoring user',
  async () => {
    const { root, snapshots } = stage();
    for (const [name, gid] of [
      ['theirs', 12_345],
      // After a change of the user id, the process still has its groups.
      ['mine', process.getegid!()],
    ] as const) {
      writeFileSync(join(root, name), name);
      chownSync(join(root, name), name === 'mine' ? NOBODY : 12_345, gid);
      chmodSync(join(root, name), 0o6755);
    }
    await asUnprivilegedUser(async () => {
      for (const key of ['undone', 'cut off']) {
        await snapshots.take(key, 1);
        await rm(join(root, 'theirs'));
        if (key === 'undone') {
          await snapshots.ended(key, null);
          expect(await snapshots.undo(key)).toEqual({ undone: 'all' });
        } else expect(await snapshots.settle(key)).toEqual({ happened: false });
      }
    });
    const seen = ['theirs', 'mine'].map((name) => {
      const { uid, mode } = statSync(join(root, name));
      return [readFileSync(join(root, name), 'utf8'), uid, mode & 0o7777];
    });
    expect(seen).toEqual([
      ['theirs', NOBODY, 0o755],
      ['mine', NOBODY, 0o6755],
    ]);
  },
);

/** The result of a read of a file or folder that may be gone. */
function orNone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Of the run `k`. */
const copyIn = (place: string): string => join(place, '.assize-snapshots/repo/k');

test('a folder is left as it is where the copy of it is not whole any more', async () => {
  const { root, snapshots, place } = stage();
  await snapshots.take('k', 1);
  writeFileSync(join(root, 'a.txt'), 'changed');
  const left = standing(root);
  rmSync(join(copyIn(place), 'open/b.txt'));
  for (let again = 0; again < 2; again++)
    await expect(snapshots.settle('k')).rejects.toMatchObject({
      name: 'NoAnswer',
      why: 'snapshot_damaged',
    });
  rmSync(copyIn(place), { recursive: true });
  await expect(snapshots.settle('k')).rejects.toMatchObject({ why: 'snapshot_damaged' });
  expect(standing(root)).toEqual(left);
});

test('crash leftovers of an entry are deleted with it: of its first write', async () => {
  const { snapshots, place } = stage();
  const home = join(place, '.assize-snapshots/repo');
  await snapshots.take('k', 1);
  renameSync(join(home, 'k.json'), join(home, 'k.json.new'));
  expect(await snapshots.settle('k')).toEqual({ happened: false });
  expect(listing(home)).toEqual({});
});

test('crash leftovers of an entry are deleted with it: by a later transaction', async () => {
  const { snapshots, place } = stage();
  const home = join(place, '.assize-snapshots/repo');
  await snapshots.take('k', 1);
  writeFileSync(join(home, 'k.json.new'), '{"format":1,"epo');
  await snapshots.take('l', 2);
  await snapshots.delete('l');
  expect(listing(home)).toEqual({});
});

test('crash leftovers of an unfinished copy are deleted by the next run', async () => {
  const { snapshots, place } = stage();
  const home = join(place, '.assize-snapshots/repo');
  await snapshots.take('k', 2);
  mkdirSync(join(home, 'unfinished/sub'), { recursive: true });
  await snapshots.take('l', 2);
  expect(readdirSync(home).sort()).toEqual(['k', 'k.json', 'l', 'l.json']);
});

test('a copy that ends too late is not recorded, so no crash restores it', async () => {
  const { root, snapshots, place } = stage();
  rmSync(root, { recursive: true });
  mkdirSync(root);
  await expect(snapshots.take('k', 1, AbortSignal.abort())).rejects.toThrow(/aborted/);
  expect(readdirSync(join(place, '.assize-snapshots/repo'))).toEqual(['k']);
  writeFileSync(join(root, 'theirs'), '');
  expect(await snapshots.settle('k')).toEqual({ happened: false });
  expect(readdirSync(root)).toEqual(['theirs']);
});

test('a run is written down as put back before anything of its copy goes', async () => {
  const { root, snapshots, place } = stage();
  for (let n = 0; n < 100; n++) writeFileSync(join(root, `${n}.txt`), '');
  await snapshots.take('k', 1);
  const whole = readdirSync(copyIn(place)).length;
  let answer: unknown;
  const settled = snapshots.settle('k').then((found) => {
    answer = found;
  });
  while (answer === undefined) {
    await new Promise((resolve) => setImmediate(resolve));
    const isWhole = orNone(() => readdirSync(copyIn(place)))?.length === whole;
    // Keep this order: the entry was recorded before the state of the copy that is found now.
    const entry = orNone(() => readFileSync(`${copyIn(place)}.json`, 'utf8'));
    if (!isWhole && entry !== undefined)
      expect(JSON.parse(entry)).toMatchObject({ state: 'undone' });
  }
  await settled;
  expect(answer).toEqual({ happened: false });
});

test('a copy that is half gone is of no account where its run was put back', async () => {
  const { root, snapshots, place } = stage();
  const before = standing(root);
  await snapshots.take('k', 1);
  const entry = JSON.parse(readFileSync(`${copyIn(place)}.json`, 'utf8'));
  writeFileSync(`${copyIn(place)}.json`, JSON.stringify({ ...entry, state: 'undone' }));
  rmSync(join(copyIn(place), 'open'), { recursive: true });
  expect(await snapshots.settle('k')).toEqual({ happened: false });
  expect(standing(root)).toEqual(before);
});

test.each<[string, (root: string, elsewhere: string) => void]>([
  ['nothing', () => undefined],
  ['a file', (root) => writeFileSync(root, 'mine')],
  ['a link to another folder', (root, elsewhere) => symlinkSync(elsewhere, root)],
  ['a link to nothing', (root) => symlinkSync('nowhere', root)],
])('a folder is put back also where the command has left %s in its place', async (_, leave) => {
  const { root, snapshots, place } = stage();
  const before = standing(root);
  const elsewhere = join(place, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'theirs'), 'x');
  for (const isEnded of [false, true]) {
    await snapshots.take('k', 1);
    rmSync(root, { recursive: true });
    leave(root, elsewhere);
    if (isEnded) {
      await snapshots.ended('k', null);
      expect(await snapshots.undo('k')).toEqual({ undone: 'all' });
    } else expect(await snapshots.settle('k')).toEqual({ happened: false });
    expect(standing(root)).toEqual(before);
    expect(listing(elsewhere)).toEqual({ theirs: '644 x' });
  }
});

test('an entry that vanishes during the search does not hide other entries', async () => {
  const { root, snapshots, place } = stage();
  expect(Snapshots.keptOf(root)).toBe(false);
  await snapshots.take('k', 1);
  // Like entries that other processes remove between the listing and the read, in any order. Among
  // this many, one precedes the real entry.
  for (let n = 0; n < 100; n++) symlinkSync('gone', join(copyIn(place), `../${n}.json`));
  expect(Snapshots.keptOf(root)).toBe(true);
  await snapshots.settle('k');
  expect(Snapshots.keptOf(root)).toBe(false);
});

test('a link is not copied in the place of the folder', async () => {
  const { root, snapshots, place } = stage();
  rmSync(root, { recursive: true });
  mkdirSync(join(place, 'elsewhere'));
  symlinkSync('elsewhere', root);
  await expect(snapshots.take('k', 1)).rejects.toThrow(/is no longer a folder/);
  expect(readlinkSync(root)).toBe('elsewhere');
});

test.each([
  ['a file', 'echo y > "$(printf "open/odd\\377")"'],
  ['a folder', 'mkdir "$(printf "open/odd\\377")"'],
  ['what a link leads to', 'ln -s "$(printf "odd\\377")" open/link'],
])('a folder is not copied if the name of %s inside is not UTF-8', async (_, script) => {
  const { root, snapshots } = stage();
  mkdirSync(join(root, 'open/of'));
  // By its text, this one is meant by the other's name.
  writeFileSync(join(root, 'open/odd\ufffd'), 'x');
  execFileSync('/bin/sh', ['-c', script], { cwd: root });
  await expect(snapshots.take('k', 1)).rejects.toThrow(/not UTF-8\. Rename/);
});

test('a restore skips only files with exactly the tools’ own names', async () => {
  const { root, snapshots } = stage();
  const books = ['.assize', '.assize-branches', '.assize-snapshots'];
  for (const own of books) mkdirSync(join(root, own));
  writeFileSync(join(root, '.assize.yml'), 'old');
  await snapshots.take('k', 1);
  for (const own of books) writeFileSync(join(root, own, 'kept'), '');
  writeFileSync(join(root, '.assize.yml'), 'new');
  writeFileSync(join(root, '.assize-made'), '');
  await snapshots.ended('k', null);
  expect(await snapshots.undo('k')).toEqual({ undone: 'all' });
  expect(readdirSync(root).sort()).toEqual([...books, '.assize.yml', 'a.txt', 'open', 'shut']);
  expect(readFileSync(join(root, '.assize.yml'), 'utf8')).toBe('old');
  for (const own of books) expect(readdirSync(join(root, own))).toEqual(['kept']);
});

test('a file that is too large to be read in one call is read in parts', async () => {
  const { root, snapshots } = stage();
  await snapshots.take('k', 1);
  writeFileSync(join(root, 'large'), '');
  truncateSync(join(root, 'large'), 2 ** 31 + 1);
  await snapshots.ended('k', 'done');
  expect(await snapshots.settle('k')).toEqual({ happened: true, result: 'done' });
});

test('files that the command nested too deep for any path are deleted', async () => {
  const { root, snapshots } = stage();
  const before = standing(root);
  await snapshots.take('k', 1);
  const deeper = 'mkdir -p "$1/$1" "$1/beside"; echo x > "$1/x"; cd "$1" && chmod 500 beside';
  execFileSync('/bin/bash', ['-c', `for n in {1..40}; do ${deeper}; done`, 'sh', 'n'.repeat(200)], {
    cwd: root,
  });
  expect(await snapshots.settle('k')).toEqual({ happened: false });
  expect(standing(root)).toEqual(before);
});
