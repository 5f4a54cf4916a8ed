import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { fsck } from '#checkpoints';
import { integrateLog, Replayer } from '#ledger';
import { verifyStore } from '#runtime';
import type { Store } from '#stores';
import { percentile } from '../../bench/measure.ts';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { payloads } from '../support/ledger/desk.ts';
import type { Place } from '../support/ledger/stores.ts';
import { Outside } from './outside.ts';
import { Agent, type Clients, decideAll, Follower, type Ruled } from './serve-clients.ts';
import { agentName, COUNSELORS, type Kind, orderOf, WORLDS } from './serve-orders.ts';
import { Served, tokensIn } from './serve-process-control.ts';

/** How hard a hammer strikes. */
export interface Strength {
  readonly agents: number;
  readonly seconds: number;
  readonly kills: number;
  /** Servers on the store at the same time. */
  readonly servers: number;
  readonly writSeconds: number;
  /** Seconds between two measurements of memory, after the last kill. */
  readonly measureSeconds?: number;
}

/** The figures of a hammer. */
export interface Figures {
  readonly orders: number;
  readonly answers: number;
  readonly p99Ms: number;
  /** Megabytes of each server's heap and process after a collection, oldest first. */
  readonly heap: readonly number[];
  readonly rss: readonly number[];
}

/**
 * Agents propose over HTTP, two people decide, tools are called, and servers are killed. Afterwards
 * everything that was answered is there, once.
 */
export async function hammer(place: Place, seed: number, strength: Strength): Promise<Figures> {
  const { agents: count, seconds, servers: serverCount, writSeconds } = strength;
  const outside = new Outside();
  const sinkPort = await outside.listen();
  onTestFinished(() => outside.close());
  const tokens = await tokensIn(place.url, count);
  const servers = Array.from(
    { length: serverCount },
    () => new Served({ url: place.url, sinkPort, agents: count, writSeconds }),
  );
  for (const server of servers) {
    onTestFinished(() => server.kill());
    await server.start();
  }
  const clients: Clients = { origins: () => servers.map(({ origin }) => origin), tokens, seed };
  const agents = Array.from({ length: count }, (_, n) => new Agent(clients, agentName(n), n));
  const end = performance.now() + seconds * 1_000;
  let next = 0;
  let isDone = false;
  let size: number | undefined;
  const followers = [1, 2, 3].map((n) => new Follower(clients, n));
  const following = followers.map((follower) => follower.follow(() => size));
  const working = agents.map((agent) =>
    agent.work(
      () => performance.now() < end,
      () => next++,
    ),
  );
  const measuring = Promise.all([killAndMeasure(servers, seed, strength, end), ...working]);
  const deciding = COUNSELORS.map((name) => decideAll(clients, name, () => isDone));
  const [[memory], ...decided] = await Promise.all([
    measuring.finally(() => (isDone = true)),
    ...deciding,
  ]);
  const final = await repeated(agents, seed);
  const store = await place.open();
  size = await integrateLog(store);
  await Promise.all(following);
  for (const server of servers) expect((await server.stop()).code).toBe(0);

  const orders = Array.from({ length: next }, (_, number) => orderOf(seed, number));
  await expectSound(store);
  await expectFollowed(store, size, followers);
  expectSameRulings(agents);
  await expectAnsweredOnce(store, agents, final);
  await expectCounted(store, seed, final);
  await expectDecidedOnce(store, decided);
  expectEffects(
    outside,
    orders.filter(({ number }) => final.get(number)?.ruling === 'committed'),
  );
  const latencies = agents.flatMap((agent) => agent.latencies);
  return { orders: next, answers: latencies.length, p99Ms: percentile(latencies, 99), ...memory };
}

/** Kills one server after the other at random times, and starts it again. Then measures memory. */
async function killAndMeasure(
  servers: readonly Served[],
  seed: number,
  { seconds, kills, measureSeconds }: Strength,
  end: number,
): Promise<Pick<Figures, 'heap' | 'rss'>> {
  const next = seededNumbers(seed);
  const killing = measureSeconds === undefined ? seconds : seconds / 2;
  for (let killed = 0; killed < kills; killed++) {
    await sleep((killing * 1_000) / (kills + 1) / 2 + next((killing * 1_000) / (kills + 1)));
    const server = servers[killed % servers.length]!;
    await server.kill();
    await server.start();
  }
  const heap: number[] = [];
  const rss: number[] = [];
  while (measureSeconds !== undefined && performance.now() + measureSeconds * 1_000 < end) {
    await sleep(measureSeconds * 1_000);
    const { heapUsed, rss: resident } = await servers[0]!.memory();
    heap.push(megabytes(heapUsed));
    rss.push(megabytes(resident));
  }
  return { heap, rss };
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 100_000) / 10;
}

