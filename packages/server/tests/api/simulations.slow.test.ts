/** Simulations of the configuration by the API. */

import { simulate, simulationDocument } from '@assize/agents/internal/agents';
import { MemoryStore } from '@assize/testing/memory';
import { ruleTable } from 'assize/internal/authority';
import type { SimulatedAgent, SimulatedVariant, SimulationConfig } from 'assize/internal/config';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Calling,
  callOperation,
  pay,
  succeed,
} from '../../../../tests/support/server/calling.ts';
import {
  ROOT,
  type Starting,
  start,
  type TestServer,
} from '../../../../tests/support/server/serving.ts';
import { bank, till } from '../../../../tests/support/server/till.ts';

const SECRET = 'sk-a-secret-of-a-model';

const role = (desk: string) => ({ name: 'clerk', params: { desk } });

/** Pays the amounts at a desk, one after the other, and ends after a rejection. */
function payer(amounts: readonly number[], desk = 'a'): SimulatedAgent {
  return {
    name: 'agent:scout',
    role: role(desk),
    async decide({ desks }, oracle) {
      const last = await oracle.ruling();
      if (last?.ruling === 'escalated') return 'wait';
      if (last?.ruling === 'rejected') return 'done';
      const sums = amounts.map((_, n) =>
        amounts.slice(0, n + 1).reduce((sum, one) => sum + one, 0),
      );
      const next = sums.findIndex((sum) => sum > (desks?.[desk]?.sum ?? 0));
      return next < 0 ? 'done' : { action: 'pay', args: { amount: amounts[next] } };
    },
  };
}

/** Makes one call of the bank. */
const wirer: SimulatedAgent = {
  name: 'agent:scout',
  role: role('w'),
  decide: async (_, oracle) =>
    (await oracle.ruling()) === null ? { action: 'wire', args: { cents: 9 } } : 'done',
};

const strict = ruleTable({
  id: 'strict',
  otherwise: 'allow',
  rules: [
    { id: 'small-only', effect: 'deny', actions: ['pay'], where: [{ path: '/amount', min: 20 }] },
  ],
});

const of = (...variants: SimulatedVariant[]): SimulationConfig => ({ domain: 'till', variants });
const throwing = (): never => {
  throw new Error(`the model refused the key ${SECRET}`);
};

const SIMULATIONS: Record<string, SimulationConfig> = {
  plain: {
    ...of(
      { name: 'same', agents: [payer([10, 30])] },
      { name: 'more', agents: [payer([10, 60])] },
      { name: 'strict', agents: [payer([10, 30])], policy: strict },
    ),
    description: 'Three ways to pay.',
    limits: { samples: 3, turns: 20 },
  },
  waiting: {
    ...of({
      name: 'silent',
      agents: [{ ...payer([1]), decide: () => new Promise(() => undefined) }],
    }),
    limits: { seconds: 1 },
  },
  calling: of({ name: 'wires', agents: [wirer] }),
  failing: of({ name: 'throws', agents: [{ ...payer([1]), decide: throwing }] }),
  thrown: { domain: 'till', variants: throwing },
  nothing: { domain: 'till', variants: () => [] },
  unwritten: { domain: 'till', variants: () => [{ name: 'a', agents: [null as never] }] },
  twice: of({ name: 'a', agents: [payer([1])] }, { name: 'a', agents: [payer([1])] }),
  cash: { domain: 'budget', variants: [{ name: 'a', agents: [payer([1])] }] },
};

