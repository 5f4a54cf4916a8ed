import {
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listing, put } from '../../../../tests/support/tools/files-stage.ts';
import { calling, folder, hash } from '../../tests/support/file-calls.ts';
import type { Disk } from './disk.ts';
import { fileTools } from './file-tools.ts';

/** A disk that does nothing any more from the first such step on, or from right after it. */
function dying(
  which: (step: string, path: string) => boolean,
  when: 'before' | 'after',
): (disk: Disk) => Disk {
  let isDead = false;
  return (disk) =>
    new Proxy(disk, {
      get:
        (target, name) =>
        async (path: string, ...rest: unknown[]) => {
          const isIt = which(String(name), path);
          isDead ||= isIt && when === 'before';
          if (isDead) throw new Error('the process has ended');
          const answer = await Reflect.apply(Reflect.get(target, name) as () => unknown, target, [
            path,
            ...rest,
          ]);
          isDead ||= isIt;
          return answer;
        },
    });
}

/** A disk that does nothing any more after such a step at a path. */
function dyingAt(step: string, path: string): (disk: Disk) => Disk {
  return dying((each, at) => each === step && at === path, 'after');
}

/**
 * An owner that this process may give a file to: any user for root, otherwise a group of the
 * process.
 */
function somebodyElse(): [uid: number, gid: number] {
  const [uid, gid] = [process.getuid!(), process.getgid!()];
  return uid === 0
    ? [12_345, 12_345]
    : [uid, process.getgroups!().find((each) => each !== gid) ?? gid];
}

