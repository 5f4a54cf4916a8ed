/** The rules of the file in the trajectories of the gateway domain, of one server and of two. */

import { type GatewayState, gateway, type Rules, readRules } from '@assize/gate/unstable/gateway';
import { addMicros } from 'assize/internal/canon';
import type { Domain } from 'assize/internal/kernel';
import { type Clock, systemClock } from 'assize/internal/oracle';
import type { Store } from 'assize/internal/stores';
import { expect, test } from 'vitest';
import { onEveryStore } from '../../../../tests/support/ledger/stores.ts';
import { start, type TestServer } from '../../../../tests/support/server/serving.ts';

const rulesOf = (id: string, does: 'allow' | 'deny' | 'ask'): Rules =>
  readRules(
    `id: ${id}\ntools:\n  fs/read: { class: read }\nrules:\n  - { id: all, ${does}: fs/* }\n`,
  ).rules;
const [LAX, STRICT] = [rulesOf('lax', 'allow'), rulesOf('strict', 'deny')];
/** Calls that wait hold their part of the limit, so a lower limit is frozen until the decision. */
const limited = (id: string, does: 'ask' | 'deny', max: number): Rules =>
  readRules(`id: ${id}
rules:
  - { id: all, ${does}: fs/* }
limits:
  - { id: calls, tools: fs/*, per: day, max: ${max} }
`).rules;
const [ASKING, NARROW] = [limited('asking', 'ask', 100), limited('narrow', 'deny', 1)];

const PRINCIPALS = {
  'agent:ada': { kinds: ['agent'], grants: [{ actions: ['**'], scopes: ['**'], maxDepth: 2 }] },
  'human:grace': { kinds: ['counselor'] },
  'admin:ann': { kinds: ['admin', 'auditor'] },
} as const;

onEveryStore(({ newPlace }) => {
  async function serving(rules: Rules, store: Store, clock: Clock = systemClock): Promise<Desk> {
    const domains = [gateway({ rules }) as unknown as Domain];
    const config = { tools: [], worlds: { calls: { domain: 'gateway' } } };
    const principals = PRINCIPALS as never;
    const server = await start({ config, store, rules, domains, principals, clock });
    const tokens = Object.fromEntries(
      await Promise.all(
        Object.keys(PRINCIPALS).map(async (name) => [name, await server.tokenFor(name)] as const),
      ),
    );
    return new Desk(server, tokens);
  }

  test('a start puts the rules in force in every trajectory of the domain, once', async () => {
    const place = newPlace();
    const first = await serving(LAX, await place.open());
    await first.make('made');
    await first.branch('calls@0', 'twig');
    await first.delegate('calls', 'child');
    await first.server.stop();
    const second = await serving(STRICT, await place.open());
    for (const name of ['calls', 'made', 'twig', 'child'])
      await expect.poll(() => second.rulesIn(name), { timeout: 10_000 }).toBe('strict');
    const entries = await second.entries();
    await second.server.stop();
    const third = await serving(STRICT, await place.open());
    expect(await third.call('twig', 'c1')).toBe('rejected');
    await third.server.stop();
    // The call is the only new entry.
    expect(sumOf(await third.entriesOf(await place.open()))).toBe(sumOf(entries) + 1);
  });

  test('a branch before stricter rules is judged by those of the file', async () => {
    const place = newPlace();
    const first = await serving(LAX, await place.open());
    expect(await first.call('calls', 'c1')).toBe('committed');
    await first.server.stop();
    const second = await serving(STRICT, await place.open());
    await second.branch('calls@0', 'old');
    expect(await second.rulesIn('old')).toBe('lax');
    expect(await second.call('old', 'c2')).toBe('rejected');
    expect(await second.rulesIn('old')).toBe('strict');
  });

  test('a halted trajectory gets the rules when it is resumed', async () => {
    const place = newPlace();
    const first = await serving(LAX, await place.open());
    for (const name of ['here', 'there']) await first.make(name);
    for (const name of ['calls', 'here', 'there']) await first.stop(name, 'halt');
    const second = await serving(STRICT, await place.open());
    await second.stop('calls', 'resume');
    expect(await second.rulesIn('calls')).toBe('strict');
    await second.stop('here', 'resume');
    expect(await second.call('here', 'c1')).toBe('rejected');
    // The server with the earlier rules resumes it, and the other one puts the later ones in force.
    await first.stop('there', 'resume');
    await expect.poll(() => second.rulesIn('there'), { timeout: 20_000 }).toBe('strict');
  }, 40_000);

  test('a trajectory that an approval freezes gets the rules after the decision', async () => {
    const place = newPlace();
    const first = await serving(ASKING, await place.open());
    for (const id of ['c1', 'c2']) expect(await first.call('calls', id)).toBe('escalated');
    await first.server.stop();
    const second = await serving(NARROW, await place.open());
    expect(await second.rulesIn('calls')).toBe('asking');
    expect(second.server.lines.some((line) => line.includes('"rules_wait"'))).toBe(true);
    await second.approveAll();
    expect(await second.call('calls', 'c3')).toBe('rejected');
    expect(await second.rulesIn('calls')).toBe('narrow');
  });

  test('of two servers with different files, the one that started last decides', async () => {
    const place = newPlace();
    const first = await serving(LAX, await place.open());
    for (const name of ['used', 'unused']) await first.make(name);
    expect(await first.call('used', 'c1')).toBe('committed');
    const second = await serving(STRICT, await place.open());
    for (const name of ['calls', 'used', 'unused'])
      await expect.poll(() => second.rulesIn(name), { timeout: 10_000 }).toBe('strict');
    // The server with the earlier rules leaves them alone, also where it meets them first.
    for (const name of ['calls', 'used', 'unused'])
      expect(await first.call(name, 'c2')).toBe('rejected');
    await first.server.service.gateways.configureAll(new AbortController().signal);
    await first.server.service.gateways.retryWaiting();
    for (const name of ['calls', 'used', 'unused'])
      expect(await first.rulesIn(name)).toBe('strict');
    await first.server.stop();
    const third = await serving(LAX, await place.open());
    for (const name of ['calls', 'used', 'unused'])
      await expect.poll(() => third.rulesIn(name), { timeout: 10_000 }).toBe('lax');
    await second.call('used', 'c3');
    await second.server.service.gateways.configureAll(new AbortController().signal);
    expect(await second.rulesIn('used')).toBe('lax');
  });

  test('rules of an administrator stay until the next start', async () => {
    const place = newPlace();
    const first = await serving(STRICT, await place.open());
    await first.configure('calls', LAX);
    expect(await first.call('calls', 'c1')).toBe('committed');
    await first.server.service.gateways.configureAll(new AbortController().signal);
    expect(await first.rulesIn('calls')).toBe('lax');
    await first.server.stop();
    const second = await serving(STRICT, await place.open());
    expect(await second.rulesIn('calls')).toBe('strict');
  });

  test('past calls are dropped from every trajectory, with no other entry', async () => {
    const place = newPlace();
    const days = { now: -2 };
    const clock: Clock = { now: () => addMicros(systemClock.now(), days.now * 86_400_000_000) };
    const one = await serving(LAX, await place.open(), clock);
    for (const name of ['made', 'idle']) await one.make(name);
    for (const name of ['calls', 'made']) {
      expect(await one.call(name, 'c1')).toBe('committed');
      expect(await one.propose(name, 'report', { call: 'c1', outcome: 'done' })).toBe('committed');
    }
    const tidyAll = () => one.server.service.gateways.tidyAll(new AbortController().signal);
    const before = await one.entries();
    await tidyAll();
    expect(await one.entries()).toEqual(before);
    days.now = 0;
    for (let n = 0; n < 3; n += 1) await tidyAll();
    expect(await one.entries()).toEqual({
      calls: before['calls']! + 1,
      made: before['made']! + 1,
      idle: 1,
    });
    for (const name of ['calls', 'made'])
      expect((await one.server.service.assize.open(name)).state()).toMatchObject({ calls: {} });
  });
});

