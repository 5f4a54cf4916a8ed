import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Agent,
  type People,
  type RunOptions,
  replayRun,
  runAgents,
  type SampleResult,
  simulate,
  type ToolSimulator,
  type Variant,
} from '#agents';
import type { Policy } from '#authority';
import { isAssizeError } from '#base';
import { canonicalize, contentHash } from '#canon';
import { readTransaction } from '#effects';
import { createOracle, fixedClock, seededRandom } from '#oracle';
import { cases } from '../support/cases.ts';
import { operator, runtimeOver, START } from '../support/ledger/runtime.ts';
import { type AgentSpec, agentOf, population } from '../support/models/generated-agents.ts';
import {
  generatedDomain,
  type RuleSpec,
  type ShopState,
} from '../support/models/generated-domain.ts';
import { clone } from '../support/models/json.ts';
import { askingRules, fitted, shopState } from '../support/models/schedule.ts';
import { Till, teller, tellerDomain } from '../support/tools/teller.ts';

// An execution is a function of its beginning and of the oracle trace (Seed 000, A.42). So a
// variant with the agents of the record repeats the record, from any entry on.

interface Plan {
  readonly rules: readonly RuleSpec[];
  readonly start: ShopState;
  readonly specs: readonly AgentSpec[];
  readonly counsel: boolean;
  readonly freeze: 'world' | 'footprint';
  readonly at: number;
}

const plan: fc.Arbitrary<Plan> = fc.record({
  rules: askingRules,
  start: shopState,
  specs: population,
  counsel: fc.boolean(),
  freeze: fc.constantFrom('world' as const, 'footprint' as const),
  at: fc.nat(1_000),
});

const ANCHORS = [operator.publicKey];

function agentsOf(specs: readonly AgentSpec[], outside: () => number): Agent[] {
  return specs.map((spec, n) => agentOf(spec, n, async () => outside()));
}

async function recorded({ rules, start, specs, counsel, freeze }: Plan) {
  const store = new MemoryStore();
  const clock = fixedClock(START, 700);
  const { domain } = generatedDomain(fitted(rules, start), freeze);
  let calls = 0;
  const decide: RunOptions['counsel'] = ({ id }) => {
    const by = { principal: 'doc', method: 'test' };
    const chance = Number.parseInt(contentHash([id, calls++]).slice(0, 2), 16) % 8;
    if (chance < 2) return { do: 'later' };
    if (chance === 2) return { ...by, do: 'approve', principal: 'stranger' };
    return chance < 6 ? { ...by, do: 'approve' } : { ...by, do: 'reject', reason: 'no' };
  };
  const assize = runtimeOver(store, [domain], { oracle: store, ports: { clock } });
  const trajectory = await assize.create(domain, { trajectoryId: 't', initial: clone(start) });
  const agents = agentsOf(specs, () => ++calls);
  await runAgents(trajectory, agents, {
    ...{
      oracle: createOracle({ store, clock, mode: 'record' }),
      clock,
      random: seededRandom('run'),
      maxTurns: 12,
    },
    ...(counsel && { counsel: decide }),
  });
  return {
    store,
    domain,
    agents,
    source: { store, oracleStore: store, trajectoryId: 't' },
    calls: () => calls,
  };
}

describe('a variant with the agents of the record', () => {
  test('repeats its entries from any entry on, and asks nothing', () =>
    fc.assert(
      fc.asyncProperty(plan, async (drawn) => {
        const { store, domain, agents, source, calls } = await recorded(drawn);
        const entries = await store.entries('t', { limit: 1_000 });
        const head = entries.at(-1)?.id;
        expect(await replayRun(source, domain, agents, { anchors: ANCHORS })).toMatchObject({
          same: true,
        });
        const asked = calls();
        const at = drawn.at % entries.length;
        const of = (turns?: number) =>
          simulate(source, {
            ...{ domain, anchors: ANCHORS, at, variants: [{ name: 'same', agents }] },
            ...(turns !== undefined && { limits: { turns } }),
          });
        const { recorded: made } = await of(1);
        // The record ended at a limit of turns or by itself.
        if (made.turns === 0) return;
        const { variants } = await of(made.turns);
        const [sample] = variants[0]?.samples ?? [];
        expect(sample).toMatchObject({
          head,
          difference: [],
          turns: made.turns,
          asked: { asked: 0 },
        });
        expect(sample?.parts).toBeUndefined();
        expect(calls()).toBe(asked);
      }),
      { numRuns: cases(600) },
    ));
});

interface Shift {
  readonly chance: string;
  readonly tellers: number;
  readonly length: number;
  readonly manager: boolean;
  readonly at: number;
  readonly variant: (typeof VARIANTS)[number];
  readonly samples: number;
}

const VARIANTS = ['same', 'shifted', 'fresh', 'denied', 'upgraded', 'hostile', 'approved'] as const;

const shift: fc.Arbitrary<Shift> = fc.record({
  chance: fc.string({ maxLength: 4 }),
  tellers: fc.integer({ min: 1, max: 2 }),
  length: fc.integer({ min: 4, max: 12 }),
  manager: fc.boolean(),
  at: fc.nat(1_000),
  variant: fc.constantFrom(...VARIANTS),
  samples: fc.integer({ min: 1, max: 2 }),
});

const MANAGER: NonNullable<RunOptions['counsel']> = () => ({
  do: 'approve',
  principal: 'manager:m',
  method: 'test',
});

