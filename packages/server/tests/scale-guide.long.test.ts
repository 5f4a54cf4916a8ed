import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { PostgresServer, withPostgres } from '../../../tests/support/postgres/index.ts';
import { blockOf } from '../../../tests/support/process/guide-files.ts';
import {
  type ListeningServer,
  startServer,
} from '../../../tests/support/process/listening-server.ts';
import { ServedGuide } from '../../../tests/support/process/served-guide.ts';

const PAGE = 'scale.md';

/** Proposes with a key, and returns the ruling. */
async function spend(
  url: string,
  token: string,
  key: string,
): Promise<{ ruling: string; entry_id: string }> {
  const answer = await fetch(`${url}/v1/trajectories/acme:trip/proposals`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify({
      action: 'spend',
      role: { name: 'spender', params: { agent: 'scout' } },
      args: { amount: 5 },
    }),
  });
  return answer.json() as never;
}

withPostgres('scale.md', () => {
  test('from one file to several servers and a standby', { timeout: 300_000 }, async () => {
    const primary = await PostgresServer.start();
    const standby = await PostgresServer.standbyOf(primary);
    const guide = await ServedGuide.begin();
    let servers: ListeningServer[] = [];
    try {
      await guide.beginWith(PAGE);
      const first = await spend(
        guide.url,
        guide.sh('assize token create agent:scout').trim(),
        'one',
      );
      expect(first.ruling).toBe('committed');
      await guide.stop();

      const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
      const store = `postgres://postgres@${hosts}/postgres`;
      guide.sh(blockOf(PAGE, 'sh move').replace(/ASSIZE_STORE=\S+/, `ASSIZE_STORE='${store}'`));
      expect(() =>
        guide.sh('assize create late --domain budget --store sqlite:./assize.db'),
      ).toThrow('was retired on');

      await primary.query(
        "ALTER SYSTEM SET synchronous_standby_names = 'standby'",
        'SELECT pg_reload_conf()',
      );
      const inSync = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'";
      await expect.poll(() => primary.query(inSync), { timeout: 20_000 }).toHaveLength(1);
      const env = { ASSIZE_STORE: store, ASSIZE_ROOT_KEY_FILE: 'assize.db.root.key' };
      const typed = blockOf(PAGE, 'sh peers').trim().split('\n');
      for (const line of typed) {
        const [port = ''] = /\d{4}/.exec(line) ?? [];
        const args = line.replace('assize serve ', '').replaceAll(port, '0').split(' ');
        servers.push(await startServer(guide.folder, args, { env }));
      }
      const token = guide.sh('assize token create agent:scout').trim();
      const auditor = guide.sh('assize token create auditor:iris').trim();
      const alive = async () => {
        const texts = servers.map(async ({ url }) => {
          const answer = await fetch(`${url}/metrics`, {
            headers: { authorization: `Bearer ${auditor}` },
          });
          return /^assize_servers (\d+)$/m.exec(await answer.text())?.[1];
        });
        return Promise.all(texts);
      };
      await expect.poll(alive, { timeout: 20_000 }).toEqual(['2', '2']);
      // The key of the moved proposal is known, and each server has the same answer.
      for (const { url } of servers)
        expect((await spend(url, token, 'one')).entry_id).toBe(first.entry_id);
      const second = await Promise.all(servers.map(({ url }) => spend(url, token, 'two')));
      expect(second[1]).toEqual(second[0]);

      guide.sh(blockOf(PAGE, 'sh standby').replace(/ASSIZE_STORE=\S+/, `ASSIZE_STORE='${store}'`));
      expect(guide.sh(blockOf(PAGE, 'sh read'))).toContain('trip');
      await primary.stop('killed');
      await standby.query('SELECT pg_promote(true, 60)');
      const after = async () => (await spend(servers[0]!.url, token, 'three')).ruling;
      await expect.poll(after, { timeout: 60_000, interval: 500 }).toBe('committed');
      expect((await spend(servers[1]!.url, token, 'two')).entry_id).toBe(second[0]!.entry_id);
    } finally {
      await Promise.all(servers.map((server) => server.end('SIGTERM')));
      servers = [];
      await guide.end();
      await Promise.all([primary.remove(), standby.remove()]);
    }
  });
});

test('the compose file is valid, and uses options of assize serve', async () => {
  const { services, secrets, volumes } = parse(blockOf(PAGE, 'yaml compose.yaml'));
  expect(Object.keys(services)).toEqual(['assize', 'balancer', 'db1']);
  for (const { secrets: used = [], volumes: mounted = [] } of Object.values<any>(services)) {
    for (const secret of used) expect(Object.keys(secrets)).toContain(secret);
    for (const volume of mounted.filter((text: string) => !text.startsWith('.')))
      expect(Object.keys(volumes)).toContain(volume.split(':')[0]);
  }
  const serve = readFileSync(join(import.meta.dirname, '../../cli/src/commands/serve.ts'), 'utf8');
  const options = services.assize.command.match(/--[a-z-]+/g);
  expect(options).toEqual(['--host', '--port', '--peer-url']);
  for (const option of options) expect(serve).toContain(`'${option} <`);
});
