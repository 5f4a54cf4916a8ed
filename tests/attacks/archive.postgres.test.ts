/** The attacks of docs/design/threats.md on the files of an archive, and on their names. */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { integrateLog, logHead } from '#ledger';
import { verifyStore } from '#runtime';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { type Databases, onEveryDatabase, type Place } from '../support/ledger/stores.ts';
import { tally } from '../support/tools/effect-sink.ts';

const root = mkdtempSync(join(tmpdir(), 'assize-archive-attacks-'));
afterAll(() => rmSync(root, { recursive: true }));

/** A ledger with all segments in an archive. */
async function archived(
  stores: Databases,
): Promise<{ readonly place: Place; readonly folder: string }> {
  const place = stores.newPlace();
  const folder = mkdtempSync(join(root, 'archive-'));
  const store = await place.open({ archive: `file:${folder}` });
  const assize = runtimeOver(store, [tally]);
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  for (let n = 0; n < 7; n++)
    await trajectory.propose({
      action: 'count',
      role: 'counter',
      args: `at ${n}`,
      writ: writFor('alice'),
    });
  await assize.close();
  await integrateLog(store);
  await store.archiveEntries!({
    checkpoint: { origin: 'test', ...(await logHead(store)) },
    level: 2,
  });
  await store.close();
  return { place, folder };
}

onEveryDatabase((stores) => {
  test('attack 71: a changed or exchanged file of an archive: named, unread', async () => {
    const { place, folder } = await archived(stores);
    const [first, second] = readdirSync(folder).filter((name) => name.includes('-entries-')) as [
      string,
      string,
    ];
    const bytes = readFileSync(join(folder, first));
    for (const attack of [
      () => writeFileSync(join(folder, first), bytes.subarray(0, -1)),
      () => writeFileSync(join(folder, first), Buffer.concat([bytes, bytes])),
      () => copyFileSync(join(folder, second), join(folder, first)),
    ]) {
      attack();
      const store = await place.open({ mode: 'readonly', archive: `file:${folder}` });
      await expect(verifyStore(store)).rejects.toMatchObject({
        code: 'archive_damaged',
        message: expect.stringContaining(first),
      });
      await store.close();
    }
    writeFileSync(join(folder, first), bytes);
    const store = await place.open({ mode: 'readonly', archive: `file:${folder}` });
    expect(await verifyStore(store)).toMatchObject([{ valid: true }]);
    await store.close();
  });

  test('attack 72: a database names another archive or a path: unread', async () => {
    const { place, folder } = await archived(stores);
    const other = join(root, `other-${stores.kind}`);
    mkdirSync(other);
    for (const name of readdirSync(folder)) copyFileSync(join(folder, name), join(other, name));
    await place.sql(`UPDATE archive SET place = 'file:${other}'`);
    const unnamed = await place.open({ mode: 'readonly' });
    await expect(verifyStore(unnamed)).rejects.toMatchObject({ code: 'archive_not_named' });
    await unnamed.close();
    // A name has numbers, a word and a hash: no column of the table can lead out of the folder.
    for (const change of ["part = '../entries'", "hash = ''", 'segment = -1'])
      await expect(
        place.sql(`UPDATE archive_file SET ${change} WHERE segment = 0`),
      ).rejects.toThrow();
    const named = await place.open({ mode: 'readonly', archive: `file:${folder}` });
    expect(await verifyStore(named)).toMatchObject([{ valid: true }]);
    await named.close();
  });
});
