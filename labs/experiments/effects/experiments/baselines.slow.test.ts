import { beforeAll, expect, test } from 'vitest';
import type { Cell, Table } from '../../tables/index.ts';
import { BASELINES } from '../baselines/index.ts';
import { Shelf } from '../environments/shelf.ts';
import { baselines } from './baselines.ts';
import { AGENTS, SCENARIOS } from './contention.ts';
import { expectSources } from './testing/table-sources.ts';

const NAMES = ['Tx-Full', 'Locking', 'OCC', 'TCC'];

let tables: readonly Table[];
beforeAll(async () => {
  const told: number[] = [];
  const progress = (done: number, of: number): void => void told.push(done / of);
  const signal = new AbortController().signal;
  tables = await baselines.run({ seed: 1, scale: 0.1, data: './nowhere', signal, progress });
  expect([told, told.at(-1)]).toEqual([told.toSorted((a, b) => a - b), 1]);
  expectSources('baselines', tables);
});

function at(title: string, keys: readonly (string | number)[], column: string): Cell['measured'] {
  const { rows, columns } = tables.find((table) => table.title.includes(title))!;
  const row = rows.find((each) => keys.every((key, i) => key === each.keys[i]));
  return row!.cells[columns.indexOf(column)]!.measured;
}

test('each protocol isolates writers, and TCC alone shows half of a pair', () => {
  for (const { name } of SCENARIOS)
    for (const agents of AGENTS)
      for (const protocol of NAMES) {
        const isTorn = protocol === 'TCC' && name === 'read-write';
        expect([
          name,
          agents,
          protocol,
          at('correct final states', [name, agents], protocol),
        ]).toEqual([...[name, agents, protocol], isTorn ? 0 : 100]);
      }
});

test('the frontier and locks wait; OCC and TCC start over where agents meet', () => {
  for (const { name } of SCENARIOS) {
    const anew = NAMES.map((protocol) => Number(at('started over', [name, 16], protocol)) > 0);
    const [reads, meets] = [
      name === 'counter' || name === 'read-write',
      name !== 'disjoint writes',
    ];
    expect([name, ...anew]).toEqual([name, false, false, reads, meets]);
  }
});

test('held writes are not seen before the choice, and no loser is left', () => {
  const isSeen = { 'Tx-Full, buffered': 0, 'Tx-Full, direct': 100, Locking: 100, OCC: 0, TCC: 0 };
  for (const branches of [2, 4, 8, 16])
    for (const [protocol, seen] of Object.entries(isSeen)) {
      const rows = [
        'a branch was seen before one was chosen',
        'a losing branch was left',
        'the winner stood alone',
      ];
      const cells = rows.map((row) =>
        at('branches with one that stays', [row, branches], protocol),
      );
      expect([protocol, branches, ...cells]).toEqual([protocol, branches, seen, 0, 100]);
    }
});

test('after lost responses only a repeated or asked key books each seat once', () => {
  for (const rate of [0, 0.1, 0.3, 0.5]) {
    const twice = NAMES.map(
      (protocol) => Number(at('bookings under faults', [rate, protocol], 'steps wrong')) > 0,
    );
    expect([rate, ...twice]).toEqual([rate, false, rate > 0, rate > 0, false]);
  }
  expect(at('bookings under faults', [0.5, 'Tx-Full'], 'left to a person')).toBe(
    at('bookings under faults', [0.5, 'Tx-Full'], 'errors told'),
  );
});

test.each(BASELINES)('$name leaves nothing of a body that fails, and goes on', async ({ open }) => {
  const shelf = new Shelf();
  const baseline = open([shelf.tool('externalised')]);
  const writes = ['shelf:a', 'shelf:b'];
  const failed = baseline.transact({ writes }, [
    async (call) => {
      await call('shelf.put', { place: 'a', by: 'x' });
      throw new Error('as planned');
    },
  ]);
  await expect(failed).rejects.toThrow('as planned');
  expect([...shelf.look()]).toEqual([]);
  await baseline.transact({ writes }, [(call) => call('shelf.put', { place: 'b', by: 'y' })]);
  expect([...shelf.look()]).toEqual([['b', 'y']]);
});
