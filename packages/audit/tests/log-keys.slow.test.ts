/** One key of the log for a server and the command line, and its change. */
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  type Ended,
  endOf,
  runCommand,
  startCommand,
} from '../../../tests/support/process/command.ts';

const STORE = 'sqlite:./a.db';
const CONFIG = `
export default {
  worlds: { main: { domain: 'budget' } },
  principals: { 'admin:ann': { kinds: ['admin', 'auditor'] } },
};
`;

function inFolder(): { readonly folder: string; assize(...args: string[]): Promise<Ended> } {
  const folder = mkdtempSync(join(tmpdir(), 'assize-log-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, assize: (...args) => runCommand(folder, STORE, ...args) };
}

test('a server and the command line sign one log, before and after a new key', async () => {
  const { folder, assize } = inFolder();
  writeFileSync(join(folder, 'assize.config.ts'), CONFIG);
  const server = startCommand(folder, STORE, 'serve', '--port', '0', '--json');
  onTestFinished(async () => {
    const ended = endOf(server);
    server.kill('SIGTERM');
    await ended;
  });
  const [text] = (await once(server.stdout!, 'data')) as [Buffer];
  const { url } = JSON.parse(text.toString());
  const { token } = JSON.parse((await assize('token', 'create', 'admin:ann', '--json')).out);
  writeFileSync(join(folder, 'ann.token'), token, { mode: 0o600 });
  const signed = async () =>
    JSON.parse(
      (await assize('api', 'checkpoints.create', '--url', url, '--token-file', 'ann.token')).out,
    );
  const commanded = async () => JSON.parse((await assize('checkpoint', '--json')).out);
  const own = await signed();
  expect(own.origin).toMatch(/^assize\/[0-9a-f]{16}$/);
  expect(await commanded()).toMatchObject({ origin: own.origin, size: own.size });
  copyFileSync(join(folder, 'a.db.checkpoint'), join(folder, 'old.checkpoint'));
  // The guide of backups begins with this step.
  expect((await assize('keys', 'new', 'example.com/ledger')).code).toBe(0);
  expect(await commanded()).toMatchObject({ origin: 'example.com/ledger' });
  expect(await signed()).toMatchObject({ origin: 'example.com/ledger', size: own.size });
  expect(await commanded()).toMatchObject({ origin: 'example.com/ledger' });
  expect(await assize('verify', '--database')).toMatchObject({ code: 0 });
  const audit = ['verify', '--checkpoint', 'old.checkpoint', '--checkpoint', 'a.db.checkpoint'];
  expect(await assize(...audit)).toMatchObject({ code: 0 });
});

test('a checkpoint of a later key continues those of an earlier one', async () => {
  const { folder, assize } = inFolder();
  await assize('create', 'trip', '--domain', 'budget');
  await assize('keys', 'new', 'example.com/ledger');
  expect(await assize('checkpoint')).toMatchObject({ code: 0 });
  copyFileSync(join(folder, 'a.db.checkpoint'), join(folder, 'old.checkpoint'));
  const first = readFileSync(join(folder, 'a.db.vkey'), 'utf8');
  await assize('keys', 'new', 'example.com/ledger', '--out', 'second.key');
  await assize('create', 'tour', '--domain', 'budget');
  expect(await assize('checkpoint', '--key', 'second.key')).toMatchObject({ code: 0 });
  // Both keys verify from now on, the newest first.
  const second = readFileSync(join(folder, 'second.vkey'), 'utf8');
  expect(readFileSync(join(folder, 'a.db.vkey'), 'utf8').startsWith(second + first)).toBe(true);
  const audit = ['verify', '--checkpoint', 'old.checkpoint', '--checkpoint', 'a.db.checkpoint'];
  for (const keys of [[], ['--log-key', first.trim(), '--log-key', 'second.vkey']])
    expect(await assize(...audit, ...keys)).toMatchObject({ code: 0 });
  const alone = await assize(...audit, '--log-key', 'second.vkey');
  expect(alone).toMatchObject({
    code: 2,
    err: expect.stringContaining('name the earlier key as well (--log-key)'),
  });
  for (const command of [
    ['verify', '--database'],
    ['bundle', '--from', '2020-01-01', '--to', '2100-01-01', '--out', 'all.zip'],
  ])
    expect(await assize(...command), command.join(' ')).toMatchObject({ code: 0 });
  expect(await assize('bundle', '--verify', 'all.zip', '--log-key', 'second.vkey')).toMatchObject({
    code: 0,
  });
  // A key of another log does not sign for this one.
  await assize('keys', 'new', 'example.com/ledger', '--out', 'foreign.key');
  expect((await assize(...audit, '--log-key', 'foreign.vkey')).code).toBe(2);
});
