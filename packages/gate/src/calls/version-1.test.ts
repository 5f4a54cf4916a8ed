/** A store of version 1 of the domain, tests/golden/v1/gateway.sqlite, goes on here. */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addMicros, type Instant } from 'assize/internal/canon';
import { verifyStore } from 'assize/internal/runtime';
import { openStore } from 'assize/internal/stores';
import { expect, onTestFinished, test } from 'vitest';
import { start } from '../../../../tests/support/server/serving.ts';
import { type GatewayState, gateway, readRules } from '../gateway/index.ts';
import { openGate } from './index.ts';

const RULES = `
id: shop
tools:
  shop/set: { class: reversible, writes: /item, undo: { tool: shop/set, args: { item: /args/item, to: /result/was } } }
  shop/pay: { class: irreversible, amounts: { cents: /cents } }
rules:
  - { id: set, allow: shop/set }
  - { id: large, ask: shop/pay, where: [{ path: /cents, min: 101 }] }
  - { id: small, allow: shop/pay }
turns:
  - { id: stock, tools: shop/set }
`;
/** An hour of the day on which the golden store was made. */
const LAST_DAY = '2026-11-30T13:00:00.000000Z' as Instant;
/** The root key of the golden store. */
const ENV = { ASSIZE_ROOT_KEY: '07'.repeat(32) };

function goldenStore(): { readonly folder: string; readonly url: string } {
  const folder = mkdtempSync(join(tmpdir(), 'assize-version-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const golden = join(import.meta.dirname, '../../../../tests/golden/v1/gateway.sqlite');
  copyFileSync(golden, join(folder, 'calls.db'));
  writeFileSync(join(folder, 'assize.yaml'), RULES);
  return { folder, url: `sqlite:${join(folder, 'calls.db')}` };
}

test('a gate goes on with the calls of version 1, and takes them back', async () => {
  const { folder, url } = goldenStore();
  const rules = join(folder, 'assize.yaml');
  const open = { store: url, rules, agent: 'ada', server: 'shop', inFlightMs: 0, env: ENV };
  const gate = await openGate(open);
  let made = 0;
  const call = (id: string, tool: string, args: Record<string, string | number>) =>
    gate.run({ run: 'r1', id, tool, args }, async () => {
      made++;
      return null;
    });
  expect(await call('c1', 'set', { item: '/pens', to: 5 })).toMatchObject({
    ...{ end: 'done', result: { was: 0 }, isRecorded: true },
  });
  expect(await call('c2', 'pay', { to: 'bob', cents: 40 })).toMatchObject({ result: 'paid' });
  expect(await call('c4', 'set', { item: '/ink', to: 1 })).toMatchObject({ end: 'doubt' });
  expect(made).toBe(0);
  expect(await call('c5', 'set', { item: '/tape', to: 1 })).toMatchObject({ result: null });
  const { undone, left } = await gate.takeBack('r1', { set: async () => null });
  expect(undone).toEqual(['r1.c1']);
  expect(left.map(({ call: id }) => id)).toEqual(['r1.c5', 'r1.c4', 'r1.c2']);
  await gate.close();
  const store = await openStore(url);
  expect((await verifyStore(store)).every(({ valid }) => valid)).toBe(true);
  await store.close();
  // The second opening finds this version.
  await (await openGate(open)).close();
});

test('a server upgrades its worlds of version 1 when it starts', async () => {
  const { url } = goldenStore();
  const store = await openStore(url);
  const { rules } = readRules(RULES, 'assize.yaml');
  // On a later day the server drops what no rule counts any more.
  const begun = performance.now();
  const now = (): Instant => addMicros(LAST_DAY, Math.round((performance.now() - begun) * 1_000));
  const server = await start({
    clock: { now },
    ...{ store, rules, domains: [gateway({ rules }) as never] },
    principals: { 'agent:ada': { kinds: ['agent'], grants: [{ actions: ['call'] }] } },
    config: { worlds: { calls: { domain: 'gateway' } }, tools: [] },
  });
  const trajectory = await server.service.assize.open('calls');
  const { calls, rules: inForce } = trajectory.state() as unknown as GatewayState;
  expect([trajectory.domain.version, inForce.id]).toEqual(['2', 'shop']);
  expect(Object.keys(calls)).toEqual(['r1.c1', 'r1.c2', 'r1.c4']);
  await server.stop();
  await store.close();
});
