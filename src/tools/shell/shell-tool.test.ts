import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Call, Tool } from '#effects';
import { MemoryStore } from '#stores';
import { tally } from '../../../tests/support/effects-stage.ts';
import { listing, newFolder, put } from '../../../tests/support/files-stage.ts';
import { runtimeOver, writFor } from '../../../tests/support/runtime.ts';
import { type ShellToolSpec, shellTool } from './shell-tool.ts';

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

function snapshotsOf(root: string): string[] {
  return readdirSync(join(dirname(root), '.assize-snapshots', 'repo')).sort();
}

const READ = { name: 'run', class: 'read', input: z.strictObject({ text: z.string() }) } as const;
const callOf = (key = 'k', epoch = 1, signal: AbortSignal = new AbortController().signal): Call => ({
  key,
  epoch,
  signal,
});
const run = async (tool: Tool, input: unknown = {}, call: Call = callOf()): Promise<any> =>
  tool.spec.execute(tool.parse(input), call, []);

function changing(root: string, command: ShellToolSpec['command'], more: Partial<ShellToolSpec> = {}): Tool {
  return shellTool({ name: 'repo.run', command, snapshotOf: root, writes: [`fs:${root}`], ...more });
}

const CHANGE = 'echo new > a.txt; rm -r sub; mkdir made; echo c > made/c; chmod 700 made; rm link';

describe('a command', () => {
  test('gets its arguments one by one, and never through a shell', async () => {
    const text = '; touch hacked $(id) `id` "\n *';
    const tool = shellTool({ ...READ, command: ['printf', '%s|%s', 'a {text}', '{text}'] });
    expect(await run(tool, { text })).toEqual({ code: 0, stdout: `a ${text}|${text}`, stderr: '', isCut: false });
  });

  test('that is a script has its input as variables', async () => {
    const text = '"; exit 7; "';
    const tool = shellTool({ ...READ, command: 'printf %s "$text"; echo told >&2; exit 3' });
    expect(await run(tool, { text })).toEqual({ code: 3, stdout: text, stderr: 'told\n', isCut: false });
  });

  test('has no environment but what is declared', async () => {
    const bare = await run(shellTool({ ...READ, command: ['env'] }), { text: '' });
    expect(bare.stdout.trim().split('\n').sort()).toEqual(['LANG=C.UTF-8', 'PATH=/usr/local/bin:/usr/bin:/bin']);
    const own = await run(shellTool({ ...READ, command: ['/usr/bin/env'], env: { A: '1' } }), { text: '' });
    expect(own.stdout).toBe('A=1\n');
  });

  test('has its output kept up to a bound', async () => {
    const tool = shellTool({ ...READ, command: ['printf', '%s', '{text}'], outputMax: 3 });
    expect(await run(tool, { text: 'abcdef' })).toMatchObject({ stdout: 'abc', isCut: true });
    expect(await run(tool, { text: 'abc' })).toMatchObject({ stdout: 'abc', isCut: false });
  });

  test('that is not there, or was told to stop before, has done nothing', async () => {
    const none = run(shellTool({ ...READ, command: ['no-such-program'] }), { text: '' });
    await expect(none).rejects.toMatchObject({ name: 'DidNothing', isFinal: true });
    const late = run(shellTool({ ...READ, command: ['true'] }), { text: '' }, callOf('k', 1, AbortSignal.abort()));
    await expect(late).rejects.toMatchObject({ name: 'DidNothing' });
  });

  test('that takes too long is ended with all that it has started', async () => {
    const root = folder();
    const stop = new AbortController();
    const tool = shellTool({ ...READ, cwd: root, command: 'mkfifo pipe; (echo $$ > pipe; sleep 1000) & sleep 1000' });
    const running = run(tool, { text: '' }, callOf('k', 1, stop.signal));
    // It can be read from as soon as the command is there.
    const group = Number(await fromPipe(join(root, 'pipe')));
    stop.abort();
    await expect(running).rejects.toThrow(/SIGKILL/);
    await expectEnded(group);
  });
});

