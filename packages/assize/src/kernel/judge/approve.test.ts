import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '#base';
import { canonicalize } from '#canon';
import { ANYONE } from '../../../../../tests/support/models/permissive-authority.ts';
import { saidOf } from '../../../../../tests/support/said-of.ts';
import { defineDomain } from '../domain/define-domain.ts';
import type { Domain } from '../domain/domain.ts';
import { each, type Invariant, invariant } from '../domain/invariant.ts';
import { escalate, pass, reject } from '../domain/invariant-result.ts';
import { KernelError } from '../errors.ts';
import type { PatchOperation } from '../state/patches.ts';
import { adjudicate, type Escalated } from './adjudicate.ts';
import {
  approvePending,
  type CounselorApproval,
  type CounselorCommit,
  type PendingProposal,
} from './approve.ts';
import { counselorKind } from './channel.ts';
import type { Authority } from './compiled.ts';
import { World } from './world.ts';

const AT = '2026-03-23T09:00:00.000000Z';
const LATER = '2026-03-23T10:00:00.000000Z';
const START = { n: 0, list: [1, 2], other: { a: 1, b: 1 }, marks: {} as Record<string, string> };

const ask = invariant(
  'ASK',
  ['/n', '/marks'],
  ({ n, marks }) => (n < 5 || marks.ask ? pass : escalate('look')),
  {
    channel: 'doctor',
    onApprove: (s: any, { counselor, at }) => {
      s.marks.ask = `${counselor} at ${at}`;
    },
  },
);
const never = invariant(
  'NEVER',
  ['/other/a'],
  ({ other }) => (other.a < 9 ? pass : reject('never')),
  {
    overridable: true,
  },
);

function domainOf(
  invariants: readonly Invariant<any>[] = [ask, never],
  more: object = {},
): Domain<any, any> {
  return defineDomain<any, any>({
    name: 'clinic',
    version: '1',
    state: z.object({
      n: z.number(),
      list: z.array(z.number()),
      other: z.record(z.string(), z.number()),
      marks: z.record(z.string(), z.string()),
    }),
    processes: { work: { writes: ['/n', '/list'] }, elsewhere: { writes: ['/other'] } },
    roles: { worker: { processes: ['work', 'elsewhere'] } },
    actions: {
      add: {
        process: 'work',
        args: z.number(),
        apply: (s: any, by: number) => {
          s.n += by;
        },
      },
      set: {
        process: 'elsewhere',
        args: z.number(),
        apply: (s: any, a: number) => {
          s.other.a = a;
        },
      },
    } as never,
    invariants,
    counselors: {
      doctor: (principal: string) => principal.startsWith('dr'),
      judge: (principal: string) => principal === 'judy',
    },
    freeze: 'world',
    ...more,
  });
}

const role = { name: 'worker', params: {} };
const ASKED = { action: 'add', role, args: 7 };

function propose(world: World, action: string, args: Json): PendingProposal {
  const intent = { action, role, args };
  const inputs = { at: AT, observations: [] };
  const ruling = adjudicate(world, intent, ANYONE, inputs) as Escalated;
  expect(ruling.verdict).toBe('escalated');
  return {
    intent,
    inputs,
    patches: ruling.patches,
    approval: ruling.approval,
    ...(ruling.invariantId === undefined ? {} : { invariantId: ruling.invariantId }),
    channel: ruling.channel ?? 'any',
    freezes: ruling.freezes,
    approvals: ruling.approvals,
    approvedBy: [],
    requesters: ['alice'],
  };
}

function open(domain: Domain = domainOf()): World {
  return new World(domain, structuredClone(START));
}

function decide(
  world: World,
  waiting: PendingProposal,
  by: Partial<CounselorApproval> = {},
  authority: Partial<Authority> = {},
): CounselorCommit {
  return approvePending(
    world,
    waiting,
    { principal: 'dr who', at: LATER, ...by },
    { ...ANYONE, ...authority },
  );
}

function codeOf(step: () => unknown): string {
  return errorOf(step)?.code ?? 'nothing was thrown';
}

