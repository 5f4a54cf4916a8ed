import { MemoryStore } from '@assize/testing/memory';
import { generateKeys } from 'assize/internal/canon';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppliedOrders } from './applied-orders.ts';

const KIND = 'cells/applied';
const [OWN, FOREIGN] = [3, 4].map((seed) => generateKeys(new Uint8Array(32).fill(seed))) as [
  ReturnType<typeof generateKeys>,
  ReturnType<typeof generateKeys>,
];

async function put(side: MemoryStore, body: string | null, key = 'one'): Promise<void> {
  const row = await side.sideGet(KIND, key);
  if (row !== undefined || body !== null)
    await side.sidePut([{ kind: KIND, key, expected: row?.version ?? null, body }]);
}

test('the number that a server recorded is that of every process', async () => {
  const side = new MemoryStore();
  const read = () => new AppliedOrders(side, 'one', OWN).read();
  expect(await read()).toBe(0);
  await new AppliedOrders(side, 'one', OWN).record(4);
  await new AppliedOrders(side, 'one', OWN).record(3);
  expect(await read()).toBe(4);
});

test('a row of another cell, of another key or of no MAC counts as absent', async () => {
  const side = new MemoryStore();
  await new AppliedOrders(side, 'two', OWN).record(9);
  const ofTwo = (await side.sideGet(KIND, 'two'))!.body;
  const other = new MemoryStore();
  await new AppliedOrders(other, 'one', FOREIGN).record(9);
  const foreign = (await other.sideGet(KIND, 'one'))!.body;
  const rows = new AppliedOrders(side, 'one', OWN);
  await rows.record(2);
  const honest = (await side.sideGet(KIND, 'one'))!.body;
  const forged = [
    ofTwo,
    foreign,
    honest.replace('2}', '9}'),
    '{"orders":9}',
    '{"mac":5,"orders":9}',
    'null',
    '[]',
  ];
  for (const body of [...forged, '"a"', '{"mac":"a","orders":"9"}']) {
    await put(side, body);
    expect(await rows.read(), body).toBe(0);
  }
  await put(side, honest);
  expect(await rows.read()).toBe(2);
  // A server writes over a forged row.
  await put(side, foreign);
  await rows.record(5);
  expect(await rows.read()).toBe(5);
});

test('no body of a row is a number that was never recorded', async () => {
  const side = new MemoryStore();
  const rows = new AppliedOrders(side, 'one', OWN);
  await fc.assert(
    fc.asyncProperty(fc.json(), async (text) => {
      await put(side, null);
      await side
        .sidePut([
          { kind: KIND, key: 'one', expected: null, body: JSON.stringify(JSON.parse(text)) },
        ])
        .catch((error: { code?: string }) => expect(error.code).toBe('store_invalid_input'));
      expect(await rows.read()).toBe(0);
    }),
  );
});
