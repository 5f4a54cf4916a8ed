import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import type { Delivery } from 'assize/internal/effects';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { fileTools } from '#files';
import { cases } from '../../../../tests/support/cases.ts';
import { runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { tally } from '../../../../tests/support/tools/effect-sink.ts';
import { listing, newFolder, put } from '../../../../tests/support/tools/files-stage.ts';
import { BranchFolders, type BranchFoldersOptions } from './index.ts';

const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;
let root: string;

beforeEach(() => {
  const folder = realpathSync(newFolder());
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  root = join(folder, 'root');
  mkdirSync(root);
});

/** The remaining copies. A correct run leaves no copies. */
const copies = (): string[] => {
  const home = join(dirname(root), '.assize-branches/root');
  return existsSync(home) ? readdirSync(home) : [];
};

async function stage(options: Partial<BranchFoldersOptions> = {}, delivery: Delivery = 'buffered') {
  const folders = new BranchFolders({ root, ...options });
  const tools = [...fileTools({ root, delivery }), ...folders.tools];
  const assize = runtimeOver(new MemoryStore(), [tally], {
    tools,
    ports: { pause: async () => undefined },
  });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const transact = (
    body: (tx: any) => Promise<unknown>,
    writ = writFor('alice'),
    rest: object = {},
  ) =>
    trajectory.transaction({ writ, writes: [`fs:${root}/**`], retries: 0, ...rest }, async (tx) => {
      const value = await body(tx);
      tx.propose(COUNT);
      return value;
    });
  return { folders, transact, assize };
}

const errorOf = (made: Promise<unknown>): Promise<any> =>
  made.then(
    () => undefined,
    (error) => error,
  );

describe('branches that work in copies', () => {
  test.each([2, 4, 8, 16])(
    'of %i one has its files in the commit, and the others leave nothing',
    async (k) => {
      put(root, 'a', 'old');
      put(root, 'd/gone', 'x', 0o600);
      put(root, 'same', 's', 0o755);
      const before = listing(root);
      const { folders, transact } = await stage();
      const winner = k - 1;
      const outcome = await transact((tx) =>
        folders.speculate(
          tx,
          Array.from({ length: k }, (_, i) => async (_branch: any, folder: any) => {
            await folder.write('a', `new ${i}`);
            expect(
              (
                await folder.run([
                  '/bin/sh',
                  '-c',
                  `rm d/gone; printf %s ${i} > made; chmod 750 made`,
                ])
              ).code,
            ).toBe(0);
            await folder.write(`e/f/${i}`, new Uint8Array([0xff, i]));
            return i;
          }),
          (tried) => {
            expect(listing(root)).toEqual(before);
            expect(copies()).toHaveLength(k);
            for (const [i, each] of tried.entries()) {
              const { value, changes } = (each as any).value;
              expect(value).toBe(i);
              expect(changes.map(({ does, path }: any) => `${does} ${path}`)).toEqual([
                'delete d/gone',
                'write a',
                `write e/f/${i}`,
                'write made',
              ]);
            }
            return winner;
          },
        ),
      );
      expect(outcome).toMatchObject({
        ruling: { ruling: 'committed' },
        value: winner,
        effects: 'settled',
      });
      expect(listing(root)).toEqual({
        a: `644 new ${winner}`,
        'd/': '',
        'e/': '',
        'e/f/': '',
        [`e/f/${winner}`]: `644 \xff${String.fromCharCode(winner)}`,
        made: `750 ${winner}`,
        same: '755 s',
      });
      expect(copies()).toEqual([]);
      const { observations } = JSON.parse((outcome.ruling as any).entry.payload);
      const names = observations.map(({ name }: any) => name.replace(/#[^.]*(?:\.\d+\/\d+)?/, ''));
      expect(names).toEqual(['files.copy.input', 'files.copy', 'files.run.input', 'files.run']);
    },
  );

  test('a file that is larger than a call may be is not taken over, and is named', async () => {
    const { folders, transact } = await stage();
    const large = transact((tx) =>
      folders.speculate(
        tx,
        [
          async (_: any, folder: any) =>
            folder.write('sub/large', new Uint8Array(2 ** 20).fill(0xff)),
        ],
        () => 0,
      ),
    );
    await expect(large).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringMatching(
        /^sub\/large \(1048576 bytes\) cannot be copied from the branch: .* pass less at a time/,
      ),
    });
    expect(listing(root)).toEqual({});
    expect(copies()).toEqual([]);
  });

  test('start with the changes planned in the transaction and in each other', async () => {
    put(root, 'a', 'old');
    put(root, 'gone', 'x');
    const { folders, transact } = await stage();
    await transact(async (tx) => {
      await tx.call('files.write', { path: 'a', content: 'planned' });
      await tx.call('files.move', { from: 'gone', to: 'd/moved' });
      await folders.speculate(
        tx,
        [
          async (_: unknown, folder) => {
            expect(String(await folder.read('a'))).toBe('planned');
            expect([await folder.read('gone'), String(await folder.read('d/moved'))]).toEqual([
              null,
              'x',
            ]);
            await folder.write('a', 'more');
          },
        ],
        () => 0,
      );
      expect((await tx.call('files.read', { path: 'a' })).content).toBe('more');
    });
    expect(listing(root)).toEqual({ a: '644 more', 'd/': '', 'd/moved': '644 x' });
  });

  test('may branch: the inner one that is chosen takes the place of its copy', async () => {
    const { folders, transact } = await stage();
    await transact((tx) =>
      folders.speculate(
        tx,
        [
          async (branch: any, folder) => {
            await folder.write('a', 'outer');
            const inner = (text: string) => async (_: unknown, own: any) => {
              expect(String(await own.read('a'))).toBe('outer');
              await own.write('b', text);
              return text;
            };
            const chosen = await folder.speculate(branch, [inner('one'), inner('two')], () => 1);
            expect([chosen, String(await folder.read('b'))]).toEqual(['two', 'two']);
            const none = folder.speculate(branch, [inner('never')], () => undefined);
            expect(await errorOf(none)).toMatchObject({ code: 'no_branch' });
            await folder.write('c', 'after');
          },
        ],
        () => 0,
      ),
    );
    expect(listing(root)).toEqual({ a: '644 outer', b: '644 two', c: '644 after' });
    expect(copies()).toEqual([]);
  });

  test.each<[string, (folder: any) => Promise<unknown>, string]>([
    ['a link', (folder) => folder.run(['/bin/ln', '-s', 'a', 'link']), 'link is a symbolic link'],
    [
      'a link that is gone',
      (folder) => folder.run(['/bin/rm', 'there']),
      'there is a symbolic link',
    ],
    ['a pipe', (folder) => folder.run(['/usr/bin/mkfifo', 'pipe']), 'pipe is not a file'],
    [
      'a name that is not UTF-8',
      async (folder) => {
        await folder.write('odd\ufffd', '');
        await folder.run(['/bin/sh', '-c', `echo x > "$(printf 'odd\\377')"`]);
      },
      'is not UTF-8, so no tool can open it',
    ],
    ['no folder at all', (folder) => folder.run(['/bin/sh', '-c', 'rm -r "$PWD"']), 'ENOENT'],
    [
      'what can’t be written',
      async (folder) => {
        await folder.run(['/bin/mkdir', 'made']);
        await folder.write('made', '');
      },
      'made is a folder',
    ],
    ['what can’t be named', (folder) => folder.read('n'.repeat(300)), 'ENAMETOOLONG'],
    [
      'odd bits',
      (folder) => folder.run(['/bin/chmod', '4755', 'a']),
      'a has mode bits other than permissions',
    ],
  ])('that leave %s have failed, and can’t be chosen', async (_, leave, why) => {
    put(root, 'a', 'x');
    symlinkSync('a', join(root, 'there'));
    const { folders, transact } = await stage();
    const error = await errorOf(
      transact((tx) => folders.speculate(tx, [(_branch: any, folder) => leave(folder)], () => 0)),
    );
    expect(error).toMatchObject({ code: 'no_branch', cause: { code: 'tool_failed' } });
    expect(error.cause.message).toContain(why);
    expect([listing(root)['a'], copies()]).toEqual(['644 x', []]);
  });

  test('that fail leave nothing, also if none is chosen', async () => {
    put(root, 'a', 'x');
    const { folders, transact } = await stage();
    const write = async (_: unknown, folder: any): Promise<void> => {
      await folder.write('a', 'y');
      throw new Error('in vain');
    };
    expect(
      await errorOf(transact((tx) => folders.speculate(tx, [write, write], () => 0))),
    ).toMatchObject({
      code: 'no_branch',
    });
    expect(
      await errorOf(transact((tx) => folders.speculate(tx, [], () => undefined))),
    ).toMatchObject({
      code: 'no_branch',
    });
    expect([listing(root), copies()]).toEqual([{ a: '644 x' }, []]);
  });

  test('leave the folder as the chosen branch’s files make it, for any changes', async () => {
    const path = fc.constantFrom('a', 'b', 'd/a', 'd/e/b');
    const edit = fc.record({
      path,
      text: fc.option(fc.constantFrom('', 'x', 'y\u0000\u00ff'), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(path, fc.constantFrom('', 'old'), { noNullPrototype: true }),
        fc.array(fc.array(edit, { maxLength: 4 }), { minLength: 1, maxLength: 3 }),
        fc.nat(3),
        async (files, branches, at) => {
          rmSync(root, { recursive: true });
          mkdirSync(root);
          for (const [name, text] of Object.entries(files)) put(root, name, text);
          const chosen = at < branches.length ? at : undefined;
          const { folders, transact, assize } = await stage();
          const bodies = branches.map((edits) => async (_: unknown, folder: any) => {
            for (const each of edits)
              if (each.text === undefined) await folder.remove(each.path);
              else await folder.write(each.path, each.text);
          });
          await transact((tx) => folders.speculate(tx, bodies, () => chosen)).catch((error) => {
            expect([chosen, error.code]).toEqual([undefined, 'no_branch']);
          });
          await assize.close();
          const expected = new Map<string, string>(Object.entries(files));
          for (const { path: name, text } of branches[chosen ?? branches.length] ?? [])
            if (text === undefined) expected.delete(name);
            else expected.set(name, text);
          const found = Object.entries(listing(root)).filter(([name]) => !name.endsWith('/'));
          expect(
            Object.fromEntries(
              found.map(([name, text]) => [name, Buffer.from(text.slice(4), 'latin1').toString()]),
            ),
          ).toEqual(Object.fromEntries(expected));
          expect(copies()).toEqual([]);
        },
      ),
      { numRuns: cases(200) },
    );
  });
});

/** From now on nothing more than the first byte of a file has room on the disk. */
async function fillDisk(): Promise<void> {
  await using handle = await open(root, 'r');
  const files: FileHandle = Object.getPrototypeOf(handle);
  vi.spyOn(files, 'writeFile').mockImplementation(async function (this: FileHandle, bytes) {
    await this.write((bytes as Uint8Array).subarray(0, 1));
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  });
}

describe('content that could not be written into a copy', () => {
  afterEach(() => vi.restoreAllMocks());

  test.each<[string, (folder: any) => Promise<unknown>, string]>([
    [
      'for want of room',
      async (folder) => {
        await fillDisk();
        return errorOf(folder.write('a', 'new')).finally(() => vi.restoreAllMocks());
      },
      'tool_failed',
    ],
    [
      'for want of room, and is new',
      async (folder) => {
        await fillDisk();
        return errorOf(folder.write('d/new', 'new')).finally(() => vi.restoreAllMocks());
      },
      'tool_failed',
    ],
    ['as a value that is not a string', (folder) => errorOf(folder.write('a', 42)), 'tool_failed'],
    ['with an invalid mode', (folder) => errorOf(folder.write('a', 'new', -1)), 'bad_input'],
    [
      'with a mode that files can’t be given',
      (folder) => errorOf(folder.write('a', 'new', 0o4755)),
      'bad_input',
    ],
    [
      'with a mode by which nobody could look at it',
      (folder) => errorOf(folder.write('a', 'new', 0o200)),
      'bad_input',
    ],
    ['in the place of a folder', (folder) => errorOf(folder.write('d', 'new')), 'tool_failed'],
  ])('%s is not committed with it', async (_, write, code) => {
    put(root, 'a', 'old', 0o640);
    put(root, 'd/b', 'old');
    const before = listing(root);
    const { folders, transact } = await stage();
    let error: unknown;
    const outcome = await transact((tx) => {
      const tried = async (_: unknown, folder: any): Promise<void> => {
        // Acts like an agent after a refused write: it continues without the write.
        error = await write(folder);
        expect(String(await folder.read('a'))).toBe('old');
      };
      return folders.speculate(tx, [tried], ([one]) => {
        expect(one).toMatchObject({ failed: false, value: { changes: [] } });
        return 0;
      });
    });
    expect(error).toMatchObject({ code });
    expect(outcome.ruling.ruling).toBe('committed');
    expect([listing(root), copies()]).toEqual([before, []]);
  });
});

describe('a copy', () => {
  test('leads nowhere else: links lead to the same place in it', async () => {
    put(root, 'd/a', 'x');
    symlinkSync(join(root, 'd/a'), join(root, 'absolute'));
    symlinkSync('../root/d/a', join(root, 'climbing'));
    symlinkSync('d', join(root, 'folder'));
    linkSync(join(root, 'd/a'), join(dirname(root), 'outside'));
    const { folders, transact } = await stage();
    const script =
      'for each in absolute climbing folder/a; do cat $each; echo y > $each; done; pwd -P';
    const error = await errorOf(
      transact((tx) =>
        folders.speculate(
          tx,
          [
            async (_: unknown, folder) => {
              const { stdout } = await folder.run(['/bin/sh', '-c', script]);
              expect(stdout).toBe(`xy\ny\n${folder.path}\n`);
              expect(readFileSync(join(root, 'd/a'), 'utf8')).toBe('x');
            },
          ],
          () => 0,
        ),
      ),
    );
    // The file has another name, under which the change would not be seen.
    expect(error).toMatchObject({ code: 'tool_failed' });
    expect(error.message).toContain('hard link');
    expect(readFileSync(join(dirname(root), 'outside'), 'utf8')).toBe('x');
  });

  test('is not made of links that lead out, unless they are excluded', async () => {
    put(root, 'a', 'x');
    symlinkSync('/etc', join(root, 'out'));
    const refused = await stage();
    const error = await errorOf(
      refused.transact((tx) => refused.folders.speculate(tx, [() => 0], () => 0)),
    );
    expect(error).toMatchObject({ code: 'tool_failed' });
    expect(error.message).toContain(`${root}/out cannot be copied`);
    expect(copies()).toEqual([]);
    const { folders, transact } = await stage({ exclude: ['out'] });
    await transact((tx) =>
      folders.speculate(
        tx,
        [
          async (_: unknown, folder) => {
            expect(readdirSync(folder.path)).toEqual(['a']);
            await folder.run(['/bin/sh', '-c', 'mkdir out; echo z > out/z; echo y > a']);
          },
        ],
        () => 0,
      ),
    );
    expect([readdirSync(root).sort(), readFileSync(join(root, 'a'), 'utf8')]).toEqual([
      ['.assize', 'a', 'out'],
      'y\n',
    ]);
  });

  test.each(['../a', '/etc/passwd', 'up/a', '.assize/x', ''])('has nothing at %j', async (path) => {
    mkdirSync(join(root, 'd'));
    const { folders, transact } = await stage();
    const said: unknown[] = [];
    await errorOf(
      transact((tx) =>
        folders.speculate(
          tx,
          [
            async (_: unknown, folder) => {
              await folder.run(['/bin/ln', '-s', '..', 'up']);
              for (const does of ['write', 'read', 'remove'])
                said.push((await errorOf((folder as any)[does](path, 'x')))?.code ?? 'done');
            },
          ],
          () => undefined,
        ),
      ),
    );
    // An absolute path is read as relative to the folder.
    if (path === '/etc/passwd') expect(said).toEqual(['done', 'done', 'done']);
    else if (path === '') expect(said).not.toContain('done');
    else expect(said).toEqual(['bad_input', 'bad_input', 'bad_input']);
    expect(existsSync(join(dirname(root), 'a'))).toBe(false);
  });

  test('is accessible to its owner only', async () => {
    const { folders, transact } = await stage();
    await transact((tx) =>
      folders.speculate(
        tx,
        [
          (_: unknown, { path }) => {
            const places = [
              dirname(path),
              dirname(dirname(path)),
              join(dirname(root), '.assize-branches'),
            ];
            expect(places.map((place) => statSync(place).mode & 0o777)).toEqual([
              0o700, 0o700, 0o700,
            ]);
          },
        ],
        ([tried]) => {
          if (tried?.failed) throw tried.error;
          return 0;
        },
      ),
    );
  });

  test('is of its transaction alone', async () => {
    const { folders, transact } = await stage();
    let id = '';
    const held = Promise.withResolvers<void>();
    const made = Promise.withResolvers<void>();
    const first = transact(async (tx) => {
      id = (await tx.call('files.copy', { count: 1 })).copies[0];
      made.resolve();
      await held.promise;
    });
    await made.promise;
    const second = transact((tx) => tx.call('files.run', { copy: id, command: ['/bin/true'] }));
    expect(await errorOf(second)).toMatchObject({ code: 'tool_failed' });
    held.resolve();
    await first;
    await folders.sweep();
  });

  test('goes after its process ended, also with a reused pid; unknown ones stay', async () => {
    const { folders, transact } = await stage();
    let id = '';
    await transact((tx) =>
      folders.speculate(
        tx,
        [
          (_: unknown, folder) => {
            id = basename(dirname(folder.path));
          },
        ],
        () => 0,
      ),
    );
    const [, pid, began, space] = /^1-[0-9a-f]{16}-(\d+)-(\d*)-(.{8})$/.exec(id)!;
    const ended = [`1-0-${pid}-${began}0-${space}`, `2-7-4194305-1-${space}`];
    const others = [`3-0-4194305-1-${space === '00000000' ? '1' : '0'}0000000`, 'notes'];
    for (const name of [id, ...ended, ...others])
      mkdirSync(join(dirname(root), '.assize-branches/root', name, 'tree'), { recursive: true });
    await new BranchFolders({ root }).sweep();
    expect(copies()).toEqual([id, ...others].sort());
  });

  test('needs a writ that covers the folder, and a command one that lets it run', async () => {
    put(root, 'a', 'x');
    const { folders, transact } = await stage();
    const run = (tx: any) =>
      folders.speculate(tx, [(_: unknown, folder) => folder.run(['/bin/true'])], (tried) => {
        if (tried[0]?.failed) throw tried[0].error;
        return 0;
      });
    const elsewhere = writFor('alice', { scopes: ['role:**', 'fs:/elsewhere/**'] });
    expect(await errorOf(transact(run, elsewhere))).toMatchObject({ reason: 'not_authorised' });
    const noRun = writFor('alice', { actions: ['count', 'files.copy', 'files.write'] });
    expect(await errorOf(transact(run, noRun))).toMatchObject({ reason: 'not_authorised' });
    expect(copies()).toEqual([]);
  });
});

/** A name that is not a text, in a folder. */
const oddName = (folder: string): Buffer =>
  Buffer.concat([Buffer.from(`${folder}/odd`), Buffer.from([0xff])]);

/** The body of a branch that writes one file. */
const writes = (path: string, text: string) => async (_: unknown, folder: any) => {
  await folder.write(path, text);
  return text;
};

describe('several callers that branch one folder in one process', () => {
  test('have copies of their own: none takes away another’s', async () => {
    put(root, 'a', 'old');
    const [one, two] = [await stage(), await stage()];
    await one.transact((tx) =>
      one.folders.speculate(
        tx,
        [
          async (_: unknown, folder) => {
            await folder.write('a', 'long work');
            const other = await two.transact((inner) =>
              two.folders.speculate(inner, [writes('b', 'x')], () => 0),
            );
            expect(other.ruling.ruling).toBe('committed');
            expect(String(await folder.read('a'))).toBe('long work');
          },
        ],
        () => 0,
      ),
    );
    expect([listing(root), copies()]).toEqual([{ a: '644 long work', b: '644 x' }, []]);
  });
});

describe('where reads are asked again at the gate', () => {
  const ways: [string, object][] = [
    ['optimistic', { reading: 'optimistic' }],
    ['late', { epoch: 'late' }],
  ];
  const tried = async (_: unknown, folder: any): Promise<string> =>
    (await folder.run(['/bin/sh', '-c', 'echo new > a; echo ran'])).stdout;

  test.each(ways)(
    '%s: the transaction commits with the tried changes and leaves no copy',
    async (_, rest) => {
      put(root, 'a', 'old');
      const { folders, transact } = await stage();
      const nested = (tx: any, folder: any) => folder.speculate(tx, [tried, tried], () => 1);
      const outcome = await transact(
        (tx) => folders.speculate(tx, [nested], () => 0),
        undefined,
        rest,
      );
      expect(outcome).toMatchObject({ ruling: { ruling: 'committed' }, value: 'ran\n' });
      expect([listing(root), copies()]).toEqual([{ a: '644 new\n' }, []]);
    },
  );

  test.each(ways)('%s: it starts again if the folder has changed by then', async (_, rest) => {
    put(root, 'a', 'old');
    const { folders, transact } = await stage();
    let times = 0;
    const outcome = await transact(
      async (tx) => {
        await folders.speculate(tx, [tried], () => 0);
        put(root, 'b', 'theirs');
        return ++times;
      },
      undefined,
      { ...rest, retries: 1 },
    );
    expect(outcome).toMatchObject({ ruling: { ruling: 'committed' }, value: 2 });
    expect([listing(root), copies()]).toEqual([{ a: '644 new\n', b: '644 theirs' }, []]);
  });
});

test('changes planned in a path that is not copied stay planned, in no copy', async () => {
  for (const name of ['edited', 'deleted', 'moved']) put(root, `vendor/${name}`, 'old');
  const { folders, transact } = await stage({ exclude: ['vendor'] });
  await transact(async (tx) => {
    await tx.call('files.edit', { path: 'vendor/edited', edits: [{ old: 'old', new: 'new' }] });
    await tx.call('files.delete', { path: 'vendor/deleted' });
    await tx.call('files.move', { from: 'vendor/moved', to: 'a' });
    await folders.speculate(
      tx,
      [
        async (_: unknown, folder) => {
          expect(readdirSync(folder.path)).toEqual(['a']);
          await folder.write('a', `${await folder.read('a')} and more`);
        },
      ],
      () => 0,
    );
  });
  expect(listing(root)).toEqual({
    a: '644 old and more',
    'vendor/': '',
    'vendor/edited': '644 new',
  });
});

test('a folder with a name that is not UTF-8 is not copied; the error has it', async () => {
  writeFileSync(oddName(root), '');
  const { folders, transact } = await stage();
  const error = await errorOf(transact((tx) => folders.speculate(tx, [() => 0], () => 0)));
  expect(error).toMatchObject({ code: 'tool_failed' });
  expect(error.message).toContain(`the name of ${root}/odd\ufffd is not UTF-8`);
  expect(copies()).toEqual([]);
});

describe('copies are taken away', () => {
  /** Root may write where no other user may. */
  function asNobody(): void {
    if (process.getuid!() !== 0) return;
    for (const folder of [dirname(root), root]) chownSync(folder, 65_534, 65_534);
    process.seteuid!(65_534);
    onTestFinished(() => process.seteuid!(0));
  }

  /** A process group that can't be ended; no other process exists. */
  function withGroup(pid: number): void {
    const kill = vi.spyOn(process, 'kill').mockImplementation((asked) => {
      throw Object.assign(new Error('it is not so'), { code: asked === -pid ? 'EPERM' : 'ESRCH' });
    });
    onTestFinished(() => kill.mockRestore());
  }

  test('also with unwritable folders, for any names', async () => {
    asNobody();
    const { folders, transact } = await stage();
    const shut = (_: unknown, { path }: { readonly path: string }): void => {
      mkdirSync(join(path, 'd'));
      writeFileSync(oddName(join(path, 'd')), '');
      chmodSync(join(path, 'd'), 0o500);
    };
    await transact((tx) => folders.speculate(tx, [writes('a', 'new'), shut as any], () => 0));
    expect([listing(root), copies()]).toEqual([{ a: '644 new' }, []]);
  });

  test.each([
    ['which are reported', 0, 'tool_failed'],
    ['and the earlier failure is reported', undefined, 'no_branch'],
  ])('all but those that can’t be, %s', async (_, chosen, code) => {
    withGroup(4_194_304);
    const { folders, transact } = await stage();
    const paths: string[] = [];
    const body = (_: unknown, { path }: { readonly path: string }): void => {
      // A command at work that is another user's.
      if (paths.push(path) === 1) writeFileSync(join(dirname(path), '4194304.process'), '');
    };
    const error = await errorOf(
      transact((tx) => folders.speculate(tx, [body, body], () => chosen)),
    );
    const left = basename(dirname(paths[0]!));
    expect([error.code, error.message.includes(left)]).toEqual([code, code === 'tool_failed']);
    expect(copies()).toEqual([left]);
  });

  test('also with other .process files, and no foreign process is ended', async () => {
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
    onTestFinished(() => kill.mockRestore());
    const { folders, transact } = await stage();
    const body = (_: unknown, { path }: { readonly path: string }): void => {
      for (const name of ['0', '1', '-1', 'x', '', '01', '1e3', '99999999999'])
        writeFileSync(join(dirname(path), `${name}.process`), '');
    };
    await transact((tx) => folders.speculate(tx, [body], () => 0));
    expect([kill.mock.calls.filter(([, signal]) => signal !== 0), copies()]).toEqual([[], []]);
  });

  test('of an ended process, except unremovable ones: these block no branching', async () => {
    const { folders, transact } = await stage();
    let id = '';
    const body = (_: unknown, { path }: { readonly path: string }): void => {
      id = basename(dirname(path));
    };
    await transact((tx) => folders.speculate(tx, [body], () => 0));
    const space = id.slice(-8);
    const [stuck, other] = [`1-0-4194305-1-${space}`, `2-0-4194305-1-${space}`];
    const home = join(dirname(root), '.assize-branches/root');
    mkdirSync(join(home, stuck), { recursive: true });
    writeFileSync(join(home, stuck, '4194304.process'), '');
    mkdirSync(join(home, other, 'tree'), { recursive: true });
    withGroup(4_194_304);
    const next = await stage();
    expect(await errorOf(next.folders.sweep())).toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining(stuck),
    });
    await next.transact((tx) => next.folders.speculate(tx, [writes('a', 'new')], () => 0));
    expect([listing(root), copies()]).toEqual([{ a: '644 new' }, [stuck]]);
  });
});