async function worked({ chance, tellers, length, manager }: Shift) {
  const till = new Till();
  const domain = tellerDomain(till);
  const store = new MemoryStore();
  const clock = fixedClock(START, 700);
  const assize = runtimeOver(store, [domain], {
    oracle: store,
    tools: till.tools,
    ports: { clock },
  });
  const trajectory = await assize.create(domain, { trajectoryId: 't' });
  const agents = Array.from({ length: tellers }, (_, n) => teller(`teller ${n}`, length));
  await runAgents(trajectory, agents, {
    ...{
      oracle: createOracle({ store, clock, mode: 'record' }),
      clock,
      random: seededRandom(chance),
      maxTurns: 20,
    },
    ...(manager && { counsel: MANAGER }),
  }).catch((error: unknown) => {
    // An effect that was refused for good blocks its place, until an operator decides.
    if (!isAssizeError(error, 'resource_in_doubt')) throw error;
  });
  await assize.close();
  till.close();
  return { till, domain, store, agents };
}

const DENIES: Policy = {
  digest: contentHash('denies'),
  evaluate: ({ action }) => ({
    decision: action === 'pay' ? 'deny' : 'allow',
    rule: 'no_payments',
  }),
} as Policy;

/** The variant, over real tools that throw when they are called. */
function variantOf(kind: Shift['variant'], till: Till, agents: readonly Agent[]): Variant {
  const variant = { name: kind, agents, tools: till.tools };
  if (kind === 'shifted')
    return { ...variant, agents: agents.map(({ name }) => teller(name, 6, 1)) };
  if (kind === 'fresh') return { ...variant, fresh: true };
  if (kind === 'denied') return { ...variant, policy: DENIES };
  if (kind === 'upgraded') return { ...variant, domain: tellerDomain(till, '2', 2) };
  if (kind === 'approved')
    return { ...variant, people: { approve: 'manager:other' } satisfies People };
  return kind === 'hostile'
    ? { ...variant, agents: [...agents.slice(1), hostile(agents[0] as Agent)] }
    : variant;
}

/** Changes all that it is given, and then throws. */
function hostile(agent: Agent): Agent {
  return {
    ...agent,
    decide: async (slice, oracle) => {
      for (const part of [slice, oracle]) Reflect.set(part, 'spent', {});
      const decided = await agent.decide(slice, oracle);
      if (decided === 'done') throw new Error('a hostile agent');
      return decided;
    },
  };
}

/** Fails, fits and knows nothing, by the call. */
const SIMULATORS: { readonly [tool: string]: ToolSimulator } = {
  'till.pay': ({ cents }, { calls, random }) => {
    if (cents === 2 && random() < 0.1) throw new Error('a hostile simulator');
    return { simulated: calls.length };
  },
  'till.wire': {
    table: [{ when: { cents: 1 }, use: { answer: 'one' } }],
    otherwise: { probability: 0.5, use: { error: 'refused' }, otherwise: { answer: 'more' } },
  },
  'till.book': { table: [{ when: { to: 'ann' }, use: { answer: { booked: true } } }] },
};

/** The answers of the record by a walk over the calls that the real tools were given. */
function naiveAnswers(till: Till, { calls }: SampleResult, made: number): void {
  const left = [...till.calls.slice(made), ...till.calls.slice(0, made)];
  for (const { tool, input, from, answer } of calls) {
    const key = canonicalize([tool, input]);
    const next = left.findIndex((one) => canonicalize([one.tool, one.input]) === key);
    expect(from).toBe(next === -1 ? 'simulator' : 'record');
    if (next !== -1) expect(answer).toEqual(left.splice(next, 1)[0]?.answer);
  }
}

describe('a variant of a record with calls', () => {
  test('calls no real tool, changes no source, has recorded answers in order', () =>
    fc.assert(
      fc.asyncProperty(shift, async (drawn) => {
        const { till, domain, store, agents } = await worked(drawn);
        const everything = async () =>
          JSON.stringify([
            await store.entries('t', { limit: 1_000 }),
            await store.listEffects({ limit: 1_000 }),
          ]);
        const before = await everything();
        const entries = await store.entries('t', { limit: 1_000 });
        const at = drawn.at % entries.length;
        const { variants, at: shared } = await simulate(
          { store, oracleStore: store, trajectoryId: 't' },
          {
            ...{
              domain,
              anchors: ANCHORS,
              tools: till.tools,
              at,
              samples: drawn.samples,
              limits: { turns: 20 },
            },
            ...{ simulators: SIMULATORS, variants: [variantOf(drawn.variant, till, agents)] },
          },
        );
        expect(till.touched).toBe(0);
        expect(await everything()).toBe(before);
        for (const sample of variants[0]?.samples ?? []) {
          naiveAnswers(till, sample, await callsUntil(store, entries.slice(0, shared.seq + 1)));
          if (sample.outcome === 'no_answer')
            expect(sample.fault).toMatchObject({ code: 'no_answer', tool: 'till.book' });
          // A record that ended at its limit of turns goes on.
          if (drawn.variant === 'same') expect(sample.parts?.one).toBeUndefined();
        }
      }),
      { numRuns: cases(600) },
    ));
});

/** The number of calls that the commits among these entries made. */
async function callsUntil(
  store: MemoryStore,
  entries: readonly { readonly id: string }[],
): Promise<number> {
  const ids = new Set(entries.map(({ id }) => id));
  const logged = (await store.listEffects({ limit: 1_000 })).map(readTransaction);
  const shared = logged.filter(({ entry }) => entry !== undefined && ids.has(entry));
  return shared.reduce((count, { effects }) => count + effects.length, 0);
}
