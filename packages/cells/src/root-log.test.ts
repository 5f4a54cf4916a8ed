import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeys } from 'assize/internal/canon';
import { expect, onTestFinished, test } from 'vitest';
import { RootLog } from './root-log.ts';

const ROOT = generateKeys(new Uint8Array(32).fill(3));
const BY = 'operator:test';

/** Reads the head until the store of the moved file is closed. */
async function loses(log: RootLog): Promise<void> {
  await expect(log.head()).rejects.toMatchObject({ code: 'store_poisoned' });
  await expect(log.head()).rejects.toMatchObject({ code: 'store_not_found' });
}

/** A root log in a SQLite file of the test. */
async function inFile() {
  const folder = mkdtempSync(join(tmpdir(), 'assize-root-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'root.db');
  const opened = async (path = file): Promise<RootLog> => {
    const log = await RootLog.open({ url: `sqlite:${path}`, root: ROOT });
    onTestFinished(() => log.close());
    return log;
  };
  return { folder, file, opened, log: await opened() };
}

const place = (log: RootLog, tenant: string) => log.order('place', { tenant, cell: 'one' }, BY);

test('a file that was renamed is not heard, and is heard again when it is back', async () => {
  const { file, log } = await inFile();
  await place(log, 'acme');
  const head = await log.head();
  renameSync(file, `${file}.away`);
  await expect(log.head()).rejects.toMatchObject({ code: 'store_poisoned' });
  for (let n = 0; n < 2; n++)
    await expect(log.head()).rejects.toMatchObject({ code: 'store_not_found' });
  await expect(place(log, 'beta')).rejects.toMatchObject({ code: 'store_closed' });
  renameSync(`${file}.away`, file);
  expect(await log.head()).toBe(head);
  expect(Object.keys((await log.read()).tenants)).toEqual(['acme']);
  await place(log, 'beta');
  expect(Object.keys((await log.read()).tenants)).toEqual(['acme', 'beta']);
});

test('orders of other processes meanwhile are read when the file is back', async () => {
  const { folder, file, log, opened } = await inFile();
  await log.head();
  renameSync(file, `${file}.away`);
  await loses(log);
  const other = await opened(join(folder, 'root.db.away'));
  await other.order('halt', { tenant: 'acme', reason: 'why' }, BY);
  await other.close();
  renameSync(`${file}.away`, file);
  await log.head();
  expect((await log.read()).halted).toEqual({ acme: 'why' });
});

test('a file without entries that were read is refused, until the right one', async () => {
  const { folder, file, log, opened } = await inFile();
  const early = join(folder, 'early.db');
  const other = await opened(join(folder, 'other.db'));
  await other.close();
  copyFileSync(join(folder, 'other.db'), early);
  await place(log, 'acme');
  await log.head();
  renameSync(file, `${file}.away`);
  await expect(log.head()).rejects.toMatchObject({ code: 'store_poisoned' });
  renameSync(early, file);
  for (let n = 0; n < 2; n++)
    await expect(log.head()).rejects.toMatchObject({
      code: 'cell_diverged',
      message: expect.stringContaining('came back without entries'),
    });
  renameSync(`${file}.away`, file);
  await log.head();
  expect(Object.keys((await log.read()).tenants)).toEqual(['acme']);
});

test('the side log reaches the store that was opened again', async () => {
  const { file, log } = await inFile();
  const { side } = log;
  await side.sidePut([{ kind: 'token', key: 'a', expected: null, body: '{}' }]);
  renameSync(file, `${file}.away`);
  await loses(log);
  renameSync(`${file}.away`, file);
  await expect(side.sideGet('token', 'a')).rejects.toMatchObject({ code: 'store_closed' });
  await log.head();
  expect((await side.sideGet('token', 'a'))?.body).toBe('{}');
  expect((await side.sideList('token', { limit: 10 })).map(({ key }) => key)).toEqual(['a']);
});

test('a log whose store was closed is not opened again', async () => {
  const { log } = await inFile();
  await log.store.close();
  for (let n = 0; n < 2; n++)
    await expect(log.head()).rejects.toMatchObject({ code: 'store_closed' });
});
