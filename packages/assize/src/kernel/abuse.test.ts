import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cases } from '../../../../tests/support/cases.ts';
import { ANYONE } from '../../../../tests/support/models/permissive-authority.ts';
import { defineDomain } from './domain/define-domain.ts';
import {
  ANY,
  type Pattern,
  type PatternSegment,
  patternFromText,
  patternText,
} from './domain/footprint.ts';
import { each, invariant } from './domain/invariant.ts';
import { escalate, pass } from './domain/invariant-result.ts';
import { KernelError } from './errors.ts';
import { adjudicate } from './judge/adjudicate.ts';
import { channelOf, counselorKind } from './judge/channel.ts';
import type { Compiled } from './judge/compiled.ts';
import { World } from './judge/world.ts';

const good = {
  name: 'ward',
  version: '1',
  state: z.object({
    orders: z.record(z.string(), z.object({ n: z.number() })),
    log: z.array(z.string()),
  }),
  initial: { orders: {}, log: [] as string[] },
  processes: { work: { reads: ['/orders'], writes: ['/log'] } },
  roles: { worker: { processes: ['work'] } },
  actions: {
    note: {
      process: 'work',
      args: z.string(),
      apply: (s: any, text: string) => void s.log.push(text),
    },
  },
  invariants: [invariant('LOG', ['/log'], () => pass), each('ORDER', '/orders/*', {}, () => pass)],
  counselors: { nurse: (name: string) => name !== 'carl', cfo: (name: string) => name !== 'nora' },
};

function define(change: object = {}): ReturnType<typeof defineDomain<any, any>> {
  return defineDomain<any, any>({ ...good, ...change } as never);
}

/** The code and text of a kernel error. Other errors are rethrown. */
function refusal(step: () => unknown): { code: string; message: string } {
  try {
    step();
  } catch (error) {
    if (error instanceof KernelError) return { code: error.code, message: error.message };
    throw error;
  }
  return { code: 'nothing was thrown', message: '' };
}

describe('the text of a pattern', () => {
  const odd = [
    '*',
    '-',
    '{x}',
    '~',
    '/',
    '',
    '~0',
    '~1',
    '~2',
    '~2*',
    '~2-',
    '~02',
    '//',
    '~~',
    '__proto__',
  ];
  const segment = fc.oneof(
    fc.constant(ANY),
    fc.constantFrom(...odd),
    fc.string({ unit: fc.constantFrom('*', '-', '~', '/', '0', '1', '2', 'x') }),
    fc.string({ unit: 'binary' }),
  );
  const pattern: fc.Arbitrary<Pattern> = fc.record({
    segments: fc.array(segment, { maxLength: 6 }),
    append: fc.boolean(),
  });

  test('is parsed back to the pattern for any keys', () => {
    fc.assert(
      fc.property(pattern, ({ segments, append }) => {
        expect(patternFromText(patternText({ segments, append }))).toEqual({ segments, append });
      }),
      { numRuns: cases(2_000) },
    );
  });

  test.each(odd)('keeps the key %j apart from its lookalikes, alone, first and last', (key) => {
    const lists: PatternSegment[][] = [[key], [key, 'a'], ['a', key], [key, ANY, key]];
    for (const segments of lists) {
      for (const append of [true, false]) {
        expect(patternFromText(patternText({ segments, append }))).toEqual({ segments, append });
      }
    }
  });
});

const ASKED = { action: 'add', role: { name: 'worker', params: {} }, args: null };

describe('where rule and action both name a channel', () => {
  const rule = { rule: { spec: { channel: 'nurse' } } } as never;
  const held = { reason: 'policy_needs_approval', detail: 'held back' } as const;
  const compiled = (approvalDemand?: typeof held, channel: string | undefined = 'cfo'): Compiled =>
    ({ action: { channel }, approvalDemand }) as never;

  test('an action that requires approval goes to both, others to the rule’s', () => {
    expect(channelOf(compiled(held), rule)).toBe('cfo+nurse');
    expect(channelOf(compiled(), rule)).toBe('nurse');
    expect(channelOf(compiled(held), undefined)).toBe('cfo');
    expect(channelOf(compiled(held, 'nurse'), rule)).toBe('nurse');
  });

  test('only a principal that is both may resolve it', () => {
    const domain = define();
    expect(counselorKind(domain, 'cfo+nurse', 'both', ['alice'], ASKED)).toBe('cfo+nurse');
    for (const one of ['nora', 'carl']) {
      const { code, message } = refusal(() =>
        counselorKind(domain, 'cfo+nurse', one, ['alice'], ASKED),
      );
      expect(code).toBe('unauthorised_counselor');
      expect(message).toContain('cfo and nurse');
    }
  });

  test.each(['any', 'cfo+nurse', '+', 'nurse+', ''])('no kind of counselor is named %j', (name) => {
    const { code, message } = refusal(() => define({ counselors: { [name]: () => true } }));
    expect(code).toBe('invalid_domain');
    expect(message).toContain(`the counselor kind ${JSON.stringify(name)} is not valid`);
  });
});

