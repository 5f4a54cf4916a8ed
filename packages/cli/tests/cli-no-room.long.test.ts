/** A full disk: the error of a command, and the files that it leaves. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inTillFolder } from '../../../tests/support/process/budget-folder.ts';
import { type Ended, endOf } from '../../../tests/support/process/command.ts';

const main = join(import.meta.dirname, '../src/main.ts');
const labs = join(import.meta.dirname, '../../../labs/cli/main.ts');
const here = inTillFolder();
const { assize, file, till } = here;

/** The unit of `ulimit -f`, in bytes. */
const BLOCK = 512;
/**
 * The first write beyond the limit of a file writes the part that fits. The next write raises a
 * signal that ends the process, unless ignored.
 */
const LIMITED = 'trap "" XFSZ; ulimit -f "$1"; shift; exec "$@"';

/** Runs a command that can write at most `bytesMax` bytes to a file, rounded down to blocks. */
function within(bytesMax: number, ...args: readonly string[]): Promise<Ended> {
  return inShell(LIMITED, String(Math.floor(bytesMax / BLOCK)), process.execPath, main, ...args);
}

function inShell(script: string, ...args: readonly string[]): Promise<Ended> {
  const env = { ...process.env, NO_COLOR: '1' };
  return endOf(
    spawn('sh', ['-c', script, 'sh', ...args], {
      cwd: here.folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

/**
 * Runs a command with one of its streams redirected to a full file. A store still has room for the
 * files of its opening.
 */
function withoutRoomFor(stream: '1' | '2', ...args: readonly string[]): Promise<Ended> {
  return withRoomFor(0, stream, ...args);
}

/** Likewise, of so many bytes more. */
function withRoomFor(bytes: number, stream: '1' | '2', ...args: readonly string[]): Promise<Ended> {
  const bytesMax = 2 ** 20;
  file('full', new Uint8Array(bytesMax - bytes));
  return inShell(
    `${LIMITED} ${stream}>>full`,
    String(bytesMax / BLOCK),
    process.execPath,
    main,
    ...args,
  );
}

const names = (): string[] => readdirSync(here.folder).filter((name) => !name.startsWith('till'));
const bytesOf = (name: string): number => statSync(join(here.folder, name)).size;

test('an export without room for its last line fails and leaves no file behind', async () => {
  const store = till();
  expect(await assize('export', '--out', 'whole.jsonl', ...store)).toMatchObject({
    code: 0,
    err: '',
  });
  const cut = await within(bytesOf('whole.jsonl') - 1, 'export', '--out', 'ledger.jsonl', ...store);
  expect(cut).toEqual({
    code: 2,
    out: '',
    err: 'assize: ledger.jsonl cannot be written: the file is too large for the file system. Name another path.\n',
  });
  expect(names()).toEqual(['whole.jsonl']);
  expect(await assize('export', '--out', 'ledger.jsonl', ...store)).toMatchObject({
    code: 0,
    err: '',
  });
});

test('an export to a file by standard output is whole, or is reported as cut', async () => {
  const store = till();
  await assize('export', '--out', 'whole.jsonl', ...store);
  const blocks = String(Math.floor((bytesOf('whole.jsonl') - 1) / BLOCK));
  const into = (blocksMax: string): Promise<Ended> =>
    inShell(`${LIMITED} >ledger.jsonl`, blocksMax, process.execPath, main, 'export', ...store);
  const cut = await into(blocks);
  expect([cut.code, cut.err]).toEqual([
    2,
    expect.stringMatching(/^assize: Cannot write the output: .*\.\n$/),
  ]);
  expect(await into('unlimited')).toEqual({ code: 0, out: '', err: '' });
  const [whole, told] = ['whole.jsonl', 'ledger.jsonl'].map((name) =>
    readFileSync(join(here.folder, name), 'utf8'),
  );
  expect(told).toBe(whole);
});

test.each([
  ['says nothing of the ledger', ['verify']],
  ['says so also with --json', ['verify', '--json']],
  ['says so of what is written piece by piece', ['export']],
  ['says so of its help', ['--help']],
])('a command whose output can’t be written %s, in a sentence', async (_, args) => {
  const store = args[0] === '--help' ? [] : till();
  const { code, err } = await withoutRoomFor('1', ...args, ...store);
  expect(err).toMatch(/^assize: Cannot write the output: EFBIG[^\n]*\.\n$/);
  // By contract, 1 says that the ledger does not verify.
  expect(code).toBe(2);
});

test.each([
  ['its help', ['--help']],
  ['an error with --json', ['show', 'no-id', '--json']],
  ['the checkpoint', ['checkpoint', '--print']],
])('a command that can write only a part of %s says so', async (_, args) => {
  const store = args[0] === '--help' ? [] : till();
  if (args[0] === 'checkpoint') await assize('keys', 'new', 'example.com/till', ...store);
  const { code, err } = await withRoomFor(20, '1', ...args, ...store);
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/assize: Cannot write the output: EFBIG[^\n]*\.\n$/),
  ]);
  expect(bytesOf('full')).toBe(2 ** 20);
});

test('messages that cannot be written do not change the result of a command', async () => {
  const { code, out } = await withoutRoomFor('2', 'verify', ...till());
  expect([code, out]).toEqual([0, expect.stringContaining('valid')]);
  expect((await withoutRoomFor('2', 'logs')).code).toBe(2);
});

test.each([
  ['the key of a writ', ['writ', 'key', 'my.key']],
  ['a key of the log', ['keys', 'new', 'example.com/till', '--out', 'my.key']],
])('%s that could not be written leaves no file, and the next try makes it', async (_, args) => {
  const { code, err } = await within(0, ...args);
  expect([code, err]).toEqual([
    2,
    'assize: my.key cannot be written: the file is too large for the file system. Name another path.\n',
  ]);
  expect(names()).toEqual([]);
  expect(await assize(...args)).toMatchObject({ code: 0, err: '' });
});

test('a file that cannot be overwritten for lack of space is unchanged', async () => {
  const draw = ['ontology', 'draw', 'udt', '--force', '--out', 'there'];
  file('there', 'somebody’s');
  const { code, err } = await inShell(LIMITED, '0', process.execPath, labs, ...draw);
  expect([code, err]).toEqual([
    2,
    'assize: there cannot be written: the file is too large for the file system. Name another path.\n',
  ]);
  expect(names()).toEqual(['there']);
  expect(readFileSync(join(here.folder, 'there'), 'utf8')).toBe('somebody’s');
  expect(await assize('assize-experiments', ...draw)).toMatchObject({ code: 0, err: '' });
  expect([names(), readFileSync(join(here.folder, 'there'), 'utf8').slice(0, 4)]).toEqual([
    ['there'],
    '<svg',
  ]);
});

test('of two keys neither is made where the second can’t be', async () => {
  file('my.vkey', 'somebody’s');
  const args = ['keys', 'new', 'example.com/till', '--out', 'my.key'];
  expect((await assize(...args)).err).toMatch(/my\.vkey already exists/);
  expect(names()).toEqual(['my.vkey']);
  expect(readFileSync(join(here.folder, 'my.vkey'), 'utf8')).toBe('somebody’s');
});
