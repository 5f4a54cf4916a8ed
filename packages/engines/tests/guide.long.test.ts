/**
 * docs/guide/durable-engines.md, run as it stands: with DBOS, with Restate, and in the context of
 * Temporal's activities without a server of Temporal.
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  freePort,
  RestateServer,
  restateProgram,
} from '../../../tests/support/engines/restate-server.ts';
import { withPostgres } from '../../../tests/support/postgres/index.ts';
import { linkPackages } from '../../../tests/support/process/link-packages.ts';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/guide/durable-engines.md'), 'utf8');
const temporal = join(root, 'peers/node_modules/@temporalio');
const blocks = [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(
  ([, info = '', text = '']) => ({ info, text }),
);

/** A project with the files of the page. */
function project(): { readonly here: string; readonly env: NodeJS.ProcessEnv } {
  const here = mkdtempSync(join(tmpdir(), 'assize-engines-guide-'));
  onTestFinished(() => rmSync(here, { recursive: true }));
  mkdirSync(join(here, 'bin'));
  const command = join(here, 'bin/assize');
  writeFileSync(
    command,
    `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'packages/cli/src/main.ts')}" "$@"\n`,
  );
  chmodSync(command, 0o755);
  writeFileSync(join(here, 'package.json'), '{"type":"module"}');
  mkdirSync(join(here, 'node_modules'));
  linkPackages(join(here, 'node_modules'));
  for (const name of ['@dbos-inc', '@restatedev'])
    symlinkSync(join(root, 'node_modules', name), join(here, 'node_modules', name));
  for (const { info, text } of blocks) {
    const [, file] = info.split(' ');
    if (!info.startsWith('console') && file !== undefined) writeFileSync(join(here, file), text);
  }
  const path = `${join(here, 'bin')}:${join(process.execPath, '..')}:${process.env['PATH']}`;
  return { here, env: { ...process.env, PATH: path, NO_COLOR: '1' } };
}

withPostgres('DBOS', (postgres) => {
  test('durable-engines.md pays once in DBOS, in two processes', () => {
    const { here, env } = project();
    const url = new URL(postgres.url());
    url.search = '';
    url.pathname = '/guide_of_engines';
    const lines = blocks
      .filter(({ info }) => info === 'console dbos')
      .flatMap(({ text }) => text.trimEnd().split('\n'));
    const commands = lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
    expect(commands.length).toBeGreaterThan(5);
    const printed = execFileSync('sh', ['-eu', '-c', commands.join('\n')], {
      ...{ cwd: here, encoding: 'utf8', timeout: 400_000, stdio: ['ignore', 'pipe', 'ignore'] },
      env: { ...env, DBOS_SYSTEM_DATABASE_URL: url.href },
    });
    expect(printed.trimEnd().split('\n')).toEqual(lines.filter((line) => !line.startsWith('$ ')));
  });
});

describe.skipIf(restateProgram() === undefined)(
  'Restate (absent without npm ci --prefix peers)',
  () => {
    test('durable-engines.md pays once in Restate', async () => {
      const { here, env } = project();
      const server = await RestateServer.start();
      onTestFinished(() => server.stop());
      const port = await freePort();
      const service = spawn(process.execPath, ['service.ts'], {
        ...{ cwd: here, stdio: ['ignore', 'pipe', 'ignore'] },
        env: { ...env, PORT: String(port) },
      });
      onTestFinished(() => void service.kill('SIGKILL'));
      const said: string[] = [];
      createInterface({ input: service.stdout }).on('line', (line) => said.push(line));
      await expect
        .poll(() =>
          server.register(port).then(
            () => true,
            () => false,
          ),
        )
        .toBe(true);
      const id = await server.send('bills/pay', { to: 'eve', euros: 900 });
      await expect
        .poll(() => said.join('\n'))
        .toContain(`${id}.pay waits: /calls/${id}.pay: [large] the rule asks`);
      const { pending } = JSON.parse(
        execFileSync('assize', ['pending', '--json'], { cwd: here, env, encoding: 'utf8' }),
      );
      execFileSync('assize', ['approve', pending[0].id, '--as', 'manager:grace'], {
        cwd: here,
        env,
        stdio: 'ignore',
      });
      await server.answerTo(await server.send('bills/decided', id));
      expect(await server.answerTo(id)).toEqual({ status: 200, body: 'paid 900 to eve' });
      expect(readFileSync(join(here, 'bank.log'), 'utf8')).toBe('eve 900\n');
    });
  },
);

/** Runs an attempt of the activity of the page, and prints its end. */
const ATTEMPT = `
import { asyncLocalStorage, Context } from '@temporalio/activity';
import { payBill } from './activities.js';
const info = { activityId: '1', attempt: Number(process.argv[2]), workflowExecution: { workflowId: 'may', runId: 'r1' } };
try {
  console.log(JSON.stringify({ result: await asyncLocalStorage.run(new Context(info), () => payBill('eve', 900)) }));
} catch ({ name, type, nonRetryable, nextRetryDelay, details }) {
  console.log(JSON.stringify({ name, type, nonRetryable, nextRetryDelay, details }));
}
process.exit(0);
`;

describe.skipIf(!existsSync(temporal))('Temporal (absent without npm ci --prefix peers)', () => {
  test('durable-engines.md pays once in an activity', () => {
    const { here, env } = project();
    symlinkSync(temporal, join(here, 'node_modules/@temporalio'));
    writeFileSync(join(here, 'attempt.js'), ATTEMPT);
    const run = (program: string, ...args: string[]) =>
      execFileSync(program, args, {
        cwd: here,
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    const attempt = (n: number) => JSON.parse(run(process.execPath, 'attempt.js', String(n)));
    expect(attempt(2)).toMatchObject({
      ...{
        name: 'ApplicationFailure',
        type: 'call_pending',
        nonRetryable: false,
        nextRetryDelay: 2_000,
      },
      details: [
        {
          call: 'r1.1',
          tool: 'pay',
          args: { to: 'eve', euros: 900 },
          reason: expect.stringContaining('large'),
        },
      ],
    });
    const { pending } = JSON.parse(run('assize', 'pending', '--json'));
    run('assize', 'approve', pending[0].id, '--as', 'manager:grace');
    expect(attempt(3)).toEqual({ result: 'paid 900 to eve' });
    expect(attempt(4)).toEqual({ result: 'paid 900 to eve' });
  });
});
