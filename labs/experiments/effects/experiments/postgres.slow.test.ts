import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { runCommand } from '../../../../tests/support/process/command.ts';
import type { Table } from '../../tables/index.ts';
import { expectSources } from './testing/table-sources.ts';

/** A sample of all windows. The result of a window does not depend on their number. */
const SCALE = '0.1';

function assize(...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'assize-crash-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return runCommand(folder, undefined, 'assize-experiments', 'effects', ...args);
}

withPostgres('on a server', (postgres) => {
  test('killed processes repeat and lose no effect, and no schema remains', async () => {
    const schemas = () =>
      postgres.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'assize_crash%'");
    const args = [
      'crash-windows-postgres',
      '--postgres',
      postgres.url(),
      '--scale',
      SCALE,
      '--json',
    ];
    const { code, out, err } = await assize(...args);
    expect([code, err]).toEqual([0, expect.stringMatching(/^(crash-windows-postgres: .*\n)*$/)]);
    const { experiments, skipped } = JSON.parse(out);
    expect(skipped).toEqual([]);
    const tables = experiments[0].tables as Table[];
    expectSources('crash-windows-postgres', tables);
    expect(tables.map(({ title }) => /PostgreSQL server/.test(title))).toEqual([true, true]);
    for (const { columns, rows } of tables) {
      const cells = rows.map((row) => row.cells.map(({ measured }) => measured));
      const told = cells.filter(([twice]) => twice !== '–');
      expect(told.length).toBeGreaterThan(0);
      for (const row of told)
        for (const name of ['twice', 'lost', 'blocked', 'left, keyed', 'left, queryable'])
          expect([0, '–']).toContain(row[columns.indexOf(name)]);
    }
    expect(await schemas()).toEqual([]);
  });
});

test('without a server it says by name that it was not run', async () => {
  const named = await assize('crash-windows-postgres');
  expect(named).toMatchObject({ code: 2, out: '' });
  expect(named.err).toMatch(
    /crash-windows-postgres cannot run: it needs a PostgreSQL server. Name one with --postgres/,
  );
});

test('an unreachable server yields the store’s error without its password', async () => {
  const url = 'postgres://somebody:secret@127.0.0.1:1/nowhere';
  const { code, out, err } = await assize('crash-windows-postgres', '--postgres', url);
  expect(code).toBe(2);
  expect(err).toMatch(/cannot be reached. Check host and port, and that the server runs/);
  expect(out + err).not.toContain('secret');
});
