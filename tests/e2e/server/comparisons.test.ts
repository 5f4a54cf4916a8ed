/** Comparisons of architectures by the API. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { compareArchitectures } from '#architectures';
import { contentHash } from '#canon';
import { budget } from '#domains/budget';
import { incident } from '#domains/incident';
import { type Domain, defineDomain } from '#kernel';
import { MemoryStore } from '#stores';
import { STUCK_KIND, stuckBody, stuckKey } from '../../../packages/server/src/watchdog/stuck-rows.ts';
import { callOperation, succeed } from '../../support/server/calling.ts';
import { type Starting, start, UNGRANTED } from '../../support/server/serving.ts';

const AS = 'auditor:eve';

const served = (starting: Starting = {}) =>
  start({
    ...{ domains: [budget, incident] as unknown as Domain[], principals: UNGRANTED },
    config: { worlds: {}, tools: [] },
    ...starting,
  });

test('a comparison is that of the library, and nothing is written', async () => {
  const server = await served();
  const before = await server.contents();
  const terms = fc.record(
    {
      seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
      schedules: fc.integer({ min: 1, max: 60 }),
      population: fc.integer({ min: 2, max: 3 }),
      turns: fc.integer({ min: 1, max: 2 }),
    },
    { requiredKeys: ['schedules'] },
  );
  await fc.assert(
    fc.asyncProperty(terms, fc.constantFrom('budget', budget.hash), async (asked, domain) => {
      const answer = await succeed(server, 'comparisons.run', { as: AS, body: { domain, ...asked } });
      expect(answer).toEqual(JSON.parse(JSON.stringify(await compareArchitectures(budget, asked))));
    }),
    { numRuns: 8 },
  );
  expect(await server.contents()).toEqual(before);
});

test('microservices break a rule in a short schedule, and the kernel none', async () => {
  const server = await served();
  const { architectures, ...terms } = await succeed(server, 'comparisons.run', { as: AS, body: { domain: 'budget' } });
  expect(terms).toMatchObject({ seed: 1, population: 2, turns: 1, schedules: 400, agents: 'generated' });
  const [microservices, kernel] = architectures;
  expect(microservices).toMatchObject({ architecture: 'microservices', violations: [{ rule: 'BUDGET_CAP' }] });
  expect(microservices.violations[0].steps.map(({ does }: any) => does)).toEqual(['read', 'read', 'submit', 'submit']);
  expect(kernel).toMatchObject({ architecture: 'kernel', broken_schedules: 0, violations: [] });
});

test('the kinds that see the whole ledger compare, and agents do not', async () => {
  const server = await served();
  const body = { domain: 'budget', schedules: 4 };
  for (const as of ['boss:ada', 'auditor:eve', 'admin:ann'] as const)
    await succeed(server, 'comparisons.run', { as, body });
  const agent = await callOperation(server, 'comparisons.run', { as: 'agent:scout', body });
  expect(agent).toMatchObject({ status: 403, body: { code: 'forbidden' } });
});

test('wrong requests are refused', async () => {
  const server = await served();
  const refused = async (body: object, status: number, code: string) => {
    const answer = await callOperation(server, 'comparisons.run', { as: AS, body });
    expect({ body, status: answer.status, code: answer.body.code }).toEqual({ body, status, code });
  };
  await refused({ domain: 'nothing' }, 404, 'no_such_value');
  await refused({ domain: incident.name }, 422, 'no_proposals');
  for (const bad of [
    ...[{ schedules: 0 }, { schedules: 401 }, { schedules: 1.5 }, { population: 1 }, { population: 4 }],
    ...[{ turns: 0 }, { turns: 3 }, { seed: -1 }, { seed: 2 ** 31 }, { states: [] }, { agents: 'agents.ts' }],
  ])
    await refused({ domain: 'budget', ...bad }, 400, 'invalid_request');
  await refused({}, 400, 'invalid_request');
});

test('a comparison that blocked a process is refused', async () => {
  const store = new MemoryStore();
  const id = contentHash({ seed: 3, schedules: 4, population: 2, turns: 1 });
  const key = stuckKey({ step: 'comparison', trajectoryId: 'budget', domain: budget.hash, id });
  const at = '2026-11-01T00:00:00.000000Z';
  const body = stuckBody({ step: 'comparison', trajectory: 'budget', at });
  await store.sidePut([{ kind: STUCK_KIND, key, expected: null, body }]);
  const server = await served({ store });
  const terms = { domain: 'budget', schedules: 4, seed: 3 };
  const refused = await callOperation(server, 'comparisons.run', { as: AS, body: terms });
  expect(refused).toMatchObject({ status: 422, body: { code: 'domain_stuck' } });
  await succeed(server, 'comparisons.run', { as: AS, body: { ...terms, seed: 4 } });
  const { stuck } = await succeed(server, 'stuck.list', { as: AS });
  expect(stuck).toEqual([{ key, step: 'comparison', trajectory_id: 'budget', at }]);
});

test('comparisons run one after the other, and one ends when its client leaves', async () => {
  let evaluated = 0;
  const counting = defineDomain({
    name: 'counting',
    version: '1',
    state: z.object({ counters: z.record(z.string(), z.number()) }),
    initial: { counters: {} },
    processes: { count: { reads: ['/counters/{name}'], writes: ['/counters/{name}'] } },
    roles: { counter: { params: ['name'], processes: ['count'] } },
    actions: {
      count: {
        process: 'count',
        args: z.object({ to: z.number().int().min(0).max(1_000_000) }),
        apply: (state, { to }, { role }) => {
          evaluated += 1;
          state.counters[role.name] = to;
        },
      },
    },
    invariants: [],
  });
  const server = await served({ domains: [counting] as unknown as Domain[] });
  const ask = (signal?: AbortSignal) =>
    server.ask('POST', '/v1/comparisons', {
      ...{ token: server.tokens[AS], body: { domain: 'counting' } },
      ...(signal && { signal }),
    });
  await ask();
  const whole = evaluated;
  evaluated = 0;
  const leaving = new AbortController();
  const left = ask(leaving.signal).catch((error: unknown) => error);
  await expect.poll(() => evaluated, { interval: 1 }).toBeGreaterThan(0);
  let isBegun = false;
  const next = server.service.comparisons.run(new AbortController().signal, async () => {
    isBegun = true;
  });
  await new Promise(setImmediate);
  expect(isBegun).toBe(false);
  leaving.abort();
  await left;
  await next;
  expect(evaluated).toBeLessThan(whole);
});