function errorOf(step: () => unknown): KernelError | undefined {
  try {
    step();
  } catch (error) {
    if (error instanceof KernelError) return error;
    throw error;
  }
  return undefined;
}

describe('an approval', () => {
  test('commits the proposed change with the mark, and passes', () => {
    const world = open();
    const commit = decide(world, propose(world, 'add', 7));
    expect(commit).toMatchObject({
      as: 'doctor',
      overridden: false,
      vector: [
        { invariant_id: 'ASK', result: 'pass' },
        { invariant_id: 'NEVER', result: 'pass' },
      ],
    });
    commit.keep();
    expect(world.state).toEqual({ ...START, n: 7, marks: { ask: `dr who at ${LATER}` } });
    expect(world.failing).toEqual([]);
  });

  test('can be taken back until it is kept', () => {
    const world = open();
    decide(world, propose(world, 'add', 7)).undo();
    expect(world.state).toEqual(START);
  });

  test('runs with the proposal’s time, and marks with the resolution’s', () => {
    let at = '';
    const domain = domainOf([ask], {
      actions: {
        add: {
          process: 'work',
          args: z.number(),
          apply: (s: any, by: number, context: any) => {
            s.n += by;
            at = context.at;
          },
        },
      },
    });
    const world = open(domain);
    decide(world, propose(world, 'add', 7)).keep();
    expect(at).toBe(AT);
    expect((world.state as any).marks.ask).toContain(LATER);
  });

  test('of a still failing proposal needs override, and the vector shows it', () => {
    const bare = invariant('BARE', ['/n'], ({ n }) => (n < 5 ? pass : escalate('no mark')));
    const world = open(domainOf([bare, never]));
    const waiting = propose(world, 'add', 7);
    expect(codeOf(() => decide(world, waiting))).toBe('override_needed');
    expect(world.state).toEqual(START);
    const commit = decide(world, waiting, { override: true });
    expect(commit.overridden).toBe(true);
    expect(commit.vector[0]).toEqual({
      invariant_id: 'BARE',
      result: 'escalate',
      detail: 'no mark',
    });
    commit.keep();
    expect(world.failing.map(({ rule }) => rule.id)).toEqual(['BARE']);
    // Every proposal checks a failing rule until it passes.
    expect(
      adjudicate(world, { action: 'set', role, args: 2 }, ANYONE, { at: LATER, observations: [] }),
    ).toMatchObject({
      verdict: 'escalated',
      invariantId: 'BARE',
    });
    const back = adjudicate(world, { action: 'add', role, args: -7 }, ANYONE, {
      at: LATER,
      observations: [],
    });
    expect(back.verdict).toBe('approved');
  });

  test('by one of several is shown as incomplete until enough have approved', () => {
    const world = open(domainOf([{ ...ask, approvals: 3 }, never]));
    const waiting = propose(world, 'add', 7);
    expect(waiting.approvals).toBe(3);
    const given: { principal: string; at: string }[] = [];
    for (const [principal, complete] of [
      ['dr a', false],
      ['dr b', false],
      ['dr c', true],
    ] as const) {
      const commit = decide(world, { ...waiting, approvedBy: given }, { principal });
      expect(commit).toMatchObject({ complete, as: 'doctor' });
      commit.undo();
      given.push({ principal, at: AT });
      const again = (): unknown => decide(world, { ...waiting, approvedBy: given }, { principal });
      expect(codeOf(again)).toBe('already_approved');
    }
    expect(world.state).toEqual(START);
  });

  test('by several overrides only if all of them override', () => {
    const bare = invariant('BARE', ['/n'], ({ n }) => (n < 5 ? pass : escalate('no mark')), {
      approvals: 2,
    });
    const world = open(domainOf([bare, never]));
    const waiting = propose(world, 'add', 7);
    const approvedWith = (override: boolean): PendingProposal => ({
      ...waiting,
      approvedBy: [{ principal: 'dr a', at: AT, override }],
    });
    expect(codeOf(() => decide(world, waiting))).toBe('override_needed');
    expect(codeOf(() => decide(world, approvedWith(true)))).toBe('override_needed');
    expect(codeOf(() => decide(world, approvedWith(false), { override: true }))).toBe(
      'override_needed',
    );
    expect(() => decide(world, approvedWith(false), { override: true })).toThrow(
      'dr a approved it without override',
    );
    expect(decide(world, approvedWith(true), { override: true })).toMatchObject({
      overridden: true,
      complete: true,
    });
  });

  test('refused without override shows copies of the earlier violations', () => {
    const world = open(domainOf([{ ...ask, approvals: 2 }, never]));
    const violation = { invariant_id: 'ASK', result: 'escalate', detail: 'look' } as const;
    const approvedBy = [{ principal: 'dr a', at: AT, override: true, overridden: [violation] }];
    const refused = errorOf(() => decide(world, { ...propose(world, 'add', 7), approvedBy }));
    const [shown] = (refused?.evidence['vector'] ?? []) as object[];
    expect([refused?.code, shown]).toEqual(['override_needed', violation]);
    expect(shown).not.toBe(violation);
  });

  test('with an unneeded override is recorded without one', () => {
    const world = open();
    expect(decide(world, propose(world, 'add', 7), { override: true }).overridden).toBe(false);
  });

  test('of a policy escalation does not query the policy again', () => {
    const world = open(domainOf([]));
    const held: Authority = { ...ANYONE, admits: () => ({ ok: true, needsApproval: true }) };
    const ruling = adjudicate(world, { action: 'add', role, args: 1 }, held, {
      at: AT,
      observations: [],
    }) as Escalated;
    const waiting = {
      ...propose(open(), 'add', 7),
      intent: { action: 'add', role, args: 1 as Json },
      patches: ruling.patches,
      approval: [],
      channel: 'any',
    };
    const { invariantId: _none, ...rest } = waiting;
    decide(world, rest, { principal: 'judy' }).keep();
    expect((world.state as any).n).toBe(1);
  });
});

