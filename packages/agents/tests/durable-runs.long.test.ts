/** `assize run --durable`, `assize run work`, `assize run list`; docs/guide/durable-runs.md. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withPostgres } from '../../../tests/support/postgres/index.ts';
import {
  type Ended,
  endOf,
  runCommand,
  startCommand,
} from '../../../tests/support/process/command.ts';
import { blocksOf, writeFiles } from '../../../tests/support/process/guide-files.ts';

const root = join(import.meta.dirname, '../../..');
const PAGE = 'durable-runs.md';
const STORE = 'sqlite:./refunds.db';
let folder: string;

const assize = (...args: string[]): Promise<Ended> => runCommand(folder, STORE, ...args);

async function json(code: number, ...args: string[]): Promise<any> {
  const ended = await assize(...args, '--json');
  expect(ended.code, ended.err).toBe(code);
  return JSON.parse(ended.out);
}

const code = (says: string): string =>
  blocksOf(PAGE)
    .filter((block) => block.says === says)
    .map((block) => block.code)
    .join('\n');

function shell(script: string): string {
  const env = {
    ...process.env,
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    NO_COLOR: '1',
  };
  const settings = `export ASSIZE_STORE=${STORE}\n`;
  return execFileSync('sh', ['-eu', '-c', settings + script], {
    ...{ cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  });
}

beforeAll(() => {
  // Inside the repository, so that `assize` is this package.
  folder = mkdtempSync(join(root, 'dist-guide-'));
  mkdirSync(join(folder, 'bin'));
  const command = join(folder, 'bin/assize');
  writeFileSync(
    command,
    `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'packages/cli/src/main.ts')}" "$@"\n`,
  );
  chmodSync(command, 0o755);
  writeFiles(PAGE, folder);
  shell(code('sh'));
  shell(
    'assize writ key other.key; assize writ issue --key other.key --subject clerk --action "**" --scope "**" --max-depth 0 --expires 2100-01-01 --out foreign.json',
  );
  writeFileSync(
    join(folder, 'models.ts'),
    "export const agents = [{ name: 'clerk', role: 'clerk', instructions: 'Pay it.' }];\n",
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Without ids and times, and without the turn of a wait that was over in the next process. */
function known(printed: string): string[] {
  const text = printed
    .replaceAll(/\b[0-9a-f]{12}\b/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')
    .replaceAll(/^\d+ clerk/gm, 'N clerk')
    .replaceAll(/after \d+ turns/g, 'after N turns');
  return text
    .split('\n')
    .filter((one) => one !== '' && !/^\S+( clerk)? waits until TIME$/.test(one));
}

test('the guide: a killed worker, an approval, and the end in the next process', () => {
  const lines = code('console').split('\n');
  const typed = lines.filter((text) => text.startsWith('$ ')).map((text) => text.slice(2));
  const shown = lines.filter((text) => text !== '' && !text.startsWith('$ ')).join('\n');
  expect(typed).toHaveLength(5);
  expect(known(shell(typed.join('\n')))).toEqual(known(shown));
  expect(readFileSync(join(folder, 'worker.txt'), 'utf8')).toContain(
    'refund-17 waits for a decision',
  );
  const failures = shell(`{ ${code('sh failures')} } 2>&1`);
  expect(failures).toContain('refund-17 done');
  expect(failures).toContain('is done, and only a failed run can be retried');
  expect(failures).toContain('has ended as done');
  expect(execFileSync(process.execPath, ['carry.ts'], { cwd: folder, encoding: 'utf8' })).toBe(
    code('text carry.ts'),
  );
});

withPostgres('DBOS', (postgres) => {
  test('the guide: a workflow carries a run', () => {
    const url = new URL(postgres.url());
    url.search = '';
    url.pathname = '/guide_of_runs';
    const env = { ...process.env, DBOS_SYSTEM_DATABASE_URL: url.href };
    const printed = execFileSync(process.execPath, ['carry-dbos.ts'], {
      cwd: folder,
      encoding: 'utf8',
      env,
    });
    expect(printed).toBe(code('text carry-dbos.ts'));
  });
});

const RUN = ['run', 'refunds.ts', '--durable', '--writ', 'clerk.json'];

test('a stopped worker leaves no lease, and a cancelled run stays ended', async () => {
  await assize('create', 'refund-20', '--domain', 'refunds.ts', '--initial', '{"euros":500}');
  expect(
    await json(0, ...RUN, '--detach', '--trajectory', 'refund-20', '--turns', '9'),
  ).toMatchObject({
    ...{
      trajectory_id: 'refund-20',
      agents: 'refunds',
      tenant: 'default',
      status: 'ready',
      turns: 0,
      turns_max: 9,
    },
  });
  const worker = startCommand(
    folder,
    STORE,
    'run',
    'work',
    'refunds.ts',
    '--writ',
    'clerk.json',
    '--json',
  );
  const ending = endOf(worker);
  const show = (): Promise<any> => json(0, 'run', 'show', 'refund-20');
  await expect.poll(async () => (await show()).status, { timeout: 60_000 }).toBe('waiting');
  worker.kill('SIGTERM');
  const ended = await ending;
  expect([ended.code, JSON.parse(ended.out)]).toEqual([
    0,
    { advances: 1, done: 0, failed: 0, cancelled: 0 },
  ]);
  expect(await show()).not.toHaveProperty('lease');
  const [listed] = (await json(0, 'run', 'list', '--tenant', 'default')).runs;
  expect(listed).toMatchObject({ trajectory_id: 'refund-20', pending: [expect.any(String)] });
  expect(await json(0, 'run', 'cancel', 'refund-20')).toMatchObject({ status: 'cancelled' });
  expect((await json(0, 'run', 'list')).runs).toEqual([]);
  expect(await json(1, ...RUN, '--trajectory', 'refund-20')).toMatchObject({
    status: 'cancelled',
    rulings: [],
  });
});

test('a run of a trajectory that does not exist says that it began it', async () => {
  const mistyped = await assize(...RUN, '--trajectory', 'refund-2O');
  expect(mistyped.out).toMatch(/^Began the trajectory refund-2O\.\n/);
  const again = await json(0, ...RUN, '--trajectory', 'refund-2O');
  expect(again).toMatchObject({
    trajectory_id: 'refund-2O',
    new_trajectory: false,
    status: 'done',
  });
  expect(await json(0, ...RUN, '--detach', '--trajectory', 'refund-3O')).toMatchObject({
    new_trajectory: true,
  });
});

test('a failed run says why, and a retry continues it', async () => {
  await assize('create', 'refund-21', '--domain', 'refunds.ts', '--initial', '{"euros":50}');
  const failed = await json(1, ...RUN, '--trajectory', 'refund-21', '--turns', '1');
  expect(failed).toMatchObject({ status: 'failed', turns: 1, error: { code: 'turns_used' } });
  expect(failed.rulings).toMatchObject([{ turn: 0, action: 'agree', ruling: 'committed' }]);
  expect((await assize('run', 'list', '--ended', '--tenant', 'default')).out).toContain(
    'has taken its 1 turns',
  );
  await json(0, 'run', 'retry', 'refund-21');
  const again = await json(1, ...RUN, '--trajectory', 'refund-21');
  expect(again).toMatchObject({ status: 'failed', turns: 2 });
});

test('SIGTERM leaves a run that waits to the next process', async () => {
  await assize('create', 'refund-22', '--domain', 'refunds.ts', '--initial', '{"euros":500}');
  const running = startCommand(folder, STORE, ...RUN, '--trajectory', 'refund-22');
  let printed = '';
  running.stdout!.on('data', (text) => (printed += text));
  const ending = endOf(running);
  await expect.poll(() => printed, { timeout: 60_000 }).toContain('waits for a decision');
  running.kill('SIGTERM');
  const { code, err } = await ending;
  expect([code, err]).toEqual([143, expect.stringContaining('the next run goes on')]);
  await assize('run', 'cancel', 'refund-22');
});

test.each<[string, string[], string, RegExp]>([
  ['the file of a worker', ['run', 'work'], 'usage', /files/],
  ['agents that exist', ['run', 'work', 'nothing.ts'], 'unreadable_file', /nothing\.ts/],
  [
    'two files with names of their own',
    ['run', 'work', 'refunds.ts', './refunds.ts'],
    'usage',
    /named refunds/,
  ],
  [
    'a writ for each agent',
    ['run', 'work', 'refunds.ts'],
    'usage',
    /agent clerk of .* has no writ\. Pass one with --writ/,
  ],
  [
    'a writ of an anchor',
    ['run', 'work', 'refunds.ts', '--writ', 'foreign.json'],
    'usage',
    /root key \w+, but .* does not/,
  ],
  [
    'a model for its agents',
    ['run', 'work', 'models.ts', '--writ', 'clerk.json'],
    'usage',
    /needs a model\. Pass --model/,
  ],
  ['a whole concurrency', ['run', 'work', 'refunds.ts', '--concurrency', '0'], 'usage', /from 1/],
  ['a run that exists', ['run', 'show', 'refund-99'], 'not_found', /refund-99/],
  ['a run to cancel', ['run', 'cancel', 'refund-99'], 'not_found', /refund-99/],
  ['a run to retry', ['run', 'retry', 'refund-99'], 'not_found', /refund-99/],
  ['--durable with --detach', ['run', 'refunds.ts', '--detach'], 'usage', /Pass --durable/],
  [
    '--durable with --tenant',
    ['run', 'refunds.ts', '--tenant', 'x'],
    'usage',
    /--tenant .*Pass --durable/,
  ],
  [
    'the tenant of the run',
    [...RUN, '--trajectory', 'refund-17', '--tenant', 'x'],
    'wrong_state',
    /tenant north/,
  ],
  [
    'a short tenant',
    [...RUN, '--trajectory', 'refund-17', '--tenant', ''],
    'bad_argument',
    /tenant/,
  ],
])('durable runs need %s', async (_, args, wanted, message) => {
  const { error } = await json(2, ...args);
  expect(error).toEqual({ code: wanted, message: expect.stringMatching(message) });
});
