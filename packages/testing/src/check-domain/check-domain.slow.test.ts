import { declareTool } from 'assize/internal/effects';
import {
  call,
  type DomainSpec,
  each,
  eachCall,
  escalate,
  type Invariant,
  invariant,
  pass,
  reject,
} from 'assize/internal/kernel';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkDomain } from './check-domain.ts';
import type { DomainReport } from './report.ts';

const state = z.object({
  cap: z.number().int(),
  spent: z.record(z.string(), z.number().int()),
  orders: z.record(
    z.string(),
    z.object({ by: z.string(), total: z.number().int(), approved: z.string().optional() }),
  ),
  log: z.array(z.string()),
});
type State = z.infer<typeof state>;
type Context = { readonly role: { readonly [param: string]: string }; readonly at: string };

const cap = invariant<State>('CAP', ['/cap', '/spent'], ({ cap, spent }) => {
  const total = Object.values(spent).reduce((sum, amount) => sum + amount, 0);
  return total <= cap ? pass : reject(`spent ${total} of ${cap}`);
});
const args = z.object({ amount: z.number().int().positive(), tags: z.array(z.string()) });
type Args = z.infer<typeof args>;
type Apply = (state: State, args: Args, context: Context) => unknown;

const spend: Apply = (state, { amount }, { role }) => {
  const agent = role['agent'] as string;
  state.spent[agent] = (state.spent[agent] ?? 0) + amount;
};
const order: Apply = (state, { amount }, { role }) => {
  state.orders[role['agent'] as string] = { by: role['agent'] as string, total: amount };
};

const both: Apply = (...given) => [spend(...given), order(...given)];

/** A sound domain with an added fault. */
function zoo(
  apply: Apply = spend,
  invariants: readonly Invariant<any>[] = [cap],
  more: object = {},
): DomainSpec<any, any> {
  return {
    name: 'zoo',
    version: '1',
    state,
    initial: { cap: 100, spent: {}, orders: {}, log: [] },
    processes: { spending: { writes: ['/spent/{agent}', '/orders/{agent}'] } },
    roles: { spender: { params: ['agent'], processes: ['spending'] } },
    actions: { spend: { process: 'spending', args, apply: apply as never } },
    invariants,
    counselors: { boss: (name: string) => name.startsWith('boss') },
    ...more,
  };
}

const errorsOf = ({ problems }: DomainReport): string[] =>
  problems.filter(({ level }) => level === 'error').map(({ kind, where }) => `${kind} ${where}`);
const warningsOf = ({ problems }: DomainReport): string[] =>
  problems.filter(({ level }) => level === 'warning').map(({ kind, where }) => `${kind} ${where}`);

let calls = 0;
const seen: string[] = [];

