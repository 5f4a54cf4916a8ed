/** `assize serve --dev` in a new project: a changed rule judges the next proposal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runCommand } from '../../../tests/support/process/command.ts';

const root = join(import.meta.dirname, '../../..');
const PATIENCE = { timeout: 60_000, interval: 100 };

test('a change of a rule starts the server over, on an empty store', {
  timeout: 200_000,
}, async () => {
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(root, 'dist-dev-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await runCommand(folder, 'memory:', 'init', '.');
  const main = join(root, 'packages/cli/src/main.ts');
  const dev = spawn(process.execPath, [main, 'serve', '--dev', '--port', '0'], { cwd: folder });
  const ended = once(dev, 'exit');
  onTestFinished(() => void dev.kill('SIGKILL'));
  let [said, log] = ['', ''];
  dev.stdout.on('data', (part) => (said += part));
  dev.stderr.on('data', (part) => (log += part));
  const urls = () => [...said.matchAll(/listens on (\S+)[\s\S]*?sign-in#/g)].map(([, url]) => url);
  const started = (count: number) =>
    vi.waitFor(() => expect(urls(), log).toHaveLength(count), PATIENCE);
  const pay = async (): Promise<unknown> => {
    const answer = await fetch(`${urls().at(-1)}/v1/trajectories/expenses/proposals`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${readFileSync(join(folder, 'agent-scout.token'), 'utf8')}`,
        'content-type': 'application/json',
        'idempotency-key': 'same',
      },
      body: JSON.stringify({ action: 'pay', args: { to: 'bo', cents: 500 } }),
    });
    return answer.json();
  };
  const file = join(folder, 'domains/expenses.ts');
  const domain = readFileSync(file, 'utf8');

  await started(1);
  expect(statSync(join(folder, 'agent-scout.token')).mode & 0o777).toBe(0o600);
  expect(await pay()).toMatchObject({ ruling: 'committed', seq: 1 });

  // Many editors write another file, and move it to the name.
  const save = (text: string) => {
    writeFileSync(`${file}~`, text);
    renameSync(`${file}~`, file);
  };
  save(domain.replace('LARGE_CENTS = 10_000', 'LARGE_CENTS = 100'));
  await started(2);
  expect(await pay()).toMatchObject({ ruling: 'escalated', seq: 1 });

  save('export const expenses = ;');
  await vi.waitFor(() => expect(log).toMatch(/expenses\.ts[\s\S]*after the next change/), PATIENCE);
  writeFileSync(file, domain);
  await started(3);
  expect(await pay()).toMatchObject({ ruling: 'committed', seq: 1 });

  dev.kill('SIGINT');
  expect((await ended)[0]).toBe(0);
});
