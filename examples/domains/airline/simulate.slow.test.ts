import {
  type Agent,
  runAgents,
  type SampleResult,
  type Simulation,
  simulate,
  type VariantResult,
} from '@assize/agents';
import { Assize, createOracle, generateKeys, issueWrit, openStore } from 'assize';
import type { Json } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';
import { declareTool, type Tool } from 'assize/internal/effects';
import { call, type Domain, defineDomain } from 'assize/internal/kernel';
import { fixedClock, seededRandom } from 'assize/internal/oracle';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { airline } from './index.ts';
import {
  airlineWorld,
  type Call,
  hasAirline,
  isWrite,
  recordedRuns,
  recordedSolutions,
} from './testing/data.ts';
import { airlineTools } from './tools.ts';

// The recorded writes of GPT-4o are made at a booking system outside, as the calls of the actions.
// A variant makes the calls of the benchmark's own solution, under the same policy.

const keys = generateKeys(new Uint8Array(32).fill(3));
const DAY = { not_before: '2024-05-15T00:00:00.000000Z', expires: '2024-05-17T00:00:00.000000Z' };
const SUPERVISOR = { principal: 'supervisor:test', method: 'test' };

/** The booking system: answers in the order of the recorded calls, and only until it is closed. */
class BookingSystem {
  readonly made: string[] = [];

  /** The calls of a script that are among those made, each counted once. */
  sharedWith(calls: readonly Call[]): number {
    const left = [...this.made];
    return calls.filter(({ name, arguments: args }) => {
      const at = left.indexOf(canonicalize([name, args]));
      return at >= 0 && left.splice(at, 1).length === 1;
    }).length;
  }

  #isClosed = false;

  close(): void {
    this.#isClosed = true;
  }

