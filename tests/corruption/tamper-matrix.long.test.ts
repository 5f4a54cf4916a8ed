/**
 * The tamper matrix: in a small ledger, each column of each table is changed, and in each table a
 * row is dropped, doubled, or exchanged with another one. The cases come from the schema, so a new
 * table takes part. `tamper-matrix.*.txt` has what sees each case; the option `-u` writes it again.
 */
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateKeys } from '#canon';
import { auditCheckpoints, fileSink, fsck, makeCheckpoint, readCheckpoint } from '#checkpoints';
import { Replayer } from '#ledger';
import { signerKey } from '#merkle';
import { verifyStore } from '#runtime';
import { openStore } from '#stores';
import { foldTrajectory } from '../../packages/assize/src/runtime/writer/load/fold.ts';
import { snapshotOf } from '../../packages/assize/src/runtime/writer/snapshots/snapshot.ts';
import catalogue from '../../packages/postgres/src/schema/catalogue.json' with { type: 'json' };
import { answered } from '../support/clinic/answers-about-patient.ts';
import { WHO } from '../support/clinic/mentions-of-patient.ts';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { onEveryDatabase, type Place } from '../support/ledger/stores.ts';
import { OutsideSink, Steps, tally, toolFor } from '../support/tools/effect-sink.ts';

const OBJECTS: Readonly<Record<string, string>> = catalogue;

const folder = mkdtempSync(join(tmpdir(), 'assize-matrix-'));
afterAll(() => rmSync(folder, { recursive: true }));

const signer = signerKey(
  'example.com/matrix',
  'note',
  generateKeys(new Uint8Array(32).fill(7)).privateKey,
);
const rootKeys = ['09'.repeat(32)];
const log = { origin: signer.name, keys: [signer] };
const THREATS = readFileSync(join(import.meta.dirname, '../../docs/design/threats.md'), 'utf8');

/**
 * The cases that nothing sees, by table, or by table and change. Each names a phrase of threats.md
 * that says so.
 */
const UNSEEN: Readonly<Record<string, string>> = {
  'blob: swap two rows': '**Order of texts.**',
  adoption: '**Coordination.**',
  archive: '**The place of an archive.**',
  'archive_file: change erasures': '**Counters.**',
  effect_key: '**Keys of effects.**',
  effect_record: '**Order of records.**',
  effect_tenure: '**Counters.**',
  effect_member: '**Coordination.**',
  effect_event: '**Coordination.**',
  effect_count: '**Coordination.**',
  fact_claim_key: '**The key of claims.**',
  fact_embedder: '**Caches.**',
  fact_partition: '**Ahead of its facts.**',
  fact_rebuild: '**Counters.**',
  fact_text_space: '**Caches.**',
  fact_text: '**Caches.**',
  fact_vector: '**Caches.**',
  fact_version: '**Caches.**',
  hash_index: '**Caches.**',
  log_node: '**Caches.**',
  'oracle: change answer': 'an answer that no entry pins',
  'oracle: change at': '**Answers that no entry pins.**',
  'oracle: drop a row': 'an answer that no entry pins',
  'oracle: insert a row': '**Answers that no entry pins.**',
  'oracle: swap two rows': '**Answers that no entry pins.**',
  oracle_within: '**Answers that no entry pins.**',
  scrub: '**Counters.**',
  scrub_probe: '**Counters.**',
  sealed: '**The mark of a sealed store.**',
  side: '**The side log.**',
  side_receipt: '**The side log.**',
  snapshot: '**Caches.**',
};

/**
 * A ledger with facts, answers, an erasure, tools, vectors, a snapshot, a checkpoint and an
 * archive.
 */