/** The ruling of each order on its last repetition, when no person has anything to decide. */
async function repeated(
  agents: readonly Agent[],
  seed: number,
): Promise<ReadonlyMap<number, Ruled>> {
  const final = new Map<number, Ruled>();
  await Promise.all(
    agents.map(async (agent) => {
      for (const number of [...agent.heard.keys()])
        final.set(number, await agent.propose(orderOf(seed, number)));
    }),
  );
  return final;
}

async function expectSound(store: Store): Promise<void> {
  for (const report of await verifyStore(store)) expect(report).toMatchObject({ valid: true });
  expect(await fsck(store)).toMatchObject({ valid: true, faults: [] });
}

/** Each reader of events saw the log as the store has it: every position, once, in order. */
async function expectFollowed(
  store: Store,
  size: number,
  followers: readonly Follower[],
): Promise<void> {
  const logged = await store.logged(0, size);
  const wanted = logged.map(({ id }, position) => `${position} ${id}`);
  for (const { ids, reconnects } of followers) {
    expect(ids).toEqual(wanted);
    expect(reconnects).toBeGreaterThan(1);
  }
}

/** A repetition returns the same entry. Only an escalation may become another ruling, once. */
function expectSameRulings(agents: readonly Agent[]): void {
  for (const { heard } of agents)
    for (const [number, answers] of heard) {
      const waiting = answers.filter(({ ruling }) => ruling === 'escalated');
      const ends = answers.filter(({ ruling }) => ruling !== 'escalated');
      const order = [...waiting, ...ends];
      expect({ number, answers }).toEqual({ number, answers: order });
      expect(
        new Set(waiting.map(({ entry }) => entry)).size,
        `order ${number}`,
      ).toBeLessThanOrEqual(1);
      expect(new Set(ends.map(({ entry }) => entry)).size, `order ${number}`).toBeLessThanOrEqual(
        1,
      );
    }
}

/** Each answered entry is in the ledger, and each key has one ruling there. */
async function expectAnsweredOnce(
  store: Store,
  agents: readonly Agent[],
  final: ReadonlyMap<number, Ruled>,
): Promise<void> {
  const rulings: string[] = [];
  const ids = new Set<string>();
  for (const world of WORLDS) {
    for (const row of await store.entries(world, { limit: 1_000_000 })) ids.add(row.id);
    for (const payload of await payloads(store, world))
      if (
        (payload.kind === 'commit' || payload.kind === 'rejection') &&
        payload.key_hash !== undefined
      )
        rulings.push(payload.key_hash);
  }
  expect(new Set(rulings).size).toBe(rulings.length);
  expect(rulings.length).toBe(final.size);
  const lost = agents
    .flatMap(({ heard }) => [...heard.values()].flat())
    .filter(({ entry }) => !ids.has(entry));
  expect(lost).toEqual([]);
}

/** The state has each committed order once. */
async function expectCounted(
  store: Store,
  seed: number,
  final: ReadonlyMap<number, Ruled>,
): Promise<void> {
  for (const world of WORLDS) {
    const done: Record<string, number> = {};
    const asked: Record<string, number> = {};
    for (const [number, { ruling }] of final) {
      const order = orderOf(seed, number);
      if (order.world !== world || ruling !== 'committed') continue;
      if (order.kind === 'ask') asked[order.key] = 1;
      else done[order.slot] = (done[order.slot] ?? 0) + 1;
    }
    expect((await new Replayer(store).replay(world)).fold.state).toEqual({ done, asked });
  }
}

/** Each pending proposal has one end, and it is the answered one. */
async function expectDecidedOnce(
  store: Store,
  decided: readonly ReadonlyMap<string, string>[],
): Promise<void> {
  const ends = new Map<string, string[]>();
  for (const world of WORLDS)
    for (const row of await store.entries(world, { limit: 1_000_000 })) {
      const payload = JSON.parse(row.payload);
      if (row.kind === 'pending_approval') ends.set(row.id, ends.get(row.id) ?? []);
      if (payload.resolves !== undefined)
        ends.set(payload.resolves, [...(ends.get(payload.resolves) ?? []), row.id]);
    }
  expect([...ends].filter(([, ids]) => ids.length !== 1)).toEqual([]);
  for (const answers of decided)
    for (const [id, entry] of answers)
      expect({ id, entry: ends.get(id) }).toEqual({ id, entry: [entry] });
}

/** Committed calls stand once by the sinks' own logs, and no others. */
function expectEffects(
  { sinks }: Outside,
  committed: readonly { readonly kind: Kind; readonly key: string }[],
): void {
  for (const [kind, sink] of [
    ['pay', sinks.keyed],
    ['book', sinks.queryable],
  ] as const) {
    const wanted = committed.filter((order) => order.kind === kind).map(({ key }) => key);
    const did = sink.log.filter((arrival) => arrival.did === 'do').map(({ what }) => what);
    expect(did.sort()).toEqual(wanted.sort());
    expect(sink.log.filter((arrival) => arrival.did === 'undo')).toEqual([]);
  }
}
