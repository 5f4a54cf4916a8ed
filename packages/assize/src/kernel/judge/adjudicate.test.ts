import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '#base';
import { canonicalize } from '#canon';
import { ANYONE } from '../../../../../tests/support/models/permissive-authority.ts';
import { defineDomain } from '../domain/define-domain.ts';
import type { Domain } from '../domain/domain.ts';
import { type Invariant, invariant } from '../domain/invariant.ts';
import { escalate, pass, reject } from '../domain/invariant-result.ts';
import { adjudicate, type Escalated } from './adjudicate.ts';
import type { Authority } from './compiled.ts';
import { World } from './world.ts';

const AT = '2026-03-23T09:00:00.000000Z';
const START = { n: 0, list: [1, 2], open: { a: 1 }, closed: { a: 1 }, marks: {} };

interface Parts {
  readonly apply?: (state: any, args: any, context: any) => unknown;
  readonly invariants?: readonly Invariant<any>[];
  readonly freeze?: 'world' | 'footprint';
  readonly onApprove?: (state: any, args: any, approval: any) => unknown;
  readonly writes?: readonly string[];
}

function domainOf({
  apply = (s) => (s.n = 1),
  invariants = [],
  freeze,
  onApprove,
  writes,
}: Parts): Domain<any, any> {
  return defineDomain<any, any>({
    name: 'shop',
    version: '1',
    state: z.object({
      n: z.number(),
      list: z.array(z.number()),
      open: z.record(z.string(), z.any()),
      closed: z.record(z.string(), z.any()),
      marks: z.record(z.string(), z.string()),
    }),
    processes: { work: { reads: ['/marks'], writes: writes ?? ['/n', '/list', '/open'] } },
    roles: { worker: { processes: ['work'] } },
    actions: {
      act: { process: 'work', args: z.any(), apply, ...(onApprove && { onApprove }) } as never,
    },
    invariants,
    counselors: { doctor: () => true },
    ...(freeze && { freeze }),
  });
}

function rule(
  parts: Parts,
  args: Json = null,
  authority: Partial<Authority> = {},
  observations: Json[] = [],
) {
  const world = new World(domainOf(parts), structuredClone(START));
  const ruling = adjudicate(
    world,
    { action: 'act', role: { name: 'worker', params: {} }, args },
    { ...ANYONE, ...authority },
    { at: AT, observations: observations.map((value, i) => ({ name: `o${i}`, value })) },
  );
  return { world, ruling };
}

const never = invariant('NEVER', ['/n'], ({ n }) => (n === 0 ? pass : reject('never')));
const ask = invariant('ASK', ['/n'], ({ n }) => (n === 0 ? pass : escalate('look')));