describe('authority to resolve', () => {
  const domain = domainOf();
  test.each<[string, string, string, string]>([
    ['doctor', 'dr who', 'alice', 'doctor'],
    ['any', 'judy', 'alice', 'judge'],
    ['any', 'dr who', 'alice', 'doctor'],
  ])('on channel %s %s, asked by %s, as %s', (channel, principal, requester, as) => {
    expect(counselorKind(domain, channel, principal, [requester], ASKED)).toBe(as);
  });

  test.each<[string, string, string, string]>([
    ['the one who asked', 'doctor', 'dr who', 'dr who'],
    ['another kind', 'doctor', 'judy', 'alice'],
    ['nobody in particular', 'any', 'bob', 'alice'],
    ['a kind that there is not', 'nurse', 'dr who', 'alice'],
    ['a kind named like the language’s own', 'constructor', 'dr who', 'alice'],
  ])('not %s', (_who, channel, principal, requester) => {
    expect(codeOf(() => counselorKind(domain, channel, principal, [requester], ASKED))).toBe(
      'unauthorised_counselor',
    );
  });

  test('is denied without counselors, and if a predicate is only truthy', () => {
    expect(
      codeOf(() =>
        counselorKind(domainOf([], { counselors: {} }), 'any', 'judy', ['alice'], ASKED),
      ),
    ).toBe('unauthorised_counselor');
    const loose = domainOf([], { counselors: { friend: () => 'yes' as never } });
    expect(codeOf(() => counselorKind(loose, 'any', 'judy', ['alice'], ASKED))).toBe(
      'unauthorised_counselor',
    );
  });

  test('is asked before anything runs', () => {
    let ran = 0;
    const domain = domainOf([ask], {
      actions: {
        add: {
          process: 'work',
          args: z.number(),
          apply: (s: any, by: number) => {
            ran++;
            s.n += by;
          },
        },
      },
    });
    const world = open(domain);
    const waiting = propose(world, 'add', 7);
    expect(codeOf(() => decide(world, waiting, { principal: 'bob' }))).toBe(
      'unauthorised_counselor',
    );
    expect(ran).toBe(1);
  });
});

