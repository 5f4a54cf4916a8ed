import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseRuleTable, ruleTable } from '#authority';
import { declareTool } from '#effects';
import { defineDomain } from '#kernel';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';

// One visible text in its two forms (docs/decisions/022-equal-texts.md).
const COMPOSED = 'jos\u00e9';
const SPLIT = 'jose\u0301';

const book = (texts?: 'exact') =>
  defineDomain({
    name: 'book',
    version: '1',
    unjudgedCalls: 'allow',
    state: z.object({ people: z.record(z.string(), z.object({ mail: z.string() })) }),
    initial: { people: {} },
    processes: { own: { writes: ['/people/{name}'] }, all: { writes: ['/people/*'] } },
    roles: { owner: { params: ['name'], processes: ['own'] }, clerk: { processes: ['all'] } },
    actions: {
      mine: {
        process: 'own',
        args: z.object({ mail: z.string() }),
        apply: (state, { mail }, { role }) => {
          state.people[role.name] = { mail };
        },
      },
      add: {
        process: 'all',
        args: z.object({
          name: z.string(),
          mail: z.string(),
          tags: z.record(z.string(), z.string()).optional(),
        }),
        apply: (state, { name, mail }) => {
          if (state.people[name] !== undefined) throw new Error('the name is taken');
          state.people[name] = { mail };
        },
      },
    },
    invariants: ({ unique }) => [unique('ONE_MAIL', '/people/*', { by: ({ mail }) => mail })],
    ...(texts && { texts }),
  });

const opened = async (domain = book()) => {
  const assize = runtimeOver(new MemoryStore(), [domain]);
  return { assize, trajectory: await assize.create(domain, { trajectoryId: 't' }) };
};
const writ = writFor('clerk');
const add = (name: string, mail = `${name}@x`) =>
  ({ action: 'add', role: 'clerk', args: { name, mail }, writ }) as const;

test.each([
  ['is', { path: '/name', is: COMPOSED }],
  ['in', { path: '/name', in: ['ann', SPLIT] }],
  ['a list', { path: '/list', is: [COMPOSED] }],
  ['an object', { path: '/box', is: { [SPLIT]: 1 } }],
])('a deny row by %s meets both forms, also past the runtime', (_, where) => {
  const policy = ruleTable(
    parseRuleTable({
      id: 'p',
      otherwise: 'allow',
      rules: [{ id: 'no', effect: 'deny', actions: ['**'], where: [where] }],
    }),
  );
  for (const name of [COMPOSED, SPLIT]) {
    const args = { name, list: [name], box: { [name]: 1 } };
    const query = {
      action: 'add',
      role: { name: 'clerk', params: {} },
      principal: 'clerk',
      scopes: [],
      args,
    };
    expect(policy.evaluate(query as never).decision).toBe('deny');
  }
});

test('an allow row by `not_in` excludes both forms', () => {
  const rules = [
    { id: 'yes', effect: 'allow', actions: ['**'], where: [{ path: '/name', not_in: [COMPOSED] }] },
  ];
  const policy = ruleTable(parseRuleTable({ id: 'p', otherwise: 'deny', rules }));
  const verdicts = [COMPOSED, SPLIT, 'ann'].map((name) => {
    const query = {
      action: 'add',
      role: { name: 'clerk', params: {} },
      principal: 'clerk',
      scopes: [],
      args: { name },
    };
    return policy.evaluate(query as never).decision;
  });
  expect(verdicts).toEqual(['deny', 'deny', 'allow']);
});

test('a role of a rule table is met in both forms', () => {
  const rules = [{ id: 'no', effect: 'deny', actions: ['**'], roles: [SPLIT] }];
  const policy = ruleTable(parseRuleTable({ id: 'p', otherwise: 'allow', rules }));
  const query = {
    action: 'add',
    role: { name: COMPOSED, params: {} },
    principal: 'clerk',
    scopes: [],
    args: {},
  };
  expect(policy.evaluate(query as never).decision).toBe('deny');
});

