import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dataPath, hasData } from '../../../../tests/data.ts';
import { blockOf } from '../../../../tests/support/process/guide-files.ts';
import { type Cell, type Table, tableText } from '../../tables/index.ts';
import { MODES } from '../modes.ts';
import { modelRuns } from './model-runs.ts';
import { expectDrawn, expectSources } from './testing/table-sources.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-model-runs-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (data: string): Promise<readonly Table[]> =>
  modelRuns.run({
    seed: 1,
    scale: 1,
    data,
    signal: new AbortController().signal,
    progress: () => {},
  });

test('without recorded runs the experiment names itself and the missing file', async () => {
  mkdirSync(join(folder, 'tau-airline'));
  writeFileSync(join(folder, 'tau-airline/tasks.json'), '[]');
  await expect(run(folder)).rejects.toMatchObject({
    code: 'no_data',
    message: expect.stringMatching(/model-runs.* has no tau-airline\/runs\.jsonl; say with --data/),
  });
});

describe.skipIf(!hasData('tau-airline', 'runs.jsonl'))(
  'recorded runs (tau-airline, absent without ASSIZE_DATA)',
  () => {
    let tables: readonly Table[];
    beforeAll(async () => {
      tables = await run(dataPath());
      expectSources('model-runs', tables);
      await expectDrawn(tables);
    });

    function cell(title: string, key: string | number, column: string): Cell {
      const { rows, columns } = tables.find((table) => table.title.startsWith(title))!;
      return rows.find(({ keys }) => keys[0] === key)!.cells[columns.indexOf(column)]!;
    }
    const share = (title: string, rate: number, mode: string): number =>
      Number(cell(title, rate, mode).measured);

    /** By the files alone. */
    const rewards = (): number[] =>
      readFileSync(dataPath('tau-airline', 'runs.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).reward as number);

    test('without faults each mode ends as recorded, and has the recorded rewards', () => {
      const recorded = rewards();
      const rewarded = (100 * recorded.filter((reward) => reward === 1).length) / recorded.length;
      for (const { name } of MODES) {
        expect([name, share('recorded runs of a model that end as recorded', 0, name)]).toEqual([
          name,
          100,
        ]);
        expect([name, share('recorded runs of a model that are rewarded', 0, name)]).toEqual([
          name,
          rewarded,
        ]);
      }
    });

    test('under faults no mode gains a reward, and retries keep most of them', () => {
      const all = share('recorded runs of a model that are rewarded', 0, 'Tx-Full');
      for (const rate of [0.05, 0.1, 0.3, 0.5]) {
        const [full, , bare, none, retried] = MODES.map(({ name }) =>
          share('recorded runs of a model that are rewarded', rate, name),
        );
        expect([full! <= all, bare! < full!, none! < full!, retried]).toEqual([
          true,
          true,
          true,
          full,
        ]);
      }
      expect(share('recorded runs of a model that are rewarded', 0.3, 'Tx-Full')).toBe(all);
    });

    test('a mistake that a fault prevents is counted apart, and earns nothing', () => {
      const at = (mode: string, column: string) =>
        Number(cell('recorded runs of a model at fp', mode, column).measured);
      expect([at('Tx-Full', 'right by accident'), at('Tx-Full', 'rewarded')]).toEqual([0, 43]);
      expect(at('No-Tx', 'right by accident')).toBeGreaterThan(0);
      expect(at('No-Tx', 'rewarded')).toBe(
        share('recorded runs of a model that are rewarded', 0.3, 'No-Tx'),
      );
    });

    test('the guide shows the printed table', () => {
      const shown = blockOf('labs/experiments/docs/faults-tasks.md', 'text model-runs');
      expect(tableText(tables[0]!)).toContain(shown.trimEnd());
    });

    test.each<[string, (text: string) => string, string]>([
      ['expected-runs.jsonl', (text) => text.split('\n').slice(1).join('\n'), 'task 0, trial 0'],
      ['runs.jsonl', (text) => text.replace('"task_id":0,', '"task_id":"0",'), 'task_id'],
      ['tasks.json', () => '[]', 'task 0 of a run is missing'],
    ])('a damaged %s is refused, naming the file', async (name, broken, named) => {
      const copy = join(folder, 'tau-airline');
      cpSync(dataPath('tau-airline'), copy, { recursive: true, mode: 0 });
      const text = readFileSync(join(copy, name), 'utf8');
      rmSync(join(copy, name), { force: true });
      writeFileSync(join(copy, name), broken(text));
      const error = await run(folder).catch((failure: unknown) => failure);
      expect(error).toMatchObject({ code: 'bad_data', message: expect.stringContaining(named) });
      expect((error as Error).message).toContain(name);
    });
  },
);
