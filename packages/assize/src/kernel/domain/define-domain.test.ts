import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineDomain } from './define-domain.ts';
import { patternText } from './footprint.ts';
import { each, invariant } from './invariant.ts';
import { pass } from './invariant-result.ts';

const good = {
  name: 'shop',
  version: '1',
  state: z.object({
    n: z.record(z.string(), z.number()),
    log: z.array(z.string()),
    seen: z.number(),
  }),
  processes: {
    count: { reads: ['/seen'], writes: ['/n/{who}', '/log/-'] },
    look: { reads: ['/n'] },
  },
  roles: { counter: { params: ['who'], processes: ['count'] }, reader: { processes: ['look'] } },
  actions: { count: { process: 'count', args: z.number(), apply: () => {} } },
  invariants: [
    invariant('SEEN', ['/seen', '/n/ada'], () => pass),
    each('N', '/n/*', {}, () => pass),
  ],
  counselors: { doctor: () => true },
};

function define(change: object): ReturnType<typeof defineDomain<any, any>> {
  return defineDomain<any, any>({ ...good, ...change } as never);
}

function presenting(present: object): object {
  const args = z.object({ to: z.string() });
  return { actions: { a: { process: 'count', args, apply: () => {}, present } } };
}

describe('an unusable domain reports its fault', () => {
  test.each<[string, object, string]>([
    ['a name with spaces', { name: 'My shop' }, 'lower-case letters'],
    [
      'a misspelled member, before what else is wrong',
      { version: 1, memori: {} },
      'Unrecognized key: "memori"; /version: Invalid input: expected string, received number',
    ],
    [
      'a role that performs nothing known',
      { roles: { r: { processes: ['fly'] } } },
      'performs fly, which is not a process',
    ],
    [
      'a parameter that the role does not have',
      { roles: { r: { processes: ['count'] } } },
      'needs the parameter who, which the role r does not have',
    ],
    [
      'an action of no process',
      { actions: { a: { process: 'fly', args: z.any(), apply: () => {} } } },
      'belongs to fly',
    ],
    [
      'a title with an argument that the action lacks',
      presenting({ title: 'Pay {too}' }),
      'the action a presents too, which its arguments lack',
    ],
    [
      'a currency in an argument that the action lacks',
      presenting({ fields: { to: { money: 'currency' } } }),
      'presents currency, which its arguments lack',
    ],
    [
      'a currency that does not exist',
      presenting({ fields: { to: { money: 'EUX' } } }),
      'is not a currency of ISO 4217',
    ],
    [
      'a title with a brace that stays open',
      presenting({ title: 'Pay {to' }),
      'has a brace without an argument',
    ],
    [
      'two invariants of one name',
      { invariants: [good.invariants[0], good.invariants[0]] },
      'two invariants are named SEEN',
    ],
    [
      'an invariant with a parameter',
      { invariants: [invariant('X', ['/n/{who}'], () => pass)] },
      'only * is allowed',
    ],
    [
      'an invariant over an append',
      { invariants: [invariant('X', ['/log/-'], () => pass)] },
      'only * is allowed',
    ],
    [
      'an each of one place',
      { invariants: [each('X', '/n' as never, {}, () => pass)] },
      'must end in /*',
    ],
    [
      'an each that ends in a name',
      { invariants: [each('X', '/n/*/x' as never, {}, () => pass)] },
      'must end in /*',
    ],
    [
      'a footprint that is not a pointer',
      { processes: { ...good.processes, count: { writes: ['n'] } } },
      'The JSON pointer is not valid',
    ],
    [
      'a footprint that appends to everything',
      { processes: { ...good.processes, count: { writes: ['/-'] } } },
      'Name a list',
    ],
    [
      'a channel that nobody is on',
      { invariants: [invariant('X', [], () => pass, { channel: 'judge' })] },
      'names the channel judge',
    ],
    [
      'a counselor that is not a predicate',
      { counselors: { doctor: 'yes' } },
      '/counselors/doctor: must be a function',
    ],
    [
      'a role that sees more than it needs',
      { roles: { reader: { processes: ['look'], sees: ['/n', '/seen'] } } },
      'sees /seen, which none of its processes needs',
    ],
    [
      'a role that does not see what it needs',
      { roles: { reader: { processes: ['look'], sees: ['/n/a'] } } },
      'does not see /n',
    ],
    ...[0, 9, 1.5, '2', null].flatMap((approvals): [string, object, string][] => [
      [
        `a rule that takes ${approvals} approvals`,
        { invariants: [invariant('X', [], () => pass, { approvals } as never)] },
        '/0/approvals',
      ],
      [
        `an action that takes ${approvals} approvals`,
        { actions: { count: { ...good.actions.count, approvals } } },
        '/count/approvals',
      ],
    ]),
    ...[0, -1, 1.5, 10 ** 12, '2', null].flatMap((timeoutMs): [string, object, string][] => [
      [
        `a rule that waits ${timeoutMs} ms`,
        { invariants: [invariant('X', [], () => pass, { timeoutMs } as never)] },
        '/0/timeoutMs',
      ],
      [
        `an action that waits ${timeoutMs} ms`,
        { actions: { count: { ...good.actions.count, timeoutMs } } },
        '/count/timeoutMs',
      ],
    ]),
    ...(
      [
        ['md', { kind: 'boss', afterMs: 1 }, 'the deputy of md names the channel boss'],
        ['boss', { kind: 'md', afterMs: 1 }, '`deputies` names the channel boss'],
        ['md', { kind: 'md', afterMs: 1 }, 'the counselor kind md is its own deputy'],
        ['md', { kind: 'head', afterMs: 0 }, '/deputies/md/afterMs'],
        ['md', 'head', '/deputies/md'],
      ] as const
    ).map(([of, deputy, why]): [string, object, string] => [
      `the deputy ${JSON.stringify(deputy)} of ${of}`,
      { counselors: { md: () => true, head: () => true }, deputies: { [of]: deputy } },
      why,
    ]),
    ...['length', '01', '-1', 'x'].flatMap((key): [string, object, string][] => [
      [
        `a rule over the place ${key} of a list`,
        { invariants: [invariant('X', [`/log/${key}`], () => pass)] },
        `X names /log/${key}, but the schema of the state has no such path`,
      ],
      [
        `a process at the place ${key} of a list`,
        { processes: { ...good.processes, look: { reads: [`/log/${key}`] } } },
        `look names /log/${key}, but the schema of the state has no such path`,
      ],
      [
        `a rule over the place ${key} of a list of fixed length`,
        {
          state: z.object({ ...good.state.shape, pair: z.tuple([z.number(), z.number()]) }),
          invariants: [invariant('X', [`/pair/${key}`], () => pass)],
        },
        `X names /pair/${key}`,
      ],
    ]),
    ['a state of dates', { state: z.object({ at: z.date() }) }, 'a date at /at'],
    [
      'a state with a default',
      { state: z.object({ n: z.array(z.number().default(1)) }) },
      'a default at /n/*',
    ],
    [
      'a state that is parsed into another',
      { state: z.string().transform(Number) },
      'a pipe at its root',
    ],
  ])('%s', (_what, change, detail) => {
    expect(() => define(change)).toThrow(
      expect.objectContaining({
        code: expect.any(String),
        message: expect.stringContaining(detail),
      }),
    );
  });
});

