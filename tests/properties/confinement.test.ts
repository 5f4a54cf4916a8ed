import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Agent, type AgentOracle, runAgents } from '#agents';
import type { Json } from '#base';
import { canonicalize, contentHash } from '#canon';
import { createOracle, fixedClock, seededRandom } from '#oracle';
import { cases } from '../support/cases.ts';
import { runtimeOver, START } from '../support/ledger/runtime.ts';
import {
  type AgentSpec,
  agentOf,
  agentSpec,
  population,
} from '../support/models/generated-agents.ts';
import { generatedDomain, type ShopState } from '../support/models/generated-domain.ts';
import { clone } from '../support/models/json.ts';
import { askingRules, shopState } from '../support/models/schedule.ts';
import { confined } from './confinement.ts';

// Seed 000, A.2.2, Proposition 1 (Agent Confinement). Its + form is in
// confinement-with-counselor.test.ts.

/** The second of two states: it equals the first in a role's slice, and `other` everywhere else. */
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

/** An agent's decision on a state. The answers derive from the question and the salt. */
async function intentOn(
  spec: AgentSpec,
  state: ShopState,
  salt: number,
): Promise<{ slice: string; intent: string; asked: Json }> {
  const trajectory = await runtime.create(plain, {
    trajectoryId: `t${count++}`,
    initial: clone(state),
  });
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
        calls: oracle.calls,
        ruling: oracle.ruling,
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
  test('(i) observation confinement: equal slices and answers, equal intents', () =>
    fc.assert(
      fc.asyncProperty(
        agentSpec,
        shopState,
        shopState,
        fc.nat(1_000),
        async (spec, one, other, salt) => {
          const second = alike(spec, one, other);
          const first = await intentOn(spec, one, salt);
          const again = await intentOn(spec, second, salt);
          expect(again).toEqual(first);
        },
      ),
      { numRuns: cases(10_000) },
    ));

  test('(ii) write-authority confinement: no unruled change to state or slice', () =>
    fc.assert(
      fc.asyncProperty(askingRules, shopState, population, (rules, start, specs) =>
        confined(rules, start, specs, 'nobody'),
      ),
      { numRuns: cases(10_000) },
    ));
});
