/** `assize bundle`: makes and verifies proof bundles. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inTillFolder } from '../../../tests/support/process/budget-folder.ts';

const here = inTillFolder();
const { assize, json, refused, till, entries } = here;
const at = (name: string): string => join(here.folder, name);
const PERIOD = ['--from', '2020-01-01', '--to', '2100-01-01'];

/** A ledger with a key and a checkpoint. */
async function signedTill(): Promise<string[]> {
  const store = till();
  await json(0, 'keys', 'new', 'example.com/till', ...store);
  await json(0, 'checkpoint', ...store);
  return store;
}

test('makes a bundle, and verifies it without the store', async () => {
  const store = await signedTill();
  const made = await json(0, 'bundle', '--person', 'agent:clerk', '--out', 'b.zip', ...store);
  expect(made).toMatchObject({
    file: 'b.zip',
    scope: { kind: 'person', person: 'agent:clerk' },
    entries: 6,
  });
  expect(made.in_scope).toHaveLength(5);
  expect(made.bytes).toBe(readFileSync(at('b.zip')).length);
  const key = readFileSync(at('till.db.vkey'), 'utf8').trim();
  const said = await json(0, 'bundle', '--verify', 'b.zip', '--log-key', key);
  const { in_scope, entries: count } = made;
  expect(said).toMatchObject({
    valid: true,
    log_key: 'given',
    entries: count,
    in_scope,
    witnesses: [],
    erased: 0,
  });
  const { out } = await assize('bundle', '--verify', 'b.zip', '--log-key', 'till.db.vkey');
  expect(out).toMatch(
    /^The bundle is valid: 5 entries in scope and 1 entry as context are in the 6 entries signed by/,
  );
  const alone = await assize('bundle', '--verify', 'b.zip');
  expect(alone).toMatchObject({ code: 0, err: expect.stringContaining('Pass --log-key KEY') });
  expect(alone.out).toContain('It proves nothing until you compare it.');
});

test('a bundle that is not valid ends with 1', async () => {
  const store = await signedTill();
  await json(0, 'bundle', ...PERIOD, '--out', 'b.zip', ...store);
  await json(0, 'keys', 'new', 'example.com/other', '--out', 'other');
  expect(await json(1, 'bundle', '--verify', 'b.zip', '--log-key', 'other.vkey')).toMatchObject({
    valid: false,
    code: 'other_key',
  });
  writeFileSync(at('none.zip'), 'none');
  const { code, out } = await assize('bundle', '--verify', 'none.zip');
  expect({ code, out }).toEqual({
    code: 1,
    out: 'The bundle is not valid: it is not a zip file (bad_zip)\n',
  });
});

test('refuses an invalid scope, and an entry without a proof', async () => {
  const store = till();
  const [first] = await entries(...store);
  const out = ['--out', 'b.zip', ...store];
  await json(0, 'keys', 'new', 'example.com/till', ...store);
  await refused(
    ['bundle', ...PERIOD, ...out],
    /has no checkpoint for the bundle\. Create one with assize checkpoint/,
  );
  await json(0, 'checkpoint', ...store);
  await refused(['bundle', ...out], /The scope is missing/);
  await refused(['bundle', ...PERIOD, ...store], /Pass --out FILE/);
  await refused(['bundle', '--entry', first!.id, '--person', 'x', ...out], /Pass one of --entry/);
  await refused(
    ['bundle', '--entry', first!.id, ...PERIOD, ...out],
    /belong to a person or a period/,
  );
  await refused(['bundle', '--from', '2020-01-01', ...out], /Pass --from and --to/);
  await refused(['bundle', '--approval', first!.id, ...out], /is not a pending entry/);
  await refused(['bundle', '--person', 'stranger', ...out], /No entry is in scope/);
  await refused(['bundle', '--verify', 'b.zip', '--out', 'c.zip'], /Omit --out/);
  await refused(
    ['bundle', ...PERIOD, '--out', 'none/b.zip', ...store],
    /the folder does not exist/,
  );
});
