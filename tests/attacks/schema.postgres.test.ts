/**
 * Attacks 29 and 30 of docs/design/threats.md: by an attacker with write access to the whole
 * database, who changes its schema.
 */

import { describe, expect, test } from 'vitest';
import { hashText } from '#canon';
import { type Store, StoreError } from '#stores';
import { batchOf, blobOf, chainOf, entryAfter } from '../../packages/testing/src/store-rows.ts';
import { onEveryDatabase, type Place } from '../support/ledger/stores.ts';

/** An attack: its name, its statements, and the object that the refusal names. */
type Change = readonly [what: string, sql: readonly string[], named: string];

const SQLITE: readonly Change[] = [
  [
    'a trigger that drops entries',
    ['CREATE TRIGGER t BEFORE INSERT ON entry BEGIN SELECT raise(IGNORE); END'],
    'trigger t on entry',
  ],
  [
    'a trigger that deletes entries',
    ['CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM entry WHERE id = new.id; END'],
    'trigger t on entry',
  ],
  [
    'a trigger that keeps an erased text',
    ["CREATE TRIGGER t BEFORE UPDATE ON blob WHEN new.text = '' BEGIN SELECT raise(IGNORE); END"],
    'trigger t on blob',
  ],
  [
    'a trigger that copies texts',
    [
      'CREATE TABLE c (t); CREATE TRIGGER t AFTER INSERT ON blob BEGIN INSERT INTO c VALUES (new.text); END',
    ],
    'trigger t on blob',
  ],
  [
    'a trigger with the name of a table',
    ['CREATE TRIGGER blob BEFORE INSERT ON oracle BEGIN SELECT raise(IGNORE); END'],
    'trigger blob on oracle',
  ],
  [
    'a view in place of a table',
    ['ALTER TABLE snapshot RENAME TO kept; CREATE VIEW snapshot AS SELECT * FROM kept'],
    'table snapshot',
  ],
  ['a dropped table', ['DROP TABLE oracle_within'], 'table oracle_within'],
  ['an added column', ["ALTER TABLE blob ADD COLUMN copy TEXT AS (text || '')"], 'table blob'],
  ['a unique index', ['CREATE UNIQUE INDEX u ON oracle (at)'], 'unique index u on oracle'],
];

const POSTGRES: readonly Change[] = [
  [
    'a trigger that drops entries',
    [
      'CREATE FUNCTION x() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
      'CREATE TRIGGER t BEFORE INSERT ON entry FOR EACH ROW EXECUTE FUNCTION x()',
    ],
    'trigger entry.t',
  ],
  [
    'a trigger at the commit',
    [
      'CREATE FUNCTION x() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
      'CREATE CONSTRAINT TRIGGER t AFTER INSERT ON blob DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION x()',
    ],
    'trigger blob.t',
  ],
  ['a rule', ['CREATE RULE r AS ON INSERT TO oracle DO INSTEAD NOTHING'], 'rule oracle.r'],
  [
    'a disabled trigger',
    ['ALTER TABLE fact DISABLE TRIGGER keep_apart'],
    'trigger fact.keep_apart',
  ],
  ['a dropped trigger', ['DROP TRIGGER mark_erasure ON blob'], 'trigger blob.mark_erasure'],
  [
    'a changed function',
    [
      'CREATE OR REPLACE FUNCTION fact_branch(branch text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT branch $$',
    ],
    'function fact_branch',
  ],
  [
    'a changed setting of a function',
    ['ALTER FUNCTION raise_fence() SET search_path = public'],
    'function raise_fence',
  ],
  [
    'a function with the name of another one',
    ['CREATE FUNCTION keep_facts(int) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$'],
    'function keep_facts',
  ],
  [
    'a function with the name of one of the server',
    ['CREATE FUNCTION sha256(text) RETURNS bytea LANGUAGE sql AS $$ SELECT NULL::bytea $$'],
    'function sha256',
  ],
  [
    'an operator',
    ['CREATE OPERATOR <> (FUNCTION = pg_catalog.int48ne, LEFTARG = int, RIGHTARG = bigint)'],
    'operator <>',
  ],
  [
    'a default',
    ["ALTER TABLE blob ALTER COLUMN erased_by SET DEFAULT sha256('x')"],
    'column blob.erased_by',
  ],
  [
    'an added column',
    ['ALTER TABLE blob ADD COLUMN c text GENERATED ALWAYS AS (text) STORED'],
    'column blob.c',
  ],
  [
    'a constraint',
    ["ALTER TABLE entry ADD CONSTRAINT c CHECK (kind <> 'pending')"],
    'constraint entry.c',
  ],
  ['a unique index', ['CREATE UNIQUE INDEX u ON oracle (at)'], 'unique index oracle.u'],
  ['row security', ['ALTER TABLE entry ENABLE ROW LEVEL SECURITY'], 'table entry'],
  ['a policy', ['CREATE POLICY p ON entry USING (false)'], 'policy entry.p'],
  ['a child table', ['CREATE TABLE child () INHERITS (blob)'], 'child table blob.child'],
  ['an unlogged table', ['ALTER TABLE effect_key SET UNLOGGED'], 'table effect_key'],
  [
    'a view in place of a table',
    ['ALTER TABLE snapshot RENAME TO kept; CREATE VIEW snapshot AS SELECT * FROM kept'],
    'table snapshot',
  ],
  [
    'a changed view',
    ['CREATE OR REPLACE VIEW append_under_way AS SELECT NULL::text AS virtualtransaction'],
    'view',
  ],
];