describe('an action that is not carried out leaves the world as it was', () => {
  test.each<[string, Parts['apply'], string, string]>([
    [
      'throws',
      () => {
        throw new Error('no stock');
      },
      'precondition_failed',
      'no stock',
    ],
    [
      'writes a key with half of a surrogate pair',
      (s) => {
        s.n = 1;
        s.open['note \ud83d'] = 1;
      },
      'type_mismatch',
      'lone surrogate',
    ],
    [
      'writes such a key deep in a value',
      (s) => {
        s.open = { a: [{ 'note \ud83d': 1 }] };
      },
      'type_mismatch',
      'lone surrogate',
    ],
    [
      'writes a text with half of a surrogate pair',
      (s) => {
        s.list.push('note 😀'.slice(0, 6));
      },
      'type_mismatch',
      'lone surrogate',
    ],
    [
      'throws after it changed much',
      (s) => {
        s.n = 1;
        s.list.length = 0;
        s.open = {};
        throw new Error('late');
      },
      'precondition_failed',
      'late',
    ],
    [
      'throws a text',
      () => {
        throw 'text';
      },
      'precondition_failed',
      'text',
    ],
    [
      'throws nothing',
      () => {
        throw undefined;
      },
      'precondition_failed',
      'undefined',
    ],
    [
      'throws what has no text',
      () => {
        throw Object.create(null);
      },
      'precondition_failed',
      'cannot be read',
    ],
    [
      'throws what throws',
      () => {
        throw {
          get message() {
            throw 1;
          },
          toString() {
            throw 2;
          },
        };
      },
      'precondition_failed',
      'cannot be read',
    ],
    [
      'throws half a character',
      () => {
        throw new Error('\ud83d!');
      },
      'precondition_failed',
      '\ufffd!',
    ],
    [
      'writes outside',
      (s) => (s.closed.a = 2),
      'invalid_authority',
      '/closed is outside the footprint',
    ],
    [
      'writes what it may only read',
      (s) => (s.marks.a = 'x'),
      'invalid_authority',
      'act may not change /marks/a',
    ],
    [
      'puts another state in the place',
      (s) => Object.assign(s, { closed: {} }),
      'invalid_authority',
      '/closed is outside',
    ],
    [
      'reads outside',
      (s) => (s.n = s.closed.a),
      'invalid_authority',
      '/closed is outside the footprint',
    ],
    ['writes no JSON', (s) => (s.open.at = new Date(0)), 'type_mismatch', '/open/at'],
    ['writes another type', (s) => (s.n = 'one'), 'type_mismatch', '/n: '],
    [
      'writes what there is not',
      (s) => Object.assign(s.list, { extra: 1 }),
      'type_mismatch',
      '/list/extra',
    ],
    ['leaves a gap', (s) => (s.list[7] = 1), 'type_mismatch', '/list/2: a list cannot have gaps'],
    ['removes what must be there', (s) => delete s.n, 'type_mismatch', '/n: cannot be removed'],
    ['returns a promise', () => Promise.resolve(), 'type_mismatch', 'apply returned a promise'],
    [
      'is asynchronous and fails',
      async () => {
        await null;
        throw new Error('later');
      },
      'type_mismatch',
      'apply returned a promise',
    ],
    [
      'returns a thenable',
      () => Object.fromEntries([['then', () => {}]]),
      'type_mismatch',
      'apply returned a promise',
    ],
    [
      'returns what throws when it is looked at',
      () =>
        Object.defineProperty({}, 'then', {
          get: () => {
            throw new Error('peek');
          },
        }),
      'type_mismatch',
      'apply returned a promise',
    ],
    ['changes its arguments', (_s, args) => (args.x = 2), 'precondition_failed', 'read only'],
    [
      'changes the object that it assigned',
      (state) => {
        const made: Record<string, unknown> = {};
        state.open = made;
        made['b'] = 1;
      },
      'precondition_failed',
      'to change an assigned value further, read it back from `state`',
    ],
    [
      'changes its role',
      (_s, _args, { role }) => (role.as = 'root'),
      'precondition_failed',
      'not extensible',
    ],
    [
      'changes its observations',
      (_s, _args, { observations }) => (observations[0].value.seen = 2),
      'precondition_failed',
      'read only',
    ],
    [
      'adds an observation',
      (_s, _args, { observations }) => observations.push(1),
      'precondition_failed',
      'not extensible',
    ],
    [
      'walks off with the prototype',
      (s) => Object.setPrototypeOf(s, null),
      'precondition_failed',
      'setPrototypeOf',
    ],
    [
      'never comes back',
      (s) => {
        const loop = (): void => loop();
        s.n = 1;
        loop();
      },
      'precondition_failed',
      'call stack',
    ],
  ])('it %s', (_what, apply, reason, detail) => {
    const { world, ruling } = rule({ apply: apply as never }, { x: 1 }, {}, [{ seen: 1 }]);
    expect(ruling).toMatchObject({
      verdict: 'rejected',
      reason,
      detail: expect.stringContaining(detail),
    });
    expect(canonicalize(world.state)).toBe(canonicalize(START));
  });

  test('a kept draft and later writes of the action change nothing', async () => {
    const kept: any[] = [];
    const { world } = rule({
      apply: async (s) => {
        kept.push(s, s.open);
        s.n = 1;
        await null;
        s.n = 2;
      },
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(() => (kept[0].n = 3)).toThrow('read-only');
    expect(() => (kept[1].a = 3)).toThrow('read-only');
    expect(world.state).toEqual(START);
  });

  test('a kept draft of an approved action changes nothing either', () => {
    const kept: any[] = [];
    const { world, ruling } = rule({
      apply: (s) => {
        kept.push(s, s.list);
        s.n = 1;
      },
    });
    if (ruling.verdict !== 'approved') throw new Error(ruling.verdict);
    ruling.keep();
    expect(() => (kept[0].n = 3)).toThrow('read-only');
    expect(() => kept[1].push(3)).toThrow('read-only');
    expect(world.state).toEqual({ ...START, n: 1 });
  });
});

describe('an action that is carried out', () => {
  test('may return any value, including the draft', () => {
    for (const apply of [
      (s: any) => Object.assign(s, { n: 1 }),
      (s: any) => s,
      (s: any) => (s.n = 1),
      (s: any) => s.list.push(3),
      () => null,
      () => ({ ok: true }),
    ]) {
      expect(rule({ apply }).ruling.verdict).toBe('approved');
    }
  });

  test('has only its arguments, role, time, observations and calls', () => {
    let seen: unknown;
    const { ruling } = rule(
      {
        apply: (_s, args, context) => {
          seen = { args, ...context };
        },
      },
      { a: 1 },
      {},
      [1],
    );
    expect(ruling.verdict).toBe('approved');
    expect(seen).toEqual({
      args: { a: 1 },
      role: {},
      at: AT,
      observations: [{ name: 'o0', value: 1 }],
      calls: [],
    });
  });

  test('is in place until it is kept or undone', () => {
    const { world, ruling } = rule({});
    if (ruling.verdict !== 'approved') throw new Error(ruling.verdict);
    expect(world.state).toEqual({ ...START, n: 1 });
    ruling.undo();
    expect(world.state).toEqual(START);
  });
});

describe('the walk over the invariants', () => {
  const order = (...ids: string[]): { rules: Invariant<any>[]; asked: string[] } => {
    const asked: string[] = [];
    const rules = ids.map((id) =>
      invariant(id, ['/n'], () => {
        asked.push(id);
        return id.startsWith('R') ? reject(id) : id.startsWith('E') ? escalate(id) : pass;
      }),
    );
    return { rules, asked };
  };

  test.each<[string[], string, string | undefined, string[]]>([
    [['P1', 'P2'], 'approved', undefined, ['P1', 'P2']],
    [['P1', 'R1', 'E1'], 'rejected', 'R1', ['P1', 'R1']],
    [['P1', 'E1', 'R1'], 'escalated', 'E1', ['P1', 'E1']],
    [['R1', 'R2'], 'rejected', 'R1', ['R1']],
  ])('%j: the first that does not pass decides', (ids, verdict, by, expected) => {
    const { rules, asked } = order(...ids);
    const world = new World(domainOf({ invariants: rules }), structuredClone(START));
    asked.length = 0;
    const intent = { action: 'act', role: { name: 'worker', params: {} }, args: null };
    const ruling = adjudicate(world, intent, ANYONE, { at: AT, observations: [] });
    expect(ruling.verdict).toBe(verdict);
    expect((ruling as Escalated).invariantId).toBe(by);
    expect(asked).toEqual(expected);
    if (ruling.verdict !== 'approved') expect(world.state).toEqual(START);
  });

  test.each<[string, (state: any) => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('oops');
      },
      'the check of the invariant failed: it threw: oops',
    ],
    [
      'throws what has no text',
      () => {
        throw Object.create(null);
      },
      'cannot be read',
    ],
    ['answers nothing', () => undefined, 'did not return pass'],
    ['answers true', () => true, 'did not return pass'],
    ['answers with no detail', () => ({ result: 'reject' }), 'did not return pass'],
    ...[0, 1.5, 10 ** 12, 'soon', null].map((timeoutMs): [string, () => unknown, string] => [
      `waits ${timeoutMs} ms`,
      () => escalate('ask', { timeoutMs: timeoutMs as number }),
      `the invariant escalated for ${timeoutMs} ms`,
    ]),
    ['answers later', async () => pass, 'returned a promise'],
    [
      'fails later',
      async () => {
        throw new Error('later');
      },
      'returned a promise',
    ],
    ['changes the state', (s) => (s.n = 0), '/n is read-only here'],
    ['looks elsewhere', (s) => s.closed.a, '/closed is outside the footprint'],
  ])('a rule that %s does not pass', (_what, check, detail) => {
    const { world, ruling } = rule({ invariants: [invariant('X', ['/n'], check as never)] });
    expect(ruling).toMatchObject({
      verdict: 'rejected',
      reason: 'invariant_rejected',
      invariantId: 'X',
      detail: expect.stringContaining(detail),
    });
    expect(world.state).toEqual(START);
  });

  test('a rule’s detail is truncated to the limit of an entry', () => {
    const words = invariant('X', ['/n'], ({ n }) =>
      n === 0 ? pass : reject(`${'x'.repeat(5_000)}\ud83d`),
    );
    expect((rule({ invariants: [words] }).ruling as { detail: string }).detail).toBe(
      'x'.repeat(2_000),
    );
  });
});

