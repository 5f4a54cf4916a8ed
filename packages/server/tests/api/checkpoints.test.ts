import { requireContinuation } from '@assize/audit/internal/checkpoints';
import { MemoryStore } from '@assize/testing/memory';
import { openCheckpoint, parseVerifierKey } from 'assize/internal/merkle';
import type { Store } from 'assize/internal/stores';
import { expect, test } from 'vitest';
import { callOperation, pay, succeed } from '../../../../tests/support/server/calling.ts';
import { start, type TestServer } from '../../../../tests/support/server/serving.ts';
import { startWitness } from '../../../../tests/support/server/witness.ts';

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
  expect((await callOperation(server, 'entries.proof', { path: { entry: later } })).status).toBe(
    409,
  );
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
  for (const { checkpoint } of [made, faster as typeof made])
    await expectExtended(store, checkpoint, made.key);
});

test('each witness cosigns, and without it nothing is signed', async () => {
  const witness = await startWitness();
  const server = await start({ server: { witnesses: [witness] } });
  const made = await sign(server);
  const by = { name: 'witness.example', key: witness.key };
  expect(made.witnesses).toEqual([{ ...by, cosigned_at: '2027-01-15T08:00:00.000000Z' }]);
  const keys = [parseVerifierKey(witness.key)];
  const log = parseVerifierKey(made.key);
  const opened = openCheckpoint(made.checkpoint, { origin: log.name, keys: [log] }, keys);
  expect(opened.valid && opened.cosignatures).toHaveLength(1);
  await witness.stop();
  await succeed(server, 'proposals.create', pay('a', 1, 'k'));
  const refused = await callOperation(server, 'checkpoints.create');
  expect(refused).toMatchObject({ status: 503, body: { code: 'witness_failed' } });
  expect(await succeed(server, 'checkpoints.latest')).toEqual(made);
});

test('a witness of the configuration that has not cosigned is named', async () => {
  const witness = await startWitness();
  const store = new MemoryStore();
  await sign(await start({ store }));
  const { witnesses } = await succeed(
    await start({ store, server: { witnesses: [witness] } }),
    'checkpoints.latest',
  );
  expect(witnesses).toEqual([{ name: 'witness.example', key: witness.key }]);
});

/** The same store, waiting for `work` before its first put of a checkpoint. */
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
