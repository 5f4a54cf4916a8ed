/** `assize-experiments level` and `assize-experiments provenance`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runCommand } from '../../../tests/support/process/command.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-levels-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const assize = (...args: string[]) => runCommand(folder, undefined, 'assize-experiments', ...args);

test('levels and carriers are read without a store', async () => {
  const { levels } = JSON.parse((await assize('level', 'evi', 'await', '--json')).out);
  expect(levels.map(({ strategy }: { strategy: string }) => strategy)).toEqual([
    'evi',
    'await',
    'pipeline',
  ]);
  expect(levels[2].declared).toMatchObject({ iso: 'SI', cb: true });
  expect((await assize('level')).out).toMatch(/rule +RC, SR on policy/);
  expect((await assize('level', 'best')).err).toContain('Name one of lww, ');
  const text = 't:policy:v1^2 + t:policy:v2';
  const one = ['provenance', text, '--without', 't:policy:v1', '--json'];
  expect(JSON.parse((await assize(...one)).out)).toEqual({
    ...{ carrier: 'multidegree', value: text },
    ...{ without: 't:policy:v2', recovered: 't:policy:v1 + t:policy:v2' },
  });
  expect(JSON.parse((await assize(...one, '--carrier', 'boolean')).out)).toMatchObject({
    value: '1',
    without: '1',
  });
  expect((await assize('provenance', 'x + y')).err).toContain('not');
});
