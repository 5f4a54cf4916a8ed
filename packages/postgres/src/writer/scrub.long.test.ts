import { randomBytes } from 'node:crypto';
import { batchOf, blobOf, chainOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import type { Trajectory } from 'assize/internal/runtime';
import { unit } from 'assize/internal/stores/vectors.ts';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import {
  ANSWERS,
  answered,
  OTHERS,
} from '../../../../tests/support/clinic/answers-about-patient.ts';
import { clinic } from '../../../../tests/support/clinic/clinic.ts';
import {
  committed,
  SECRETS,
  told,
  WHO,
  WORDS,
} from '../../../../tests/support/clinic/mentions-of-patient.ts';
import { HandClock, runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import {
  holdTable,
  inFiles,
  overwriteWal,
  withPostgres,
} from '../../../../tests/support/postgres/index.ts';
import { openPostgres, type PostgresOptions, type PostgresStore } from '../index.ts';

const VECTOR = Float32Array.of(0.9, -0.3, 0.7, 0.1);
const COMMITTED = { status: 'committed' };
const BY = 'b'.repeat(64);

withPostgres(
  'bytes of what was erased',
  (postgres) => {
    let count = 0;

    const elsewhere = <T extends string | Buffer>(sought: readonly T[]) =>
      inFiles(postgres, 'elsewhere', sought);

    /** A word that no other test uses. */
    function newWord(): string {
      return `zq7wkx${++count}x${randomBytes(4).toString('hex')}`;
    }

    async function erase(store: PostgresStore, hash: string): Promise<void> {
      expect(await store.commit({ entries: [], blobs: [], erased: [{ hash, by: BY }] })).toEqual(
        COMMITTED,
      );
    }

    /** A store with a blob that contains the word, and the function that erases the blob. */
    async function withSecret(options: Omit<PostgresOptions, 'url'> = {}) {
      const url = postgres.url();
      const store = await openPostgres({ url, ...options });
      const word = newWord();
      const blob = blobOf(word);
      await store.commit(batchOf(chainOf('t', 2), [blob]));
      expect(await elsewhere([word])).toEqual([word]);
      return { url, store, word, hash: blob.hash };
    }

    async function filesOf(url: string): Promise<unknown> {
      const tables =
        "SELECT relname, relfilenode FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r' ORDER BY 1";
      return postgres.query(tables, [postgres.schemaOf(url)]);
    }

    test('no word of erased facts is in a file, nor in the WAL once overwritten', async () => {
      const url = postgres.url();
      const store = await openPostgres({ url });
      const clock = new HandClock();
      const writ = writFor('nurse');
      const assize = runtimeOver(store, [clinic], { ports: { clock } });
      const trajectory = (await assize.create(clinic, {
        trajectoryId: 't',
        writs: [writ],
      })) as Trajectory;
      const all = [...SECRETS, ...WORDS];
      expect(await elsewhere(all)).toEqual([]);
      await told({ clock, trajectory, memory: trajectory.memory({ space: 'ward', writ }) });
      const texts = await store.textsToEmbed('model', 'ward', 100);
      await store.putVectors(
        'model',
        texts.map(({ id, text }) => ({
          id,
          vector: text.includes('penizillin') ? VECTOR : VECTOR.map((x) => -x),
        })),
      );
      const vector = Buffer.from(unit(VECTOR).buffer);
      // The server runs this automatically after a while.
      await postgres.query('ANALYZE');
      expect(await elsewhere(all)).toEqual(all);
      expect(await elsewhere([vector])).toEqual([vector]);
      await committed(
        trajectory.erase({
          beliefs: [{ space: 'ward', subject: WHO }],
          reason: 'request 17',
          writ,
        }),
      );
      expect(await elsewhere(all)).toEqual([]);
      expect(await elsewhere([vector])).toEqual([]);
      expect(await inFiles(postgres, 'wal', all)).toEqual(all);
      await overwriteWal(postgres);
      expect(await inFiles(postgres, 'wal', all)).toEqual([]);
      expect(await inFiles(postgres, 'wal', [vector])).toEqual([]);
      expect(await store.selfCheck()).toEqual([]);
      expect(await store.facts({ space: 'ward', subject: 'p9', predicate: 'drug' })).toMatchObject([
        { object: 'of p9' },
      ]);
      await store.close();
    });

    test('nor is an oracle answer about the facts', async () => {
      const url = postgres.url();
      const store = await openPostgres({ url });
      const { trajectory } = await answered(store);
      expect(await elsewhere([...ANSWERS, ...OTHERS])).toEqual([...ANSWERS, ...OTHERS]);
      const writ = writFor('officer', { actions: ['assize.erase'], scopes: ['erase:memory:ward'] });
      const beliefs = [{ space: 'ward', subject: WHO }];
      await committed(trajectory.erase({ beliefs, reason: 'request 17', writ }));
      expect(await elsewhere([...ANSWERS, ...OTHERS])).toEqual(OTHERS);
      await store.close();
    });

    test('nor is a long text, its snapshot, or an answer that is erased alone', async () => {
      const store = await openPostgres({ url: postgres.url() });
      const [inBlob, inSnapshot, inAnswer] = [newWord(), newWord(), newWord()];
      const words = [inBlob, inSnapshot, inAnswer];
      // The server stores a long value outside of the table, in pieces that can split a word. The
      // random text prevents compression.
      const part = (word: string): string => `${randomBytes(1_900).toString('base64')}${word} `;
      const long = (word: string): string => Array.from({ length: 4 }, () => part(word)).join('');
      const blob = blobOf(long(inBlob));
      const root = entryAfter(undefined, 't');
      await store.commit(batchOf(root, [blob]));
      await store.putSnapshot(
        { trajectory_id: 't', seq: 0, hash: root.id, text: long(inSnapshot) },
        0,
      );
      const { hash: key } = blobOf('question');
      await store.oraclePut({ key, answer: inAnswer, at: 'now' });
      expect(await elsewhere(words)).toEqual(words);
      await erase(store, blob.hash);
      await store.scrub();
      expect(await elsewhere(words)).toEqual([inAnswer]);
      await store.commit({ ...batchOf([]), erasedAnswers: [{ key, by: BY }] });
      await store.scrub();
      expect(await elsewhere(words)).toEqual([]);
      await store.close();
    });

    test('erased bytes are overwritten once for several callers, and only if due', async () => {
      const { url, store, word, hash } = await withSecret();
      const [fresh, other] = [await filesOf(url), await openPostgres({ url })];
      await store.scrub();
      expect(await filesOf(url)).toEqual(fresh);
      await erase(store, hash);
      const head = await store.head('t');
      const both = Promise.all([store.scrub(), other.scrub(), store.scrub()]);
      expect(await store.commit(batchOf(entryAfter(head, 't')))).toEqual(COMMITTED);
      await both;
      expect(await elsewhere([word])).toEqual([]);
      const done = await filesOf(url);
      await other.scrub();
      expect(await filesOf(url)).toEqual(done);
      await Promise.all([store.close(), other.close()]);
    });

    test('an interrupted scrub is continued by the next open for writing', async () => {
      const { url, store, word, hash } = await withSecret();
      await erase(store, hash);
      await store.close();
      expect(await elsewhere([word])).toEqual([word]);
      const reader = await openPostgres({ url, mode: 'readonly' });
      expect(await reader.selfCheck()).toEqual([
        expect.stringMatching(/^1 erasures may have left bytes/),
      ]);
      await reader.close();
      expect(await elsewhere([word])).toEqual([word]);
      const next = await openPostgres({ url });
      expect(await elsewhere([word])).toEqual([]);
      expect(await next.selfCheck()).toEqual([]);
      await next.close();
    });

    test('a connection that is lost under it leaves it due', async () => {
      const { url, store, word, hash } = await withSecret({
        lockTimeoutMs: 60_000,
        applicationName: 'cut off',
      });
      await erase(store, hash);
      const release = await holdTable(url, 'blob', 'EXCLUSIVE');
      const scrubbed = expect(store.scrub()).rejects.toMatchObject({
        code: 'store_not_scrubbed',
        retryable: true,
      });
      const vacuuming =
        "SELECT pid FROM pg_stat_activity WHERE query ~ '^VACUUM' AND application_name = 'cut off' AND wait_event_type = 'Lock'";
      let found: Record<string, any>[];
      do found = await postgres.query(vacuuming);
      while (found.length === 0);
      await postgres.query('SELECT pg_terminate_backend($1, 5000)', [found[0]!['pid']]);
      await scrubbed;
      await release();
      expect(await elsewhere([word])).toEqual([word]);
      await store.scrub();
      expect(await elsewhere([word])).toEqual([]);
      await store.close();
    });

    test('erased bytes stay under a long table lock, reported and unreadable', async () => {
      const { url, store, word, hash } = await withSecret({ lockTimeoutMs: 200 });
      await erase(store, hash);
      const release = await holdTable(url, 'blob', 'EXCLUSIVE');
      await expect(store.scrub()).rejects.toMatchObject({
        code: 'store_not_scrubbed',
        retryable: true,
        evidence: { sqlstate: '55P03' },
      });
      expect(await store.blob(hash)).toBeUndefined();
      // Another process can still open the store in the meantime.
      const other = await openPostgres({ url, lockTimeoutMs: 200 });
      expect(await other.blob(hash)).toBeUndefined();
      await other.close();
      await release();
      expect(await elsewhere([word])).toEqual([word]);
      await store.scrub();
      expect(await elsewhere([word])).toEqual([]);
      await store.close();
    });

    test('erased bytes stay while any transaction may see them, and are reported', async () => {
      const { url, store, word, hash } = await withSecret({ lockTimeoutMs: 200 });
      const base = new URL(url);
      base.searchParams.delete('schema');
      const client = new Client({ connectionString: base.href });
      await client.connect();
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
      await erase(store, hash);
      await expect(store.scrub()).rejects.toThrow(/an older transaction is open/);
      expect(await store.selfCheck()).toEqual([
        expect.stringMatching(/erasures may have left bytes/),
      ]);
      // The old transaction may still see its own snapshot.
      const seen = await client.query(
        `SELECT FROM "${postgres.schemaOf(url)}".blob WHERE text LIKE '%${word}%'`,
      );
      expect(seen.rowCount).toBe(1);
      await client.query('COMMIT');
      await client.end();
      await store.scrub();
      expect(await elsewhere([word])).toEqual([]);
      await store.close();
    });

    test('an eraser that owns no table reports bytes left until the owner opens', async () => {
      const { url, store, word, hash } = await withSecret();
      await store.close();
      const schema = postgres.schemaOf(url);
      const user = `${schema}_user`;
      await postgres.query(`CREATE ROLE "${user}" LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA "${schema}" TO "${user}";
        GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA "${schema}" TO "${user}";
        GRANT UPDATE ON "${schema}".blob, "${schema}".oracle, "${schema}".fact, "${schema}".fact_partition TO "${user}";
        GRANT DELETE ON "${schema}".snapshot, "${schema}".fact_text, "${schema}".fact_text_space TO "${user}";
        REVOKE INSERT ON "${schema}".scrub FROM "${user}"`);
      const asUser = new URL(url);
      asUser.username = user;
      asUser.password = 'x';
      const officer = await openPostgres({ url: asUser.href });
      const { hash: key } = blobOf('question');
      const erased = { erased: [{ hash, by: BY }], erasedAnswers: [{ key, by: BY }] };
      expect(await officer.commit({ ...batchOf([]), ...erased })).toEqual(COMMITTED);
      await expect(officer.scrub()).rejects.toThrow(/this user does not own the tables/);
      await officer.close();
      await (await openPostgres({ url: asUser.href })).close();
      expect(await elsewhere([word])).toEqual([word]);
      await (await openPostgres({ url })).close();
      expect(await elsewhere([word])).toEqual([]);
      await postgres.query(`DROP OWNED BY "${user}"; DROP ROLE "${user}"`);
    });

    test('a store set to scrub later leaves the scrub to other processes', async () => {
      const { url, store, word, hash } = await withSecret({ scrub: 'later' });
      await erase(store, hash);
      await store.scrub();
      await store.close();
      await (await openPostgres({ url, scrub: 'later' })).close();
      expect(await elsewhere([word])).toEqual([word]);
      await (await openPostgres({ url })).close();
      expect(await elsewhere([word])).toEqual([]);
    });

    test('the server copies no erased value into its catalogues', async () => {
      const { url, store } = await withSecret();
      await postgres.query('ANALYZE');
      const copied = await postgres.query(
        "SELECT tablename, attname FROM pg_stats WHERE schemaname = $1 AND attname IN ('text', 'answer', 'object', 'space', 'subject', 'predicate', 'words', 'vector', 'left')",
        [postgres.schemaOf(url)],
      );
      expect(copied).toEqual([]);
      await store.close();
    });
  },
  { own: true },
);