async function made(place: Place, checkpoint: string, archive: string): Promise<void> {
  const store = await place.open({ archive: `file:${archive}`, rootKeys });
  const { trajectory, assize } = await answered(store);
  await trajectory.erase({
    beliefs: [{ space: 'ward', subject: WHO, predicate: 'triage' }],
    reason: 'request 17',
    writ: writFor('officer', { actions: ['assize.erase'], scopes: ['**'] }),
  });
  const texts = await store.textsToEmbed('m', 'ward', 10);
  await store.putVectors(
    'm',
    texts.map(({ id }) => ({ id, vector: new Float32Array([3, 4]) })),
  );
  await assize.close();
  for (const [name, faults] of [
    ['settled', []],
    ['doubt', ['none', 'lose', 'lose', 'lose']],
  ] as const) {
    const left = [...faults];
    const outside = {
      sink: new OutsideSink('blind'),
      steps: new Steps(),
      fault: () => left.shift() ?? 'none',
    } as const;
    const tools = [
      toolFor(outside, 'reversible', 'externalised'),
      toolFor(outside, 'irreversible', 'buffered'),
    ];
    const assize = runtimeOver(store, [tally], { tools, effects: { maxAttempts: 1 } });
    const at = await assize.create(tally, { trajectoryId: name });
    await at.transaction({ writ: writFor('alice'), writes: [`test:${name}`], name }, async (tx) => {
      await tx.call('reversible.externalised', { what: 'acted', at: name });
      await tx.call('irreversible.buffered', { what: 'held', at: name });
      tx.propose({ action: 'count', role: 'counter', args: name });
    });
    await assize.close();
  }
  const folded = await foldTrajectory('settled', new Replayer(store), store);
  await store.putSnapshot(snapshotOf(folded)!, await store.erasures());
  for (const key of ['a', 'b'])
    await store.sidePut([{ kind: 'token', key, expected: null, body: '{"scope":"agent"}' }]);
  const { size, root } = await makeCheckpoint(store, { signer, sinks: [fileSink(checkpoint)] });
  // Half of the entries stay in the database.
  await store.archiveEntries!({
    checkpoint: { origin: signer.name, size, root },
    keep: size >> 1,
    level: 1,
  });
  await store.close();
}