/** A store, and the methods that write which were called after `watch`. */
function watchedStore() {
  const writes =
    /^(commit|oraclePut|logEffects|leaseEffects|joinEffects|adopt|sidePut|put|drop|rebuild|keep|integrate)/;
  const called: string[] = [];
  let isWatching = false;
  const store = new Proxy(new MemoryStore(), {
    get: (target, name) => {
      if (isWatching && writes.test(String(name))) called.push(String(name));
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const watch = (): void => {
    isWatching = true;
  };
  return { store, called, watch };
}

async function served(starting: Starting = {}): Promise<TestServer> {
  const server = await start({
    ...starting,
    config: { simulations: SIMULATIONS, ...starting.config },
  });
  await paid(server, [10, 30]);
  return server;
}

async function paid(server: TestServer, amounts: readonly number[]): Promise<void> {
  for (const [n, amount] of amounts.entries())
    await callOperation(server, 'proposals.create', pay('a', amount, `k${n}`));
}

const asking = (simulation: string, more: object = {}, trajectory = 'main'): Calling => ({
  path: { trajectory },
  body: { simulation, ...more },
});
const run = (server: TestServer, ...asked: Parameters<typeof asking>) =>
  succeed(server, 'simulations.run', asking(...asked));
const refused = async (server: TestServer, ...asked: Parameters<typeof asking>) => {
  const { status, body } = await callOperation(server, 'simulations.run', asking(...asked));
  return { status, code: body.code as string, detail: body.detail as string, body };
};

test('the simulations are listed without their code', async () => {
  const server = await served();
  const { simulations } = await succeed(server, 'simulations.list', { as: 'auditor:eve' });
  expect(simulations.map(({ name }: { name: string }) => name)).toEqual(
    Object.keys(SIMULATIONS).sort(),
  );
  expect(simulations.find(({ name }: { name: string }) => name === 'plain')).toEqual({
    name: 'plain',
    description: 'Three ways to pay.',
    domain: 'till',
    variants: ['same', 'more', 'strict'],
    limits: { samples: 3, turns: 20, seconds: 30 },
  });
  expect(simulations.find(({ name }: { name: string }) => name === 'thrown')).toEqual({
    name: 'thrown',
    domain: 'till',
    limits: { samples: 5, turns: 100, seconds: 30 },
  });
});

test('variants part from the record at the rulings that differ', async () => {
  const server = await served();
  const { at, recorded, variants, partings } = await run(server, 'plain', { samples: 2 });
  expect(at.seq).toBe(0);
  expect(recorded).toMatchObject({ rulings: { committed: 2, rejected: 0 }, left_out: 2 });
  const [same, more, careful] = variants;
  expect(same.samples.map(({ parts }: any) => parts)).toEqual([undefined, undefined]);
  expect(more.samples[0].parts).toMatchObject({
    step: 1,
    one: { seq: 2, args: { amount: 30 }, ruling: 'committed' },
    other: { args: { amount: 60 }, ruling: 'committed' },
  });
  expect(careful).toMatchObject({
    outcomes: { done: 2 },
    rules: { 'small-only': { rejected: 2 } },
  });
  expect(partings.map(({ variants: pair }: any) => pair)).toEqual([
    ['same', 'more'],
    ['same', 'strict'],
    ['more', 'strict'],
  ]);
});

test('an answer is that of the library, and nothing is written', async () => {
  const amount = fc.integer({ min: 1, max: 1_200 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(amount, { minLength: 1, maxLength: 4 }),
      fc.array(fc.array(amount, { maxLength: 4 }), { minLength: 1, maxLength: 3 }),
      fc.nat(),
      fc.integer({ min: 1, max: 2 }),
      async (recorded, tried, place, samples) => {
        const variants = tried.map((amounts, n) => ({
          ...{ name: `v${n}`, agents: [payer(amounts)], fresh: n === 1 },
          ...(n === 2 && { policy: strict, people: { approve: 'boss:ada' } }),
        }));
        const { store, called, watch } = watchedStore();
        const config = { simulations: { tried: { domain: 'till', variants } } };
        const server = await start({ store: store as MemoryStore, config });
        await paid(server, recorded);
        const head = (await store.head('main'))?.seq as number;
        const at = place % (head + 1);
        const before = await server.contents();
        watch();
        const answer = await run(server, 'tried', { at_seq: at, samples, turns: 12, seed: 's' });
        // The server counts new entries in the background, at any time.
        const written = called.filter((name) => name !== 'integrate');
        expect({ written, contents: await server.contents() }).toEqual({
          written: [],
          contents: before,
        });
        const [writ] = await server.service.grants.allForCopy('main');
        const alone = await simulate(
          { store, oracleStore: store, trajectoryId: 'main' },
          {
            ...{
              domain: till,
              anchors: [ROOT.publicKey],
              at,
              samples,
              seed: 's',
              limits: { turns: 12 },
              tools: [bank],
            },
            variants: variants.map((one) => ({
              ...one,
              agents: one.agents.map((agent) => ({ ...agent, writ: writ! })),
            })),
          },
        );
        expect(answer).toEqual(JSON.parse(JSON.stringify(simulationDocument(alone))));
        await server.stop();
      },
    ),
    // Each run starts a server, so a failure is not made smaller.
    { numRuns: 15, endOnFailure: true },
  );
});

test('the budget that the record spent counts in a branch', async () => {
  const grants = [
    { trajectories: ['main'], actions: ['tip'], scopes: ['role:clerk:**'], budget: { cents: 50 } },
  ];
  const tip = (cents: number): SimulatedAgent => ({
    ...wirer,
    role: role('a'),
    decide: async (_, oracle) =>
      (await oracle.ruling()) === null ? { action: 'tip', args: { amount: cents } } : 'done',
  });
  const server = await start({
    principals: { 'agent:scout': { kinds: ['agent'], grants }, 'admin:ann': { kinds: ['admin'] } },
    config: {
      simulations: {
        tips: of({ name: 'little', agents: [tip(20)] }, { name: 'much', agents: [tip(21)] }),
      },
    },
  });
  const body = { action: 'tip', role: role('a'), args: { amount: 30 } };
  await succeed(server, 'proposals.create', { ...pay('a', 1, 'k'), body });
  const { variants } = await run(server, 'tips', { at_seq: 1 });
  expect(
    variants.map(({ samples: [{ steps }] }: any) => steps.map(({ ruling }: any) => ruling)),
  ).toEqual([['committed'], ['rejected']]);
});

test('a call without an answer names its tool, and the real tool is not called', async () => {
  const server = await served();
  const { variants } = await run(server, 'calling');
  const [{ outcome, fault }] = variants[0].samples;
  expect(outcome).toBe('no_answer');
  expect(fault).toMatchObject({
    tool: 'bank.pay',
    input: { cents: 9 },
    detail: expect.stringContaining('no simulator'),
  });
  expect((await server.store.listEffects({ limit: 10 })).length).toBe(0);
});

describe('errors', () => {
  test('no answer has a text of the code of the project, and the log has it', async () => {
    const server = await served();
    const { variants } = await run(server, 'failing');
    expect(variants[0].samples[0]).toMatchObject({
      outcome: 'failed',
      fault: { code: 'error', detail: expect.stringContaining('log of the server') },
    });
    expect(JSON.stringify(variants)).not.toContain(SECRET);
    const thrown = await refused(server, 'thrown');
    expect(thrown).toMatchObject({ status: 422, code: 'bad_simulation' });
    expect(JSON.stringify(thrown.body)).not.toContain(SECRET);
    expect(server.lines.filter((line) => line.includes(SECRET))).toHaveLength(2);
  });

  test('a simulation of the config that is not valid is named', async () => {
    const server = await served();
    for (const name of ['nothing', 'unwritten', 'twice'])
      expect(await refused(server, name), name).toMatchObject({
        ...{ status: 422, code: 'bad_simulation' },
        detail: expect.stringContaining(`The simulation ${name} of the config`),
      });
    const principals = { 'admin:ann': { kinds: ['admin' as const] } };
    const alone = await start({ principals, config: { simulations: SIMULATIONS } });
    const detail = expect.stringContaining('no agent of the config has a grant in the trajectory');
    expect(await refused(alone, 'plain')).toMatchObject({
      status: 422,
      code: 'bad_simulation',
      detail,
    });
  });

  test('a name, an entry or a trajectory that does not exist is not found', async () => {
    const server = await served();
    for (const [simulation, more, trajectory] of [
      ['none', {}, 'main'],
      ['constructor', {}, 'main'],
      ['plain', {}, 'nowhere'],
      ['plain', { at_seq: 99 }, 'main'],
      ['cash', {}, 'main'],
    ] as const)
      expect(await refused(server, simulation, more, trajectory), simulation).toMatchObject({
        status: 404,
        code: 'not_found',
      });
  });

  test('a trajectory with too many entries is left to the command', async () => {
    let last: number | undefined;
    const memory = new MemoryStore();
    const head: MemoryStore['head'] = async (id) => {
      const row = await memory.head(id);
      return row === undefined || last === undefined ? row : { ...row, seq: last };
    };
    const store = new Proxy(memory, {
      get: (target, name) => {
        if (name === 'head') return head;
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    const server = await served({ store });
    last = 19_999;
    await run(server, 'plain');
    last = 20_000;
    const long = await refused(server, 'plain');
    expect(long).toMatchObject({
      status: 413,
      code: 'too_large',
      detail: expect.stringContaining('--simulation plain'),
    });
  });

  test('more samples or turns than the limits are refused at their place', async () => {
    const server = await served();
    for (const [member, value] of Object.entries({ samples: 4, turns: 21 })) {
      const { status, code, body } = await refused(server, 'plain', { [member]: value });
      expect({ status, code }).toEqual({ status: 400, code: 'invalid_request' });
      expect(body.findings).toEqual([
        { pointer: `/body/${member}`, message: expect.stringContaining('at most') },
      ]);
    }
    for (const bad of [{ samples: 0 }, { turns: 1.5 }, { at_seq: -1 }, { seed: 1 }])
      expect(await refused(server, 'plain', bad)).toMatchObject({
        status: 400,
        code: 'invalid_request',
      });
  });

  test('only an administrator runs one', async () => {
    const server = await served();
    for (const as of ['agent:scout', 'boss:ada', 'auditor:eve'] as const) {
      const { status, body } = await callOperation(server, 'simulations.run', {
        ...asking('plain'),
        as,
      });
      expect({ as, status, code: body.code }).toEqual({ as, status: 403, code: 'forbidden' });
    }
  });

  test('a simulation that is not done in its time ends, and its slot is free', async () => {
    const server = await served({
      server: { limits: { requestsPerSecond: 1_000, simulations: 1 } },
    });
    const late = refused(server, 'waiting');
    await expect.poll(() => server.service.simulations.running).toBe(1);
    const busy = await callOperation(server, 'simulations.run', asking('plain'));
    expect(busy).toMatchObject({ status: 429, body: { code: 'too_busy', retryable: true } });
    expect(Number(busy.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await late).toMatchObject({ status: 422, code: 'simulation_late' });
    expect(server.service.simulations.running).toBe(0);
    await run(server, 'plain');
  });

  test('a client that leaves ends its simulation', async () => {
    const endless = { ...SIMULATIONS['waiting']!, limits: { seconds: 50 } };
    const server = await served({ config: { simulations: { endless } } });
    const leaving = new AbortController();
    const token = server.tokens['admin:ann'];
    const asked = server
      .ask('POST', '/v1/trajectories/main/simulations', {
        ...{ token, body: { simulation: 'endless' }, signal: leaving.signal },
      })
      .catch((error: unknown) => error);
    await expect.poll(() => server.service.simulations.running).toBe(1);
    leaving.abort();
    await asked;
    await expect.poll(() => server.service.simulations.running).toBe(0);
    // The time limit would be 422.
    const ended = () =>
      server.lines.some((line) => /"route":"simulations.run","status":408/.test(line));
    await expect.poll(ended).toBe(true);
  });
});
