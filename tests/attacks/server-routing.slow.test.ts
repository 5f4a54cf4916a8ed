import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MemoryStore } from '@assize/testing/memory';
import { expect, onTestFinished, test } from 'vitest';
import { canonicalize, generateKeys, keyedHash } from '#canon';
import { SealedRows, sideSecretOf } from '#stores';
import { pay, succeed } from '../support/server/calling.ts';
import { ROOT, start } from '../support/server/serving.ts';

const KIND = 'server/member';

/** A server of the attacker. It keeps the headers of each request. */
async function thief() {
  const stolen: unknown[] = [];
  const server = createServer((request, response) => {
    stolen.push(request.headers);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stolen };
}

test('attack 70: a database writer directs requests to its address: none', async () => {
  const store = new MemoryStore();
  const { url, stolen } = await thief();
  const value = { url, at: Date.now() };
  const body = canonicalize({
    mac: keyedHash(new Uint8Array(32), canonicalize([KIND, 'a', value])),
    value,
  });
  const foreign = new SealedRows(store, KIND, sideSecretOf(generateKeys()));
  const forge = async (): Promise<void> => {
    const row = await store.sideGet(KIND, 'a');
    await store.sidePut([{ kind: KIND, key: 'a', expected: row?.version ?? null, body }]);
    await foreign.put('b', (await store.sideGet(KIND, 'b'))?.version ?? null, {
      ...value,
      at: Date.now(),
    });
  };
  await forge();
  const server = await start({ store, server: { peerUrl: 'http://127.0.0.1:0' } });
  const propose = (key: string) =>
    Promise.all(
      ['main', 'spare'].map((trajectory) =>
        succeed(server, 'proposals.create', pay('a', 1, key, { path: { trajectory } })),
      ),
    );
  await propose('one');
  await forge();
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  await propose('two');
  expect(stolen).toEqual([]);
  // The same row with the MAC of the root key leads there, so the attack reaches what it aims at.
  const rows = new SealedRows(store, KIND, sideSecretOf(ROOT));
  for (const key of ['c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']) await rows.put(key, null, value);
  await expect
    .poll(() => propose('two').then(() => stolen.length), { timeout: 20_000 })
    .toBeGreaterThan(0);
});
