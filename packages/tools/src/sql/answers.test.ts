import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { COUNT, stage } from '../../../../tests/support/tools/transaction-stage.ts';
import { type SqlDatabase, sqlReader, sqlTool } from './index.ts';

const LONG = "SELECT printf('%.1100000c', 'x') AS text";

/**
 * One that answers more than is kept, and one that does so by a statement that changes something.
 */
async function staged(when: 'buffered' | 'externalised') {
  const file = new DatabaseSync(':memory:');
  file.exec(`CREATE TABLE note (what TEXT) STRICT;
    CREATE TABLE assize_effects ("key" TEXT PRIMARY KEY, tool TEXT NOT NULL, result TEXT NOT NULL, undone INTEGER NOT NULL)`);
  const database: SqlDatabase = {
    placeholders: '?',
    connect: () => ({
      query: (text, values) => file.prepare(text).all(...(values as never[])) as never,
      begin: () => file.exec('BEGIN'),
      commit: () => file.exec('COMMIT'),
      rollback: () => {
        if (file.isTransaction) file.exec('ROLLBACK');
      },
      close: () => {},
    }),
  };
  let times = 0;
  const tool = sqlTool({
    name: 'db.put',
    database,
    delivery: when,
    input: z.strictObject({}),
    writes: ['test:note'],
    statements: () => {
      times++;
      return [{ text: "INSERT INTO note VALUES ('a')" }, { text: LONG }];
    },
    result: ([, found]) => found as never,
    undo: () => [{ text: 'DELETE FROM note' }],
  });
  const look = sqlReader({
    name: 'db.look',
    database,
    input: z.strictObject({}),
    reads: ['test:note'],
    statement: () => ({ text: LONG }),
    result: (found) => found as never,
  });
  const staging = await stage({ tools: [tool, look] });
  onTestFinished(() => staging.assize.close());
  return { ...staging, file, times: () => times };
}

const WHY = /the answer of db\.(look|put) is too long: .* Request less/;

test.each([
  ['db.look', 'buffered'],
  ['db.look', 'externalised'],
  ['db.put', 'externalised'],
] as const)(
  'an answer that is too long is reported with the tool’s name: %s, %s',
  async (name, when) => {
    const { trajectory, all, assize, file } = await staged(when);
    const made = trajectory.transaction({ ...all, reads: ['test:**'] }, (tx) => tx.call(name, {}));
    await expect(made).rejects.toMatchObject({ message: expect.stringMatching(WHY) });
    expect([file.prepare('SELECT * FROM note').all(), await assize.recoverEffects()]).toEqual([
      [],
      [],
    ]);
  },
);

test('after the commit the effect runs once, is reverted, and has a reason', async () => {
  const { trajectory, all, assize, file, times } = await staged('buffered');
  await trajectory.transaction(all, async (tx) => {
    await tx.call('db.put', {});
    tx.propose(COUNT);
  });
  const left = await assize.recoverEffects();
  expect(left).toMatchObject([
    { phase: 'unresolved', why: 'answer_too_long', error: { message: expect.stringMatching(WHY) } },
  ]);
  expect([file.prepare('SELECT * FROM note').all(), times()]).toEqual([[], 1]);
});