test('list positions are named by index, star, parameter or, on growth, -', () => {
  const reads = ['/log/0', '/log/10', '/log/*', '/log/{who}'];
  const { processes } = define({
    processes: { ...good.processes, count: { reads, writes: ['/log/-'] } },
  });
  expect(Object.keys(processes)).toEqual(['count', 'look']);
});

describe('the freeze of a pending approval', () => {
  test('covers the process footprint and reads of rules that its writes overlap', () => {
    const { closure } = define({}).bind('count', { who: 'ada' });
    expect([...new Set(closure.map(patternText))].sort()).toEqual(['/log/-', '/n/ada', '/seen']);
    const other = define({}).bind('count', { who: 'bob' });
    expect([...new Set(other.closure.map(patternText))].sort()).toEqual([
      '/log/-',
      '/n/bob',
      '/seen',
    ]);
  });
});

describe('a domain’s hash', () => {
  const { hash } = define({});

  test('is the same for the same declaration', () => {
    expect(define({}).hash).toBe(hash);
    expect(define({ initial: { n: {}, log: [], seen: 0 } }).hash).toBe(hash);
    const one = { count: { ...good.actions.count, approvals: 1 } };
    expect(
      define({
        actions: one,
        invariants: [{ ...good.invariants[0], approvals: 1 }, good.invariants[1]],
      }).hash,
    ).toBe(hash);
    const said = { title: 'Count {/}', fields: { x: { money: 'EUR' } } };
    expect(define({ actions: { count: { ...good.actions.count, present: said } } }).hash).toBe(
      hash,
    );
  });

  test.each<[string, object]>([
    ['version', { version: '2' }],
    ['state', { state: good.state.extend({ more: z.number() }) }],
    ['a footprint', { processes: { ...good.processes, look: { reads: ['/seen'] } } }],
    ['a role', { roles: { ...good.roles, reader: { processes: [] } } }],
    ['an argument', { actions: { count: { ...good.actions.count, args: z.string() } } }],
    ['the order of the rules', { invariants: [...good.invariants].reverse() }],
    [
      'what a rule reads',
      { invariants: [invariant('SEEN', ['/seen'], () => pass), good.invariants[1]] },
    ],
    ['the counselors', { counselors: {} }],
    ['the freeze', { freeze: 'footprint' }],
    ['the build', { build: 'abc' }],
    [
      'how many must approve an action',
      { actions: { count: { ...good.actions.count, approvals: 2 } } },
    ],
    [
      'how many must approve what a rule escalates',
      { invariants: [{ ...good.invariants[0], approvals: 2 }, good.invariants[1]] },
    ],
    [
      'how long an action waits',
      { actions: { count: { ...good.actions.count, timeoutMs: 1_000 } } },
    ],
    [
      'how long a rule waits',
      { invariants: [{ ...good.invariants[0], timeoutMs: 1_000 }, good.invariants[1]] },
    ],
  ])('changes with %s', (_what, change) => {
    expect(define(change).hash).not.toBe(hash);
  });
});

