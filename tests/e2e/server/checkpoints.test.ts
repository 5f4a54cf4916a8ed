import { expect, test } from 'vitest';
import { openCheckpoint, parseVerifierKey } from '#merkle';
import { requireContinuation } from '#runtime';
import { MemoryStore, type Store } from '#stores';
import { callOperation, pay, succeed } from '../../support/server/calling.ts';
import { start, type TestServer } from '../../support/server/serving.ts';

const sign = (server: TestServer) => succeed(server, 'checkpoints.create');

test('a proof signs nothing, and says how to sign', async () => {
  const server = await start();
  const { entry_id: entry } = await succeed(server, 'proposals.create', pay('a', 1, 'k'));
  const asked = { path: { entry } };
  const before = await server.contents();
  const refused = await callOperation(server, 'entries.proof', asked);
  expect(refused).toMatchObject({ status: 409, body: { code: 'not_checkpointed' } });
  expect(refused.body.detail).toContain('POST /v1/checkpoints');
  expect(await server.contents()).toEqual(before);
  await sign(server);
  expect((await succeed(server, 'entries.proof', asked)).entry_id).toBe(entry);
  const { entry_id: later } = await succeed(server, 'proposals.create', pay('a', 1, 'l'));
  expect((await callOperation(server, 'entries.proof', { path: { entry: later } })).status).toBe(409);
});

test('another server and a restart know the last checkpoint, and extend it', async () => {
  const store = new MemoryStore();
  const [one, two] = [await start({ store }), await start({ store })];
  await succeed(one, 'proposals.create', pay('a', 1, 'k'));
  const first = await sign(one);
  expect(await succeed(two, 'checkpoints.latest')).toEqual(first);
  await succeed(two, 'proposals.create', pay('a', 1, 'l'));
  const second = await sign(two);
  expect(second.size).toBeGreaterThan(first.size);
  expect(await succeed(one, 'checkpoints.latest')).toEqual(second);
  await Promise.all([one.stop(), two.stop()]);
  expect(await succeed(await start({ store }), 'checkpoints.latest')).toEqual(second);
});

test('a server that signs while another one does extends the other', async () => {
  const store = new MemoryStore();
  const two = await start({ store });
  let faster: { readonly size: number; readonly checkpoint: string } | undefined;
  const one = await start({
    store: beforeItsFirstPut(store, async () => {
      await succeed(two, 'proposals.create', pay('a', 1, 'k'));
      faster = await sign(two);
    }),
  });
  const made = await sign(one);
  expect(made.size).toBe(faster?.size);
  expect(await succeed(two, 'checkpoints.latest')).toEqual(made);
  for (const { checkpoint } of [made, faster as typeof made]) await expectExtended(store, checkpoint, made.key);
});

/** The same store, which waits for `work` before its first put of a checkpoint. */
function beforeItsFirstPut(store: Store, work: () => Promise<void>): Store {
  let isFirst = true;
  const sidePut: Store['sidePut'] = async (changes) => {
    if (isFirst && changes.some(({ kind }) => kind === 'checkpoint')) {
      isFirst = false;
      await work();
    }
    return store.sidePut(changes);
  };
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'sidePut') return sidePut;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

async function expectExtended(store: Store, signed: string, key: string): Promise<void> {
  const verifier = parseVerifierKey(key);
  const verdict = openCheckpoint(signed, { origin: verifier.name, keys: [verifier] });
  if (!verdict.valid) throw new Error(verdict.detail);
  await requireContinuation(store, verdict.checkpoint);
}
