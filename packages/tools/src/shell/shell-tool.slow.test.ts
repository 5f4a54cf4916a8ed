import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { contentHash } from 'assize/internal/canon';
import type { CallContext, Tool } from 'assize/internal/effects';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { tally } from '../../../../tests/support/tools/effect-sink.ts';
import { listing, newFolder, put } from '../../../../tests/support/tools/files-stage.ts';
import { type ShellToolSpec, shellTool } from './shell-tool.ts';
import { Snapshots } from './snapshot.ts';

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true });
});

/** A folder with one around it, where its snapshots are. */
function folder(): string {
  const around = newFolder();
  made.push(around);
  const root = join(around, 'repo');
  mkdirSync(root);
  put(root, 'a.txt', 'old', 0o640);
  put(root, 'sub/b.txt', 'b');
  symlinkSync('a.txt', join(root, 'link'));
  return root;
}

/** The same folder by another name. */
function linkTo(root: string): string {
  const link = `${root}-link`;
  symlinkSync(root, link);
  return link;
}

/** Without the lock: it stays. */
function snapshotsOf(root: string): string[] {
  return readdirSync(join(dirname(root), '.assize-snapshots', 'repo'))
    .filter((name) => name !== '.lock')
    .sort();
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

const KEYED = { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' } as const;
const READ = { name: 'run', class: 'read', input: z.strictObject({ text: z.string() }) } as const;
const callOf = (
  key = 'k',
  epoch = 1,
  signal: AbortSignal = new AbortController().signal,
): CallContext => ({
  key,
  epoch,
  signal,
});
const run = async (tool: Tool, input: unknown = {}, call: CallContext = callOf()): Promise<any> =>
  tool.spec.execute(tool.parse(input), call, []);

function changing(
  root: string,
  command: ShellToolSpec['command'],
  more: Partial<ShellToolSpec> = {},
): Tool {
  return shellTool({
    name: 'repo.run',
    command,
    snapshotOf: root,
    writes: [`fs:${root}`],
    ...more,
  });
}

const CHANGE = 'echo new > a.txt; rm -r sub; mkdir made; echo c > made/c; chmod 700 made; rm link';

describe('a command', () => {
  test('gets its arguments one by one, and never through a shell', async () => {
    const text = '; touch hacked $(id) `id` "\n *';
    const tool = shellTool({ ...READ, command: ['printf', '%s|%s', 'a {text}', '{text}'] });
    expect(await run(tool, { text })).toEqual({
      code: 0,
      stdout: `a ${text}|${text}`,
      stderr: '',
      isCut: false,
    });
  });

  test('gives a reason code for doing nothing, and for an unknown outcome', async () => {
    const root = folder();
    const cases: [Tool, string][] = [
      [shellTool({ ...READ, input: z.strictObject({}), command: ['/nowhere/x'] }), 'spawn_enoent'],
      [shellTool({ ...READ, input: z.strictObject({}), command: 'kill -9 $$' }), 'signal_sigkill'],
      [changing(root, 'exit 3'), 'exit_3'],
      [changing(root, 'kill -9 $$'), 'signal_sigkill'],
    ];
    for (const [tool, why] of cases) await expect(run(tool)).rejects.toMatchObject({ why });
  });

  test('is given no option by its input, unless it says so', async () => {
    const input = z.strictObject({ a: z.union([z.string(), z.number()]), b: z.string() });
    const tool = (part: string, mayBeOptions?: readonly string[]) =>
      shellTool({ ...READ, input, command: ['printf', '%s', part], mayBeOptions } as never);
    const refused: [string, unknown, string[]?][] = [
      ['{a}', '-rf'],
      ['{a}', -7],
      ['{a}=x', '--force'],
      ['{b}{a}', '-rf'],
      ['{b}{a}', '-rf', ['b']],
      ['{b}-x{a}', 'y'],
    ];
    for (const [part, a, may] of refused)
      await expect(run(tool(part, may), { a, b: '' })).rejects.toMatchObject({
        name: 'DidNothing',
        isFinal: true,
        message: expect.stringMatching(/starts with.*mayBeOptions/),
      });
    const given: [string, unknown, string, string[]?][] = [
      ['{a}', 'x-rf', 'x-rf'],
      ['--of={a}', '-rf', '--of=-rf'],
      ['./{a}', '-rf', './-rf'],
      ['{a}{b}', '-rf', '-rf', ['a', 'b']],
    ];
    for (const [part, a, text, may] of given)
      expect(
        (
          await run(
            shellTool({
              ...READ,
              input,
              command: ['printf', '--', '%s', part],
              mayBeOptions: may,
            } as never),
            {
              a,
              b: '',
            },
          )
        ).stdout,
      ).toBe(text);
    // A script is given variables, and says itself what it does with them.
    const script = shellTool({ ...READ, command: 'printf %s "$text"' });
    expect((await run(script, { text: '-rf' })).stdout).toBe('-rf');
  });

  test('that is a script has its input as variables', async () => {
    const text = '"; exit 7; "';
    const tool = shellTool({ ...READ, command: 'printf %s "$text"; echo told >&2; exit 3' });
    expect(await run(tool, { text })).toEqual({
      code: 3,
      stdout: text,
      stderr: 'told\n',
      isCut: false,
    });
  });

  test.each([
    ...['PATH', 'LD_PRELOAD', 'BASH_ENV', 'HOME', '_', 'order-id', 'mine', '9', 'é'],
    ...[
      'http_proxy',
      'https_proxy',
      'all_proxy',
      'no_proxy',
      'ftp_proxy',
      'npm_config_script_shell',
      'yarn_registry',
    ],
  ])('that is a script has no variable %s of its input', async (member) => {
    const env = { mine: 'declared' };
    const script = { ...READ, command: 'env', env };
    const closed = () =>
      shellTool({ ...script, input: z.strictObject({ [member]: z.string().optional() }) });
    expect(closed).toThrow(
      expect.objectContaining({ reason: 'invalid_tool', message: expect.stringContaining(member) }),
    );
    const open = shellTool({ ...script, input: z.record(z.string(), z.unknown()) });
    await expect(run(open, { ok: 'x', [member]: 'given' })).rejects.toMatchObject({
      name: 'DidNothing',
      isFinal: true,
      message: expect.stringContaining(member),
    });
    const given = { orderId: 7, ok: 'x', [member]: ['no', 'text'] };
    expect(
      (await run(open, given)).stdout
        .split('\n')
        .filter((line: string) => !/^(PWD|OLDPWD|SHLVL|_)=/.test(line))
        .sort(),
    ).toEqual(['', 'mine=declared', 'ok=x', 'orderId=7']);
    // As arguments, members may have any name.
    shellTool({
      ...READ,
      command: ['echo', '{PATH}'],
      input: z.strictObject({ PATH: z.string() }),
    });
  });

  test('that cannot be given its input does not start, and no folder is copied', async () => {
    const root = folder();
    const tool = changing(root, 'true', { input: z.record(z.string(), z.string()) });
    await expect(run(tool, { PATH: '/x' })).rejects.toMatchObject({ name: 'DidNothing' });
    expect(snapshotsOf(root)).toEqual([]);
  });

  test('has the declared environment only', async () => {
    const bare = await run(shellTool({ ...READ, command: ['env'] }), { text: '' });
    expect(bare.stdout.trim().split('\n').sort()).toEqual([
      'LANG=C.UTF-8',
      'PATH=/usr/local/bin:/usr/bin:/bin',
    ]);
    const own = await run(shellTool({ ...READ, command: ['/usr/bin/env'], env: { A: '1' } }), {
      text: '',
    });
    expect(own.stdout).toBe('A=1\n');
  });

  test('has the key of its effect in the variable that takes it', async () => {
    const acting = {
      name: 'act',
      class: KEYED,
      writes: ['x:y'],
      env: { A: '1' },
      keyVariable: 'ORDER_KEY',
    } as const;
    for (const command of ['/usr/bin/env', ['/usr/bin/env']])
      expect(
        (await run(shellTool({ ...acting, command } as never), {}, callOf('k7'))).stdout,
      ).toMatch(/^A=1\n(?:.*\n)*ORDER_KEY=k7\n|ORDER_KEY=k7\n(?:.*\n)*A=1\n/m);
    const kept = changing(folder(), 'echo "$ORDER_KEY"', { keyVariable: 'ORDER_KEY' });
    expect(await run(kept, {}, callOf('k8'))).toMatchObject({ stdout: 'k8\n' });
  });

  test('has its output kept up to a bound', async () => {
    const tool = shellTool({ ...READ, command: ['printf', '%s', '{text}'], outputMax: 3 });
    expect(await run(tool, { text: 'abcdef' })).toMatchObject({ stdout: 'abc', isCut: true });
    expect(await run(tool, { text: 'abc' })).toMatchObject({ stdout: 'abc', isCut: false });
  });

  test('that is missing, or was aborted before its start, has done nothing', async () => {
    const none = run(shellTool({ ...READ, command: ['no-such-program'] }), { text: '' });
    await expect(none).rejects.toMatchObject({ name: 'DidNothing', isFinal: true });
    const nowhere = run(shellTool({ ...READ, cwd: import.meta.filename, command: ['true'] }), {
      text: '',
    });
    await expect(nowhere).rejects.toMatchObject({
      name: 'DidNothing',
      isFinal: true,
      why: 'spawn_enotdir',
    });
    const long = run(shellTool({ ...READ, command: ['echo', '{text}'] }), {
      text: 'x'.repeat(2 ** 18),
    });
    await expect(long).rejects.toMatchObject({
      name: 'DidNothing',
      isFinal: true,
      why: 'spawn_e2big',
    });
    const nameless = run(shellTool({ ...READ, command: ['{text}'] }), { text: '' });
    await expect(nameless).rejects.toMatchObject({ name: 'DidNothing', isFinal: true });
    const late = run(
      shellTool({ ...READ, command: ['true'] }),
      { text: '' },
      callOf('k', 1, AbortSignal.abort()),
    );
    await expect(late).rejects.toMatchObject({ name: 'DidNothing' });
  });

  test('that takes too long is ended with all that it has started', async () => {
    const root = folder();
    const stop = new AbortController();
    const tool = shellTool({
      ...READ,
      cwd: root,
      command: 'mkfifo pipe; (echo $$ > pipe; sleep 1000) & sleep 1000',
    });
    const running = run(tool, { text: '' }, callOf('k', 1, stop.signal));
    // It can be read from as soon as the command is there.
    const group = Number(await fromPipe(join(root, 'pipe')));
    stop.abort();
    await expect(running).rejects.toThrow(/SIGKILL/);
    await expectEnded(group);
  });
});

describe('a command that leaves something running', () => {
  // A process with its own session is in no group of the command, and holds the command's outputs.
  const LEFT =
    'setsid sh -c "echo \\$\\$ > left; exec sleep 1000" & while ! [ -s left ]; do :; done; ';
  const leftIn = (root: string): number => Number(readFileSync(join(root, 'left'), 'utf8'));

  test('is answered when it has ended itself', async () => {
    const root = folder();
    const tool = shellTool({ ...READ, cwd: root, command: `${LEFT} sleep 1000 & echo said` });
    try {
      expect(await run(tool, { text: '' })).toMatchObject({ code: 0, stdout: 'said\n' });
    } finally {
      process.kill(leftIn(root), 'SIGKILL');
    }
  });

  test('is reported as killed when its time is over', async () => {
    const root = folder();
    const stop = new AbortController();
    const tool = shellTool({
      ...READ,
      cwd: root,
      command: `mkfifo pipe; ${LEFT} echo go > pipe; sleep 1000`,
    });
    const running = run(tool, { text: '' }, callOf('k', 1, stop.signal));
    await fromPipe(join(root, 'pipe'));
    stop.abort();
    try {
      await expect(running).rejects.toThrow(/SIGKILL/);
    } finally {
      process.kill(leftIn(root), 'SIGKILL');
    }
  });
});

describe('a command with a copy of its folder', () => {
  test('is undone by putting the folder back', async () => {
    const root = folder();
    const before = listing(root);
    const tool = changing(root, CHANGE);
    await run(tool);
    expect(listing(root)).toEqual({ 'a.txt': '640 new\n', 'made/': '', 'made/c': '644 c\n' });
    expect(await tool.spec.reconcile!({}, callOf())).toMatchObject({
      happened: true,
      result: { code: 0 },
    });
    for (let again = 0; again < 2; again++)
      expect(await tool.spec.compensate!({}, null, callOf())).toEqual({ undone: 'all' });
    expect(listing(root)).toEqual(before);
    expect(await tool.spec.reconcile!({}, callOf())).toEqual({ happened: false });
  });

  test('is not run again under its key', async () => {
    const root = folder();
    const tool = changing(root, 'echo x >> log');
    await run(tool);
    await run(tool);
    expect(readFileSync(join(root, 'log'), 'utf8')).toBe('x\n');
  });

  test('is put back and undone if it has left names that are not UTF-8', async () => {
    const odd = `${CHANGE}; for n in "$(printf 'odd\\377')" "made/$(printf '\\376')"; do mkdir "$n"; echo x > "$n/x"; done`;
    const root = folder();
    const before = listing(root);
    const call = callOf();
    const tool = changing(root, odd);
    expect(await run(tool, {}, call)).toMatchObject({ code: 0 });
    expect(
      readdirSync(root, 'buffer').some((name) => name.equals(Buffer.from('odd\xff', 'latin1'))),
    ).toBe(true);
    expect(await tool.spec.compensate!({}, null, call)).toEqual({ undone: 'all' });
    expect(listing(root)).toEqual(before);
    await expect(run(changing(root, `${odd}; exit 7`), {}, callOf('l'))).rejects.toMatchObject({
      why: 'exit_7',
    });
    expect(listing(root)).toEqual(before);
  });

  test('does not start if a name that is not UTF-8 can’t be copied', async () => {
    const root = folder();
    put(root, 'odd\ufffd', 'x');
    execFileSync('/bin/sh', ['-c', `echo y > "$(printf 'odd\\377')"`], { cwd: root });
    const begun = run(changing(root, 'rm *'));
    await expect(begun).rejects.toMatchObject({ name: 'DidNothing', why: 'not_copied' });
    expect(readdirSync(root, 'buffer')).toHaveLength(5);
  });

  test('is certainly not started if its folder takes too long to copy', async () => {
    const root = folder();
    const before = listing(root);
    const stop = new AbortController();
    const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>();
    const take = Snapshots.prototype.take;
    const taking = vi.spyOn(Snapshots.prototype, 'take').mockImplementationOnce(async function (
      this: Snapshots,
      ...given
    ) {
      stop.abort();
      await goesOn;
      return take.apply(this, given);
    });
    const tool = changing(root, CHANGE);
    // The caller gets the error immediately, and not after the copy in flight has ended.
    await expect(run(tool, {}, callOf('k', 1, stop.signal))).rejects.toMatchObject({
      name: 'DidNothing',
      isFinal: false,
      why: 'not_copied',
    });
    goOn();
    taking.mockRestore();
    // The partial copy is removed, and nothing is restored: another process may work there by now.
    writeFileSync(join(root, 'theirs'), '');
    expect(await tool.spec.reconcile!({}, callOf())).toEqual({ happened: false });
    expect(snapshotsOf(root)).toEqual([]);
    expect(listing(root)).toEqual({ ...before, theirs: '644 ' });
  });

  test('is not reverted if the folder was changed since', async () => {
    const root = folder();
    const tool = changing(root, CHANGE);
    await run(tool);
    writeFileSync(join(root, 'theirs'), '');
    const before = listing(root);
    expect(await tool.spec.compensate!({}, null, callOf())).toMatchObject({ undone: 'partly' });
    expect(listing(root)).toEqual(before);
  });

  test('has done nothing where it fails', async () => {
    const root = folder();
    const before = listing(root);
    await expect(run(changing(root, `${CHANGE}; echo why >&2; exit 4`))).rejects.toThrow(
      /ended with 4.*why/s,
    );
    expect(listing(root)).toEqual(before);
    await expect(run(changing(root, `${CHANGE}; kill -9 $$`))).rejects.toMatchObject({
      name: 'DidNothing',
    });
    expect(listing(root)).toEqual(before);
    expect(snapshotsOf(root)).toEqual([]);
  });

  test.each([
    ['echo on stdout; exit 4', /reverted$/, 'on stdout\n'],
    [
      'echo $(seq 999); echo first >&2; echo $(seq 999) >&2; echo last >&2; exit 4',
      /reverted: .*999\nlast$/s,
      'first',
    ],
    ['exit 4', /reverted$/, undefined],
  ])(
    'reports why it failed: the end of stderr, all outputs to the caller: %s',
    async (script, message, all) => {
      const error = await run(changing(folder(), script)).then(
        undefined,
        (thrown) => thrown as Error,
      );
      expect(error!.message).toMatch(message);
      expect(error!.message).not.toContain('first');
      const said = (error!.cause as Error | undefined)?.message;
      if (all === undefined) expect(said).toBeUndefined();
      else expect(said).toContain(all);
    },
  );

  test('is not said to be put back where its copy is gone', async () => {
    const root = folder();
    const gone = run(
      changing(root, 'echo new > a.txt; rm -r ../.assize-snapshots/repo/k*; exit 4'),
    );
    await expect(gone).rejects.toMatchObject({ name: 'NoAnswer', why: 'snapshot_gone' });
    expect(listing(root)).toMatchObject({ 'a.txt': '640 new\n' });
  });

  test('is restored by one process at a time, of a late and an adopting one', async () => {
    const root = folder();
    for (let n = 0; n < 500; n++) put(root, `many/${n}.txt`, `${n}`);
    const before = listing(root);
    const [late, next] = [changing(root, 'true'), changing(root, 'true')];
    await new Snapshots(realpathSync(root)).take('k', 1);
    const first = late.spec.reconcile!({}, callOf());
    while (readdirSync(root).includes('a.txt'))
      await new Promise((resolve) => setImmediate(resolve));
    const both = await Promise.all([first, next.spec.reconcile!({}, callOf())]);
    expect(both).toEqual([{ happened: false }, { happened: false }]);
    expect(listing(root)).toEqual(before);
  });

  test('is asked about in vain as long as another one runs it', async () => {
    const root = folder();
    const [one, other] = [
      changing(root, 'mkfifo pipe; echo go > pipe; rm pipe'),
      changing(root, 'true'),
    ];
    const running = run(one);
    while (!readdirSync(root).includes('pipe'))
      await new Promise((resolve) => setImmediate(resolve));
    const late = callOf('k', 1, AbortSignal.abort());
    const inVain = [
      () => other.spec.reconcile!({}, late),
      () => other.spec.compensate!({}, null, late),
      () => run(other, {}, late),
    ];
    for (const ask of inVain)
      await expect(ask()).rejects.toMatchObject({ name: 'NoAnswer', why: 'folder_in_use' });
    const then = other.spec.reconcile!({}, callOf());
    await fromPipe(join(root, 'pipe'));
    await running;
    expect(await then).toMatchObject({ happened: true, result: { code: 0 } });
  });

  test('is stopped and restored by the next process if its process ends', async () => {
    const root = folder();
    const before = listing(root);
    const script = 'mkfifo pipe; echo half > a.txt; (echo $$ > pipe; sleep 1000) & sleep 1000';
    const child = spawn(process.execPath, ['--input-type=module', '-e', life(root, script)], {
      cwd: join(import.meta.dirname, '../../../..'),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    while (!readdirSync(root).includes('pipe'))
      await new Promise((resolve) => setImmediate(resolve));
    const group = Number(await fromPipe(join(root, 'pipe')));
    child.kill('SIGKILL');
    await new Promise((resolve) => child.on('exit', resolve));
    expect(groupOf(group)).not.toEqual([]);
    const tool = changing(root, script);
    expect(await tool.spec.reconcile!({}, callOf())).toEqual({ happened: false });
    await expectEnded(group);
    expect(listing(root)).toEqual(before);
  });

  test.each<[string, string, (root: string, elsewhere: string) => void]>([
    [
      'a link to another folder',
      'ln -s "$PWD/../elsewhere" "$PWD"',
      (root, to) => symlinkSync(to, root),
    ],
    ['a file', 'echo mine > "$PWD"', (root) => writeFileSync(root, 'mine')],
    ['nothing', 'true', () => undefined],
  ])(
    'is restored by the next process even with %s in place of its folder',
    async (_, script, leave) => {
      const root = folder();
      const before = listing(root);
      const elsewhere = join(dirname(root), 'elsewhere');
      mkdirSync(elsewhere);
      put(elsewhere, 'theirs', 'x');
      // One that its process has not seen to its end, and one that is undone by another process.
      await new Snapshots(realpathSync(root)).take('k', 1);
      rmSync(root, { recursive: true });
      leave(root, elsewhere);
      expect(await changing(root, 'true').spec.reconcile!({}, callOf())).toEqual({
        happened: false,
      });
      expect(listing(root)).toEqual(before);
      await run(changing(root, `rm -r "$PWD"; ${script}`));
      expect(await changing(root, 'true').spec.compensate!({}, null, callOf())).toEqual({
        undone: 'all',
      });
      expect(listing(root)).toEqual(before);
      expect(listing(elsewhere)).toEqual({ theirs: '644 x' });
    },
  );

  test('keeps no copy for longer than until a later transaction runs there', async () => {
    const root = folder();
    const tool = changing(root, 'echo x >> log');
    await run(tool, {}, callOf('k1', 1));
    await run(tool, {}, callOf('k2', 1));
    expect(snapshotsOf(root)).toEqual(['k1', 'k1.json', 'k2', 'k2.json']);
    await run(tool, {}, callOf('k3', 2));
    expect(snapshotsOf(root)).toEqual(['k3', 'k3.json']);
  });

  test('is copied to a private folder, also to one that an earlier version made', async () => {
    const root = folder();
    chmodSync(root, 0o700);
    const around = join(dirname(root), '.assize-snapshots');
    await run(changing(root, 'true'));
    const places = [around, join(around, 'repo'), join(around, 'repo', 'k')];
    expect(places.map(modeOf)).toEqual(['700', '700', '700']);
    chmodSync(places[1]!, 0o755);
    await run(changing(root, 'true'), {}, callOf('k2', 2));
    expect(modeOf(places[1]!)).toBe('700');
  });

  test.each([
    ['777', '750', 'an open one'],
    ['500', '750', 'one that nobody may write to'],
    ['700', '2755', 'one with more than permissions'],
  ])('has its own mode again, after %s %s: %s', async (by, was) => {
    const root = folder();
    const before = listing(root);
    chmodSync(root, Number.parseInt(was, 8));
    const tool = changing(root, `rm a.txt; chmod ${by} .`);
    await run(tool);
    expect(modeOf(root)).not.toBe(was);
    expect(await tool.spec.compensate!({}, null, callOf())).toEqual({ undone: 'all' });
    expect([modeOf(root), listing(root)]).toEqual([was, before]);
    await expect(run(changing(root, `chmod ${by} .; exit 1`), {}, callOf('k2'))).rejects.toThrow(
      /were reverted/,
    );
    expect([modeOf(root), listing(root)]).toEqual([was, before]);
  });

  test('is not reverted if the folder’s mode was changed since', async () => {
    const root = folder();
    const tool = changing(root, CHANGE);
    await run(tool);
    chmodSync(root, 0o711);
    expect(await tool.spec.compensate!({}, null, callOf())).toMatchObject({ undone: 'partly' });
    expect(modeOf(root)).toBe('711');
  });

  test('is undone also where it began before folders’ own modes were kept', async () => {
    const root = folder();
    const before = listing(root);
    const tool = changing(root, 'echo new > a.txt');
    await run(tool);
    const path = join(dirname(root), '.assize-snapshots/repo/k.json');
    const { mode, ...entry } = JSON.parse(readFileSync(path, 'utf8'));
    expect(mode).toBe(0o755);
    const standing = (text: string): string =>
      contentHash([
        { at: 'a.txt', mode: 0o640, hash: hash(text) },
        { at: 'link', to: 'a.txt' },
        { at: 'sub', mode: 0o755, is: 'folder' },
        { at: 'sub/b.txt', mode: 0o644, hash: hash('b') },
      ]);
    writeFileSync(
      path,
      JSON.stringify({ ...entry, before: standing('old'), after: standing('new\n') }),
    );
    expect(await tool.spec.compensate!({}, null, callOf())).toEqual({ undone: 'all' });
    expect(listing(root)).toEqual(before);
  });

  test.each<[string, ShellToolSpec['writes'] | undefined, (root: string) => string[]]>([
    ['said nothing', undefined, (root) => [`fs:${root}/**`]],
    [
      'said something else',
      ['fs:/elsewhere', 'x:{n}'],
      (root) => ['fs:/elsewhere', 'x:7', `fs:${root}/**`],
    ],
    [
      'said another thing each time',
      ({ n }: any) => [`x:${n}`],
      (root) => ['x:7', `fs:${root}/**`],
    ],
  ])('claims its folder by itself, where it %s', (_, writes, claims) => {
    const root = folder();
    const input = z.strictObject({ n: z.number() });
    for (const at of [root, linkTo(root)]) {
      const tool = changing(at, 'true', { input, writes } as never);
      expect(tool.claims({ n: 7 }).map(({ access, scope }) => `${access} ${scope.text}`)).toEqual(
        claims(realpathSync(root)).map((scope) => `write ${scope}`),
      );
    }
  });

  test.each([
    ['all of it', (root: string) => `fs:${root}/**`],
    ['itself', (root: string) => `fs:${root}`],
  ])('claims no more where it says %s', (_, scopeOf) => {
    const scope = scopeOf(realpathSync(folder()));
    const root = scope.slice(3).replace(/\/\*\*$/, '');
    for (const writes of [[scope], () => [scope]])
      expect(
        changing(root, 'true', { writes })
          .claims({})
          .map((claim) => claim.scope.text),
      ).toEqual([scope]);
  });

  test('accepts the other options of its class', () => {
    const parts = {
      sensitive: true,
      plan: () => 'planned',
      mitigate: () => 'told',
      cost: () => ({}),
    } as const;
    expect(changing(folder(), 'true', parts).spec).toMatchObject(parts);
    const sort = { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' } as const;
    const own = { ...parts, compensate: () => ({ undone: 'all' }) as const, parallel: true };
    expect(
      shellTool({
        name: 'own',
        command: ['true'],
        class: sort,
        keyVariable: 'KEY',
        writes: ['x:y'],
        ...own,
      }).spec,
    ).toMatchObject(own);
  });

  test('is worked in by no transaction that has not claimed it', async () => {
    const root = folder();
    const before = listing(root);
    const tool = changing(root, CHANGE, { writes: ['x:one'] });
    const assize = runtimeOver(new MemoryStore(), [tally], { tools: [tool] });
    const trajectory = await assize.create(tally, { trajectoryId: 't' });
    const running = trajectory.transaction({ writ: writFor('alice'), writes: ['x:one'] }, (tx) =>
      tx.call('repo.run', {}),
    );
    await expect(running).rejects.toMatchObject({ reason: 'scope_exceeded' });
    expect(listing(root)).toEqual(before);
  });

  test('is part of a transaction', async () => {
    const root = folder();
    const before = listing(root);
    const assize = runtimeOver(new MemoryStore(), [tally], {
      tools: [changing(root, CHANGE)],
      effects: { blockTimeoutMs: 240_000, callTimeoutMs: 60_000 },
    });
    const trajectory = await assize.create(tally, { trajectoryId: 't' });
    const transact = (args: string) =>
      trajectory.transaction({ writ: writFor('alice'), writes: [`fs:${root}`] }, async (tx) => {
        expect(await tx.call('repo.run', {})).toMatchObject({ code: 0 });
        expect(listing(root)).not.toEqual(before);
        tx.propose({ action: 'count', role: 'counter', args });
      });
    expect(await transact('forbidden')).toMatchObject({
      ruling: { ruling: 'rejected' },
      effects: 'settled',
    });
    expect(listing(root)).toEqual(before);
    expect(await transact('order')).toMatchObject({
      ruling: { ruling: 'committed' },
      effects: 'settled',
    });
    expect(listing(root)).toMatchObject({ 'a.txt': '640 new\n' });
  });
});

test.each([
  [
    'with what no tool has',
    { command: ['x'], class: 'read', bogus: 1 },
    /no field "bogus". The options are name, .*snapshotOf/,
  ],
  [
    'with a misspelled snapshotOf',
    { command: ['x'], class: 'read', snapshotof: '/a' },
    /no field "snapshotof"/,
  ],
  [
    'with a reason to stay',
    { command: ['x'], snapshotOf: '/a', uncompensated: 'so' },
    /Remove compensate/,
  ],
  [
    'that several branches use concurrently',
    { command: ['x'], snapshotOf: '/a', parallel: true },
    /parallel.*BranchFolders/,
  ],
  [
    'with options that begin nothing',
    { command: ['x', 'a{b}'], class: 'read', mayBeOptions: ['b'] },
    /no argument starts with "b"/,
  ],
  [
    'with options of a script',
    { command: 'x $b', class: 'read', mayBeOptions: ['b'] },
    /no argument starts with "b"/,
  ],
  [
    'with what its input has not',
    { command: ['x', 'a{b}'], class: 'read' },
    /its command has \{b\}.*fields: none/,
  ],
  [
    'with an odd environment',
    { command: ['x'], class: 'read', env: { A: 7 } },
    /\/env\/A: it must be a string/,
  ],
  ['with half a byte', { command: ['x'], class: 'read', outputMax: 0.5 }, /\/outputMax: /],
  [
    'with a key that reaches no command',
    { command: ['x'], class: KEYED, writes: ['x:y'] },
    /keyed sink.*keyVariable/,
  ],
  [
    'with a key for what its env has',
    { command: ['x'], class: 'read', env: { A: '1' }, keyVariable: 'A' },
    /its env has A, its keyVariable/,
  ],
  [
    'with a key in lower case',
    { command: ['x'], class: 'read', keyVariable: 'key' },
    /\/keyVariable: .*upper-case/,
  ],
  ['with an invalid class', { command: ['x'], class: null }, /its class must be 'read'/],
  ['without a class', { command: ['x'] }, /class, or a snapshotOf/],
  ['without a command', { command: [], class: 'read' }, /the program first/],
  [
    'with a folder that is not an absolute path',
    { command: ['x'], snapshotOf: 'a', writes: [] },
    /absolute path/,
  ],
  [
    'with two ways to undo it',
    { command: ['x'], snapshotOf: '/a', compensate: () => {} },
    /Remove compensate/,
  ],
  [
    'with a folder that is not there',
    { command: ['x'], snapshotOf: '/nowhere/at/all' },
    /ENOENT.*Create it first/,
  ],
  [
    'with a folder that is a file',
    { command: ['x'], snapshotOf: import.meta.filename },
    /is not a folder.*Create it first/,
  ],
])('a tool %s is refused by name', (_, spec, why) => {
  const make = () => shellTool({ name: 'bad.tool', ...spec } as never);
  expect(make).toThrow(why);
  expect(make).toThrow(
    expect.objectContaining({
      reason: 'invalid_tool',
      message: expect.stringMatching(/bad\.tool/),
    }),
  );
});

/** A process that runs a command until it is killed. */
function life(root: string, script: string): string {
  const spec = { name: 'repo.run', command: script, snapshotOf: root, writes: [`fs:${root}`] };
  return `import { shellTool } from '@assize/tools/shell';
    const tool = shellTool(${JSON.stringify(spec)});
    await tool.spec.execute({}, { key: 'k', epoch: 1, signal: new AbortController().signal }, []);`;
}

function fromPipe(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = spawn('/bin/sh', ['-c', 'while ! [ -p "$0" ]; do :; done; cat "$0"', path]);
    let text = '';
    reader.stdout.on('data', (chunk) => {
      text += chunk;
    });
    reader.on('close', () => resolve(text));
    reader.on('error', reject);
  });
}

/** A killed process may still exist for a moment. */
function expectEnded(group: number): Promise<void> {
  return vi.waitFor(() => expect(groupOf(group)).toEqual([]), { timeout: 60_000 });
}

/** Live processes of a group, as the system lists them. */
function groupOf(group: number): string[] {
  const all = execFileSync('ps', ['-eo', 'pgid=,stat=,pid='], { encoding: 'utf8' })
    .trim()
    .split('\n');
  return all.filter((line) => Number(line.trim().split(/\s+/)[0]) === group && !/\bZ/.test(line));
}