describe('a change since the submission', () => {
  function changed(meanwhile: (world: World) => void, authority: Partial<Authority> = {}): string {
    const world = open();
    const waiting = propose(world, 'add', 7);
    meanwhile(world);
    const before = canonicalize(world.state);
    const code = codeOf(() => decide(world, waiting, {}, authority).undo());
    expect(canonicalize(world.state)).toBe(before);
    return code;
  }

  function commit(world: World, action: string, args: Json): void {
    const ruling = adjudicate(world, { action, role, args }, ANYONE, { at: AT, observations: [] });
    if (ruling.verdict !== 'approved') throw new Error(ruling.verdict);
    ruling.keep();
  }

  test('where it matters is not approved', () => {
    expect(changed((world) => commit(world, 'add', 1))).toBe('changed_since');
    expect(changed((world) => commit(world, 'add', -6))).toBe('changed_since');
  });

  test('elsewhere does not matter', () => {
    expect(changed((world) => commit(world, 'set', 2))).toBe('nothing was thrown');
  });

  test('in the writ’s grant', () => {
    expect(changed(() => {}, { admits: () => ({ ok: false, detail: 'expired' }) })).toBe(
      'changed_since',
    );
    expect(changed(() => {}, { affords: () => ({ ok: false, detail: 'spent' }) })).toBe(
      'changed_since',
    );
  });

  test('in the pending proposal: other patches, another mark, another rule', () => {
    const world = open();
    const waiting = propose(world, 'add', 7);
    for (const other of [
      { patches: [] },
      { patches: [{ op: 'replace' as const, path: '/n', value: 8 }] },
      { approval: [] },
      { invariantId: 'NEVER' },
      { intent: { action: 'add', role, args: 8 } },
      { intent: { action: 'gone', role, args: 8 } },
    ]) {
      expect(codeOf(() => decide(world, { ...waiting, ...other }))).toBe('changed_since');
      expect(world.state).toEqual(START);
    }
  });

  test('an action that throws now', () => {
    let broken = false;
    const world = open(
      domainOf([ask], {
        actions: {
          add: {
            process: 'work',
            args: z.number(),
            apply: (s: any, by: number) => {
              if (broken) throw new Error('gone');
              s.n += by;
            },
          },
        },
      }),
    );
    const waiting = propose(world, 'add', 7);
    broken = true;
    expect(codeOf(() => decide(world, waiting))).toBe('changed_since');
    expect(world.state).toEqual(START);
  });

  test('a mark failing for this counselor only is its own error, without effect', () => {
    const picky = invariant(
      'ASK',
      ['/n', '/marks'],
      ({ n, marks }) => (n < 5 || marks.ask ? pass : escalate('look')),
      {
        onApprove: (s: any, { counselor }) => {
          s.marks.ask = counselor;
          if (counselor === 'dr no') throw new Error('not me');
          if (counselor === 'dr yes') s.marks.ask = Number.NaN;
          if (counselor === 'dr hole') s.list[9] = 1;
        },
      },
    );
    const world = open(domainOf([picky]));
    const waiting = propose(world, 'add', 7);
    for (const principal of ['dr no', 'dr yes', 'dr hole']) {
      expect(saidOf(() => decide(world, waiting, { principal }))).toMatch(
        'invalid_state: The approved state cannot be computed:',
      );
      expect(world.state).toEqual(START);
    }
    expect(codeOf(() => decide(world, waiting))).toBe('nothing was thrown');
  });
});