describe('an action that', () => {
  const bad: [string, Apply, string, RegExp?][] = [
    [
      'asks the clock',
      (s, a, c) => spend(s, { ...a, amount: Date.now() > 0 ? 1 : 2 }, c),
      'impure',
    ],
    [
      'asks for the date of now',
      (s, a, c) => spend(s, { ...a, amount: new Date().getFullYear() > 1 ? 1 : 2 }, c),
      'impure',
    ],
    [
      'draws a number',
      (s, a, c) => spend(s, { ...a, amount: Math.random() < 2 ? 1 : 2 }, c),
      'impure',
    ],
    [
      'draws a name',
      (s, a, c) => spend(s, { ...a, amount: crypto.randomUUID().length }, c),
      'impure',
    ],
    [
      'reads the environment',
      (s, a, c) => spend(s, { ...a, amount: process.env['HOME'] ? 1 : 2 }, c),
      'impure',
    ],
    [
      'counts its calls',
      (s, a, c) => spend(s, { ...a, amount: ++calls }, c),
      'impure',
      /^it gave two results/,
    ],
    [
      'knows what it saw before',
      (s, a, c) => {
        const key = JSON.stringify([a.amount, c.role]);
        if (!seen.includes(key)) seen.push(key);
        spend(s, { ...a, amount: seen.length > 20 && seen.indexOf(key) < 5 ? 7 : 1 }, c);
      },
      'impure',
    ],
    [
      'changes its arguments',
      (s, a, c) => spend(s, { ...a, amount: a.tags.push('seen') }, c),
      'mutates_arguments',
    ],
    [
      'makes its arguments a ring',
      (s, a, c) => spend(s, Object.assign(a, { a }), c),
      'mutates_arguments',
    ],
    ['answers later', async (s, a, c) => spend(s, a, c), 'asynchronous'],
    ['starts something', (s, a, c) => [setTimeout(() => {}, 0).unref(), spend(s, a, c)], 'impure'],
    [
      'stumbles',
      (s, _, c) => (s.orders[c.role['agent'] as string] as { total: number }).total++,
      'throws',
    ],
    ['throws no error', () => raise({ code: 7 }), 'throws'],
    ['throws an error without a word', () => raise(new Error()), 'throws'],
    ['writes elsewhere', (s) => (s.cap = 1), 'outside_footprint'],
    [
      'reads elsewhere',
      (s, a, c) => spend(s, { ...a, amount: s.log.length + 1 }, c),
      'outside_footprint',
    ],
    ['writes what belongs to others', (s) => (s.spent['zz'] = 1), 'outside_footprint'],
  ];
  test.each(bad)('%s is found', (_, apply, kind, said) => {
    const report = checkDomain(zoo(apply), { runs: 150 });
    expect(errorsOf(report)).toEqual([`${kind} action spend`]);
    expect(report.ok).toBe(false);
    expect(report.problems[0]?.counterexample).toMatchObject({
      action: 'spend',
      role: { name: 'spender' },
    });
    if (said !== undefined) expect(report.problems[0]?.sentence).toMatch(said);
  });

  const said: [string, (args: any, context: any) => unknown, string][] = [
    ['can be proposed', ({ amount, tags }) => ({ action: 'spend', args: { amount, tags } }), ''],
    [
      'is of another role',
      (args) => ({ action: 'spend', args, role: 'nobody' }),
      'failure_not_proposed action spend',
    ],
    ['does not exist', () => ({ action: 'spent', args: {} }), 'failure_not_proposed action spend'],
    [
      'has other arguments',
      () => ({ action: 'spend', args: {} }),
      'failure_not_proposed action spend',
    ],
    ['is undefined', () => undefined, 'failure_not_proposed action spend'],
    [
      'comes later',
      async () => ({ action: 'spend', args: {} }),
      'failure_not_proposed action spend',
    ],
    [
      'is drawn',
      (args) => ({ action: 'spend', args: { ...args, amount: Math.random() < 2 ? 1 : 2 } }),
      'impure action spend',
    ],
    [
      'differs',
      (args) => ({ action: 'spend', args: { ...args, amount: (++calls % 3) + 1 } }),
      'impure action spend',
    ],
  ];
  test.each(said)('declares a failure action that %s', (_, onFailure, finds) => {
    const actions = { spend: { process: 'spending', args, apply: spend, onFailure } };
    const found = errorsOf(checkDomain(zoo(spend, [cap], { actions }), { runs: 60 }));
    // A promise is also noticed at its call.
    expect(found.filter((each) => !each.startsWith('asynchronous'))).toEqual(
      finds === '' ? [] : [finds],
    );
  });

  const pay = declareTool({
    name: 'bank.pay',
    input: z.strictObject({ to: z.string(), amount: z.number() }),
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['bank:{to}'],
    execute: () => null,
  });
  const limits = [
    eachCall('LIMIT', pay, {}, ({ input }) => (input.amount <= 50 ? pass : reject('too much'))),
    eachCall('ASK', pay, { channel: 'boss' }, ({ input }) =>
      input.amount <= 5 ? pass : escalate('much'),
    ),
  ];
  const paying = (calls: (state: State, args: any, context: Context) => unknown): DomainReport =>
    checkDomain(
      zoo(spend, [cap, ...limits], {
        actions: { spend: { process: 'spending', args, apply: spend, calls } },
      }),
      {
        runs: 150,
      },
    );

  test('declares calls passes the check, with rules over the calls', () => {
    const report = paying((state, { amount }, { role: { agent } }) =>
      state.spent[agent!]! > 40 ? [] : [call(pay, { to: agent!, amount })],
    );
    expect(report.problems.filter(({ level }) => level === 'error')).toEqual([]);
    expect(report.ok).toBe(true);
    for (const ruled of ['committed', 'escalated', 'rejected'] as const)
      expect(report.proposals[ruled]).toBeGreaterThan(0);
  });

  test.each<[string, (args: Args) => unknown, string]>([
    [
      'ask the clock',
      ({ amount }) => [call(pay, { to: 'x', amount: Date.now() > 0 ? amount : 1 })],
      'impure',
    ],
    ['differ', () => [call(pay, { to: 'x', amount: ++calls })], 'impure'],
    [
      'change the arguments',
      (a) => [call(pay, { to: 'x', amount: a.tags.push('seen') })],
      'mutates_arguments',
    ],
    ['come later', async ({ amount }) => [call(pay, { to: 'x', amount })], 'asynchronous'],
    ['stumble', () => (undefined as any).to, 'throws'],
  ])('declares calls that %s is found', (_, calls, kind) => {
    expect(errorsOf(paying((_state, given) => calls(given)))).toEqual([`${kind} action spend`]);
  });

  test('refuses with a sentence passes the check', () => {
    class Closed extends Error {}
    for (const error of [new Error('the desk is closed'), new Closed('the desk is closed')]) {
      const apply: Apply = (s, a, c) => {
        if (a.amount > 5) throw error;
        spend(s, a, c);
      };
      expect(errorsOf(checkDomain(zoo(apply), { runs: 60 }))).toEqual([]);
    }
  });

  test('uses dates from its input passes the check', () => {
    const apply: Apply = (s, a, c) => spend(s, { ...a, amount: new Date(c.at).getUTCDate() }, c);
    expect(errorsOf(checkDomain(zoo(apply), { runs: 60 }))).toEqual([]);
  });

  test('makes a state that does not fit is a warning', () => {
    const report = checkDomain(
      zoo((s, a, c) => spend(s, { ...a, amount: 0.5 }, c)),
      { runs: 60 },
    );
    expect(warningsOf(report)).toContain('bad_result action spend');
  });

  test('takes values of every form gets some', () => {
    const forms = z.object({
      any: z.unknown(),
      pair: z.tuple([z.literal('x'), z.int().min(3).max(5)]).rest(z.boolean()),
      either: z.discriminatedUnion('t', [
        z.object({ t: z.literal(1) }),
        z.object({ t: z.literal(2), of: z.null() }),
      ]),
      both: z.string().regex(/^[a-z]{2,4}$/),
      day: z.iso.date(),
      step: z.number().min(10).max(50).multipleOf(5),
      keys: z.record(z.enum(['p', 'q']), z.number()),
      some: z.partialRecord(z.enum(['p', 'q']), z.number()),
      list: z.array(z.email()).min(1),
      kept: z.string().default('x'),
    });
    const seen: unknown[] = [];
    const actions = {
      form: { process: 'spending', args: forms, apply: (_: unknown, a: unknown) => seen.push(a) },
    };
    const report = checkDomain(zoo(spend, [cap], { actions }), { runs: 30 });
    expect(errorsOf(report)).toEqual([]);
    expect(report.proposals.committed).toBeGreaterThan(20);
    expect(new Set(seen.map((each) => JSON.stringify(each))).size).toBeGreaterThan(10);
  });

  test('can never be proposed is found', () => {
    const make = (args: z.ZodType): DomainReport => {
      const dated = { process: 'spending', args, apply: () => {} };
      return checkDomain(zoo(spend, [cap], { actions: { dated } }), { runs: 20 });
    };
    expect(
      errorsOf(make(z.object({ on: z.string().transform((text) => new Date(text)) }))),
    ).toEqual(['not_json action dated']);
    expect(warningsOf(make(z.never()))).toContain('no_values action dated');
    expect(warningsOf(make(z.object({ n: z.number().refine((n) => n === 123_456) })))).toContain(
      'no_values action dated',
    );
  });
});

