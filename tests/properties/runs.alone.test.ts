import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { type Agent, type RunOptions, type RunReplay, replayRun, runAgents } from '#agents';
import { contentHash } from '#canon';
import type { Batch, LedgerStore } from '#ledger';
import {
  createOracle,
  fixedClock,
  type OracleRow,
  type OracleStore,
  seededRandom,
  systemClock,
  systemRandom,
} from '#oracle';
import type { Assize } from '#runtime';
import { cases } from '../support/cases.ts';
import { intent, operator, runtimeOver, START, writFor } from '../support/ledger/runtime.ts';
import { type AgentSpec, agentOf, population } from '../support/models/generated-agents.ts';
import {
  generatedDomain,
  type RuleSpec,
  type ShopState,
} from '../support/models/generated-domain.ts';
import { clone } from '../support/models/json.ts';
import { askingRules, fitted, shopState } from '../support/models/schedule.ts';

// Seed 000, Definitions A.20, A.31, A.34, A.42: an execution is a function of its beginning and of
// the oracle trace. So for any agents, rules and interleavings, the ledger and the oracle log alone
// reproduce a run.

interface Plan {
  readonly rules: readonly RuleSpec[];
  readonly start: ShopState;
  readonly specs: readonly AgentSpec[];
  readonly concurrent: boolean;
  readonly counsel: 'nobody' | 'somebody';
  readonly freeze: 'world' | 'footprint';
  readonly approvalTimeoutMs: number | undefined;
}

const plan: fc.Arbitrary<Plan> = fc.record({
  rules: askingRules,
  start: shopState,
  specs: population,
  concurrent: fc.boolean(),
  counsel: fc.constantFrom('nobody' as const, 'somebody' as const, 'somebody' as const),
  freeze: fc.constantFrom('world' as const, 'footprint' as const),
  approvalTimeoutMs: fc.option(fc.constantFrom(1, 20), { nil: undefined }),
});

/** Lets others go first, as many as its owner likes. */
type Yield = () => Promise<void>;

/** A plan with its environment. Another stage may resume the run, as after a crash. */
class Stage {
  readonly #plan: Plan;
  readonly #yield: Yield;
  readonly domain;
  readonly rules: readonly RuleSpec[];
  readonly clock = fixedClock(START, 700);
  calls = 0;

  constructor(plan: Plan, letGo: Yield = async () => undefined) {
    this.#plan = plan;
    this.#yield = letGo;
    this.rules = fitted(plan.rules, plan.start);
    this.domain = generatedDomain(this.rules, plan.freeze).domain;
  }

