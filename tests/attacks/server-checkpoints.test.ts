import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { callOperation, pay, succeed } from '../support/server/calling.ts';
import { start } from '../support/server/serving.ts';

test('attack 64: an earlier checkpoint put back: the server keeps its last', async () => {
  const store = new MemoryStore();
  const server = await start({ store });
  await succeed(server, 'checkpoints.create');
  const { body } = (await store.sideGet('checkpoint', 'last'))!;
  await succeed(server, 'proposals.create', pay('a', 1, 'k'));
  const last = await succeed(server, 'checkpoints.create');
  const { version } = (await store.sideGet('checkpoint', 'last'))!;
  await store.sidePut([{ kind: 'checkpoint', key: 'last', expected: version, body }]);
  expect(await succeed(server, 'checkpoints.latest')).toEqual(last);
  expect((await succeed(server, 'checkpoints.create')).size).toBe(last.size);
  // Text that the key of the log did not sign is refused, and nothing is signed over it.
  const row = (await store.sideGet('checkpoint', 'last'))!;
  await store.sidePut([{ ...row, expected: row.version, body: '{"signed":"forged"}' }]);
  const refused = await callOperation(server, 'checkpoints.create');
  expect(refused).toMatchObject({
    status: 409,
    body: { code: 'wrong_state', detail: expect.stringContaining('If the key of the log was') },
  });
  expect((await store.sideGet('checkpoint', 'last'))?.body).toBe('{"signed":"forged"}');
});