let verdicts = 0;
const escalating = (
  onApprove?: (state: State, approval: { counselor: string; keys: readonly string[] }) => void,
) =>
  each<State, '/orders/*'>(
    'APPROVED',
    '/orders/*',
    onApprove === undefined ? {} : { onApprove },
    ({ total, approved }) =>
      total < 5 || approved !== undefined ? pass : escalate(`${total} is a lot`),
  );

describe('an invariant that', () => {
  const bad: [string, Invariant<any>, string][] = [
    [
      'asks the clock',
      invariant<State>('R', ['/cap'], ({ cap }) => (Date.now() > cap ? pass : reject('x'))),
      'impure',
    ],
    [
      'counts its calls',
      invariant<State>('R', ['/cap'], () => (++verdicts % 2 ? pass : reject('x'))),
      'impure',
    ],
    [
      'throws',
      invariant<State>('R', ['/spent'], ({ spent }) => ((spent['a'] ?? 0) > 3 ? boom() : pass)),
      'throws',
    ],
    [
      'answers nonsense',
      invariant<State>('R', ['/spent'], ({ spent }) => ('a' in spent ? (false as never) : pass)),
      'nonsense',
    ],
    ['answers later', invariant<State>('R', ['/cap'], (async () => pass) as never), 'asynchronous'],
    [
      'reads elsewhere',
      invariant<State>('R', ['/cap'], ({ log }) => (log.length > 2 ? reject('x') : pass)),
      'outside_footprint',
    ],
    [
      'writes',
      invariant<State>('R', ['/cap'], (s) => (s.cap++ > 5 ? pass : reject('x'))),
      'writes_state',
    ],
    [
      'is judged with what its reads don’t name',
      each<State, '/orders/*', { other: '/log' }>(
        'R',
        '/orders/*',
        { reads: ['/cap'], with: () => ({ other: '/log' }) },
        () => pass,
      ),
      'with_outside_reads',
    ],
    ['no approval satisfies', escalating(), 'approval_does_not_pass'],
    [
      'the wrong approval is written for',
      escalating((s) => Object.assign(s.orders, { zz: { by: '', total: 0 } })),
      'approval_does_not_pass',
    ],
    [
      'an approval is written for that differs each time',
      escalating((s, { keys: [key = ''] }) =>
        Object.assign(s.orders[key] ?? {}, { approved: `n${++verdicts}` }),
      ),
      'approval_differs',
    ],
  ];
  test.each(bad)('%s is found', (_, rule, kind) => {
    const report = checkDomain(zoo(both, [cap, rule]), { runs: 100 });
    expect(errorsOf(report)).toEqual([`${kind} invariant ${rule.id}`]);
  });

  test('requests an approval that satisfies it passes the check', () => {
    const marks = escalating((s, { counselor, keys: [key = ''] }) => {
      (s.orders[key] as { approved?: string }).approved = counselor;
    });
    const report = checkDomain(zoo(order, [marks]), { runs: 60 });
    expect(errorsOf(report)).toEqual([]);
    expect(report.proposals.escalated).toBeGreaterThan(10);
  });

  test('has no possible approver is a warning, until a counselor is named', () => {
    const marks = escalating((s, { counselor, keys: [key = ''] }) => {
      (s.orders[key] as { approved?: string }).approved = counselor;
    });
    const counselors = { boss: (name: string) => name === 'Ms. Grace' };
    const spec = zoo(order, [marks], { counselors });
    expect(warningsOf(checkDomain(spec, { runs: 60 }))).toContain(
      'no_counselor invariant APPROVED',
    );
    const named = checkDomain(spec, { runs: 60, counselors: { boss: 'Ms. Grace' } });
    expect(warningsOf(named)).not.toContain('no_counselor invariant APPROVED');
  });

  test('leaves contradictions without a possible counselor is a warning', () => {
    const predicate = (strategy: string) => ({ cardinality: 'single-valued', strategy });
    const memory = { predicates: { dose: predicate('await'), weight: predicate('lww') } };
    const warnings = (more: object) =>
      warningsOf(checkDomain(zoo(spend, [cap], { memory, ...more }), { runs: 20 }));
    expect(warnings({ counselors: {} }).filter((each) => each.startsWith('no_counselor'))).toEqual([
      'no_counselor predicate dose',
    ]);
    expect(warnings({}).filter((each) => each.startsWith('no_counselor'))).toEqual([]);
  });

  test('never or always refuses, or never has anything to judge, is a warning', () => {
    const never = invariant<State>('NEVER', ['/cap'], () => pass);
    const always = invariant<State>('ALWAYS', ['/cap'], () => reject('no'));
    const idle = each<any, '/none/*'>('IDLE', '/none/*', {}, () => pass);
    const report = checkDomain(
      zoo(spend, [cap, never, always, idle], {
        state: state.extend({ none: z.record(z.string(), z.never()) }),
        initial: { cap: 1, spent: {}, orders: {}, log: [], none: {} },
      }),
      { runs: 20 },
    );
    expect(warningsOf(report)).toEqual(
      expect.arrayContaining([
        'never_violated invariant NEVER',
        'always_fails invariant ALWAYS',
        'never_judged invariant IDLE',
      ]),
    );
    expect(errorsOf(report)).toEqual(['broken_initial initial state']);
  });
});