describe('a counselor’s own state', () => {
  const replaceWith = (
    patches: readonly unknown[],
    more: object = {},
    by: Partial<CounselorApproval> = {},
  ): { code: string; state: unknown } => {
    const world = open(domainOf([ask, never], more));
    const waiting = propose(world, 'add', 7);
    const code = codeOf(() =>
      decide(world, waiting, { replacement: patches as PatchOperation[], ...by }).keep(),
    );
    return { code, state: world.state };
  };

  test('results from applying the operations to the current state', () => {
    const { code, state } = replaceWith([
      { op: 'add', path: '/list/0', value: 9 },
      { op: 'add', path: '/list/-', value: 8 },
      { op: 'replace', path: '/list/1', value: 7 },
      { op: 'remove', path: '/list/2' },
      { op: 'add', path: '/marks/new', value: 'x' },
      { op: 'replace', path: '/marks/new', value: 'y' },
      { op: 'add', path: '/marks/new', value: 'z' },
      { op: 'remove', path: '/other/b' },
    ]);
    expect(code).toBe('nothing was thrown');
    expect(state).toEqual({ n: 0, list: [9, 7, 8], other: { a: 1 }, marks: { new: 'z' } });
  });

  test('may be nothing new', () => {
    expect(replaceWith([])).toEqual({ code: 'nothing was thrown', state: START });
  });

  test('that breaks a rule needs override', () => {
    const broken = [{ op: 'replace', path: '/other/a', value: 9 }];
    expect(replaceWith(broken)).toEqual({ code: 'override_needed', state: START });
    expect(replaceWith(broken, {}, { override: true }).state).toMatchObject({ other: { a: 9 } });
  });

  test.each<[string, unknown]>([
    ['a place that there is not', { op: 'replace', path: '/nowhere', value: 1 }],
    ['a place below nothing', { op: 'add', path: '/x/y', value: 1 }],
    ['a place below a number', { op: 'add', path: '/n/y', value: 1 }],
    ['the whole state', { op: 'replace', path: '', value: {} }],
    ['no pointer', { op: 'replace', path: 'n', value: 1 }],
    ['no path', { op: 'replace', value: 1 }],
    ['nothing', null],
    ['another operation', { op: 'test', path: '/n', value: 0 }],
    ['a move', { op: 'move', path: '/n', from: '/other/a' }],
    ['an operation named like the language’s own', { op: 'constructor', path: '/n' }],
    ['no value', { op: 'replace', path: '/n' }],
    ['another type', { op: 'replace', path: '/n', value: 'one' }],
    ['a member that there is not', { op: 'add', path: '/extra', value: 1 }],
    ['the length of a list', { op: 'replace', path: '/list/length', value: 0 }],
    ['a place beyond the list', { op: 'add', path: '/list/3', value: 0 }],
    ['an element after the last', { op: 'replace', path: '/list/2', value: 0 }],
    ['an element with leading zeros', { op: 'replace', path: '/list/01', value: 0 }],
    ['no element', { op: 'remove', path: '/list/-' }],
    ['a removal of what must be there', { op: 'remove', path: '/n' }],
    ['a list where the prototype is', { op: 'add', path: '/__proto__/x', value: 1 }],
  ])('of %s is refused', (_what, patch) => {
    expect(replaceWith([{ op: 'add', path: '/marks/first', value: 'x' }, patch])).toEqual({
      code: 'invalid_state',
      state: START,
    });
  });

  test('stays inside the freeze and replaces only paths wholly inside', () => {
    const narrow = { freeze: 'footprint' };
    expect(replaceWith([{ op: 'replace', path: '/n', value: 3 }], narrow).code).toBe(
      'nothing was thrown',
    );
    for (const patch of [
      { op: 'replace', path: '/other/a', value: 2 },
      { op: 'replace', path: '/other', value: { a: 2, b: 1 } },
    ]) {
      expect(replaceWith([patch], narrow)).toEqual({ code: 'invalid_state', state: START });
    }
    const part = domainOf(
      [invariant('PART', ['/other/a', '/n'], ({ n }) => (n < 5 ? pass : escalate('x')))],
      narrow,
    );
    const world = open(part);
    const waiting = propose(world, 'add', 7);
    const all = [{ op: 'replace' as const, path: '/other', value: { a: 1, b: 2 } }];
    expect(saidOf(() => decide(world, waiting, { principal: 'judy', replacement: all }))).toMatch(
      'invalid_state: The operation replace',
    );
    const same = [{ op: 'replace' as const, path: '/other', value: { a: 2, b: 1 } }];
    expect(saidOf(() => decide(world, waiting, { principal: 'judy', replacement: same }))).toMatch(
      'invalid_state: The operation replace',
    );
    const named = [{ op: 'replace' as const, path: '/other/a', value: 2 }];
    expect(codeOf(() => decide(world, waiting, { principal: 'judy', replacement: named }))).toBe(
      'nothing was thrown',
    );
  });
});

