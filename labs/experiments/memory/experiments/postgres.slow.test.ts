import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { endOf, runCommand, startCommand } from '../../../../tests/support/process/command.ts';
import { blockOf } from '../../../../tests/support/process/guide-files.ts';
import { type Table, tableText } from '../../tables/index.ts';
import { EXPERIMENTS } from '../index.ts';

/** The result of each run does not depend on the number of runs. */
const RUNS = 3;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-anomalies-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const assize = (...args: string[]) =>
  runCommand(folder, undefined, 'assize-experiments', 'memory', ...args);
const named = EXPERIMENTS.flatMap(({ name, needs }) => (needs === 'postgres' ? [name] : []));

/** The column of a table that begins so, in the order of its rows. */
function columnOf(tables: readonly Table[], title: string, column: string): unknown[] {
  const table = tables.find((one) => one.title.startsWith(title))!;
  const at = table.columns.indexOf(column);
  return table.rows.map(({ cells }) => cells[at]!.measured);
}

withPostgres('on a server', (postgres) => {
  const leftovers = () =>
    postgres.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'assize_anomalies%'");

  test('every cell has its expected value, and nothing remains on the server', async () => {
    const { code, out } = await assize(
      ...named,
      '--postgres',
      postgres.url(),
      '--runs',
      String(RUNS),
      '--json',
    );
    const { experiments, differing, runs, skipped } = JSON.parse(out);
    const found = (experiments as { name: string; tables: Table[] }[]).flatMap(
      ({ tables }) => tables,
    );
    const wrong = found.flatMap((table) =>
      table.rows.flatMap(({ keys, cells }) =>
        cells
          .filter(({ measured, expected }) => expected !== undefined && measured !== expected)
          .map(() => [table.title, ...keys]),
      ),
    );
    expect(wrong).toEqual([]);
    expect({ code, differing, runs, skipped }).toEqual({
      code: 0,
      differing: 0,
      runs: RUNS,
      skipped: [],
    });
    expect((experiments as { name: string }[]).map(({ name }) => name)).toEqual(named);
    for (const { name, tables } of experiments as { name: string; tables: Table[] }[])
      expect(
        tables.filter(({ plot }) => plot !== undefined),
        `${name} has something to draw`,
      ).not.toEqual([]);
    // The expected values are those of the paper and its notes, not those of the experiments.
    expect(columnOf(found, 'lost update', 'admit')).toEqual([
      0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0,
    ]);
    expect(columnOf(found, 'lost update', 'aborted')).toEqual([
      0, 0, 0, 0, 0.5, 0.5, 0, 0.75, 0.75, 0, 0.875, 0.875, 0, 0.9375, 0.9375,
    ]);
    for (const [level, admits] of Object.entries({ RC: [1, 1, 1], RR: [0, 1, 1], SR: [0, 0, 0] }))
      expect(columnOf(found, 'two concurrent transactions: runs', level), level).toEqual(admits);
    expect(columnOf(found, 'belief drift', 'admit')).toEqual([1, 1, 0, 0, 1, 0, 1, 1, 1]);
    expect(columnOf(found, 'belief drift', 'aborted')).toEqual([0, 0, 0.5, 0, 0, 0, 0, 0, 0]);
    expect(columnOf(found, 'last writer wins: runs', 'none, at RC')).toEqual([0, 1, 1, 1, 1]);
    expect(columnOf(found, 'last writer wins: runs', 'one open row by EXCLUDE, at RC')).toEqual([
      0, 0, 0, 0, 0,
    ]);
    expect(columnOf(found, '16 judges', 'questions acted on differently')).toEqual([
      0,
      0,
      0,
      0,
      RUNS,
      RUNS,
      0,
    ]);
    // Only the values that the paper prints, without derived values: Table 24, and §E.6 for the
    // three others.
    const printed = (title: string) =>
      found
        .find((one) => one.title.startsWith(title))!
        .rows.map(({ cells }) => cells.map(({ paper }) => paper ?? '-'));
    expect(
      printed('lost update')
        .flat()
        .filter((one) => one === '-'),
    ).toEqual([]);
    expect(printed('two concurrent transactions: runs')).toEqual([
      [1, 0, 0],
      [1, 1, 0],
      [1, 1, 0],
    ]);
    expect(printed('two concurrent transactions: the part')).toEqual([
      ['-', '-', '-'],
      ['-', '-', 0.5],
      ['-', '-', '-'],
    ]);
    for (const title of ['belief drift', 'what can’t be found any more'])
      expect(new Set(printed(title).flat()), title).toEqual(new Set(['-']));
    const lost = found.find(({ title }) => title.startsWith('lost update'))!;
    expect(
      tableText(lost).startsWith(
        blockOf('labs/experiments/docs/anomalies-server.md', 'text lattice'),
      ),
      'as the guide shows it',
    ).toBe(true);
    expect(await leftovers()).toEqual([]);
  });

  test('Ctrl-C ends it between two runs, and leaves nothing either', async () => {
    const url = postgres.url();
    const child = startCommand(
      folder,
      undefined,
      'assize-experiments',
      'memory',
      'lattice',
      '--postgres',
      url,
      '--runs',
      '10000',
    );
    const over = endOf(child);
    child.stderr?.on('data', (said: string) => {
      if (/lattice: /.test(said) && !child.killed) child.kill('SIGINT');
    });
    const { code, out } = await over;
    expect({ code, out }).toEqual({ code: 130, out: '' });
    expect(await leftovers()).toEqual([]);
  });

  test('lost connections end the run with one sentence and leave nothing behind', async () => {
    const child = startCommand(
      folder,
      undefined,
      'assize-experiments',
      'memory',
      'revisions',
      '--postgres',
      postgres.url(),
      '--runs',
      '10000',
    );
    const over = endOf(child);
    let cut: Promise<unknown> | undefined;
    child.stderr?.on('data', (said: string) => {
      if (/revisions: /.test(said))
        cut ??= postgres.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'assize-experiments memory'",
        );
    });
    const { code, out, err } = await over;
    await cut;
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^assize: The PostgreSQL server cannot be used: /m);
    expect(err).not.toMatch(/fault in assize/);
    expect(await leftovers()).toEqual([]);
  });

  test('a role that may not create a schema gets a permission error', async () => {
    const role = `poor_${Date.now()}`;
    await postgres.query(`CREATE ROLE ${role} LOGIN`);
    try {
      const url = new URL(postgres.url());
      url.username = role;
      const { code, out, err } = await assize('lattice', '--postgres', url.href);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toMatch(/cannot be used: permission denied/);
    } finally {
      await postgres.query(`DROP ROLE ${role}`);
    }
  });
});

describe('without a server', () => {
  test('a named experiment that needs one is refused; all lists the omitted ones', async () => {
    const { code, out, err } = await assize('lattice');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(
      /^assize: lattice cannot run: it needs a PostgreSQL server. Name one with --postgres/,
    );
  });

  test.each([
    ['a URL of something else', 'sqlite:./here.db', /--postgres does not name a PostgreSQL server/],
    ['a malformed URL', 'postgres://user:secret@[', /--postgres does not name a PostgreSQL server/],
    [
      'a server that is not there',
      'postgres://user:secret@127.0.0.1:1/none',
      /The PostgreSQL server cannot be used: .*ECONNREFUSED/,
    ],
  ])('%s is refused, and no password is repeated', async (_, url, saying) => {
    const { code, out, err } = await assize('lattice', '--postgres', url);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(saying);
    expect(err).not.toContain('secret');
  });
});