const HARMLESS = {
  sqlite: [
    'CREATE TABLE mine (n)',
    'CREATE INDEX by_kind ON entry (kind)',
    'DROP INDEX blob_erased',
    'ANALYZE',
  ],
  postgres: [
    'CREATE TABLE mine (n int)',
    'CREATE INDEX by_kind ON entry (kind)',
    'DROP INDEX blob_erased',
    'CREATE VIEW kinds AS SELECT kind FROM entry',
    'CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
    'GRANT SELECT ON entry TO PUBLIC',
    'ALTER TABLE entry SET (autovacuum_enabled = false)',
    'ANALYZE',
  ],
};

/** Rows that a trigger drops silently, by table. */
const DROPPED = [
  'entry',
  'blob',
  'oracle',
  'oracle_within',
  'log',
  'log_node',
  'effect_transaction',
  'effect_record',
  'effect_key',
  'effect_open',
];

onEveryDatabase(({ kind, newPlace }) => {
  async function made(): Promise<Place> {
    const place = newPlace();
    const store = await place.open();
    await store.commit(batchOf(chainOf('t', 3), [blobOf('text')]));
    await store.close();
    return place;
  }

  describe('attack 29: a changed trigger, rule or function: refused, and told', () => {
    test.each(kind === 'sqlite' ? SQLITE : POSTGRES)('%s', async (_, sql, named) => {
      const place = await made();
      await place.sql(...sql);
      await expect(place.open()).rejects.toMatchObject({
        code: 'store_other_schema',
        message: expect.stringContaining('Undo the change or restore a'),
        evidence: { faults: expect.arrayContaining([expect.stringContaining(`the ${named}`)]) },
      });
      const store = await place.open({ mode: 'readonly' }).catch((error: unknown) => error);
      // Without one of its tables, a reader cannot open a file either.
      if (store instanceof StoreError)
        return expect([store.code, kind]).toEqual(['store_failed', 'sqlite']);
      expect(await (store as Store).selfCheck!()).toContainEqual(
        expect.stringContaining(`the ${named}`),
      );
      expect(await (store as Store).entries('t')).toHaveLength(3);
    });

    test('what an operator may add is not a fault', async () => {
      const place = await made();
      await place.sql(...HARMLESS[kind]);
      const store = await place.open();
      expect(await store.selfCheck!()).toEqual([]);
      expect(await store.commit(batchOf(entryAfter(await store.head('t'), 't')))).toEqual({
        status: 'committed',
      });
    });
  });

  describe('attack 30: a trigger made while a store is open: no row is lost', () => {
    const drop = (table: string, does: 'INSERT' | 'UPDATE'): string[] =>
      kind === 'sqlite'
        ? [`CREATE TRIGGER t BEFORE ${does} ON ${table} BEGIN SELECT raise(IGNORE); END`]
        : [
            'CREATE FUNCTION x() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
            `CREATE TRIGGER t BEFORE ${does} ON ${table} FOR EACH ROW EXECUTE FUNCTION x()`,
          ];

    test.each(DROPPED)('that drops rows of %s', async (table) => {
      const place = await made();
      const store = await place.open();
      const head = await store.head('t');
      const lease = await store.leaseEffects();
      await place.sql(...drop(table, 'INSERT'));
      const key = hashText('key');
      const row = entryAfter(head, 't');
      const body = { epoch: 1, trajectory_id: 't', body: '{}' };
      const effects = {
        fence: lease.fence,
        begun: [body],
        records: [
          { epoch: 1, place: 0, record: '[]' },
          { epoch: 1, place: 1, record: '[]' },
        ],
        keys: [{ key, epoch: 1, n: 0 }],
      };
      const leaves = (await store.unlogged(2)).map(({ id }) => ({ id, hash: Buffer.alloc(32, 1) }));
      const writes = [
        () => store.commit({ ...batchOf(row, [blobOf('new')]), effects }),
        () => store.oraclePut({ key, answer: '1', at: 'now' }, key),
        () =>
          store.integrate({
            size: 0,
            leaves,
            nodes: [{ level: 1, index: 0, hash: Buffer.alloc(32, 2) }],
          }),
      ];
      const answers = await Promise.allSettled(writes.map((write) => write()));
      // SQLite refuses every write from then on; the server refuses the writes of the table.
      expect(answers).toContainEqual({
        status: 'rejected',
        reason: expect.objectContaining({
          code: 'store_other_schema',
          message: expect.stringMatching(
            /Undo the change or restore a|a trigger or rule drops rows/,
          ),
        }),
      });
      await store.close().catch(() => undefined);
      await place.sql(`DROP TRIGGER t ${kind === 'postgres' ? `ON ${table}` : ''}`);
      const after = await place.open();
      const [commit] = answers;
      const isThere = (await after.resolve(row.id)) !== undefined;
      expect(isThere).toBe(commit!.status === 'fulfilled');
    });

    test('that keeps the texts of an erasure', async () => {
      const place = await made();
      const store = await place.open();
      const { hash } = blobOf('text');
      await place.sql(...drop('blob', 'UPDATE'));
      const erasure = store.commit({ ...batchOf([]), erased: [{ hash, by: blobOf('by').hash }] });
      await expect(erasure).rejects.toMatchObject({
        code: 'store_other_schema',
        message: expect.stringMatching(/Undo the change or restore a|a trigger or rule drops rows/),
      });
      await store.close().catch(() => undefined);
      await place.sql(`DROP TRIGGER t ${kind === 'postgres' ? 'ON blob' : ''}`);
      const after = await place.open();
      expect(await after.blob(hash)).toBe(blobOf('text').text);
      expect(await after.erasedBy(hash)).toBeUndefined();
    });

    test('that deletes entries after their insert', async () => {
      const place = await made();
      const store = await place.open();
      const row = entryAfter(await store.head('t'), 't');
      await place.sql(
        ...(kind === 'sqlite'
          ? [
              'CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM entry WHERE id = new.id; END',
            ]
          : [
              `CREATE FUNCTION x() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS
                $$ BEGIN DELETE FROM entry WHERE id = new.id; RETURN NULL; END $$`,
              'CREATE TRIGGER t AFTER INSERT ON entry FOR EACH ROW EXECUTE FUNCTION x()',
            ]),
      );
      await expect(store.commit(batchOf(row))).rejects.toMatchObject({
        code: 'store_other_schema',
        message: expect.stringMatching(/Undo the change or restore a|a trigger or rule drops rows/),
      });
    });
  });
});
