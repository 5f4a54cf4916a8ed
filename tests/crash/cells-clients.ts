import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { AGENTS_PER_TENANT, type CellOrder, cellOrder, TENANTS } from './cells-orders.ts';
import { ask } from './serve-clients.ts';
import { agentName } from './serve-orders.ts';

/** Pause before the repetition of a request without an answer, and between two orders. */
const RETRY_MS = 50;
const PAUSE_MS = 150;
/** One request of so many loses its answer on the client's side. */
const LOSES = 15;
const LOST_AFTER_MS = 15;
/** An agent repeats an earlier order after every so many new ones. */
const REPEATS = 5;

/** Refusals after which an agent asks again. `lost`: no answer came. */
const TEMPORARY: readonly string[] = [
  ...['lost', 'cell_behind', 'tenant_moves', 'other_cell', 'halted', 'tenant_halted'],
  ...['clock_ahead', 'conflict'],
  ...[
    'commit_unknown',
    'store_unreachable',
    'store_failed',
    'stopping',
    'closed',
    'lease_lost',
    'effects_busy',
  ],
  ...['deadline', 'request_timeout', 'outcome_unknown'],
];

export interface Answered {
  readonly order: CellOrder;
  readonly entry: string;
  readonly ruling: string;
}

export interface Refusal {
  readonly tenant: string;
  readonly code: string;
}

export interface LoadOptions {
  /** The servers that the agents of a tenant ask. */
  readonly originsOf: (tenant: string) => readonly string[];
  readonly tokens: ReadonlyMap<string, string>;
  readonly seed: number;
}

/** Agents that propose for every tenant, each order until it is answered. */
export class Load {
  readonly #options: LoadOptions;
  readonly #answered = new Map<string, Answered>();
  #refusals: Refusal[] = [];
  #isOver = false;
  readonly #numbers = new Map<string, number>();
  /** The orders that have started and have no answer. */
  #inProgress = 0;
  #resumed = Promise.resolve();
  readonly #working: Promise<unknown>;
  #failure: unknown;

  constructor(options: LoadOptions) {
    this.#options = options;
    const agents = TENANTS.flatMap((tenant, t) =>
      Array.from({ length: AGENTS_PER_TENANT }, (_, n) =>
        this.#work(tenant, t * AGENTS_PER_TENANT + n),
      ),
    );
    this.#working = Promise.all(agents).catch((error: unknown) => {
      this.#failure = error;
    });
  }

  /** The answers so far. */
  get answered(): readonly Answered[] {
    return [...this.#answered.values()];
  }

  /** Returns the refusals since the last call. */
  takeRefusals(): readonly Refusal[] {
    const taken = this.#refusals;
    this.#refusals = [];
    return taken;
  }

  /** The codes of the refusals of a tenant since the last `takeRefusals`. */
  codesOf(tenant: string): readonly string[] {
    return this.#refusals.filter((refusal) => refusal.tenant === tenant).map(({ code }) => code);
  }

  /** The answered orders of a tenant. */
  countOf(tenant: string): number {
    return this.answered.filter(({ order }) => order.tenant === tenant).length;
  }

  /** Waits until each of the tenants has got so many more answers. */
  async progress(tenants: readonly string[], more = 4): Promise<void> {
    const before = new Map(tenants.map((tenant) => [tenant, this.countOf(tenant)]));
    await this.until(() =>
      tenants.every((tenant) => this.countOf(tenant) >= before.get(tenant)! + more),
    );
  }

  /** Waits for a condition. A failed agent ends the wait. */
  async until(condition: () => boolean | Promise<boolean>): Promise<void> {
    await expect
      .poll(async () => this.#failure !== undefined || (await condition()), {
        interval: 50,
        timeout: 120_000,
      })
      .toBe(true);
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** The work while no agent has an unanswered order. */
  async pausedFor(work: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#resumed = promise;
    try {
      await this.until(() => this.#inProgress === 0);
      await work();
    } finally {
      resolve();
    }
  }

  /** Resolves when every started order is answered. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#working;
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #work(tenant: string, agent: number): Promise<void> {
    const { seed } = this.#options;
    const next = seededNumbers(seed + agent);
    const mine: number[] = [];
    for (;;) {
      await this.#resumed;
      if (this.#isOver) return;
      this.#inProgress++;
      const number = this.#numbers.get(tenant) ?? 0;
      this.#numbers.set(tenant, number + 1);
      await this.#propose(cellOrder(seed, tenant, number), agentName(agent), next);
      mine.push(number);
      if (mine.length % REPEATS === 0)
        await this.#propose(
          cellOrder(seed, tenant, mine[next(mine.length)]!),
          agentName(agent),
          next,
        );
      this.#inProgress--;
      await sleep(next(2 * PAUSE_MS));
    }
  }

  /** Proposes with the same key until an answer comes. It is always the same. */
  async #propose(
    order: CellOrder,
    principal: string,
    next: (below: number) => number,
  ): Promise<void> {
    const { tenant, key, kind, body } = order;
    for (;;) {
      const origins = this.#options.originsOf(tenant);
      const origin = origins[next(origins.length)]!;
      const loses = next(LOSES) === 0;
      const asked = { principal, path: `/v1/trajectories/${tenant}/proposals`, key, body };
      const signal = loses ? { signal: AbortSignal.timeout(1 + next(LOST_AFTER_MS)) } : {};
      const answer = await ask(this.#options, origin, { ...asked, ...signal }).catch(
        () => undefined,
      );
      const { ruling, entry_id: entry, code = 'lost' } = answer?.body ?? {};
      if (ruling !== undefined) {
        const before = this.#answered.get(key);
        expect({ key, ruling }).toEqual({
          key,
          ruling: kind === 'refuse' ? 'rejected' : 'committed',
        });
        expect({ key, entry }).toEqual({ key, entry: before?.entry ?? entry });
        this.#answered.set(key, { order, entry, ruling });
        return;
      }
      // The agent itself left.
      if (!(loses && answer === undefined)) this.#refusals.push({ tenant, code });
      expect(TEMPORARY, `${tenant}: ${JSON.stringify(answer?.body)}`).toContain(code);
      await sleep(RETRY_MS + next(RETRY_MS));
    }
  }
}