test('the hash of a domain changes with its deputies', () => {
  const counselors = { md: () => true, head: () => true };
  const hashes = [undefined, 1, 2].map((afterMs) => {
    const deputies = afterMs === undefined ? {} : { deputies: { md: { kind: 'head', afterMs } } };
    return define({ counselors, ...deputies }).hash;
  });
  expect(new Set(hashes).size).toBe(3);
});

test('a domain can not be changed by its users', () => {
  const domain = define({});
  expect(() => Object.assign(domain, { freeze: 'footprint' })).toThrow(TypeError);
  expect(() => Object.assign(domain.actions, { other: {} })).toThrow(TypeError);
  expect(() => Object.assign(domain.actions['count'] as object, { apply: () => {} })).toThrow(
    TypeError,
  );
});

describe('a schema that holds itself is refused, because it has no end', () => {
  const lazy: z.ZodType = z.object({ below: z.array(z.lazy(() => lazy)) });
  const own = z.object({
    get below() {
      return z.array(own);
    },
  });
  test.each<[string, z.ZodType]>([
    ['by z.lazy', lazy],
    ['by a getter', own],
    ['as z.json does', z.json()],
    ['in a part of it', z.object({ a: z.union([z.string(), z.record(z.string(), own)]) })],
  ])('%s', (_what, args) => {
    const { count } = good.actions;
    expect(() => define({ actions: { count: { ...count, args } } })).toThrow(
      expect.objectContaining({
        code: 'invalid_domain',
        message: expect.stringContaining('is recursive'),
      }),
    );
  });

  test('and not one that only stands in two places', () => {
    const shared = z.object({ n: z.number() });
    expect(() =>
      define({
        actions: { count: { ...good.actions.count, args: z.object({ a: shared, b: shared }) } },
      }),
    ).not.toThrow();
  });
});
