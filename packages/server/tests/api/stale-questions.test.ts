/** Questions that no answer can let through any more leave the inbox by themselves. */

import { gateway, readRules } from '@assize/gate/unstable/gateway';
import { MemoryStore } from '@assize/testing/memory';
import { addMicros } from 'assize/internal/canon';
import type { Domain } from 'assize/internal/kernel';
import { systemClock } from 'assize/internal/oracle';
import { expect, test } from 'vitest';
import { start } from '../../../../tests/support/server/serving.ts';

const rulesOf = (id: string, trust: string) =>
  readRules(`id: ${id}\ntrust: [${trust}]\nrules: [{ id: all, ask: '*' }]\n`).rules;
const HOUR = 3_600_000_000;

async function serving(store: MemoryStore, id: string, hours = 0, trust = '') {
  const rules = rulesOf(id, trust);
  const server = await start({
    ...{ store, rules, domains: [gateway({ rules }) as unknown as Domain] },
    config: { worlds: { calls: { domain: 'gateway' } }, tools: [] },
    clock: { ...systemClock, now: () => addMicros(systemClock.now(), hours * HOUR) },
    principals: {
      'agent:codex': {
        kinds: ['agent'],
        grants: [{ actions: ['call', 'begin', 'session', 'pin'], scopes: ['**'] }],
      },
      'human:grace': { kinds: ['counselor', 'auditor'] },
    } as never,
  });
  const token = await server.tokenFor('agent:codex');
  const grace = await server.tokenFor('human:grace');
  const event = (hook_event_name: string, more: object = {}) =>
    server.ask('POST', '/v1/trajectories/calls/hooks/codex?wait=0', {
      token,
      body: { hook_event_name, session_id: 's', cwd: '/tmp', ...more },
    });
  return {
    server,
    ask: (tool_use_id: string, command: string) =>
      event('PreToolUse', { tool_use_id, tool_name: 'Bash', tool_input: { command } }),
    pin: (...servers: string[]) =>
      Promise.all(
        servers.map((of) =>
          server.ask('POST', '/v1/trajectories/calls/proposals', {
            token,
            headers: { 'idempotency-key': of },
            body: {
              ...{ action: 'pin', role: 'gate' },
              args: { server: of, tool: 'read', definition: { name: 'read' } },
            },
          }),
        ),
      ),
    pinned: async (of: string) =>
      (
        await server.ask('GET', `/v1/trajectories/calls/servers/${of}?agent=codex`, { token })
      ).body.tools.map(({ tool }: any) => tool),
    end: () => event('SessionEnd', { reason: 'other' }),
    questions: async () =>
      (await server.ask('GET', '/v1/approvals', { token: grace })).body.approvals.map(
        ({ action: { args } }: any) => args.args?.command ?? args.server,
      ),
    reasons: async () => {
      const path = '/v1/trajectories/calls/entries?limit=100';
      const { body } = await server.ask('GET', path, { token: grace });
      return JSON.stringify(body);
    },
  };
}

test('a question of earlier rules is closed, and the same call is judged again', async () => {
  const store = new MemoryStore();
  const first = await serving(store, 'one');
  await first.ask('t1', 'make a');
  expect(await first.questions()).toEqual(['make a']);
  await first.server.stop();
  const same = await serving(store, 'one');
  expect(await same.questions()).toEqual(['make a']);
  await same.server.stop();
  const other = await serving(store, 'two');
  expect(await other.questions()).toEqual([]);
  expect(await other.reasons()).toContain('the rules have changed');
  await other.ask('t2', 'make a');
  expect(await other.questions()).toEqual(['make a']);
});

test('a question of a session that ended is closed after a day, not before', async () => {
  const store = new MemoryStore();
  const first = await serving(store, 'one');
  await first.ask('t1', 'make a');
  await first.end();
  await first.server.stop();
  const soon = await serving(store, 'one', 20);
  expect(await soon.questions()).toEqual(['make a']);
  await soon.server.stop();
  const later = await serving(store, 'one', 26);
  await expect.poll(later.questions, { timeout: 10_000 }).toEqual([]);
  expect(await later.reasons()).toContain('the session ended');
});

test('a definition that waits is pinned once the rules trust its server', async () => {
  const store = new MemoryStore();
  const first = await serving(store, 'one');
  await first.pin('fs', 'web');
  expect((await first.questions()).sort()).toEqual(['fs', 'web']);
  await first.server.stop();
  const other = await serving(store, 'one', 0, 'fs');
  expect(await other.questions()).toEqual(['web']);
  expect([await other.pinned('fs'), await other.pinned('web')]).toEqual([['read'], []]);
});