  get agents(): Agent[] {
    return this.#plan.specs.map((spec, n) =>
      agentOf(spec, n, async () => {
        const call = ++this.calls;
        await this.#yield();
        return call;
      }),
    );
  }

  runtime(store: LedgerStore & OracleStore): Assize {
    const { approvalTimeoutMs } = this.#plan;
    const expiry =
      approvalTimeoutMs === undefined ? {} : { approvals: { timeoutMs: approvalTimeoutMs } };
    return runtimeOver(store, [this.domain], {
      oracle: store,
      ...expiry,
      ports: { clock: this.clock },
    });
  }

  async begin(store: LedgerStore & OracleStore): Promise<void> {
    await this.runtime(store).create(this.domain, {
      trajectoryId: 't',
      initial: clone(this.#plan.start),
    });
  }

  async run(store: LedgerStore & OracleStore, options: Partial<RunOptions> = {}): Promise<void> {
    const trajectory = await this.runtime(store).open('t');
    const counsel = async ({ id }: { id: string }) => {
      await this.#yield();
      const by = { principal: 'doc', method: 'test' };
      const chance = Number.parseInt(contentHash([id, this.calls++]).slice(0, 2), 16) % 8;
      if (chance < 2) return { do: 'later' as const };
      if (chance === 2) return { ...by, do: 'approve' as const, principal: 'stranger' };
      return chance < 6
        ? { ...by, do: 'approve' as const }
        : { ...by, do: 'reject' as const, reason: 'no' };
    };
    await runAgents(trajectory, this.agents, {
      oracle: createOracle({ store, clock: this.clock, mode: 'record' }),
      clock: this.clock,
      random: seededRandom('run'),
      concurrent: this.#plan.concurrent,
      maxTurns: 12,
      ...(this.#plan.counsel === 'nobody' ? {} : { counsel }),
      ...options,
    });
  }

  replay(store: MemoryStore, agents: readonly Agent[] = this.agents): Promise<RunReplay> {
    const { approvalTimeoutMs } = this.#plan;
    return replayRun({ store, oracleStore: store, trajectoryId: 't' }, this.domain, agents, {
      anchors: [operator.publicKey],
      ...(approvalTimeoutMs === undefined ? {} : { approvals: { timeoutMs: approvalTimeoutMs } }),
    });
  }
}

/** Takes away all that a replay must not use. Returns how to give it back. */
function cutOff(): () => void {
  const cut = () => {
    throw new Error('cut off');
  };
  const spies = [
    vi.spyOn(globalThis, 'fetch').mockImplementation(cut as never),
    vi.spyOn(Date, 'now').mockImplementation(cut),
    vi.spyOn(performance, 'now').mockImplementation(cut),
    vi.spyOn(Math, 'random').mockImplementation(cut),
    vi.spyOn(crypto, 'randomBytes').mockImplementation(cut as never),
    vi.spyOn(crypto, 'randomUUID').mockImplementation(cut),
    vi.spyOn(crypto, 'randomFillSync').mockImplementation(cut as never),
    vi.spyOn(net.Socket.prototype, 'connect').mockImplementation(cut as never),
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(cut as never),
  ];
  syncBuiltinESMExports();
  expect(() => systemClock.now()).toThrow('cut off');
  // The generator has bytes in advance.
  expect(() => {
    for (;;) systemRandom.bytes(1);
  }).toThrow('cut off');
  return () => {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  };
}

async function replayCutOff(stage: Stage, store: MemoryStore): Promise<RunReplay> {
  const { calls } = stage;
  const restore = cutOff();
  try {
    return await stage.replay(store);
  } finally {
    restore();
    expect(stage.calls).toBe(calls);
  }
}

describe('a run replays from ledger and oracle log, without network and clock', () => {
  test('for any agents, rules and interleavings', () =>
    fc.assert(
      fc.asyncProperty(plan, fc.scheduler(), async (drawn, scheduler) => {
        const store = new MemoryStore();
        const stage = new Stage(drawn, () => scheduler.schedule(Promise.resolve()));
        await stage.begin(store);
        await scheduler.waitFor(stage.run(store));
        const replay = await replayCutOff(stage, store);
        expect(replay.firstDifference).toBeUndefined();
        const head = await store.head('t');
        expect(replay).toMatchObject({ same: true, headId: head?.id, takenAsRecorded: 1 });
      }),
      { numRuns: cases(600) },
    ));

  test('also with other writers of the ledger, taken as recorded', () =>
    fc.assert(
      fc.asyncProperty(
        plan,
        fc.scheduler(),
        fc.integer({ min: 1, max: 4 }),
        async (drawn, scheduler, count) => {
          const store = new MemoryStore();
          const letGo = () => scheduler.schedule(Promise.resolve());
          const stage = new Stage(drawn, letGo);
          await stage.begin(store);
          const outsider = async () => {
            const trajectory = await stage.runtime(store).open('t');
            for (let n = 0; n < count; n++) {
              await letGo();
              await trajectory.propose(intent('note', n, writFor('outsider'), { role: 'logger' }));
            }
          };
          await scheduler.waitFor(Promise.all([stage.run(store), outsider()]));
          const replay = await replayCutOff(stage, store);
          expect(replay.firstDifference).toBeUndefined();
          expect(replay.same).toBe(true);
        },
      ),
      { numRuns: cases(300) },
    ));
});

class Crash extends Error {}

/**
 * A store with a process that dies at one of its calls: before the call, or after it and before the
 * answer.
 */
class Mortal implements LedgerStore, OracleStore {
  readonly #store: MemoryStore;
  readonly #dieAt: number;
  readonly #when: 'before' | 'after';
  calls = 0;
  isDead = false;

  constructor(store: MemoryStore, dieAt: number, when: 'before' | 'after') {
    this.#store = store;
    this.#dieAt = dieAt;
    this.#when = when;
  }

  async #live<T>(call: () => Promise<T>): Promise<T> {
    if (this.isDead) throw new Crash();
    const isLast = this.calls++ === this.#dieAt;
    if (isLast) this.isDead = true;
    if (isLast && this.#when === 'before') throw new Crash();
    const answer = await call();
    if (this.isDead) throw new Crash();
    return answer;
  }

  commit = (batch: Batch) => this.#live(() => this.#store.commit(batch));
  oraclePut = (row: OracleRow) => this.#live(() => this.#store.oraclePut(row));
  oracleGet: OracleStore['oracleGet'] = (key) => this.#store.oracleGet(key);
  resolve: LedgerStore['resolve'] = (id) => this.#store.resolve(id);
  entries: LedgerStore['entries'] = (id, page) => this.#store.entries(id, page);
  head: LedgerStore['head'] = (id) => this.#store.head(id);
  trajectories: LedgerStore['trajectories'] = () => this.#store.trajectories();
  blob: LedgerStore['blob'] = (hash) => this.#store.blob(hash);
  erasedBy: LedgerStore['erasedBy'] = (hash) => this.#store.erasedBy(hash);
  find: LedgerStore['find'] = (prefix) => this.#store.find(prefix);
  close = async () => undefined;
}

/** Counts answers that were given again although they were recorded. */
class CountingStore extends MemoryStore {
  answeredTwice = 0;

  override async oraclePut(row: OracleRow): Promise<OracleRow> {
    if ((await this.oracleGet(row.key)) !== undefined) this.answeredTwice++;
    return super.oraclePut(row);
  }
}

describe('an interrupted run resumes', () => {
  test('before and after every write: no second proposal or call, and it replays', () =>
    fc.assert(
      fc.asyncProperty(
        plan,
        fc.constantFrom('before' as const, 'after' as const),
        async (drawn, when) => {
          for (let dieAt = 0, isOver = false; !isOver; dieAt++) {
            const store = new CountingStore();
            const stage = new Stage(drawn);
            await stage.begin(store);
            const mortal = new Mortal(store, dieAt, when);
            // A fault of the store ends a run, and not only the test's own.
            await stage.run(mortal, { maxTurns: 6 }).catch((error: unknown) => {
              if (!mortal.isDead) throw error;
            });
            isOver = !mortal.isDead;
            await stage.run(store, { maxTurns: 3 });
            expect(store.answeredTwice).toBe(0);
            const turns = (await turnsOf(store)).sort((a, b) => a - b);
            expect(new Set(turns).size).toBe(turns.length);
            const replay = await stage.replay(store);
            expect(replay.firstDifference).toBeUndefined();
            expect(replay).toMatchObject({ same: true, takenAsRecorded: 1 });
          }
        },
      ),
      { numRuns: cases(25) },
    ));
});

/** The turns that entries say they were made in. */
async function turnsOf(store: MemoryStore): Promise<number[]> {
  const rows = await store.entries('t', { limit: 10_000 });
  return rows.flatMap(({ payload }) => {
    const said = JSON.parse(payload);
    if (said.resolves !== undefined) return [];
    const observations =
      said.observations ?? said.intent?.observations ?? said.proposal?.observations ?? [];
    return observations
      .filter(({ name }: { name: string }) => name.startsWith('turn '))
      .map(({ name }: { name: string }) => Number(name.slice(5)));
  });
}
