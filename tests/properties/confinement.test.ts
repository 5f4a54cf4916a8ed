import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Agent, type AgentOracle, runAgents } from '#agents';
import { canonicalize, contentHash, type Json } from '#canon';
import { createOracle, fixedClock, seededRandom } from '#oracle';
import { MemoryStore } from '#stores';
import { cases } from '../support/cases.ts';
import { generatedDomain, type RuleSpec, type ShopState } from '../support/generated-domain.ts';
import { clone } from '../support/json.ts';
import { type AgentSpec, agentOf, agentSpec, population } from '../support/population.ts';
import { runtimeOver, START } from '../support/runtime.ts';
import { askingRules, fitted, shopState } from '../support/schedule.ts';

// Seed 000, A.2.2, Proposition 1 (Agent Confinement), and its + form, with counselor commits in between.

/** Two states, of which the second has what a role sees as in the first, and is another one besides. */
function alike(spec: AgentSpec, one: ShopState, other: ShopState): ShopState {
  const { name, params } = agentOf(spec, 0, async () => null).role;
  const user = params['user'] as string;
  const mixed = clone(other);
  const take = (part: 'n' | 'orders' | 'users') => {
    if (one[part][user] === undefined) delete mixed[part][user];
    else (mixed[part] as Record<string, unknown>)[user] = clone(one[part][user]);
  };
  if (name === 'worker') return { ...clone(one), approvals: { else: 'where' } };
  if (name === 'clerk') take('n');
  if (name === 'clerk' || name === 'owner') take('users');
  if (name === 'owner') take('orders');
  return mixed;
}

/** All decisions of the first property are made in one place, because they only read there. */
const plain = generatedDomain([]).domain;
const log = new MemoryStore();
const runtime = runtimeOver(log, [plain], { oracle: log });
let count = 0;

/** What an agent decides on a state, with answers that follow from the question and its place. */
async function intentOn(
  spec: AgentSpec,
  state: ShopState,
  salt: number,
): Promise<{ slice: string; intent: string; asked: Json }> {
  const trajectory = await runtime.create(plain, { trajectoryId: `t${count++}`, initial: clone(state) });
  const agent = agentOf(spec, 0, async (request) => contentHash([salt, request]));
  let slice = '';
  let intent = '';
  const asked: Json[] = [];
  const watching: Agent = {
    ...agent,
    async decide(given, oracle) {
      slice = canonicalize(given as Json);
      const noting: AgentOracle = {
        ask: async (asking) => note(asked, await oracle.ask(asking)),
        now: async () => note(asked, await oracle.now()),
        random: oracle.random,
      };
      const decision = await agent.decide(given, noting);
      intent = canonicalize(decision as Json);
      return decision;
    },
  };
  await runAgents(trajectory, [watching], {
    oracle: createOracle({ store: log, clock: fixedClock(START), mode: 'record' }),
    clock: fixedClock(START),
    random: seededRandom(salt),
    maxTurns: 1,
  });
  runtime.release(trajectory.id);
  return { slice, intent, asked };
}

function note<T extends Json>(asked: Json[], answer: T): T {
  asked.push(answer);
  return answer;
}

describe('Proposition 1 (Agent Confinement)', () => {
  test('(i) observation confinement: equal slices and equal oracle answers, equal intents, whatever else is in the state', () =>
    fc.assert(
      fc.asyncProperty(agentSpec, shopState, shopState, fc.nat(1_000), async (spec, one, other, salt) => {
        const second = alike(spec, one, other);
        const first = await intentOn(spec, one, salt);
        const again = await intentOn(spec, second, salt);
        expect(again).toEqual(first);
      }),
      { numRuns: cases(10_000) },
    ));

  test('(ii) write-authority confinement: nothing an agent does before it is ruled on changes the world or a slice', () =>
    fc.assert(
      fc.asyncProperty(askingRules, shopState, population, (rules, start, specs) =>
        confined(rules, start, specs, 'nobody'),
      ),
      { numRuns: cases(500) },
    ));
});

describe('Proposition 1+ (Agent Confinement, with counselor commits)', () => {
  test('(ii) between any two entries, a counselor’s among them, agents change neither the world nor a slice', () =>
    fc.assert(
      fc.asyncProperty(askingRules, shopState, population, (rules, start, specs) =>
        confined(rules, start, specs, 'somebody'),
      ),
      { numRuns: cases(500) },
    ));
});

/** Runs agents that try to change what they get; looks at the world and at every slice when they begin and when they end. */
async function confined(
  rules: readonly RuleSpec[],
  start: ShopState,
  specs: readonly AgentSpec[],
  counsel: 'nobody' | 'somebody',
): Promise<void> {
  const store = new MemoryStore();
  const { domain } = generatedDomain(fitted(rules, start));
  const clock = fixedClock(START, 700);
  const assize = runtimeOver(store, [domain], { oracle: store, clock });
  const trajectory = await assize.create(domain, { trajectoryId: 't', initial: clone(start) });
  let calls = 0;
  const honest = specs.map((spec, n) => agentOf(spec, n, async () => ++calls));
  const look = () => ({
    head: trajectory.head,
    state: canonicalize(trajectory.state()),
    slices: honest.map(({ role }) => canonicalize(trajectory.slice(role.name, role.params) as Json)),
    pending: trajectory.pending().map(({ id }) => id),
  });
  const agents = honest.map(
    (agent): Agent => ({
      ...agent,
      async decide(slice, oracle) {
        const before = look();
        expect(canonicalize(slice as Json)).toBe(before.slices[honest.indexOf(agent)]);
        meddle(slice);
        const heard = await oracle.ask({ request: 'hm', call: () => ({ words: [1] }) });
        meddle(heard);
        const decision = await agent.decide(slice, oracle);
        expect(look()).toEqual(before);
        return decision;
      },
    }),
  );
  let seen = look();
  await runAgents(trajectory, agents, {
    oracle: createOracle({ store, clock, mode: 'record' }),
    clock,
    random: seededRandom('confined'),
    maxTurns: 5,
    ...(counsel === 'nobody'
      ? {}
      : {
          counsel: ({ id }) =>
            ({ do: id < '8' ? 'approve' : 'reject', principal: 'doc', method: 'test', reason: 'so' }) as const,
        }),
    onTurn: ({ ruling }) => {
      // Only what is ruled on moves anything, and it leaves an entry.
      const now = look();
      if (ruling === undefined || ruling.ruling === 'frozen') expect(now).toEqual(seen);
      else expect(now.head).toBe(ruling.entry.id);
      if (ruling?.ruling === 'rejected') expect(now.state).toBe(seen.state);
      seen = now;
    },
  });
}

/** Writes wherever it can get at; a frozen value throws, and what is not there takes nothing. */
function meddle(value: any): void {
  const before = canonicalize(value);
  for (const write of [
    () => Object.assign(value, { stolen: 1 }),
    () => Object.setPrototypeOf(value, { stolen: 1 }),
    () => delete value.log,
    () => value.log.push(99),
    () => value.words.push(99),
    () => (value.n.a = 99),
    () => Object.assign(value.users, { a: { limit: 99, spent: 0 } }),
    () => Object.values<any>(value.orders).map((order) => (order.total = 99)),
  ]) {
    try {
      write();
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
    }
  }
  expect(canonicalize(value)).toBe(before);
}
