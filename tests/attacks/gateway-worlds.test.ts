/** Attacks 65 and 66 of docs/design/threats.md: ways around the rules of the file. */

import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { type GatewayState, gateway, type Rules, readRules } from '#domains/gateway';
import type { Domain } from '#kernel';
import type { Store } from '#stores';
import { start, type TestServer } from '../support/server/serving.ts';

const rulesOf = (id: string, does: 'allow' | 'deny'): Rules =>
  readRules(
    `id: ${id}\ntools:\n  fs/read: { class: read }\nrules:\n  - { id: all, ${does}: fs/* }\n`,
  ).rules;
const [LAX, STRICT] = [rulesOf('lax', 'allow'), rulesOf('strict', 'deny')];
const principals = {
  'agent:ada': { kinds: ['agent'], grants: [{ actions: ['**'], scopes: ['**'] }] },
} as const;

function serving(rules: Rules, store: Store): Promise<TestServer> {
  const domains = [gateway({ rules }) as unknown as Domain];
  const config = { tools: [], worlds: { calls: { domain: 'gateway' } } };
  return start({ config, store, rules, domains, principals: principals as never });
}

let calls = 0;

async function call(server: TestServer, trajectory: string): Promise<string> {
  calls += 1;
  const { body, status, text } = await server.ask(
    'POST',
    `/v1/trajectories/${trajectory}/proposals`,
    {
      token: await server.tokenFor('agent:ada'),
      key: `k${calls}`,
      body: {
        action: 'call',
        role: { name: 'agent', params: { agent: 'ada' } },
        args: { id: `c${calls}`, server: 'fs', tool: 'read', args: {} },
      },
    },
  );
  expect(status, text).toBe(200);
  return body.ruling;
}

/** A branch of the world at its first entry. */
async function branchOf({ service: { assize, store } }: TestServer, name: string): Promise<string> {
  const [first] = await store.entries('calls', { from: 0, limit: 1 });
  await assize.branch('calls', first!.id, { trajectoryId: name, note: 'back' });
  return name;
}

async function rulesIn({ service: { assize } }: TestServer, trajectory: string): Promise<string> {
  return ((await assize.open(trajectory)).state() as unknown as GatewayState).rules.id;
}

test('attack 65: a branch before stricter rules: judged by the later ones', async () => {
  const store = new MemoryStore();
  const lax = await serving(LAX, store);
  expect(await call(lax, 'calls')).toBe('committed');
  await lax.stop();
  const strict = await serving(STRICT, store);
  const old = await branchOf(strict, 'old');
  expect(await rulesIn(strict, old)).toBe('lax');
  expect([await call(strict, 'calls'), await call(strict, old)]).toEqual(['rejected', 'rejected']);
});

test('attack 66: a forged or removed claim of the newest rules: no change', async () => {
  const store = new MemoryStore();
  const lax = await serving(LAX, store);
  const [kind, key] = ['gateway/rules', 'newest'];
  const lost = (await store.sideGet(kind, key))!;
  const strict = await serving(STRICT, store);
  const claimed = (await store.sideGet(kind, key))!;
  // The value of the earlier claim with the MAC of the later one, and no claim at all.
  const { mac } = JSON.parse(claimed.body);
  const forged = JSON.stringify({ mac, value: JSON.parse(lost.body).value });
  let { version } = claimed;
  for (const body of [forged, null]) {
    expect(await store.sidePut([{ kind, key, expected: version, body }])).toBe(true);
    version = (await store.sideGet(kind, key))?.version ?? version;
    expect(await call(lax, 'calls')).toBe('rejected');
    await lax.service.gateways.configureAll(new AbortController().signal);
    expect(await rulesIn(strict, 'calls')).toBe('strict');
  }
});