describe('a domain', () => {
  test('that defineDomain refuses yields a report, for any value', () => {
    const sees = {
      spender: { params: ['agent'], processes: ['spending'], sees: ['/cap', '/log'] },
    };
    for (const spec of [
      zoo(spend, [cap], { roles: sees }),
      { name: 'x' },
      {},
      null,
      7,
      zoo(spend, [], { state: z.date() }),
    ]) {
      const report = checkDomain(spec as never);
      expect(errorsOf(report)).toEqual(['invalid_domain domain']);
      expect(report.formatReport()).toContain('(invalid_domain)');
    }
    expect(checkDomain(zoo(spend, [cap], { roles: sees })).problems[0]?.sentence).toContain(
      'the role spender sees /cap, which none',
    );
  });

  test('with unused processes is reported with warnings', () => {
    const report = checkDomain(
      zoo(spend, [cap], {
        processes: {
          spending: { reads: ['/cap', '/log'], writes: ['/spent/{agent}', '/orders/*'] },
          logging: { writes: ['/log/-'] },
          looking: { reads: ['/log'] },
          idle: { writes: ['/log/-'] },
        },
        roles: { spender: { params: ['agent'], processes: ['spending', 'logging', 'looking'] } },
        actions: {
          spend: {
            process: 'spending',
            args,
            apply: ((s: State, a: Args, c: Context) => s.cap > 0 && spend(s, a, c)) as never,
          },
        },
      }),
      { runs: 60 },
    );
    expect(warningsOf(report)).toEqual(
      expect.arrayContaining([
        'unused process spending /log',
        'unused process spending /orders/*',
        'unused process logging',
        'unused process idle',
      ]),
    );
    expect(
      warningsOf(report).filter(
        (text) => text.includes('looking') || text.includes('/spent') || text.includes('/cap'),
      ),
    ).toEqual([]);
  });

  test('with a state that accepts any value is reported with a warning', () => {
    const report = checkDomain(
      zoo(spend, [cap], {
        state: state.extend({ any: z.unknown() }),
        initial: { cap: 1, spent: {}, orders: {}, log: [], any: null },
      }),
      { runs: 10 },
    );
    expect(warningsOf(report)).toContain('loose_schema state /any');
  });
});

