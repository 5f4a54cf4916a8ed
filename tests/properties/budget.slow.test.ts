/**
 * Write skew freedom (seed 000, Corollary 1) of the budget of $100,000, tested exhaustively. The
 * nightly test runs every interleaving of the steps of two and three agents, through the real
 * runtime. Each agent reads its slice. Later it proposes to spend a share of the rest that the
 * slice shows. Later still it receives the ruling. So agents act on slices that are stale in every
 * possible way. An agent never sees the spending of others, so only the kernel can enforce the
 * cap.
 */
import {
  Assize,
  generateKeys,
  issueWrit,
  openStore,
  type Ruling,
  type Store,
  type Trajectory,
} from 'assize';
import { describe, test } from 'vitest';
import { budget } from '#domains/budget';
import { type Domain, defineDomain } from '#kernel';
import {
  applyPatches,
  type CommitPayload,
  fresh,
  type Patch,
  Replayer,
  verifyTrajectory,
} from '#ledger';
import { expect } from '../support/quick-expect.ts';
import { someOf } from '../support/some-of.ts';

const CAP = 100_000;

/** The runtimes of the agents' trajectories: one for all, or one each, as in separate processes. */
type Setting = 'one runtime' | 'a runtime each';

interface Plan {
  readonly agents: number;
  readonly rounds: number;
  /** Percent of the apparent rest that an agent asks for in a round. */
  readonly share: number;
}

/**
 * The steps of each agent in a round, in order. Any step of another agent may come between any two.
 */
const STEPS_PER_ROUND = ['read', 'submit', 'hear'] as const;

const unguarded: Domain = defineDomain({
  name: budget.name,
  version: budget.version,
  state: budget.state,
  processes: budget.processes,
  roles: budget.roles,
  actions: budget.actions,
  invariants: [],
});

const plans: readonly (Plan & { readonly schedules: number })[] = [
  // 60 + 60: the classic skew. 50 + 50: the cap exactly, then not a dollar more. 100: one agent
  // takes all.
  ...[60, 50, 100].map((share) => ({ agents: 2, rounds: 2, share, schedules: 924 })),
  // 40 + 40 + 40: any two fit, three do not. 34: just over.
  ...[40, 34].map((share) => ({ agents: 3, rounds: 1, share, schedules: 1_680 })),
];

describe.each(['one runtime', 'a runtime each'] as const)('%s', (setting) => {
  test.each(plans)('$agents agents, $rounds round(s), $share %', async (plan) => {
    const bench = await Bench.open(budget, plan.agents, setting);
    const schedules = [...interleavings(plan)];
    expect(schedules.length).toBe(plan.schedules);
    for (const schedule of someOf(schedules)) {
      const { rulings, trajectoryId } = await bench.run(plan, schedule);
      expect(rulings.length).toBe(plan.agents * plan.rounds);
      await expectSound(bench.store, trajectoryId, rulings);
    }
  });

  // Two rounds on one slice: the second proposal of a round knows nothing of the first.
  test('three agents that each propose twice on one slice', async () => {
    const bench = await Bench.open(budget, 3, setting);
    const plan: Plan = { agents: 3, rounds: 1, share: 30 };
    const schedules = [...interleavings(plan)];
    expect(schedules.length).toBe(1_680);
    for (const schedule of someOf(schedules)) {
      const { rulings, trajectoryId } = await bench.run(plan, schedule, { twice: true });
      expect(rulings.length).toBe(6);
      await expectSound(bench.store, trajectoryId, rulings);
    }
  });

  test.each(plans)(
    'without the invariant: $agents agents, $rounds round(s), $share %',
    async (plan) => {
      const bench = await Bench.open(unguarded, plan.agents, setting);
      for (const schedule of someOf([...interleavings(plan)])) {
        const { trajectoryId } = await bench.run(plan, schedule);
        const totals = await totalsOf(bench.store, trajectoryId);
        expect(totals.some(({ total }) => total > CAP)).toBe(true);
      }
    },
  );
});

/** Every interleaving of the agents' steps, as a list of agents, one per step. */
function* interleavings({ agents, rounds }: Plan): Iterable<readonly number[]> {
  const left = Array.from({ length: agents }, () => rounds * STEPS_PER_ROUND.length);
  yield* next([]);

  function* next(before: readonly number[]): Iterable<readonly number[]> {
    if (left.every((steps) => steps === 0)) yield before;
    for (let agent = 0; agent < agents; agent++) {
      if (left[agent] === 0) continue;
      left[agent]!--;
      yield* next([...before, agent]);
      left[agent]!++;
    }
  }
}

interface Run {
  readonly trajectoryId: string;
  readonly rulings: readonly Ruling[];
}

class Bench {
  readonly store: Store;
  readonly #domain: Domain;
  /** One for each agent; all the same where they share one. */
  readonly #runtimes: readonly Assize[];

  static async open(domain: Domain, agents: number, setting: Setting): Promise<Bench> {
    const store = await openStore('memory:');
    const runtime = () =>
      new Assize({
        store,
        domains: [domain],
        anchors: [root.publicKey],
        ports: { pause: async () => {} },
      });
    const shared = runtime();
    return new Bench(
      store,
      domain,
      Array.from({ length: agents }, () => (setting === 'one runtime' ? shared : runtime())),
    );
  }

