/** The pages of a trajectory's entries, in both orders and with a search. */
import { expect, test } from 'vitest';
import { callOperation, pay, succeed } from '../../../../tests/support/server/calling.ts';
import { start, type TestServer } from '../../../../tests/support/server/serving.ts';

const PATH = { trajectory: 'main' };
const PAID = 7;

/** A trajectory of a root, payments, and one payment that waits. */
async function paid(): Promise<TestServer> {
  const server = await start();
  for (let n = 0; n < PAID; n++)
    await succeed(server, 'proposals.create', pay('kiosk', 1, `k${n}`));
  await succeed(server, 'proposals.create', pay('b', 200, 'big'));
  return server;
}

async function seqsOf(
  server: TestServer,
  query: Record<string, string>,
): Promise<{ seqs: number[]; next?: string }> {
  const { entries, next } = await succeed(server, 'entries.list', {
    as: 'boss:ada',
    path: PATH,
    query,
  });
  return {
    seqs: entries.map(({ seq }: { seq: number }) => seq),
    ...(next !== undefined && { next }),
  };
}

test('before turns the order round, and next goes on to the first entry', async () => {
  const server = await paid();
  expect(await seqsOf(server, { before: '999999999', limit: '3' })).toEqual({
    seqs: [8, 7, 6],
    next: '6',
  });
  expect(await seqsOf(server, { before: '6', limit: '3' })).toEqual({ seqs: [5, 4, 3], next: '3' });
  expect(await seqsOf(server, { before: '3', limit: '3' })).toEqual({ seqs: [2, 1, 0] });
  expect(await seqsOf(server, { before: '0' })).toEqual({ seqs: [] });
  expect(await seqsOf(server, { from: '4', before: '7', limit: '2' })).toEqual({
    seqs: [6, 5],
    next: '5',
  });
  expect(await seqsOf(server, { from: '4', before: '7' })).toEqual({ seqs: [6, 5, 4] });
});

test('a ruling and a text choose entries, in both orders', async () => {
  const server = await paid();
  expect(await seqsOf(server, { ruling: 'escalated' })).toEqual({ seqs: [8] });
  expect(await seqsOf(server, { ruling: 'begun', before: '100' })).toEqual({ seqs: [0] });
  expect(await seqsOf(server, { ruling: 'committed', limit: '2' })).toEqual({
    seqs: [1, 2],
    next: '3',
  });
  expect(await seqsOf(server, { text: 'PAY', before: '8', limit: '2' })).toEqual({
    seqs: [7, 6],
    next: '6',
  });
  expect(await seqsOf(server, { text: 'KIOSK', limit: '2' })).toEqual({ seqs: [1, 2], next: '3' });
  expect(await seqsOf(server, { text: 'pay', ruling: 'rejected' })).toEqual({ seqs: [] });
  const bad = await callOperation(server, 'entries.list', {
    as: 'boss:ada',
    path: PATH,
    query: { ruling: 'x' },
  });
  expect(bad.status).toBe(400);
});

test('each page of a search has its own entity tag', async () => {
  const server = await paid();
  const queries = [
    {},
    { before: '9' },
    { text: 'pay' },
    { text: 'pay', before: '9' },
    { ruling: 'committed' },
  ];
  const tags = new Set<string | null>();
  for (const query of queries)
    tags.add(
      (
        await callOperation(server, 'entries.list', { as: 'boss:ada', path: PATH, query })
      ).headers.get('etag'),
    );
  expect(tags.size).toBe(queries.length);
});