describe('an escalation', () => {
  test('reports its patches, the approval’s patches, the channel and the freeze', () => {
    const rules = [
      invariant('ASK', ['/n', '/closed/a'], ({ n }) => (n === 0 ? pass : escalate('look')), {
        onApprove: (s: any, { counselor, at }) => {
          s.marks.ask = `${counselor} ${at}`;
        },
      }),
      invariant('OTHER', ['/closed/b'], () => pass),
    ];
    const parts = { invariants: rules, writes: ['/n', '/list/-'] };
    const { world, ruling } = rule({ ...parts, freeze: 'world' });
    expect(ruling).toMatchObject({
      verdict: 'escalated',
      reason: 'invariant_escalated',
      detail: 'look',
      invariantId: 'ASK',
      channel: 'any',
      patches: [{ op: 'replace', path: '/n', value: 1 }],
      approval: [{ op: 'add', path: '/marks/ask', value: `$counselor ${AT}` }],
      freezes: 'world',
    });
    expect(world.state).toEqual(START);
    const narrow = rule({ ...parts, freeze: 'footprint' }).ruling as Escalated;
    expect([...narrow.freezes].sort()).toEqual(['/closed/a', '/list/-', '/marks', '/n']);
    const reserved = rule(parts).ruling as Escalated;
    expect([...reserved.freezes].sort()).toEqual(['/marks/ask', '/n']);
  });

  test('by policy or writ still runs invariants; reject wins, both reasons show', () => {
    const held: Partial<Authority> = {
      decides: () => ({
        ruling: { digest: 'd', decision: 'needs_approval' },
        detail: 'policy asks',
      }),
    };
    expect(rule({ invariants: [never] }, null, held).ruling).toMatchObject({
      verdict: 'rejected',
      invariantId: 'NEVER',
    });
    expect(rule({ invariants: [ask] }, null, held).ruling).toMatchObject({
      verdict: 'escalated',
      invariantId: 'ASK',
      reason: 'invariant_escalated',
      detail: 'look; policy asks',
    });
    const only = rule({}, null, held).ruling;
    expect(only).toMatchObject({
      verdict: 'escalated',
      reason: 'policy_needs_approval',
      detail: 'policy asks',
    });
    expect(only).not.toHaveProperty('invariantId');
    expect(
      rule({}, null, { admits: () => ({ ok: true, needsApproval: true }) }).ruling,
    ).toMatchObject({
      reason: 'writ_requires_approval',
    });
  });

  test.each<[string, Parts['onApprove'], string]>([
    [
      'throws',
      () => {
        throw new Error('no ink');
      },
      'onApprove of act: no ink',
    ],
    [
      'writes outside what is frozen',
      (s) => (s.closed.b = 1),
      'onApprove of act: /closed is outside the footprint',
    ],
    ['writes no JSON', (s) => (s.marks.a = Number.NaN), 'onApprove of act: /marks/a'],
    [
      'is asynchronous',
      async (s) => {
        s.marks.a = 'x';
      },
      'onApprove of act: onApprove returned a promise',
    ],
    ['leaves a gap', (s) => (s.list[9] = 1), 'onApprove of act: /list/2: a list cannot have gaps'],
  ])('with an approval mark that %s is refused', (_what, onApprove, detail) => {
    const { world, ruling } = rule({ invariants: [ask], onApprove: onApprove as never });
    expect(ruling).toMatchObject({
      verdict: 'rejected',
      reason: 'precondition_failed',
      detail: expect.stringContaining(detail),
    });
    expect(world.state).toEqual(START);
  });

  test('with a failing mark still reports the policy decision', () => {
    const policy = { digest: 'd', decision: 'needs_approval' as const };
    const { ruling } = rule(
      {
        onApprove: () => {
          throw new Error('no ink');
        },
      },
      null,
      { decides: () => ({ ruling: policy, detail: 'asks' }) },
    );
    expect(ruling).toMatchObject({ verdict: 'rejected', reason: 'precondition_failed', policy });
  });

  test('may be more than an entry holds in place', () => {
    const big = 'x'.repeat(600_000);
    const { ruling } = rule({
      invariants: [ask],
      apply: (s) => {
        s.n = 1;
        s.open.a = big;
        s.open.b = big;
      },
    });
    expect(ruling.verdict).toBe('escalated');
    expect((ruling as Escalated).patches).toHaveLength(3);
  });

  test('has patches that no later change alters', () => {
    const { world, ruling } = rule({
      invariants: [ask],
      apply: (s) => {
        s.n = 1;
        s.open.deep = { list: [1] };
      },
    });
    const { patches } = ruling as Escalated;
    (patches[1] as any).value.list.push(2);
    expect(world.state).toEqual(START);
    expect(patches).toHaveLength(2);
  });
});