test('the same seed finds the same, another seed may not', () => {
  const once = checkDomain(zoo(), { runs: 80, seed: 7 }).formatReport();
  expect(checkDomain(zoo(), { runs: 80, seed: 7 }).formatReport()).toBe(once);
});

test('states, arguments, roles and the time may be given', () => {
  const seen: unknown[] = [];
  const apply: Apply = (s, a, c) => {
    seen.push([a.amount, c.role, c.at]);
    spend(s, a, c);
  };
  const at = '2031-01-01T00:00:00.000000Z';
  const own = { cap: 3, spent: { q: 3 }, orders: {}, log: [] };
  const amounts = fc.constant({ amount: 41, tags: [] });
  checkDomain(zoo(apply, []), {
    runs: 10,
    at,
    states: [own],
    args: { spend: amounts },
    roles: { spender: [{ agent: 'q' }] },
  });
  expect(new Set(seen.map((each) => JSON.stringify(each)))).toEqual(
    new Set([JSON.stringify([41, { agent: 'q' }, at])]),
  );
  const wrong = checkDomain(zoo(), { runs: 1, states: [{ cap: 'x' }] });
  expect(warningsOf(wrong)).toContain('no_values states');
});

test.each<[string, object, RegExp]>([
  [
    'an option',
    { runz: 10 },
    /^The argument options\.runz is not a known option of checkDomain; the names are seed, runs, /,
  ],
  [
    'an action',
    { args: { spent: fc.constant({}) } },
    /options\.args\.spent is not a known action of zoo; the names are spend;/,
  ],
  [
    'an arbitrary',
    { args: { spend: 1 } },
    /options\.args\.spend must be an arbitrary of fast-check;/,
  ],
  ['an instant', { at: 'noon' }, /options\.at must be a time;/],
  [
    'a role',
    { roles: { spendr: [] } },
    /options\.roles\.spendr is not a known role of zoo; the names are spender;/,
  ],
  [
    'an inherited role',
    { roles: { constructor: [] } },
    /options\.roles\.constructor is not a known role of zoo/,
  ],
  [
    'a parameter',
    { roles: { spender: [{ agent: 'q' }, { agnet: 'q' }] } },
    /options\.roles\.spender\.1 is not what its role requires: the parameters agent;/,
  ],
  [
    'one too many',
    { roles: { spender: [{ agent: 'q', desk: 'd' }] } },
    /options\.roles\.spender\.0 is not what/,
  ],
  [
    'a kind',
    { counselors: { bos: 'Grace' } },
    /options\.counselors\.bos is not a known kind of counselor of zoo; the names are boss;/,
  ],
])('%s that does not exist is reported with the valid names; nothing runs', (_, options, said) => {
  let ran = false;
  const apply: Apply = () => {
    ran = true;
  };
  const check = (): unknown => checkDomain(zoo(apply), { runs: 5, ...options });
  expect(check).toThrow(said);
  expect(check).toThrow(expect.objectContaining({ code: 'bad_argument' }));
  expect(ran).toBe(false);
});