test('a file that another program changed in the meantime is not overwritten', async () => {
  put(root, 'a', 'x');
  const { folders, transact } = await stage();
  const error = await errorOf(
    transact((tx) =>
      folders.speculate(tx, [(_: unknown, folder) => folder.write('a', 'mine')], () => {
        put(root, 'a', 'theirs');
        return 0;
      }),
    ),
  );
  expect(error).toMatchObject({ code: 'tool_failed' });
  expect([listing(root), copies()]).toEqual([{ a: '644 theirs' }, []]);
});

test.each(['buffered', 'externalised'] as const)(
  'changes that can’t be applied as a whole are not applied in part: %s',
  async (delivery) => {
    put(root, 'a', 'x');
    put(root, 'b', 'x');
    const { folders, transact } = await stage({}, delivery);
    const outcome = await transact(async (tx) => {
      const both = async (_: unknown, folder: any): Promise<void> => {
        await folder.write('a', 'mine');
        await folder.write('b', 'mine');
      };
      const tried = folders.speculate(tx, [both], () => {
        put(root, 'b', 'theirs');
        return 0;
      });
      expect(await errorOf(tried)).toMatchObject({ code: 'tool_failed' });
    });
    expect(outcome.ruling.ruling).toBe('committed');
    expect([listing(root), copies()]).toEqual([{ a: '644 x', b: '644 theirs' }, []]);
  },
);

test.each<[string, any, string?]>([
  ['no folder', { root: '/nowhere/at/all' }],
  ['the whole file system', { root: '/' }],
  ['invalid names', { exclude: [7] }],
  ['an invalid environment', { env: { A: 7 } }],
  ['an odd number', { outputMax: -1 }],
  [
    'what there is not',
    { leaveout: ['.git'] },
    'no field "leaveout". The options are root, name, exclude',
  ],
])('%s is refused', (_, options, why = '') => {
  const make = () => new BranchFolders({ root, ...options });
  expect(make).toThrow(
    expect.objectContaining({ reason: 'invalid_tool', message: expect.stringContaining(why) }),
  );
});