/** Idempotency keys of all servers of this file. The servers share an agent. */
let keys = 0;

/** A server with what the principals of the tests do there. */
class Desk {
  readonly server: TestServer;
  readonly #tokens: Readonly<Record<string, string>>;

  constructor(server: TestServer, tokens: Readonly<Record<string, string>>) {
    this.server = server;
    this.#tokens = tokens;
  }

  make(name: string): Promise<unknown> {
    return this.#ok('admin:ann', 'POST', '/v1/trajectories', {
      domain: 'gateway',
      trajectory_id: name,
    });
  }

  branch(at: string, name: string): Promise<unknown> {
    const [source] = at.split('@');
    const body = { at, trajectory_id: name, note: 'try' };
    return this.#ok('admin:ann', 'POST', `/v1/trajectories/${source}/branches`, body);
  }

  delegate(from: string, name: string): Promise<unknown> {
    const body = {
      task: 'look',
      child_trajectory_id: name,
      subject: 'agent:ada/sub',
      actions: ['call'],
    };
    return this.#ok('agent:ada', 'POST', `/v1/trajectories/${from}/delegations`, body);
  }

  stop(name: string, does: 'halt' | 'resume'): Promise<unknown> {
    return this.#ok('admin:ann', 'POST', `/v1/trajectories/${name}/${does}`, { reason: 'a test' });
  }

  async propose(name: string, action: string, args: object): Promise<string> {
    const role = { name: 'agent', params: { agent: 'ada' } };
    const path = `/v1/trajectories/${name}/proposals`;
    return (await this.#ok('agent:ada', 'POST', path, { action, role, args })).ruling;
  }

  call(name: string, id: string): Promise<string> {
    return this.propose(name, 'call', { id, server: 'fs', tool: 'read', args: {} });
  }

  async configure(name: string, rules: Rules): Promise<void> {
    const { assize, systemWrits, clock } = this.server.service;
    const writ = systemWrits.forAction('admin:ann', 'configure', name, clock.now());
    const args = { rules, runs: [] };
    await (await assize.open(name)).propose({
      action: 'configure',
      role: 'admin',
      args,
      writ,
    } as never);
  }

  async approveAll(): Promise<void> {
    for (const { id, digest } of (await this.#ok('human:grace', 'GET', '/v1/approvals')).approvals)
      await this.#ok('human:grace', 'POST', `/v1/approvals/${id}/approve`, { digest });
  }

  async state(name: string): Promise<GatewayState> {
    return (await this.#ok('admin:ann', 'GET', `/v1/trajectories/${name}/state`)).state;
  }

  async rulesIn(name: string): Promise<string> {
    return (await this.state(name)).rules.id;
  }

  entries(): Promise<Record<string, number>> {
    return this.entriesOf(this.server.store);
  }

  async entriesOf(store: Store): Promise<Record<string, number>> {
    return Object.fromEntries(
      (await store.trajectories()).map(({ trajectory_id, entries }) => [trajectory_id, entries]),
    );
  }

  async #ok(principal: string, method: string, path: string, body?: object): Promise<any> {
    keys += 1;
    const answer = await this.server.ask(method, path, {
      token: this.#tokens[principal],
      key: `k${keys}`,
      body,
    });
    expect(answer.status, `${path}: ${answer.text}`).toBeLessThan(300);
    return answer.body;
  }
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