test('the replaced clock and randomness are restored', () => {
  const before = [Date, Math.random, process.env, crypto.randomUUID, performance.now, setTimeout];
  checkDomain(
    zoo((s, a, c) => spend(s, { ...a, amount: boom() }, c)),
    { runs: 10 },
  );
  expect([Date, Math.random, process.env, crypto.randomUUID, performance.now, setTimeout]).toEqual(
    before,
  );
  expect(Object.hasOwn(performance, 'now')).toBe(false);
});

test('the report states each problem and its smallest case', () => {
  const takes: Apply = (state, { amount }, { role }) => {
    spend(state, { amount: amount > 10 ? -amount : amount, tags: [] }, { role, at: '' });
    if (amount > 5 && amount < 10) state.log.push('much');
  };
  const low = invariant<State>('NOT_NEGATIVE', ['/spent'], ({ spent }) => {
    const [agent] = Object.entries(spent).find(([, amount]) => amount < 0) ?? [];
    return agent === undefined ? pass : boom();
  });
  expect(checkDomain(zoo(takes, [cap, low]), { runs: 100 }).formatReport()).toBe(REPORT);
});

const REPORT = `The domain zoo: 2 errors, 1 warning.

1. invariant NOT_NEGATIVE: it throws: out of bounds (throws)
   state   {"cap":0,"log":[],"orders":{},"spent":{}}
   action  spend
   role    spender {"agent":"a"}
   args    {"amount":11,"tags":[]}

2. action spend: it leaves its footprint: spend: /log is outside the footprint (outside_footprint)
   state   {"cap":0,"log":[],"orders":{},"spent":{}}
   action  spend
   role    spender {"agent":"a"}
   args    {"amount":6,"tags":[]}

3. process spending /orders/{agent}: its footprint names /orders/{agent}, which no action of it accessed (warning, unused)

seed 1, 100 runs: 35 committed, 0 escalated, 65 rejected; invariants checked on 96 states`;