test('no requester of several may resolve, in any normal form of the name', () => {
  const domain = define({ counselors: { nurse: () => true } });
  const requesters = ['alice', 'zo\u00e9', '\u1e9b\u0323'];
  const forms = ['NFC', 'NFD'] as const;
  for (const written of [
    requesters,
    ...forms.map((form) => requesters.map((name) => name.normalize(form))),
  ]) {
    for (const name of requesters) {
      for (const principal of [name, ...forms.map((form) => name.normalize(form))]) {
        for (const channel of ['nurse', 'any']) {
          const { code } = refusal(() => counselorKind(domain, channel, principal, written, ASKED));
          expect(code, `${channel} ${principal}`).toBe('unauthorised_counselor');
        }
      }
    }
    for (const principal of ['ALICE', 'al\u0456ce', '\uff41lice', 'ZO\u00c9'])
      expect(refusal(() => counselorKind(domain, 'nurse', principal, written, ASKED)).code).toBe(
        'unauthorised_counselor',
      );
    // A name without its accent looks like the name.
    expect(refusal(() => counselorKind(domain, 'nurse', 'zoe', written, ASKED)).code).toBe(
      'unauthorised_counselor',
    );
    expect(counselorKind(domain, 'nurse', 'zoa', written, ASKED)).toBe('nurse');
  }
});

describe('a domain is refused with the faulty part named, for', () => {
  const { invariants, ...others } = good;
  test.each<[string, object, readonly string[]]>([
    [
      'a typo in the path of each',
      { invariants: [each('ORDER', '/odrers/*', {}, () => pass)] },
      ['invariant ORDER', '/odrers/*'],
    ],
    [
      'a typo in what an invariant reads',
      { invariants: [invariant('LOG', ['/lgo'], () => pass)] },
      ['invariant LOG', '/lgo'],
    ],
    [
      'a typo further down',
      { invariants: [invariant('LOG', ['/orders/*/m'], () => pass)] },
      ['invariant LOG', '/orders/*/m'],
    ],
    [
      'a typo in the additional reads of each',
      { invariants: [each('ORDER', '/orders/*', { reads: ['/lgo'] }, () => pass)] },
      ['invariant ORDER', '/lgo'],
    ],
    [
      'a typo in what a process writes',
      { processes: { work: { writes: ['/log', '/orders/*/m'] } } },
      ['process work', '/orders/*/m'],
    ],
    [
      'a typo in what a process reads',
      { processes: { work: { reads: ['/lgo'] } } },
      ['process work', '/lgo'],
    ],
    ['a freeze that there is not', { freeze: 'foot' }, ['/freeze', 'footprint']],
    [
      'each with its check as third argument',
      { invariants: [(each as any)('ORDER', '/orders/*', () => pass)] },
      ['/invariants/0/check', 'each(id, path, options, check)'],
    ],
    [
      'an initial state that does not fit',
      { initial: { orders: {}, log: [7] } },
      ['initial state', '/log/0'],
    ],
    [
      'an initial state with more in it',
      { initial: { orders: {}, log: [], more: 1 } },
      ['initial state', 'more'],
    ],
    [
      'a state that coerces',
      { state: good.state.extend({ m: z.coerce.number() }), initial: undefined },
      ['/m', 'coerce'],
    ],
    [
      'a state that trims',
      { state: good.state.extend({ log: z.array(z.string().trim()) }) },
      ['/log/*', 'trim'],
    ],
  ])('%s', (_what, change, parts) => {
    const { code, message } = refusal(() => define(change));
    expect(code).toBe('invalid_domain');
    for (const part of parts) expect(message).toContain(part);
  });

  test('a state that trims the keys of a record', () => {
    const state = good.state.extend({
      orders: z.record(z.string().trim(), z.object({ n: z.number() })),
    });
    expect(refusal(() => define({ state })).code).toBe('invalid_domain');
  });

  test('a member that there is not, in place of the right one or beside it', () => {
    const instead = refusal(() =>
      defineDomain<any, any>({ ...others, invarients: invariants } as never),
    );
    expect(instead.code).toBe('invalid_domain');
    expect(instead.message).toMatch(/invarients|\/invariants/);
    const beside = refusal(() => define({ invarients: invariants }));
    expect(beside.code).toBe('invalid_domain');
    expect(beside.message).toContain('invarients');
  });
});

test('a domain without counselors that escalates freezes nothing', () => {
  for (const freeze of ['world', 'footprint']) {
    for (const counselors of [undefined, {}]) {
      const domain = define({
        freeze,
        counselors,
        invariants: [invariant('ASK', ['/log'], () => escalate('look'))],
      });
      const intent = { action: 'note', role: { name: 'worker', params: {} }, args: 'x' };
      const at = '2026-03-23T09:00:00.000000Z';
      const world = new World(domain, structuredClone(good.initial));
      expect(adjudicate(world, intent, ANYONE, { at, observations: [] })).toMatchObject({
        verdict: 'escalated',
        channel: 'any',
        freezes: [],
      });
    }
  }
});

test('a process bound to one parameter set is distinct from another binding', () => {
  const domain = define({
    state: z.object({ log: z.record(z.string(), z.record(z.string(), z.number())) }),
    initial: { log: {} },
    processes: { work: { writes: ['/log/{a}/{b}'] } },
    roles: { worker: { params: ['a', 'b'], processes: ['work'] } },
    invariants: [],
  });
  const text = (a: string, b: string): string[] =>
    domain.bind('work', { a, b }).writes.map(patternText);
  for (const between of ['\0', '/', ':', '/1:', ',']) {
    const left = text(`x${between}y`, 'z');
    const right = text('x', `y${between}z`);
    expect(left).not.toEqual(right);
    expect(domain.bind('work', { a: 'x', b: `y${between}z` }).writes[0]?.segments).toEqual([
      'log',
      'x',
      `y${between}z`,
    ]);
    expect(domain.bind('work', { a: `x${between}y`, b: 'z' }).writes[0]?.segments).toEqual([
      'log',
      `x${between}y`,
      'z',
    ]);
  }
});