test('a state key has one form, and both forms name it', async () => {
  const { trajectory } = await opened();
  expect(await trajectory.propose(add(SPLIT))).toMatchObject({ ruling: 'committed' });
  expect(Object.keys((trajectory.state() as { people: object }).people)).toEqual([COMPOSED]);
  expect(await trajectory.propose(add(COMPOSED, 'other@x'))).toMatchObject({
    ruling: 'rejected',
    reason: 'precondition_failed',
  });
});

test('a `unique` rule compares composed texts', async () => {
  const { trajectory } = await opened();
  expect(await trajectory.propose(add('a', COMPOSED))).toMatchObject({ ruling: 'committed' });
  expect(await trajectory.propose(add('b', SPLIT))).toMatchObject({
    ruling: 'rejected',
    invariantId: 'ONE_MAIL',
  });
});

test('a role parameter in either form selects the same part of the state', async () => {
  const { trajectory } = await opened();
  for (const name of [COMPOSED, SPLIT])
    await trajectory.propose({
      action: 'mine',
      role: { name: 'owner', params: { name } },
      args: { mail: name },
      writ,
    });
  expect(trajectory.state()).toEqual({ people: { [COMPOSED]: { mail: COMPOSED } } });
});

test('a principal in the other form may use its writ, and shares its keys', async () => {
  const { trajectory } = await opened();
  const mine = writFor(COMPOSED);
  const one = { ...add('a'), writ: mine, principal: SPLIT, idempotencyKey: 'k' };
  const first = await trajectory.propose(one);
  expect(first).toMatchObject({ ruling: 'committed' });
  expect(await trajectory.propose({ ...one, principal: COMPOSED })).toEqual(first);
});

test('a named transaction of a principal in the other form runs once', async () => {
  const domain = book();
  let [bodies, calls] = [0, 0];
  const ring = declareTool({
    name: 'ring',
    input: z.strictObject({}),
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['bell:door'],
    execute: () => {
      calls += 1;
    },
  });
  const assize = runtimeOver(new MemoryStore(), [domain], { tools: [ring] });
  const trajectory = await assize.create(domain, { trajectoryId: 't' });
  const options = { writ: writFor(COMPOSED), writes: ['bell:*'], name: 'once' };
  const entries: unknown[] = [];
  for (const principal of [SPLIT, SPLIT, COMPOSED]) {
    const { ruling } = await trajectory.transaction({ ...options, principal }, async (tx) => {
      bodies += 1;
      await tx.call('ring', {});
      tx.propose({ action: 'add', role: 'clerk', args: { name: 'a', mail: 'a@x' } });
    });
    entries.push(ruling.ruling === 'committed' ? ruling.entry.id : ruling);
  }
  expect([new Set(entries).size, bodies, calls]).toEqual([1, 3, 1]);
  await assize.close();
});

test('a given initial state has composed keys', async () => {
  const domain = book();
  const assize = runtimeOver(new MemoryStore(), [domain]);
  const trajectory = await assize.create(domain, {
    initial: { people: { [SPLIT]: { mail: SPLIT } } },
  });
  expect(trajectory.state()).toEqual({ people: { [COMPOSED]: { mail: COMPOSED } } });
});

test('two names of one composed form in one object are refused', async () => {
  const { trajectory } = await opened();
  const args = { name: 'a', mail: 'm', tags: { [COMPOSED]: '1', [SPLIT]: '2' } };
  await expect(trajectory.propose({ ...add('a'), args })).rejects.toMatchObject({
    message: expect.stringContaining('the same composed form'),
  });
  expect(trajectory.length).toBe(1);
});

test('a domain with exact texts keeps both forms apart, and has another hash', async () => {
  const exact = book('exact');
  const { trajectory } = await opened(exact);
  for (const name of [COMPOSED, SPLIT])
    expect(await trajectory.propose(add(name))).toMatchObject({ ruling: 'committed' });
  expect(exact.hash).not.toBe(book().hash);
});