test.each<[string, () => DomainReport, string]>([
  [
    'an approval that is forgotten',
    () => checkDomain(zoo(order, [escalating()]), { runs: 30 }),
    `1. invariant APPROVED: after the approval by boss it still does not pass, APPROVED says: /orders/a: 5 is a lot; let onApprove write the approval where the invariant reads it (approval_does_not_pass)
   state   {"cap":0,"log":[],"orders":{},"spent":{}}
   action  spend
   role    spender {"agent":"a"}
   args    {"amount":5,"tags":[]}`,
  ],
  [
    'chance',
    () =>
      checkDomain(
        zoo((s, a, c) => spend(s, { ...a, amount: Math.floor(Math.random() * 2 ** 31) }, c), []),
        { runs: 30 },
      ),
    `1. action spend: it uses Math.random; pass the value as an argument instead (impure)
   state   {"cap":0,"log":[],"orders":{},"spent":{}}
   action  spend
   role    spender {"agent":"a"}
   args    {"amount":1,"tags":[]}`,
  ],
  [
    'a rule that reads elsewhere',
    () =>
      checkDomain(
        zoo(spend, [
          invariant<State>('R', ['/cap'], ({ log }) => (log.length > 2 ? reject('x') : pass)),
        ]),
        {
          runs: 30,
        },
      ),
    `1. invariant R: it reads data that its footprint does not name: /log is outside the footprint (outside_footprint)
   state   {"cap":0,"log":[],"orders":{},"spent":{}}
   says    the check of the invariant failed: /log is outside the footprint`,
  ],
])('%s is reported in words', (_, check, told) => {
  const [first] = check().formatReport().split('\n\n').slice(1);
  expect(first).toBe(told);
});

function raise(what: unknown): never {
  throw what;
}

function boom(): never {
  throw new RangeError('out of bounds');
}

describe('the report names what a waiting proposal stops', () => {
  const marks = escalating((s, { counselor, keys: [key = ''] }) => {
    (s.orders[key] as { approved?: string }).approved = counselor;
  });
  const actions = {
    order: { process: 'spending', args, apply: order },
    spend: { process: 'spending', args, apply: spend },
    log: { process: 'logging', args: z.object({ text: z.string() }), apply: () => {} },
  };
  const processes = {
    spending: { writes: ['/spent/{agent}', '/orders/{agent}'] },
    logging: { writes: ['/log/-'] },
  };
  const roles = { spender: { params: ['agent'], processes: ['spending', 'logging'] } };
  const stopsOf = (freeze: 'world' | 'footprint' | 'reserve') =>
    checkDomain(zoo(order, [cap, marks], { freeze, actions, processes, roles }), { runs: 100 });

  test.each([
    ['world', 'world', ['order', 'spend', 'log'], ', every other proposal waits.'],
    [
      'footprint',
      ['/orders/*', '/spent/*'],
      ['order', 'spend'],
      ', proposals that touch /orders/*, /spent/* wait (order, spend).',
    ],
    [
      'reserve',
      ['/orders/*'],
      ['order', 'spend'],
      ', proposals that change the same member of /orders/* wait (order, spend).',
    ],
  ] as const)('%s', (freeze, places, names, words) => {
    const report = stopsOf(freeze);
    expect(report.stops).toEqual([
      {
        invariant: 'APPROVED',
        channel: 'any',
        places,
        isReserved: freeze === 'reserve',
        actions: names,
      },
    ]);
    expect(report.formatReport()).toContain(
      `\n\nWhile a proposal waits for a counselor (APPROVED)${words}\n\n`,
    );
  });

  test('nothing without an escalation', () => {
    expect(checkDomain(zoo(), { runs: 20 }).stops).toEqual([]);
  });
});