describe('a rule that did not pass before', () => {
  test('has its say, and its mark, also where the proposal does not meet it', () => {
    const members = each<any, '/other/*', any>(
      'EACH',
      '/other/*',
      {
        onApprove: (s: any, { keys }: any) => {
          s.other[keys[0]] = 1;
        },
      } as never,
      (member: number) => (member < 5 ? pass : escalate('too much')),
    );
    const domain = domainOf([members], { freeze: 'footprint' });
    const world = new World(domain, { ...structuredClone(START), other: { a: 1, b: 7 } });
    expect(world.failing.map(({ keys }) => keys)).toEqual([['b']]);
    const waiting = propose(world, 'add', 1);
    expect(waiting.invariantId).toBe('EACH');
    expect(waiting.approval).toEqual([{ op: 'replace', path: '/other/b', value: 1 }]);
    expect(waiting.freezes).toContain('/other/b');
    expect(waiting.freezes).not.toContain('/other/*');
    decide(world, waiting, { principal: 'judy' }).keep();
    expect(world.state).toMatchObject({ n: 1, other: { a: 1, b: 1 } });
    expect(world.failing).toEqual([]);
  });
});

describe('a channel', () => {
  const held: Authority = { ...ANYONE, admits: () => ({ ok: true, needsApproval: true }) };
  const channelOf = (domain: Domain, args: number, authority: Authority = ANYONE): unknown => {
    const intent = { action: 'add', role, args };
    const ruling = adjudicate(open(domain), intent, authority, { at: AT, observations: [] });
    return [ruling.verdict, (ruling as Escalated).channel, (ruling as Escalated).freezes];
  };
  const add = {
    process: 'work',
    channel: 'judge',
    args: z.number(),
    apply: (s: any, by: number) => void s.list.push(by),
  };
  const judged = invariant(
    'LIST',
    ['/list'],
    ({ list }) => (list.at(-1) < 5 ? pass : escalate('look')),
    {
      channel: 'doctor',
    },
  );
  const both = domainOf([judged], { actions: { add } });

  test('is the rule’s, the action’s where a writ or policy asks, or both', () => {
    expect(channelOf(both, 7)).toEqual(['escalated', 'doctor', 'world']);
    expect(channelOf(both, 1, held)).toEqual(['escalated', 'judge', 'world']);
    expect(channelOf(both, 7, held)).toEqual(['escalated', 'doctor+judge', 'world']);
    expect(channelOf(domainOf([invariant('ANY', ['/n'], () => escalate('x'))]), 1)).toEqual([
      'escalated',
      'any',
      'world',
    ]);
  });

  test('of both kinds is only for a counselor of both kinds', () => {
    const domain = domainOf([], {
      counselors: { doctor: (p: string) => p !== 'judy', judge: (p: string) => p !== 'dr who' },
    });
    expect(counselorKind(domain, 'doctor+judge', 'dr judge', ['alice'], ASKED)).toBe(
      'doctor+judge',
    );
    for (const one of ['judy', 'dr who']) {
      expect(codeOf(() => counselorKind(domain, 'doctor+judge', one, ['alice'], ASKED))).toBe(
        'unauthorised_counselor',
      );
    }
  });

  test('without counselors freezes nothing', () => {
    const nobody = domainOf([invariant('ANY', ['/n'], () => escalate('x'))], { counselors: {} });
    expect(channelOf(nobody, 1)).toEqual(['escalated', 'any', []]);
  });

  test('is closed to every grantor of the writ, in any form of their names', () => {
    const domain = domainOf([], { counselors: { doctor: () => true } });
    for (const requesters of [['alice', 'zoé'], ['zoe\u0301']]) {
      for (const principal of ['zoé', 'zoe\u0301']) {
        expect(codeOf(() => counselorKind(domain, 'doctor', principal, requesters, ASKED))).toBe(
          'unauthorised_counselor',
        );
      }
    }
  });
});