describe('a command whose folder is kept', () => {
  test('is undone by putting the folder back', async () => {
    const root = folder();
    const before = listing(root);
    const tool = changing(root, CHANGE);
    await run(tool);
    expect(listing(root)).toEqual({ 'a.txt': '640 new\n', 'made/': '', 'made/c': '644 c\n' });
    expect(await tool.spec.reconcile!({}, callOf())).toMatchObject({ happened: true, result: { code: 0 } });
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

  test('is left where somebody has changed the folder since', async () => {
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
    await expect(run(changing(root, `${CHANGE}; echo why >&2; exit 4`))).rejects.toThrow(/ended with 4.*why/s);
    expect(listing(root)).toEqual(before);
    await expect(run(changing(root, `${CHANGE}; kill -9 $$`))).rejects.toMatchObject({ name: 'DidNothing' });
    expect(listing(root)).toEqual(before);
    expect(snapshotsOf(root)).toEqual([]);
  });

  test('that is at work when its process ends is ended by who comes next, and put back', async () => {
    const root = folder();
    const before = listing(root);
    const script = 'mkfifo pipe; echo half > a.txt; (echo $$ > pipe; sleep 1000) & sleep 1000';
    const child = spawn(process.execPath, ['--input-type=module', '-e', life(root, script)], {
      cwd: join(import.meta.dirname, '../../..'),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    while (!readdirSync(root).includes('pipe')) await new Promise((resolve) => setImmediate(resolve));
    const group = Number(await fromPipe(join(root, 'pipe')));
    child.kill('SIGKILL');
    await new Promise((resolve) => child.on('exit', resolve));
    expect(groupOf(group)).not.toEqual([]);
    const tool = changing(root, script);
    expect(await tool.spec.reconcile!({}, callOf())).toEqual({ happened: false });
    await expectEnded(group);
    expect(listing(root)).toEqual(before);
  });

  test('keeps no copy for longer than until a later transaction runs there', async () => {
    const root = folder();
    const tool = changing(root, 'echo x >> log');
    await run(tool, {}, callOf('k1', 1));
    await run(tool, {}, callOf('k2', 1));
    expect(snapshotsOf(root)).toEqual(['k1', 'k1.json', 'k2', 'k2.json']);
    await run(tool, {}, callOf('k3', 2));
    expect(snapshotsOf(root)).toEqual(['k3', 'k3.json']);
  });

  test('is part of a transaction', async () => {
    const root = folder();
    const before = listing(root);
    const assize = runtimeOver(new MemoryStore(), [tally], {
      tools: [changing(root, CHANGE)],
      holdMs: 240_000,
      callMs: 60_000,
    });
    const trajectory = await assize.create(tally, { trajectoryId: 't' });
    const transact = (args: string) =>
      trajectory.transaction({ writ: writFor('alice'), writes: [`fs:${root}`] }, async (tx) => {
        expect(await tx.call('repo.run', {})).toMatchObject({ code: 0 });
        expect(listing(root)).not.toEqual(before);
        tx.propose({ action: 'count', role: 'counter', args });
      });
    expect(await transact('forbidden')).toMatchObject({ ruling: { ruling: 'rejected' }, effects: 'settled' });
    expect(listing(root)).toEqual(before);
    expect(await transact('order')).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
    expect(listing(root)).toMatchObject({ 'a.txt': '640 new\n' });
  });
});

test.each([
  ['without a class', { command: ['x'] }, /class, or a snapshotOf/],
  ['without a command', { command: [], class: 'read' }, /the program first/],
  ['with a folder that is no absolute path', { command: ['x'], snapshotOf: 'a', writes: [] }, /absolute path/],
  ['with two ways to undo it', { command: ['x'], snapshotOf: '/a', compensate: () => {} }, /of its own/],
  ['that writes nothing, as it says', { command: ['x'], snapshotOf: '/a' }, /what it writes/],
])('a tool %s is refused by name', (_, spec, why) => {
  const make = () => shellTool({ name: 'bad.tool', ...spec } as never);
  expect(make).toThrow(why);
  expect(make).toThrow(expect.objectContaining({ code: 'invalid_tool', message: expect.stringMatching(/bad\.tool/) }));
});

/** A process that runs a command until it is killed. */
function life(root: string, script: string): string {
  const spec = { name: 'repo.run', command: script, snapshotOf: root, writes: [`fs:${root}`] };
  return `import { shellTool } from 'assize/tools/shell';
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

/** What was killed may be on its way out for a moment. */
function expectEnded(group: number): Promise<void> {
  return vi.waitFor(() => expect(groupOf(group)).toEqual([]), { timeout: 60_000 });
}

/** Live processes of a group, as the system lists them. */
function groupOf(group: number): string[] {
  const all = execFileSync('ps', ['-eo', 'pgid=,stat=,pid='], { encoding: 'utf8' }).trim().split('\n');
  return all.filter((line) => Number(line.trim().split(/\s+/)[0]) === group && !/\bZ/.test(line));
}
