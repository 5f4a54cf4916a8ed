import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { dataPath, hasData } from '../../../../tests/data.ts';
import { errorOf } from '../../../../tests/support/process/errors.ts';
import { outputOf, readTauSet } from './data.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-tau-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a set that is not there is none', () => {
  expect(readTauSet('tau-airline', join(folder, 'nowhere'))).toBeUndefined();
});

test('an output is data where it is some', () => {
  expect(
    ['{"a": 1.0}', '1200.0', 'Transfer successful', '', 'Error: user not found'].map(outputOf),
  ).toEqual([{ a: 1 }, 1200, 'Transfer successful', '', 'Error: user not found']);
});

describe.skipIf(!hasData('tau-retail', 'tasks.json'))(
  'a set (tau-retail, absent without ASSIZE_DATA)',
  () => {
    test.each<[string, (text: string) => string, string]>([
      ['tasks.json', (text) => `${text}]`, 'tasks.json'],
      ['tasks.json', () => '[{"task_id": 0}]', 'tasks.json'],
      ['orders.json', () => '{"#W1": {}}', 'orders'],
      ['expected-tasks.jsonl', (text) => text.split('\n').slice(1).join('\n'), 'task 0'],
    ])('with a %s that is broken is refused, naming it', (name, broken, named) => {
      const copy = join(folder, 'tau-retail');
      mkdirSync(folder, { recursive: true });
      cpSync(dataPath('tau-retail'), copy, { recursive: true, mode: 0 });
      const text = readFileSync(join(copy, name), 'utf8');
      rmSync(join(copy, name), { force: true });
      writeFileSync(join(copy, name), broken(text));
      expect(errorOf(() => readTauSet('tau-retail', folder))).toMatchObject({
        code: 'bad_data',
        message: expect.stringContaining(named),
      });
    });
  },
);