  private constructor(store: Store, domain: Domain, runtimes: readonly Assize[]) {
    this.store = store;
    this.#domain = domain;
    this.#runtimes = runtimes;
  }

  /** Goes through one schedule on a trajectory of its own. */
  async run({ share }: Plan, schedule: readonly number[], { twice = false } = {}): Promise<Run> {
    const first = this.#runtimes[0] as Assize;
    const { id } = await first.create(this.#domain, { writs, initial: { cap: CAP, spent: {} } });
    const agents: Agent[] = [];
    for (const [index, runtime] of this.#runtimes.entries()) {
      agents.push(new Agent(index, await runtime.open(id), share, twice ? 2 : 1));
    }
    for (const agent of schedule) await agents[agent]!.step();
    for (const runtime of this.#runtimes) runtime.release(id);
    return { trajectoryId: id, rulings: agents.flatMap(({ heard }) => heard) };
  }
}

class Agent {
  readonly heard: Ruling[] = [];
  readonly #index: number;
  readonly #trajectory: Trajectory;
  readonly #share: number;
  readonly #proposalsPerRound: number;
  #steps = 0;
  #seen = 0;
  #submitted: Promise<Ruling>[] = [];

  constructor(index: number, trajectory: Trajectory, share: number, proposalsPerRound: number) {
    this.#index = index;
    this.#trajectory = trajectory;
    this.#share = share;
    this.#proposalsPerRound = proposalsPerRound;
  }

  /** Only hearing a ruling waits: until then nothing but the steps of the schedule happens. */
  async step(): Promise<void> {
    switch (STEPS_PER_ROUND[this.#steps++ % STEPS_PER_ROUND.length]) {
      case 'read':
        this.#seen = this.#spentBySlice();
        return;
      case 'submit':
        for (let i = 0; i < this.#proposalsPerRound; i++) this.#submitted.push(this.#propose());
        return;
      case 'hear':
        this.heard.push(...(await Promise.all(this.#submitted.splice(0))));
    }
  }

  #spentBySlice(): number {
    const slice = this.#trajectory.slice('spender', { agent: nameOf(this.#index) });
    return (slice as { spent?: Record<string, number> }).spent?.[nameOf(this.#index)] ?? 0;
  }

  #propose(): Promise<Ruling> {
    return this.#trajectory.propose({
      action: 'spend',
      role: { name: 'spender', params: { agent: nameOf(this.#index) } },
      // Nothing left is asked for as one dollar, so that every round has a proposal.
      args: { amount: Math.max(1, Math.floor(((CAP - this.#seen) * this.#share) / 100)) },
      writ: writs[this.#index]!,
    });
  }
}

const root = generateKeys();

function nameOf(agent: number): string {
  return `agent-${agent}`;
}

const writs = [0, 1, 2].map((agent) =>
  issueWrit(
    {
      issuer: root.publicKey,
      subject: nameOf(agent),
      actions: ['spend'],
      scopes: [`role:spender:${nameOf(agent)}`],
      not_before: '2000-01-01T00:00:00.000000Z',
      expires: '2100-01-01T00:00:00.000000Z',
      max_depth: 0,
      nonce: nameOf(agent),
    },
    root.privateKey,
  ),
);

interface Total {
  /** The entry after which it stands. */
  readonly id: string;
  readonly kind: string;
  /** The amount that the entry's proposal asks for. */
  readonly asked: number;
  readonly total: number;
}

/** The sum spent after each entry, folded from the stored entries. */
async function totalsOf(store: Store, trajectoryId: string): Promise<Total[]> {
  const rows = await store.entries(trajectoryId);
  const fold = fresh({ cap: CAP, spent: {} });
  return rows.map(({ id, kind, payload }) => {
    const { delta, action, intent } = JSON.parse(payload);
    if (kind === 'commit')
      applyPatches(fold, (delta as CommitPayload['delta']).state as readonly Patch[]);
    const { spent } = fold.state as { spent: Record<string, number> };
    const total = Object.values(spent).reduce((sum, amount) => sum + amount, 0);
    return { id, kind, asked: (action ?? intent)?.args.amount ?? 0, total };
  });
}

async function expectSound(
  store: Store,
  trajectoryId: string,
  rulings: readonly Ruling[],
): Promise<void> {
  const [begin, ...entries] = await totalsOf(store, trajectoryId);
  expect(begin).toMatchObject({ kind: 'root', total: 0 });

  // Each ruling has exactly one entry, and there are no others.
  const ruled = rulings.map((ruling) => ('entry' in ruling ? ruling.entry.id : ruling.ruling));
  expect(new Set(ruled).size).toBe(rulings.length);
  expect(entries.map(({ id }) => id).sort()).toEqual([...ruled].sort());

  // In ledger order each proposal is committed exactly when it fits: never too many commits, and
  // never too few.
  let total = 0;
  for (const entry of entries) {
    const fits = total + entry.asked <= CAP;
    expect(entry.kind).toBe(fits ? 'commit' : 'rejection');
    if (fits) total += entry.asked;
    expect(entry.total).toBe(total);
  }
  expect(total).toBeLessThanOrEqual(CAP);

  const report = await verifyTrajectory(new Replayer(store), trajectoryId);
  expect(report).toMatchObject({ valid: true, entries: entries.length + 1, open: 0 });
}
