import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { batchOf, blobOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GUARDED_USER, withPostgres } from '../../../tests/support/postgres/index.ts';
import { openPostgres } from './index.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const folder = mkdtempSync(join(tmpdir(), 'assize-tls-'));
const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
afterAll(() => rmSync(folder, { recursive: true }));

// Created for each run, so the certificate never expires.
function certificate(): Record<string, string> {
  if (!hasOpenssl) return {};
  const subject = [
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost,IP:127.0.0.1',
  ];
  const args = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
  ];
  execFileSync('openssl', [...args, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { 'server.key': readFileSync(key, 'utf8'), 'server.crt': readFileSync(cert, 'utf8') };
}

// The behaviour of a store under settings of an administrator.
withPostgres(
  'servers',
  (postgres) => {
    /** Changes a setting of the whole server, and waits until new connections use it. */
    async function set(name: string, value: string): Promise<void> {
      await postgres.query(`ALTER SYSTEM SET ${name} = ${value}`);
      await postgres.query('SELECT pg_reload_conf()');
      while ((await postgres.query(`SHOW ${name}`))[0]![name] !== value);
    }

    describe('accepted and refused connections and databases', () => {
      const at = (rest: string): string => `postgres://${rest}`;
      const local = (): string => `127.0.0.1:${postgres.server.port}`;

      test('no such database', async () => {
        const opening = openPostgres({ url: at(`postgres@${local()}/nothing`) });
        await expect(opening).rejects.toMatchObject({
          code: 'store_not_found',
          evidence: { sqlstate: '3D000' },
        });
      });

      test('a database that can not hold every text', async () => {
        await postgres.query(
          "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'",
        );
        const opening = openPostgres({ url: at(`postgres@${local()}/latin`) });
        await expect(opening).rejects.toMatchObject({
          code: 'store_failed',
          message: expect.stringContaining('UTF8'),
        });
      });

      describe('passwords', () => {
        const SECRET = 'p@ss/w#rd?ü';
        const url = (secret: string): string =>
          at(`${GUARDED_USER}:${encodeURIComponent(secret)}@${local()}/postgres?schema=guarded`);

        test('the right one opens, and no error of the store ever shows it', async () => {
          await postgres.query(`CREATE ROLE ${GUARDED_USER} LOGIN PASSWORD '${SECRET}';
          CREATE SCHEMA guarded AUTHORIZATION ${GUARDED_USER}`);
          const store = await openPostgres({ url: url(SECRET), connectAttempts: 1 });
          const row = entryAfter(undefined, 't');
          await store.commit(batchOf(row));
          const errors: unknown[] = [];
          const keep = (error: unknown): void => void errors.push(error);
          await postgres.query('ALTER TABLE guarded.entry RENAME TO gone');
          await store.head('t').catch(keep);
          await store.commit(batchOf(entryAfter(row, 't'))).catch(keep);
          await postgres.server.stop('immediate');
          await store.head('t').catch(keep);
          await store.commit(batchOf(entryAfter(row, 't'))).catch(keep);
          await store.follow(() => undefined).catch(keep);
          await openPostgres({ url: url(SECRET) }).catch(keep);
          await postgres.server.start();
          await openPostgres({ url: `${url(SECRET)}&sslmode=verify-full` }).catch(keep);
          await openPostgres({ url: url(SECRET).replace('/postgres', '/nothing') }).catch(keep);
          await store.close();
          await store.head('t').catch(keep);
          expect(errors).toHaveLength(9);
          for (const error of [...errors, store]) {
            const shown =
              inspect(error, { depth: 9, showHidden: true }) +
              JSON.stringify(error) +
              String(error);
            for (const secret of [SECRET, encodeURIComponent(SECRET), encodeURI(SECRET)]) {
              expect(shown).not.toContain(secret);
            }
          }
        });

        test.each(['wrong', ''])('%j is denied', async (secret) => {
          const error = await openPostgres({ url: url(secret) }).catch((thrown: unknown) => thrown);
          expect(error).toMatchObject({ code: 'store_failed', retryable: false });
        });
      });

      test('a server that no one answers for', async () => {
        const opening = openPostgres({ url: at('postgres@127.0.0.1:1/postgres') });
        await expect(opening).rejects.toMatchObject({ code: 'store_unreachable', retryable: true });
        const socket = openPostgres({ url: at('/postgres?host=/nothing/there') });
        await expect(socket).rejects.toMatchObject({ code: 'store_unreachable', retryable: true });
      });

      test('a socket leads to the store, and is named in its path', async () => {
        const folder = postgres.server.folder;
        const url = at(
          `/postgres?host=${folder}&port=${postgres.server.port}&user=postgres&schema=by_socket`,
        );
        const store = await openPostgres({ url });
        expect(store.path).toBe(
          at(`/postgres?host=${folder}&port=${postgres.server.port}&schema=by_socket`),
        );
        expect(await store.trajectories()).toEqual([]);
        await store.close();
      });

      test('TLS that the server has not', async () => {
        const opening = openPostgres({
          url: at(`postgres@${local()}/postgres?sslmode=verify-full`),
        });
        await expect(opening).rejects.toMatchObject({
          code: 'store_unreachable',
          retryable: false,
        });
      });

      test('more connections than the server has', async () => {
        await postgres.query('CREATE ROLE one LOGIN CONNECTION LIMIT 1');
        await postgres.query('CREATE SCHEMA one AUTHORIZATION one');
        const url = at(`one@${local()}/postgres?schema=one`);
        const store = await openPostgres({ url, connectAttempts: 1 });
        await expect(openPostgres({ url })).rejects.toMatchObject({
          code: 'store_unreachable',
          retryable: true,
        });
        await expect(store.head('t')).rejects.toMatchObject({ evidence: { sqlstate: '53300' } });
        await store.close();
      });
    });

    describe('durability', () => {
      /** The settings that the server had when the entries were inserted. */
      async function witnessed(url: string): Promise<string[]> {
        const rows = await postgres.query(
          `SELECT setting FROM "${postgres.schemaOf(url)}".witnessed`,
        );
        return rows.map(({ setting }) => setting);
      }

      async function witness(url: string): Promise<void> {
        const schema = postgres.schemaOf(url);
        await postgres.query(`SET search_path TO "${schema}"; CREATE TABLE witnessed (setting text);
        CREATE FUNCTION witness() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
          INSERT INTO witnessed VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
        CREATE TRIGGER witness AFTER INSERT ON entry FOR EACH ROW EXECUTE FUNCTION witness()`);
      }

      test.each([
        ['full', 'off', 'on'],
        ['full', 'local', 'on'],
        ['full', 'remote_apply', 'remote_apply'],
        ['normal', 'on', 'off'],
        ['off', 'on', 'off'],
      ] as const)('%s, where the server would do %s, is %s', async (durability, preset, told) => {
        const url = postgres.url();
        await postgres.query(`ALTER DATABASE postgres SET synchronous_commit = ${preset}`);
        const store = await openPostgres({ url, durability, applicationName: 'durable' });
        await witness(url);
        const root = entryAfter(undefined, 't');
        expect(await store.commit(batchOf(root))).toEqual({ status: 'committed' });
        await postgres.query(
          "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'durable'",
        );
        expect(await store.commit(batchOf(entryAfter(root, 't')))).toEqual({ status: 'committed' });
        await store.close();
        expect(await witnessed(url)).toEqual([told, told]);
        await postgres.query('ALTER DATABASE postgres RESET synchronous_commit');
      });
      test('of a server that does not sync is refused, unless that was asked for', async () => {
        await set('fsync', 'off');
        const url = postgres.url();
        await expect(openPostgres({ url })).rejects.toMatchObject({
          code: 'store_failed',
          evidence: { fsync: 'off' },
          message: expect.stringContaining('fsync'),
        });
        expect(
          await postgres.query('SELECT FROM pg_namespace WHERE nspname = $1', [
            postgres.schemaOf(url),
          ]),
        ).toEqual([]);
        const store = await openPostgres({ url, durability: 'off' });
        expect(await store.commit(batchOf(entryAfter(undefined, 't')))).toEqual({
          status: 'committed',
        });
        await store.close();
        await set('fsync', 'on');
      });
    });

    describe.skipIf(!hasOpenssl)(
      hasOpenssl ? 'TLS' : 'TLS (there is no openssl to make a certificate with)',
      () => {
        beforeAll(() => set('ssl', 'on'));
        const url = (rest: string): string =>
          `postgres://postgres@127.0.0.1:${postgres.server.port}/postgres?schema=under_tls&${rest}`;

        test('reads and writes under it where its certificate is known', async () => {
          const store = await openPostgres({ url: url(`sslmode=verify-full&sslrootcert=${cert}`) });
          const large = blobOf('x'.repeat(3_000_000));
          expect(await store.commit(batchOf(entryAfter(undefined, 't'), [large]))).toEqual({
            status: 'committed',
          });
          expect(await store.blob(large.hash)).toBe(large.text);
          const [sessions] = await postgres.query(
            'SELECT count(*)::int AS n FROM pg_stat_ssl WHERE ssl',
          );
          expect(sessions).toEqual({ n: 2 });
          await store.close();
        });

        test('is refused where it is not', async () => {
          const opening = openPostgres({ url: url('sslmode=verify-full') });
          await expect(opening).rejects.toMatchObject({
            code: 'store_unreachable',
            retryable: false,
          });
        });

        test('an open store does not keep its process under it either', () => {
          const script = `
          const { openStore } = await import('assize/internal/stores');
          const store = await openStore(process.argv[1]);
          console.log((await store.trajectories()).length);`;
          const args = [
            '--input-type=module',
            '-e',
            script,
            url(`sslmode=verify-full&sslrootcert=${cert}`),
          ];
          expect(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 })).toBe(
            '1\n',
          );
        });
      },
    );
  },
  { own: true, files: certificate },
);
