/** `assize keys seal`: seals a store of before, and no entry inserted into a sealed one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { generateKeys } from 'assize/internal/canon';
import { createAssize } from 'assize/internal/config';
import { expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../../../tests/support/process/command.ts';

async function storeWithoutMark(unsealed: string) {
  const folder = mkdtempSync(join(tmpdir(), 'assize-cli-seal-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { budget } = await import('../src/domains/budget/index.ts');
  const world = await createAssize({
    store: `sqlite:${join(folder, 'a.db')}`,
    domain: budget as never,
  });
  await world
    .propose({ action: 'spend', role: { name: 'nobody', params: {} }, args: {} } as never)
    .catch(() => 0);
  await world.close();
  const db = new DatabaseSync(join(folder, 'a.db'));
  const { sql } = db
    .prepare("SELECT sql FROM sqlite_schema WHERE name = 'entry_unchanged'")
    .get() as { sql: string };
  db.exec(
    `DELETE FROM sealed; DROP TRIGGER entry_unchanged; UPDATE entry SET seal = NULL WHERE ${unsealed}; ${sql}`,
  );
  db.close();
  return {
    folder,
    seal: (...args: string[]) => runCommand(folder, 'sqlite:./a.db', 'keys', 'seal', ...args),
  };
}

test('a store of before is sealed', async () => {
  const { seal } = await storeWithoutMark('true');
  expect(JSON.parse((await seal('--json')).out)).toEqual({ sealed: 2, entries: 2 });
});

test('an entry without a seal beside sealed ones is named, and not sealed', async () => {
  const { seal } = await storeWithoutMark('seq = 1');
  for (let i = 0; i < 2; i++)
    expect(await seal()).toMatchObject({
      code: 1,
      out: expect.stringMatching(/seq 1: .*no seal.*Nothing was sealed/),
    });
  expect(await seal('--accept-unsealed')).toMatchObject({
    code: 0,
    out: expect.stringContaining('Sealed 1 entry of 2'),
  });
  expect(await seal()).toMatchObject({
    code: 0,
    out: expect.stringContaining('all sealed before'),
  });
});

test('a key that is not an anchor of the store seals nothing', async () => {
  const { folder, seal } = await storeWithoutMark('true');
  const { privateKey } = generateKeys();
  writeFileSync(join(folder, 'a.db.root.key'), privateKey);
  expect(await seal()).toMatchObject({
    code: 2,
    err: expect.stringContaining('is not an anchor of the store'),
  });
  expect((await seal()).err).toContain('a.db.anchors.json');
});