describe('an effect that was executed immediately', () => {
  const WRITE = { path: 'sub/a.txt', content: 'new' };

  test('is undone to the byte and the mode, and the folders made for it go', async () => {
    const root = folder();
    put(root, 'b', 'old', 0o4711);
    const before = listing(root);
    const { run, undo, ask } = calling(root);
    await run('write', WRITE);
    await run('write', { path: 'b', content: 'x', mode: 0o600 }, 'b');
    expect(listing(root)).toEqual({ b: '600 x', 'sub/': '', 'sub/a.txt': '644 new' });
    expect(await ask('write', WRITE)).toMatchObject({
      happened: true,
      result: { hash: hash('new') },
    });
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
  ])('%s stays if the file was changed since, and this is reported', async (name, input, path) => {
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

  test('many times at one path has constant journal reads, and is pruned later', async () => {
    const root = folder();
    const looked: number[] = [];
    const counting = (disk: Disk): Disk => ({
      ...disk,
      look: (path) => {
        if (path.endsWith('.json')) looked[looked.length - 1]! += 1;
        return disk.look(path);
      },
    });
    const { run } = calling(root, 'externalised', counting);
    for (let i = 0; i < 20; i++) {
      looked.push(0);
      await run('write', { path: 'a', content: `${i}` }, `k${i}`, 1);
    }
    expect(new Set(looked.slice(1)).size).toBe(1);
    expect(kept(root)).toHaveLength(20 + 19);
    looked.push(0);
    await run('write', { path: 'a', content: 'later' }, 'later', 2);
    expect(kept(root)).toEqual(['later.before', 'later.json']);
  });

  test('was not done if a crash cut its journal write, and leaves nothing of it', async () => {
    const root = folder({ 'a.txt': 'old' });
    const input = { path: 'a.txt', content: 'new' };
    const first = calling(
      root,
      'externalised',
      dying((step, path) => step === 'rename' && path.endsWith('.json.new'), 'before'),
    );
    await expect(first.run('write', input)).rejects.toThrow(/ended/);
    expect(kept(root)).toContainEqual(expect.stringMatching(/\.json\.new$/));
    expect(await calling(root).ask('write', input)).toEqual({ happened: false });
    expect(kept(root)).toEqual([]);
    expect(listing(root)).toEqual({ 'a.txt': '644 old' });
  });

  test('whose journal is gone is not taken for undone', async () => {
    const root = folder();
    const { run, undo } = calling(root);
    await run('write', WRITE);
    rmSync(join(root, '.assize'), { recursive: true });
    expect(await undo('write', WRITE)).toMatchObject({ undone: 'partly' });
  });

  test('was not done if only its staged file is removed', async () => {
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
  ])('was not done if a disk could %s not keep the name of its journal file', async (_, times) => {
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
        if (isReady && refused++ < times)
          throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' });
        return disk.sync(path);
      },
    });
    const dies = dying(
      (step, path) => isReady && step === 'remove' && path.endsWith('.staged'),
      'after',
    );
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
  ])('%s %j is known as done, even if %s %j follows there', async (name, input, next, then) => {
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

  test('is not reported as certain if its outcome is unknown', async () => {
    const root = folder({ c: 'c' });
    const first = calling(
      root,
      'externalised',
      dying((step, path) => step === 'remove' && path === join(root, 'c'), 'after'),
    );
    await expect(first.run('delete', { path: 'c' })).rejects.toThrow(/ended/);
    put(root, 'c', 'other');
    await expect(calling(root).ask('delete', { path: 'c' })).rejects.toThrow(
      /The outcome for .* is unknown/,
    );
  });

  test.each([
    ['that has the same bytes', 'precious', (id: string) => id],
    ['where no time of birth was noted', 'theirs', shortOf],
    ['too large to be looked at', 'x'.repeat(1_001), shortOf],
  ])(
    'is neither done again nor forgotten for a file of the same number %s',
    async (_, theirs, noted) => {
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
      await expect(ask('delete', { path: 'c' })).rejects.toThrow(/The outcome for .* is unknown/);
      await expect(run('delete', { path: 'c' })).rejects.toThrow(/The outcome for .* is unknown/);
      expect(listing(root)).toEqual({ c: `644 ${theirs}` });
      expect(kept(root)).toEqual(['delete.before', 'delete.json']);
    },
  );

  test.each([
    ['delete', { path: 'c' }, 'before'],
    ['delete', { path: 'c' }, 'after'],
    ['move', { from: 'c', to: 'd' }, 'before'],
    ['move', { from: 'c', to: 'd' }, 'after'],
  ] as const)(
    '%s %j is understood as an earlier version noted it, with a crash %s it',
    async (name, input, when) => {
      const root = folder({ c: 'c' });
      const dies = dying(
        (step, path) => /^(remove|rename)$/.test(step) && path === join(root, 'c'),
        when,
      );
      await expect(calling(root, 'externalised', dies).run(name, input)).rejects.toThrow(/ended/);
      amend(root, `${name}.json`, ({ attempt: _, before, ...rest }) => {
        const { hash, mode, id } = before;
        return { ...rest, before: { hash, mode, id: shortOf(id) } };
      });
      const { ask, undo } = calling(root);
      expect(await ask(name, input)).toMatchObject({ happened: when === 'after' });
      if (when === 'after') expect(await undo(name, input)).toEqual({ undone: 'all' });
      expect(listing(root)).toEqual({ c: '644 c' });
    },
  );

  describe('and with a staged file that another program removed', () => {
    const input = { path: 'a', content: 'new' };
    async function cleanedAway(files: Readonly<Record<string, string>>): Promise<string> {
      const root = folder(files);
      const dies = dying((step, path) => step === 'rename' && path.endsWith('.staged'), 'before');
      await expect(calling(root, 'externalised', dies).run('write', input)).rejects.toThrow(
        /ended/,
      );
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

    test('is not reported as certain if the file was changed', async () => {
      const root = await cleanedAway({ a: 'old' });
      put(root, 'a', 'theirs');
      const { ask, undo } = calling(root);
      await expect(ask('write', input)).rejects.toThrow(/The outcome for .* is unknown/);
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

  test('keeps the owner of its file, also when it is compensated', async () => {
    const root = folder();
    put(root, 'a', 'old', 0o640);
    put(root, 'b', 'old', 0o4711);
    const [uid, gid] = somebodyElse();
    for (const name of ['a', 'b']) chownSync(join(root, name), uid, gid);
    chmodSync(join(root, 'b'), 0o4711);
    const owners = () =>
      ['a', 'b'].map((name) => {
        const stat = statSync(join(root, name), { throwIfNoEntry: false });
        return stat && [stat.uid, stat.gid, stat.mode & 0o7777];
      });
    const { run, undo } = calling(root);
    const edit = { path: 'a', edits: [{ old: 'old', new: 'new' }] };
    await run('edit', edit);
    await run('delete', { path: 'b' }, 'b');
    expect(owners()).toEqual([[uid, gid, 0o640], undefined]);
    await undo('edit', edit);
    await undo('delete', { path: 'b' }, 'b');
    expect(owners()).toEqual([
      [uid, gid, 0o640],
      [uid, gid, 0o4711],
    ]);
  });

  test.each([
    ['write', { path: 'a', content: 'new' }],
    ['delete', { path: 'a' }],
  ])(
    '%s is compensated without set-id bits, if the file had another owner',
    async (name, input) => {
      const root = folder();
      put(root, 'a', 'old', 0o4755);
      const theirs = (disk: Disk): Disk => ({
        ...disk,
        // Only root may give a file to another owner.
        write: (path, bytes, mode) => disk.write(path, bytes, mode),
        look: async (path) => {
          const seen = await disk.look(path);
          return seen.is === 'file' && seen.mode === 0o4755
            ? { ...seen, owner: '12345:12345' }
            : seen;
        },
      });
      const { run, undo } = calling(root, 'externalised', theirs);
      await run(name, input);
      for (let again = 0; again < 2; again++)
        expect(await undo(name, input)).toEqual({ undone: 'all' });
      expect(listing(root)).toEqual({ a: '755 old' });
    },
  );

  test.each([
    ['write', { path: 'sub/new', content: 'new' }],
    ['write', { path: 'c', content: 'new' }],
    ['delete', { path: 'c' }],
    ['move', { from: 'c', to: 'sub/c' }],
  ])(
    '%s has a certain outcome, at any step of a call that another adopted: %j',
    async (name, input) => {
      /**
       * The work of the adopting process after the lease of the stalled process has ended. Returns
       * the outcome that a last query must report.
       */
      const takenOver = {
        async done({ ask, run }: ReturnType<typeof calling>) {
          await ask(name, input);
          await run(name, input);
          return true;
        },
        async undone({ ask, run, undo }: ReturnType<typeof calling>) {
          await ask(name, input);
          await run(name, input);
          expect(await undo(name, input)).toEqual({ undone: 'all' });
          return false;
        },
      };
      /** False where it comes to its end before that step. */
      const stoodStill = async (at: number, as: keyof typeof takenOver): Promise<boolean> => {
        const root = folder({ c: 'precious' });
        const [still, goOn] = [Promise.withResolvers<boolean>(), Promise.withResolvers<void>()];
        let count = 0;
        const stops = (disk: Disk): Disk =>
          new Proxy(disk, {
            get:
              (target, step) =>
              async (...args: unknown[]) => {
                if (++count === at) {
                  still.resolve(true);
                  await goOn.promise;
                }
                return Reflect.apply(Reflect.get(target, step) as () => unknown, target, args);
              },
          });
        const lease = new AbortController();
        const { of } = calling(root, 'externalised', stops);
        const call = { key: name, epoch: 1, signal: lease.signal };
        const late = Promise.resolve(of(name).spec.execute(of(name).parse(input), call, [])).then(
          () => false,
          () => false,
        );
        if (!(await Promise.race([still.promise, late]))) return false;
        lease.abort();
        const waits = Promise.withResolvers<void>();
        const other = calling(root, 'externalised', (disk) => ({
          ...disk,
          lock: async (...of) => {
            const timer = setTimeout(waits.resolve, 20);
            try {
              return await disk.lock!(...of);
            } finally {
              clearTimeout(timer);
            }
          },
        }));
        const taking = takenOver[as](other);
        // With all of it done where it need not wait, however busy the machine is.
        await Promise.race([taking, waits.promise]);
        goOn.resolve();
        const happened = await taking;
        await late;
        expect(await other.ask(name, input)).toMatchObject({ happened });
        expect(await other.undo(name, input)).toEqual({ undone: 'all' });
        expect(listing(root)).toEqual({ c: '644 precious' });
        return true;
      };
      const steps = { done: 0, undone: 0 };
      for (let from = 1, isOver = false; !isOver; from += 8) {
        const some = [...Array(8).keys()].map(async (n) => {
          for (const as of ['done', 'undone'] as const)
            if (await stoodStill(from + n, as)) steps[as]++;
        });
        await Promise.all(some);
        isOver = steps.done < from + 7;
      }
      expect(steps.done).toBeGreaterThan(20);
      expect(steps.undone).toBe(steps.done);
    },
  );

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
    await expect(of('write').spec.execute(of('write').parse(WRITE), call, [])).rejects.toThrow(
      /the time to change .* was over/,
    );
    expect(listing(root)).toEqual({});
  });

  test('a call after its deadline creates no more folders', async () => {
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
    await expect(late).rejects.toThrow(/the time to change .* was over/);
    expect([made, listing(root)]).toEqual([[join(root, 'a')], {}]);
  });

  test.skipIf(process.getuid!() === 0)(
    'a folder that can not be written to leaves nothing',
    async () => {
      const root = folder({ 'dir/a': 'a' });
      chmodSync(join(root, 'dir'), 0o555);
      const { run } = calling(root);
      await expect(run('write', { path: 'dir/b', content: 'b' })).rejects.toMatchObject({
        name: 'DidNothing',
      });
      chmodSync(join(root, 'dir'), 0o755);
      expect(kept(root)).toEqual([]);
    },
  );
});

/** The id of a file, as earlier versions wrote it. */
function shortOf(id: string): string {
  return id.split(':').slice(0, 2).join(':');
}

/** Rewrites an entry of the journal. */
function amend(root: string, name: string, change: (entry: any) => unknown): void {
  const path = Object.keys(listing(join(root, '.assize'))).find((each) =>
    each.endsWith(`/${name}`),
  )!;
  const entry = JSON.parse(readFileSync(join(root, '.assize', path), 'utf8'));
  writeFileSync(join(root, '.assize', path), JSON.stringify(change(entry)));
}

/** The entries of the journal. */
function kept(root: string): string[] {
  const all = listing(join(root, '.assize/files'));
  return Object.keys(all)
    .filter((path) => !path.endsWith('/'))
    .map((path) => path.split('/').at(-1)!)
    .sort();
}
