/** The steps of docs/guide/scale.md with servers as processes, on SQLite in place of PostgreSQL. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { blockOf } from '../../../tests/support/process/guide-files.ts';
import {
  type ListeningServer,
  startServer,
} from '../../../tests/support/process/listening-server.ts';
import { ServedGuide } from '../../../tests/support/process/served-guide.ts';

const PAGE = 'scale.md';
const PATIENCE = { timeout: 30_000, interval: 250 };

/** The text with a SQLite file for each database. */
const onSqlite = (text: string): string =>
  text.replaceAll(/postgres:\/\/assize@(\w+)\.example\/\w+/g, 'sqlite:./$1.db');

test('the guide places, serves, moves, halts and audits tenants', {
  timeout: 300_000,
}, async () => {
  const guide = await ServedGuide.begin();
  const servers: ListeningServer[] = [];
  onTestFinished(async () => {
    await Promise.all(servers.map((server) => server.end('SIGTERM')));
    await guide.end();
  });
  guide.write(PAGE);
  const file = join(guide.folder, 'cells.yaml');
  writeFileSync(file, onSqlite(readFileSync(file, 'utf8')));
  const run = (block: string): string => guide.sh(onSqlite(blockOf(PAGE, `sh ${block}`)));

  expect(run('place')).toContain('acme lives in eu-1.');
  const ports = readFileSync(file, 'utf8').match(/(?<=127\.0\.0\.1:)\d+/g) as string[];
  for (const [n, name] of ['cell-1', 'cell-2'].entries()) {
    const [, store = '', port] =
      /--store '(.*?)' --port (\d+)/.exec(blockOf(PAGE, `sh ${name}`)) ?? [];
    expect(port).toBe(`451${7 + n}`);
    servers.push(await startServer(guide.folder, ['--store', store, '--port', ports[n]!]));
  }
  run('tokens');
  const proposed = run('propose');
  expect(proposed).toContain('"ruling":"committed","trajectory_id":"acme:trip"');
  expect(proposed).toMatch(/eu-1 +1 /);
  const propose = (key: string): string =>
    guide.sh(blockOf(PAGE, 'sh propose').split('assize cells')[0]!.replace('first', key));
  let keys = 0;
  // The key of the first proposal is known in the new cell too.
  expect(run('move-tenant')).toContain('acme lives in eu-2: 1 trajectory with ');
  await expect.poll(() => propose('second'), PATIENCE).toContain('"ruling":"committed"');
  expect(propose('first').trim()).toBe(proposed.split('\n')[0]!.trimEnd());
  expect(run('erase')).toMatch(/\d entries, \d of them new; 1 trajectory in the store/);

  const orders = blockOf(PAGE, 'sh orders').trim().split('\n');
  expect(guide.sh(orders[0]!)).toContain('Ordered.');
  await expect.poll(() => propose(`new ${keys++}`), PATIENCE).toContain('"code":"halted"');
  guide.sh(orders[1]!);
  await expect.poll(() => propose(`new ${keys++}`), PATIENCE).toContain('"ruling":"committed"');
  guide.sh(orders[2]!);
  expect(guide.sh('assize cells status')).toContain('agent:intern is revoked: the key leaked');
  expect(guide.sh('assize cells status')).toMatch(/eu-1 +0 .*\n.*eu-2 +2 /);

  const audited = run('audit');
  for (const part of [
    'signed by example.com/root',
    '1 of 1 trajectories are valid',
    'eu-1: ',
    'eu-2: ',
  ])
    expect(audited).toContain(part);
  expect(guide.sh("assize verify --store 'cells:cells.yaml?cell=eu-1'")).toContain('acme:trip');
  const metrics = guide.sh('curl -s -H @iris.header http://127.0.0.1:4517/metrics');
  expect(metrics).toMatch(/^assize_root_silence_seconds [0-4]\./m);
  expect(metrics).toMatch(/^assize_cell_diverged 0$/m);
});
