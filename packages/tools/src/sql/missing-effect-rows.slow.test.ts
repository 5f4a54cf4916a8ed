import type { Transaction } from 'assize/internal/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SqliteStage } from '../../tests/support/sql-stage.ts';
import { NAMES, type Name, NOTHING, said, World } from '../../tests/support/sql-world.ts';

// The operator of the database deletes rows of `assize_effects`, as the guide says: when nothing is
// open in the store any more.

let databases: Readonly<Record<Name, SqliteStage>>;
beforeAll(() => {
  databases = { a: new SqliteStage(), b: new SqliteStage() };
});
afterAll(async () => {
  for (const name of NAMES) await databases[name][Symbol.asyncDispose]();
});

async function both(tx: Transaction): Promise<void> {
  await tx.call('a.note', { what: '1' });
  await tx.call('b.post', { what: '2' });
  await tx.call('a.post', { what: '3' });
}
const DONE = { a: '1 3', b: '2' };

const logOf = async (name: Name): Promise<string> => (await databases[name].look()).log.join(' ');
const isOpen = async (world: World): Promise<boolean> =>
  (await world.process(undefined, (assize) => assize.effects())).value!.length > 0;

async function takeRowsAway(): Promise<void> {
  for (const name of NAMES) await databases[name].run('DELETE FROM assize_effects');
}

test('effect rows are not needed if nothing is open, at any crash point', async () => {
  const ends = new Set<boolean>();
  for (let endAt = 1; ; endAt++) {
    const world = await World.over(databases);
    const { isDead } = await world.transact(both, { endAt });
    expect(await world.recovered()).toEqual([]);
    expect(await isOpen(world)).toBe(false);
    await takeRowsAway();
    ends.add(await world.isCommitted());
    // The transaction runs once more under its name, and the runtime resumes all abandoned work.
    expect((await world.transact(both)).value).toMatchObject({
      ruling: { ruling: 'committed' },
      effects: 'settled',
    });
    expect(await world.recovered()).toEqual([]);
    for (const name of NAMES) expect(await logOf(name)).toBe(DONE[name]);
    if (!isDead) break;
  }
  expect(ends).toEqual(new Set([true, false]));
});

test('while a transaction is open, only effect rows prevent a second execution', async () => {
  const twice = new Set<string>();
  for (let endAt = 1; ; endAt++) {
    const world = await World.over(databases);
    const { isDead } = await world.transact(both, { endAt });
    const isDone = said(await databases.a.look()) !== NOTHING;
    if (isDone && (await isOpen(world))) {
      await takeRowsAway();
      await world.recovered();
      twice.add(await logOf('a'));
    }
    if (!isDead) break;
  }
  expect([...twice]).toContain('1 3 1 3');
});