  readonly tools: readonly Tool[] = airlineTools.writes.map((name) =>
    declareTool({
      name: `airline.${name}`,
      input: z.record(z.string(), z.unknown()),
      class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
      writes: ['airline:bookings'],
      execute: (args) => {
        if (this.#isClosed) throw new Error('the booking system was called');
        this.made.push(canonicalize([name, args]));
        return { done: this.made.length };
      },
    }),
  );
}

/** The airline with actions that call the booking system. */
function airlineCalling(tools: readonly Tool[]): Domain {
  const { declared } = airline as unknown as {
    readonly declared: { readonly actions: Record<string, object> };
  };
  const calling = Object.entries(declared.actions).map(([name, action]) => {
    const tool = tools.find((one) => one.name === `airline.${name}`) as Tool;
    return [name, { ...action, calls: (_: unknown, args: Json) => [call(tool, args)] }];
  });
  const spec = { ...declared, actions: Object.fromEntries(calling), unjudgedCalls: 'allow' };
  return defineDomain(spec as never) as unknown as Domain;
}

/** Proposes the writing calls, one after the other. */
function scripted(calls: readonly Call[]): Agent {
  const writes = calls.filter(isWrite);
  let next = 0;
  return {
    name: 'gpt-4o',
    role: { name: 'agent', params: {} },
    writ: issueWrit(
      {
        ...{ issuer: keys.publicKey, subject: 'agent:gpt-4o', actions: ['**'], scopes: ['**'] },
        ...{ max_depth: 0, nonce: 'airline', ...DAY },
      },
      keys.privateKey,
    ),
    async decide(_slice, oracle) {
      if ((await oracle.ruling())?.ruling === 'escalated') return 'wait';
      const write = writes[next++];
      return write === undefined ? 'done' : { action: write.name, args: write.arguments };
    },
  };
}

async function simulated(record: readonly Call[], solution: readonly Call[]) {
  const system = new BookingSystem();
  const domain = airlineCalling(system.tools);
  const store = await openStore('memory:');
  const clock = fixedClock('2024-05-15T19:00:00.000000Z', 1_000);
  const assize = new Assize({
    ...{ store, oracle: store, domains: [domain], anchors: [keys.publicKey], tools: system.tools },
    ...{ ports: { clock, random: seededRandom('airline') }, maxClockAheadMs: 'unlimited' as const },
  });
  const trajectory = await assize.create(domain, { trajectoryId: 'task', initial: airlineWorld() });
  await runAgents(trajectory, [scripted(record)], {
    ...{
      oracle: createOracle({ store, clock, mode: 'record' }),
      clock,
      random: seededRandom('run'),
      maxTurns: 60,
    },
    counsel: () => ({ do: 'approve', ...SUPERVISOR }),
  });
  await assize.close();
  system.close();
  const source = { store, oracleStore: store, trajectoryId: 'task' };
  const simulators = Object.fromEntries(
    system.tools.map(({ name }) => [name, { answer: { done: 'simulated' } }]),
  );
  const people = { approve: SUPERVISOR.principal };
  const simulation = await simulate(source, {
    ...{ domain, anchors: [keys.publicKey], tools: system.tools, simulators },
    variants: [
      { name: 'record', agents: [scripted(record)] },
      { name: 'solution', agents: [scripted(solution)], people },
    ],
  });
  expect(simulation.recorded.calls).toEqual(countsOf(system.made));
  expect(
    simulation.variants[1]?.samples[0]?.calls.filter(({ from }) => from === 'record'),
  ).toHaveLength(system.sharedWith(solution));
  return simulation;
}

function countsOf(made: readonly string[]): Record<string, number> {
  const byTool = Map.groupBy(made, (one) => `airline.${JSON.parse(one)[0]}`);
  return Object.fromEntries([...byTool].map(([tool, calls]) => [tool, calls.length]));
}

/** The record and the solution: rulings, calls by source, and the rules that were met. */
function summary({ recorded, variants }: Simulation): readonly string[] {
  const [same, other] = variants.map(({ samples }) => samples[0]) as [SampleResult, SampleResult];
  expect(same.parts).toBeUndefined();
  expect(same.difference).toEqual([]);
  const from = (source: string) => other.calls.filter((one) => one.from === source).length;
  const { committed, rejected, rules } = recorded.rulings;
  const { committed: made, rejected: refused } = (variants[1] as VariantResult).medians;
  return [
    `${committed} committed, ${rejected} rejected, ${Object.keys(rules)}`,
    `${other.outcome}: ${made} committed, ${refused} rejected, ${from('record')} recorded, ${from('simulator')} simulated`,
  ];
}

describe.skipIf(!hasAirline)(
  'five recorded tasks (tau-airline, absent without ASSIZE_DATA)',
  () => {
    test('the solutions of the benchmark as a variant of the recorded agent', async () => {
      const solutions = recordedSolutions();
      const runs = recordedRuns()
        .filter(({ calls, trial }) => trial === 0 && calls.filter(isWrite).length > 0)
        .slice(0, 5);
      const found: Record<string, readonly string[]> = {};
      for (const { task_id, calls } of runs) {
        const solution = solutions.find((task) => task.task_id === task_id)?.calls ?? [];
        found[task_id] = summary(await simulated(calls, solution));
      }
      expect(found).toEqual({
        0: [
          '0 committed, 2 rejected, BAGGAGE_ALLOWANCE',
          'done: 1 committed, 0 rejected, 0 recorded, 1 simulated',
        ],
        2: ['2 committed, 0 rejected, ', 'done: 5 committed, 0 rejected, 2 recorded, 3 simulated'],
        3: ['1 committed, 5 rejected, ', 'done: 2 committed, 0 rejected, 0 recorded, 2 simulated'],
        4: ['1 committed, 0 rejected, ', 'done: 3 committed, 0 rejected, 0 recorded, 3 simulated'],
        5: ['1 committed, 0 rejected, ', 'done: 3 committed, 0 rejected, 1 recorded, 2 simulated'],
      });
    });
  },
);