interface Table {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/** Columns that identify a row, the best last. An exchange of rows exchanges the first column. */
const KEYS = ['seq', 'idx', 'key', 'hash', 'epoch', 'id'];

/** Columns with the place of a row in an order. */
const PLACES: ReadonlySet<string> = new Set([
  'position',
  'seq',
  'n',
  'idx',
  'epoch',
  'place',
  'level',
]);

interface Case {
  readonly name: string;
  /** Alternatives: the first that the database accepts is the attack. */
  readonly sql: readonly string[];
}

onEveryDatabase(({ kind, newPlace }) => {
  let place: Place;
  let checkpoint: string;
  const archive = join(folder, `${kind}.archive`);

  beforeAll(async () => {
    place = newPlace();
    checkpoint = join(folder, `${kind}.checkpoint`);
    await made(place, checkpoint, archive);
    cpSync(archive, `${archive}.kept`, { recursive: true });
    if (kind === 'sqlite') copyFileSync(pathOf(place), `${pathOf(place)}.kept`);
    else
      await place.sql(
        ...tablesOf(place).map(({ name }) => `CREATE TABLE kept_${name} AS TABLE ${name}`),
      );
  });

  test('every change of every table is seen, or is named in the threats', async () => {
    expect(await seenBy(place, checkpoint, archive)).toBe('');
    const lines: string[] = [];
    const unnamed: string[] = [];
    for (const table of tablesOf(place)) {
      const rows = await countOf(table);
      for (const { name, sql } of casesOf(table)) {
        if (rows < (name.endsWith('swap two rows') ? 2 : 1)) {
          lines.push(`${name}: too few rows`);
          continue;
        }
        const isDone = await tampered(sql);
        const seen = isDone ? await seenBy(place, checkpoint, archive) : 'refused by the database';
        lines.push(`${name}: ${seen || 'unseen'}`);
        const phrase = UNSEEN[name] ?? UNSEEN[table.name];
        if (seen === '' && !(phrase !== undefined && THREATS.includes(phrase))) unnamed.push(name);
        if (isDone) await restore(table);
      }
    }
    expect(await seenBy(place, checkpoint, archive)).toBe('');
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`tamper-matrix.${kind}.txt`);
    expect(unnamed).toEqual([]);
  });

  const before =
    kind === 'sqlite'
      ? ['PRAGMA ignore_check_constraints = 1']
      : ['SET session_replication_role = replica'];

  /** False if the database refuses every alternative, or the table lacks the rows. */
  async function tampered(alternatives: readonly string[]): Promise<boolean> {
    for (const sql of alternatives) {
      try {
        await place.sql(...before, sql);
        return true;
      } catch (error) {
        expect(String(error)).toMatch(/constraint|unique|null value|foreign key|to DEFAULT/i);
      }
    }
    return false;
  }

  async function restore({ name }: Table): Promise<void> {
    rmSync(archive, { recursive: true });
    cpSync(`${archive}.kept`, archive, { recursive: true });
    if (kind === 'postgres')
      return place.sql(
        ...before,
        `DELETE FROM ${name}`,
        `INSERT INTO ${name} OVERRIDING SYSTEM VALUE SELECT * FROM kept_${name}`,
      );
    for (const suffix of ['-wal', '-shm']) rmSync(pathOf(place) + suffix, { force: true });
    copyFileSync(`${pathOf(place)}.kept`, pathOf(place));
  }

  async function countOf({ name }: Table): Promise<number> {
    const text = `SELECT count(*) AS n FROM ${name}`;
    if (kind === 'sqlite') {
      const db = new DatabaseSync(pathOf(place), { readOnly: true });
      const row = db.prepare(text).get();
      db.close();
      return row?.['n'] as number;
    }
    const client = new Client({ connectionString: place.url });
    await client.connect();
    const schema = new URL(place.url).searchParams.get('schema');
    const { rows } = await client.query(text.replace(name, `"${schema}".${name}`));
    await client.end();
    return Number(rows[0].n);
  }

  function tablesOf(from: Place): readonly Table[] {
    if (kind === 'sqlite') {
      const db = new DatabaseSync(pathOf(from), { readOnly: true });
      const names = db
        .prepare(
          "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY name",
        )
        .all();
      const tables = names.map(({ name }) => ({
        name: name as string,
        columns: db
          .prepare('SELECT name, lower(type) AS type FROM pragma_table_info(?)')
          .all(name!) as unknown as Table['columns'],
      }));
      db.close();
      return tables;
    }
    const named = (start: string): string[] =>
      Object.keys(OBJECTS).filter((key) => key.startsWith(start));
    return named('table ').map((key) => {
      const name = key.slice('table '.length);
      const start = `column ${name}.`;
      const columns = named(start).map((key) => ({
        name: key.slice(start.length),
        type: OBJECTS[key]!,
      }));
      columns.sort((a, b) => KEYS.indexOf(b.name) - KEYS.indexOf(a.name));
      return { name, columns };
    });
  }

  function casesOf({ name, columns }: Table): readonly Case[] {
    const names = columns.map((column) => column.name);
    // Hashes differ from run to run, and places in an order do not.
    const order = names
      .toSorted((a, b) => Number(PLACES.has(b)) - Number(PLACES.has(a)))
      .join(', ');
    const key = kind === 'sqlite' ? `(${names.join(', ')})` : 'ctid';
    const is = kind === 'sqlite' ? 'IS' : '=';
    const row = (offset: string): string =>
      `${key} ${is} (SELECT ${kind === 'sqlite' ? names.join(', ') : 'ctid'} FROM ${name} ORDER BY ${order} LIMIT 1 OFFSET ${offset})`;
    const middle = row(`(SELECT count(*) / 2 FROM ${name})`);
    const changes = columns.map((column) => ({
      name: `${name}: change ${column.name}`,
      sql: [`UPDATE ${name} SET ${column.name} = ${changed(column)} WHERE ${middle}`],
    }));
    const overriding = kind === 'postgres' ? 'OVERRIDING SYSTEM VALUE ' : '';
    const inserts = columns.map((_, upTo) => {
      const values = columns.map((column, n) => (n <= upTo ? changed(column) : column.name));
      return `INSERT INTO ${name} (${names.join(', ')}) ${overriding}SELECT ${values.join(', ')} FROM ${name} WHERE ${middle}`;
    });
    const rest = names.slice(1);
    const swap = `CREATE TEMP TABLE two AS SELECT row_number() OVER (ORDER BY ${order}) AS nth, x.* FROM ${name} AS x;
      DELETE FROM two WHERE nth > 2;
      DELETE FROM ${name} WHERE ${row('0')}; DELETE FROM ${name} WHERE ${row('0')};
      INSERT INTO ${name} (${names.join(', ')}) ${overriding}SELECT a.${names[0]}, ${rest.map((each) => `b.${each}`).join(', ')} FROM two AS a JOIN two AS b ON b.nth = 3 - a.nth;
      DROP TABLE two`;
    return [
      ...changes,
      { name: `${name}: drop a row`, sql: [`DELETE FROM ${name} WHERE ${middle}`] },
      { name: `${name}: insert a row`, sql: inserts },
      ...(rest.length > 0 ? [{ name: `${name}: swap two rows`, sql: [swap] }] : []),
    ];
  }

  /** An expression with another value of the type. */
  function changed({ name, type }: Table['columns'][number]): string {
    const hash = kind === 'sqlite' ? `x'${'11'.repeat(32)}'` : `'\\x${'11'.repeat(32)}'::bytea`;
    if (/^(bytea|blob)/.test(type)) return `CASE WHEN ${name} = ${hash} THEN NULL ELSE ${hash} END`;
    if (type.startsWith('text'))
      return `CASE WHEN ${name} LIKE '{%' THEN '{"x":1}' ELSE coalesce(${name}, '') || 'x' END`;
    if (type.startsWith('boolean')) return `NOT ${name}`;
    if (/^(double|real$)/.test(type)) return `${name} / 2`;
    if (type.startsWith('timestamp')) return `${name} + interval '1 hour'`;
    if (type.startsWith('tsvector')) return `${name} || 'x'::tsvector`;
    if (type.startsWith('real[]')) return `array_append(${name}, 1)`;
    return `CASE ${name} WHEN 1 THEN 0 ELSE coalesce(${name}, 0) + 1 END`;
  }
});

