/** Exports of another party, with valid lines and entries that do not verify. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { exportLines, importLines, splitLines } from '#export';
import { entryRow, integrateLog, type Payload, readRow } from '#ledger';
import { openStore } from '#stores';
import { inTillFolder } from '../support/process/budget-folder.ts';

const here = inTillFolder();
const { assize, json, file, till } = here;
const read = (name: string): Buffer => readFileSync(join(here.folder, name));
const MAIN = join(import.meta.dirname, '../../packages/cli/src/main.ts');
const INTO = ['--store', 'sqlite:./into.db'];

/**
 * The export of the till up to a last commit that removes a member which the state does not have.
 * Its lines, ids and trailer are valid.
 */
async function forged(): Promise<string> {
  const store = await openStore('memory:');
  await json(0, 'export', '--out', 'whole.jsonl', '--size', '5', ...till());
  await json(0, 'export', '--out', 'before.jsonl', '--size', '4', '--store', 'sqlite:./till.db');
  const whole = await openStore('memory:');
  for (const [into, name] of [
    [store, 'before.jsonl'],
    [whole, 'whole.jsonl'],
  ] as const)
    await importLines(into, splitLines(Readable.from([read(name)])));
  const { payload } = readRow((await whole.head('till-1'))!);
  const delta = { beliefs: [], effects: [], state: [{ op: 'remove', path: '/nowhere' }] };
  await store.commit({ entries: [entryRow({ ...payload, delta } as Payload)], blobs: [] });
  await integrateLog(store);
  let text = '';
  for await (const line of exportLines(store)) text += line;
  return text;
}

test('an import writes nothing of an export that does not verify', async () => {
  const bad = file('bad.jsonl', await forged());
  expect(await assize('import', bad, ...INTO)).toMatchObject({
    code: 1,
    out: expect.stringMatching(
      /^till-1 seq 4: .*\n5 entries, none imported; 1 trajectory in the export\.\n$/,
    ),
    err: expect.stringMatching(/^assize: Nothing was imported\..*--keep-invalid/),
  });
  expect(existsSync(join(here.folder, 'into.db'))).toBe(false);
  const { out } = await assize('import', bad, '--json', ...INTO);
  expect(JSON.parse(out)).toMatchObject({ imported: 0, valid: false, faults: [{ seq: 4 }] });
});

test('a refused export leaves an existing store as it was', async () => {
  const bad = file('bad.jsonl', await forged());
  await assize('import', 'before.jsonl', ...INTO);
  const before = await assize('export', ...INTO);
  expect(await assize('import', bad, ...INTO)).toMatchObject({ code: 1 });
  expect(await assize('export', ...INTO)).toEqual(before);
  expect(await assize('verify', ...INTO)).toMatchObject({ code: 0 });
  expect(await assize('import', 'whole.jsonl', ...INTO)).toMatchObject({ code: 0 });
});

test('--keep-invalid keeps the entries for an examination', async () => {
  const bad = file('bad.jsonl', await forged());
  expect(await assize('import', bad, '--keep-invalid', ...INTO)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^assize: Created the root key [^\n]+\n$/),
  });
  expect(await json(0, 'log', 'till-1', ...INTO)).toMatchObject({ log: { length: 5 } });
  expect(await assize('verify', ...INTO)).toMatchObject({ code: 1 });
});

test('--keep-invalid creates no store for an invalid line', async () => {
  const lines = (await forged()).split('\n');
  const at = lines.findIndex((text) => text.includes('/nowhere'));
  const bad = file(
    'bad.jsonl',
    lines.map((text, i) => (i === at ? text.replace('/nowhere', '/elsewhere') : text)).join('\n'),
  );
  expect(await assize('import', bad, '--keep-invalid', ...INTO)).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /^assize: Nothing was imported\. .*verify\.py lists every fault\.\n.*line 8/i,
    ),
  });
  expect(existsSync(join(here.folder, 'into.db'))).toBe(false);
});

test('an import writes nothing beside other entries of the same place', async () => {
  await json(0, 'export', '--out', 'whole.jsonl', ...till());
  const other = await openStore(`sqlite:${join(here.folder, 'into.db')}`);
  const root = (
    await (
      await openStore(`sqlite:${join(here.folder, 'till.db')}`)
    ).entries('till-1', { limit: 1 })
  )[0]!;
  const { payload } = readRow(root);
  await other.commit({
    entries: [entryRow({ ...payload, note: 'another' } as Payload)],
    blobs: [],
  });
  await other.close();
  expect(await assize('import', 'whole.jsonl', ...INTO)).toMatchObject({
    code: 2,
    err: expect.stringMatching(/another entry at till-1 seq 0\. Nothing was imported/),
  });
  expect(await json(0, 'log', 'till-1', ...INTO)).toMatchObject({ log: { length: 1 } });
});

test('an import removes its temporary store', async () => {
  await json(0, 'export', '--out', 'whole.jsonl', ...till());
  mkdirSync(join(here.folder, 'tmp'));
  const env = { ...process.env, TMPDIR: join(here.folder, 'tmp') };
  execFileSync(process.execPath, [MAIN, 'import', 'whole.jsonl', ...INTO], {
    cwd: here.folder,
    env,
  });
  expect(readdirSync(env.TMPDIR)).toEqual([]);
  expect(() =>
    execFileSync(process.execPath, [MAIN, 'import', 'whole.jsonl', ...INTO], {
      cwd: here.folder,
      env: { ...env, TMPDIR: join(here.folder, 'none') },
      stdio: 'pipe',
    }),
  ).toThrow(/none cannot be written: the folder does not exist\. Set TMPDIR/);
});
