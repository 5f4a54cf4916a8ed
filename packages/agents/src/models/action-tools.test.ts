import { type Domain, defineDomain } from 'assize/internal/kernel';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { actionTools } from './action-tools.ts';
import { readDecision } from './read-decision.ts';

const budget = (await import('@assize/cli/internal/domains/budget')) as object;
const shipped: readonly object[] = [
  budget,
  await import('@assize/cli/internal/domains/udt'),
  await import('../../../../examples/domains/disclosure/index.ts'),
];
const DOMAINS = shipped.flatMap((module) => Object.values(module)).filter(isDomain);

function isDomain(value: unknown): value is Domain {
  return typeof value === 'object' && value !== null && 'bind' in value && 'roles' in value;
}

test.each(DOMAINS.map((domain) => [domain.name, domain] as const))(
  '%s: each action of a role is a tool',
  (_, domain) => {
    for (const [role, { processes }] of Object.entries(domain.roles)) {
      const { tools, meanings } = actionTools(domain, role);
      const own = Object.keys(domain.actions).filter((name) =>
        processes.includes(domain.actions[name]!.process),
      );
      expect(
        [...meanings.values()].flatMap(({ action }) => (action === undefined ? [] : [action])),
      ).toEqual(own);
      for (const { name, input } of tools) {
        expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        expect(input).toMatchObject({ type: 'object' });
        expect(JSON.parse(JSON.stringify(input))).toEqual(input);
      }
    }
  },
);

const named = z.union([z.string(), z.array(z.string().meta({ id: 'ClaimId' }))]);
const odd = defineDomain({
  name: 'odd',
  version: '1',
  state: z.object({ n: z.number() }),
  initial: { n: 0 },
  processes: { all: { writes: ['/n'] } },
  roles: { one: { processes: ['all'] } },
  actions: Object.fromEntries(
    Object.entries({
      wait: z.object({}),
      'a.b': z.string(),
      'a b': z.number(),
      a_b: named,
      [`${'x'.repeat(70)}1`]: z.object({ n: z.number().default(1) }),
      [`${'x'.repeat(70)}2`]: z.object({}),
    }).map(([name, args]) => [name, { process: 'all', args, apply: () => undefined }]),
  ) as never,
  invariants: [],
});

test('names that providers refuse or that meet are made apart', () => {
  const { tools } = actionTools(odd, 'one');
  expect(tools.map(({ name }) => name)).toEqual([
    'wait',
    'a_b',
    'a_b_2',
    'a_b_3',
    'x'.repeat(64),
    `${'x'.repeat(62)}_2`,
    'wait_2',
    'done',
  ]);
});

test('arguments that are not an object are wrapped, and unwrapped', () => {
  const tools = actionTools(odd, 'one');
  const schema = tools.tools[3]!.input as any;
  expect(schema).toMatchObject({ type: 'object', required: ['value'] });
  expect(schema.properties.value.anyOf[1]).toMatchObject({ items: { $ref: '#/$defs/ClaimId' } });
  expect(schema.$defs).toMatchObject({ ClaimId: { type: 'string' } });
  const decide = (name: string, input: unknown): unknown =>
    readDecision({ text: '', calls: [{ name, input: input as never }], stop: 'end' }, tools);
  expect(decide('a_b', { value: 'x' })).toEqual({ action: 'a.b', args: 'x' });
  expect(decide('a_b', 'x')).toEqual({ action: 'a.b', args: 'x' });
  expect(decide('wait', {})).toEqual({ action: 'wait', args: {} });
  expect(decide('wait_2', {})).toBe('wait');
});

test('an argument with a default is not required', () => {
  expect((actionTools(odd, 'one').tools[4]!.input as any).required).toBeUndefined();
});