function pathOf({ url }: Place): string {
  return url.slice('sqlite:'.length);
}

/** The checks that see a fault in the store. */
async function seenBy(place: Place, checkpoint: string, archive: string): Promise<string> {
  const seen: string[] = [];
  const named = { archive: `file:${archive}`, rootKeys };
  const opened = await place.open({ checkpoint, ...named }).catch(() => undefined);
  if (opened === undefined) seen.push('open');
  await opened?.close();
  const store = await openStore(place.url, { checkpoint: false, mode: 'readonly', ...named }).catch(
    () => undefined,
  );
  if (store === undefined) return [...seen, 'verify', 'fsck', 'audit'].join(' ');
  const signed = readFileSync(checkpoint, 'utf8');
  const checks = {
    verify: async () => (await verifyStore(store, { threads: 1 })).every(({ valid }) => valid),
    fsck: async () =>
      (await fsck(store, { checkpoint: readCheckpoint(signed, log).checkpoint, threads: 1 })).valid,
    audit: async () => {
      const report = await auditCheckpoints(store, [signed, signed], log);
      return report.consistent && report.store === 'at';
    },
  };
  for (const [name, check] of Object.entries(checks))
    if (!(await check().catch(() => false))) seen.push(name);
  await store.close();
  return seen.join(' ');
}
