import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineDomain, escalate, overlaps, type Pattern, pass, patternFromText } from '#kernel';
import { Chain } from '#ledger';
import {
  codeOf,
  doctor,
  pendingOf,
} from '../../../../../../tests/support/ledger/multi-approval.ts';
import { intent, runtimeOver, writFor } from '../../../../../../tests/support/ledger/runtime.ts';
import { bindingOf, checkOthers, frozenByRules, frozenFor } from './freeze.ts';

const desk = defineDomain<any, any>({
  name: 'desk',
  version: '1',
  state: z.object({ mine: z.record(z.string(), z.number()), other: z.number() }),
  initial: { mine: {}, other: 0 },
  processes: { work: { writes: ['/mine/{who}'] }, elsewhere: { writes: ['/other'] } },
  roles: { worker: { params: ['who'], processes: ['work'] }, guest: { processes: ['elsewhere'] } },
  actions: {
    set: {
      process: 'work',
      args: z.number(),
      apply: (state: any, to: number, { role }: any) => {
        state.mine[role.who] = to;
      },
    },
    go: { process: 'elsewhere', args: z.any(), apply: () => {} },
  } as never,
  invariants: (rules: any) => [
    rules.each('ASK', '/mine/*', {}, (n: number) => (n < 5 ? pass : escalate('look'))),
  ],
  counselors: { doctor: (principal: string) => principal === 'doc' },
  freeze: 'footprint',
});
const writ = writFor('alice');
const as = (name: string, params: Record<string, string> = {}): object => ({
  role: { name, params },
});

test('during a freeze an uncompilable intent is rejected and freezes nothing', async () => {
  const trajectory = await runtimeOver(new MemoryStore(), [desk]).create(desk, {
    trajectoryId: 't',
  });
  await trajectory.propose(intent('set', 9, writ, as('worker', { who: 'a' })));
  const propose = (action: string, role: object): Promise<unknown> =>
    trajectory.propose(intent(action, 1, writ, role));
  const refused = (reason: string): object => ({ ruling: 'rejected', reason });
  expect(await propose('set', as('worker'))).toMatchObject(refused('type_mismatch'));
  expect(await propose('set', as('nobody', { who: 'a' }))).toMatchObject(refused('type_mismatch'));
  expect(await propose('set', as('constructor', { who: 'a' }))).toMatchObject(
    refused('type_mismatch'),
  );
  expect(await propose('set', as('guest'))).toMatchObject(refused('invalid_authority'));
  expect(await propose('set', as('guest', { who: 'a' }))).toMatchObject(refused('type_mismatch'));
  expect(await propose('fly', as('worker', { who: 'a' }))).toMatchObject(refused('unknown_tool'));
  const [open] = trajectory.approvals.pending();
  const { id: by, payload } = open as NonNullable<typeof open>;
  const { at: since } = payload.proposal;
  const waiting = { action: 'set', channel: 'any', since };
  const detail = `/mine/a is frozen until an approval is resolved (${by}, by any): set waits since ${since}`;
  expect(await propose('set', as('worker', { who: 'a' }))).toEqual({
    ruling: 'frozen',
    by,
    detail,
    waiting,
  });
  expect(await propose('set', as('worker', { who: 'b' }))).toMatchObject({ ruling: 'committed' });
  expect(await propose('go', as('guest'))).toMatchObject({ ruling: 'committed' });
  const [pending] = trajectory.approvals.pending();
  const approved = trajectory.approvals.approve(pending?.id as string, {
    principal: 'doc',
    method: 'test',
    override: true,
  });
  expect(await approved).toMatchObject({ ruling: 'committed' });
  expect(trajectory.state()).toEqual({ mine: { a: 9, b: 1 }, other: 0 });
});

describe('pending proposals', () => {
  const anyone = (who: string) => ({
    action: 'set',
    role: { name: 'worker', params: { who } },
    args: 1,
  });
  const guest = { action: 'go', role: { name: 'guest', params: {} }, args: 1 };
  const waiting = (
    n: number,
    freezes: 'world' | readonly string[],
    who: string,
    approval: object[] = [],
  ): never => {
    const { action: name, role, args } = anyone(who);
    return {
      kind: 'pending_approval',
      channel: `${n}`,
      reason: 'irreversible',
      freezes,
      proposal: { action: { name, role, args }, at: 'then', approval, delta: { effects: [] } },
    } as never;
  };

  test('the oldest conflicting proposal freezes, as a scan of all of them finds', () => {
    const place = fc.constantFrom('/mine/a', '/mine/b', '/mine/*', '/mine', '/other', '');
    const freezes = fc.oneof(
      { weight: 1, arbitrary: fc.constant('world' as const) },
      { weight: 9, arbitrary: fc.array(place, { maxLength: 2 }) },
    );
    const who = fc.constantFrom('a', 'b', 'c');
    const marks = fc.array(fc.record({ path: fc.constantFrom('/other', '/mine/c') }), {
      maxLength: 1,
    });
    const step = fc.tuple(freezes, who, marks, fc.nat(15));
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 10 }),
        fc.array(place, { maxLength: 2 }),
        (steps, read) => {
          const chain = new Chain('t');
          const reads = read.map(patternFromText);
          for (const [n, [frozen, name, approval, gone]] of steps.entries()) {
            chain.open.set(`${n}`, waiting(n, frozen, name, approval));
            chain.open.delete(`${gone}`);
            const open = [...chain.open];
            const meets = (texts: readonly string[], others: readonly Pattern[]): boolean =>
              texts
                .map(patternFromText)
                .some((one) => others.some((other) => overlaps(one, other)));
            const frozenIn = (of: 'world' | readonly string[]): readonly string[] =>
              of === 'world' ? [''] : of;
            const changedBy = (pending: any): string[] => [
              `/mine/${pending.proposal.action.role.params.who}`,
              ...pending.proposal.approval.map((mark: { path: string }) => mark.path),
            ];
            for (const intent of [anyone('a'), anyone('b'), guest]) {
              const { reads: seen, writes } = bindingOf(desk, intent as never) as NonNullable<
                ReturnType<typeof bindingOf>
              >;
              const by = open.find(
                ([, pending]) =>
                  pending.freezes === 'world' ||
                  meets(pending.freezes, writes) ||
                  meets(changedBy(pending), seen),
              );
              expect(frozenFor(chain, desk, intent as never, '0')).toEqual(
                by && {
                  ruling: 'frozen',
                  by: by[0],
                  detail: expect.stringContaining(`(${by[0]}, by ${by[0]})`),
                  waiting: { action: 'set', channel: by[0], since: 'then' },
                },
              );
            }
            const judged = open.find(([, pending]) => meets(changedBy(pending), reads))?.[0];
            expect(
              (frozenByRules(chain, desk, () => reads, '0') as { by?: string } | undefined)?.by,
            ).toBe(judged);
            for (const keys of [['other'], ['mine', 'a']] as const) {
              const change = patternFromText(`/${keys.join('/')}`);
              const other = open.find(
                ([id, { freezes: of }]) => id !== `${n}` && meets(frozenIn(of), [change]),
              )?.[0];
              const check = (): void => checkOthers(chain, desk, `${n}`, [{ keys }] as never, '0');
              if (other === undefined) check();
              else expect(check).toThrow(`until ${other} is`);
            }
          }
        },
      ),
    );
  });

  test('a footprint is computed once, however often new entries are loaded', () => {
    const bind = vi.fn(desk.bind.bind(desk));
    const counting = { ...desk, bind } as never;
    const chain = new Chain('t');
    for (let n = 0; n < 100; n++) chain.open.set(`${n}`, waiting(n, [`/mine/w${n}`], `w${n}`));
    expect(frozenFor(chain, counting, anyone('w7'), '0')).toMatchObject({ by: '7' });
    const first = bind.mock.calls.length;
    expect(first).toBeGreaterThan(100);
    const again = chain.copy();
    again.open.delete('7');
    expect(frozenFor(again, counting, anyone('w7'), '0')).toBeUndefined();
    expect(frozenFor(again, counting, anyone('w8'), '0')).toMatchObject({ by: '8' });
    // Of those two intents.
    expect(bind.mock.calls.length - first).toBe(2);
  });

  test('no proposal or approval scans all pending proposals', () => {
    const chain = new Chain('t');
    const { open } = chain;
    const rule = (): unknown[] => [
      frozenFor(chain, desk, anyone('z') as never, '0'),
      frozenByRules(chain, desk, () => [patternFromText('/mine/z')], '0'),
      checkOthers(chain, desk, '0', [{ keys: ['mine', 'z'] }] as never, '0'),
    ];
    rule();
    for (let n = 0; n < 10; n++) open.set(`${n}`, waiting(n, [`/mine/${n}`], `${n}`));
    rule();
    const looks = (['entries', 'values', 'keys', 'forEach', Symbol.iterator] as const).map((by) =>
      vi.spyOn(open, by),
    );
    open.delete('5');
    open.set('10', waiting(10, ['/mine/10'], '10'));
    expect(rule()).toEqual([undefined, undefined, undefined]);
    expect(frozenFor(chain, desk, anyone('10') as never, '0')).toMatchObject({ by: '10' });
    expect(frozenFor(chain, desk, anyone('5') as never, '0')).toBe(undefined);
    for (const look of looks) expect(look).not.toHaveBeenCalled();
  });
});

describe('a path that a proposal changes outside its footprint', () => {
  /**
   * A strike marks its approval at a path that no rule reads, and a first strike creates the
   * account's book.
   */
  const book = defineDomain<any, any>({
    name: 'book',
    version: '1',
    freeze: 'footprint',
    state: z.object({
      strikes: z.record(z.string(), z.record(z.string(), z.number())),
      seen: z.record(z.string(), z.number()),
    }),
    initial: { strikes: {}, seen: {} },
    processes: {
      strike: { writes: ['/strikes/{account}/{id}'] },
      look: { reads: ['/strikes/*'], writes: ['/seen/{account}'] },
    },
    roles: { worker: { params: ['account', 'id'], processes: ['strike', 'look'] } },
    actions: {
      strike: {
        process: 'strike',
        args: z.number(),
        apply: ({ strikes }: any, to: number, { role }: any) => {
          strikes[role.account] ??= {};
          strikes[role.account][role.id] = to;
        },
      },
      look: {
        process: 'look',
        args: z.number(),
        apply: ({ seen }: any, to: number, { role }: any) => {
          seen[role.account] = to;
        },
      },
    } as never,
    invariants: (rules: any) => [
      rules.each(
        'ASK',
        '/strikes/*/*',
        { reads: ['/seen/*'], onApprove: ({ seen }: any) => (seen.marked = 1) },
        (n: number) => (n < 5 ? pass : escalate('look')),
      ),
    ],
    counselors: { doctor: (principal: string) => principal === 'doc' },
  });

  async function asked() {
    const trajectory = await runtimeOver(new MemoryStore(), [book]).create(book, {
      trajectoryId: 't',
    });
    const propose = (action: string, n: number, account: string, id: string) =>
      trajectory.propose(intent(action, n, writ, as('worker', { account, id })) as never);
    await pendingOf(propose('strike', 9, 'a', '1'));
    return { trajectory, propose };
  }

  test('is frozen too: the place of its mark, and the object that it begins', async () => {
    const { trajectory, propose } = await asked();
    // It would create the same book, so the pending proposal would make another change.
    expect(await propose('strike', 1, 'a', '2')).toMatchObject({ ruling: 'frozen' });
    expect(await propose('strike', 1, 'b', '1')).toMatchObject({ ruling: 'committed' });
    expect(await propose('look', 1, 'marked', '1')).toMatchObject({ ruling: 'frozen' });
    expect(trajectory.state()).toEqual({ strikes: { b: { 1: 1 } }, seen: {} });
  });

  test('and freezes each process that reads it', async () => {
    const { propose } = await asked();
    expect(await propose('look', 1, 'b', '1')).toMatchObject({
      ruling: 'frozen',
      detail: expect.stringContaining('/strikes/*'),
    });
  });
});

/**
 * Two proposals with separate writes, checked by rules that both read the rate; approving the
 * second changes the rate.
 */
function ratesOf(approvals: number) {
  const marked = (which: string, moves: boolean) => ({
    approvals,
    onApprove: (state: any, { counselor }: any) => {
      state.ok[which] = counselor;
      if (moves) state.rate += 1000;
    },
  });
  const asks = (which: string) => (state: any) =>
    state[which] > 5 && state.ok?.[which] === undefined
      ? escalate(`${which} is ${state[which]} where the rate is ${state.rate}`)
      : pass;
  const set = (which: string) => ({
    process: which,
    args: z.number(),
    apply: (state: any, to: number) => {
      state[which] = to;
    },
  });
  return defineDomain<any, any>({
    name: 'rates',
    version: `${approvals}`,
    freeze: 'footprint',
    state: z.object({
      x: z.number(),
      y: z.number(),
      rate: z.number(),
      ok: z.record(z.string(), z.string()),
    }),
    initial: { x: 0, y: 0, rate: 0, ok: {} },
    processes: { x: { writes: ['/x'] }, y: { writes: ['/y'] } },
    roles: { r: { processes: ['x', 'y'] } },
    actions: { x: set('x'), y: set('y') } as never,
    invariants: (rules: any) => [
      rules.invariant('X', ['/x', '/rate', '/ok/x'], asks('x'), marked('x', false)),
      rules.invariant('Y', ['/y', '/rate', '/ok/y'], asks('y'), marked('y', true)),
    ],
    counselors: { doctor: (principal: string) => principal.startsWith('dr-') },
  });
}

describe('while two pending proposals have overlapping freezes', () => {
  async function waiting(approvals = 1) {
    const rates = ratesOf(approvals);
    const store = new MemoryStore();
    const trajectory = await runtimeOver(store, [rates]).create(rates, { trajectoryId: 't' });
    const ask = (action: string): Promise<string> =>
      pendingOf(trajectory.propose({ action, role: 'r', args: 9, writ } as never));
    return { store, trajectory, x: await ask('x'), y: await ask('y') };
  }

  test('neither approval changes a path frozen by the other, until that resolves', async () => {
    const { trajectory, x, y } = await waiting();
    expect(await codeOf(trajectory, () => trajectory.approvals.approve(y, doctor('b')))).toBe(
      'frozen',
    );
    await expect(trajectory.approvals.approve(y, doctor('b'))).rejects.toMatchObject({
      evidence: { by: x, path: '/rate' },
    });
    expect(trajectory.state()).toEqual({ x: 0, y: 0, rate: 0, ok: {} });
    // A proposal that changes nothing there proceeds, and so does the one that was refused then.
    expect(await trajectory.approvals.approve(x, doctor('a'))).toMatchObject({
      ruling: 'committed',
    });
    expect(trajectory.state()).toEqual({ x: 9, y: 0, rate: 0, ok: { x: 'dr-a' } });
    expect(await trajectory.approvals.approve(y, doctor('b'))).toMatchObject({
      ruling: 'committed',
    });
    expect(trajectory.state()).toEqual({ x: 9, y: 9, rate: 1000, ok: { x: 'dr-a', y: 'dr-b' } });
  });

  test('nor does a state of the counselor’s own, nor an override', async () => {
    const { trajectory, x, y } = await waiting();
    const replaced =
      (path: string, id = x) =>
      () =>
        trajectory.approvals.approve(
          id,
          doctor('a', { override: true, replacement: [{ op: 'replace', path, value: 3 }] }),
        );
    expect(await codeOf(trajectory, replaced('/rate'))).toBe('frozen');
    expect(await codeOf(trajectory, replaced('/rate', y))).toBe('frozen');
    expect(await replaced('/x')()).toMatchObject({ ruling: 'committed' });
    expect(trajectory.approvals.pending().map(({ id }) => id)).toEqual([y]);
  });

  test('the approval proceeds when the other proposal is rejected', async () => {
    const { trajectory, x, y } = await waiting();
    await trajectory.approvals.reject(x, doctor('a', { reason: 'no' }) as never);
    expect(await trajectory.approvals.approve(y, doctor('b'))).toMatchObject({
      ruling: 'committed',
    });
  });

  test('each of several approvers is refused in the same way', async () => {
    const { trajectory, x, y } = await waiting(2);
    const half = await pendingOf(trajectory.approvals.approve(x, doctor('a')));
    // Also before the last approval: a proposal that could not be committed gets no approval.
    expect(await codeOf(trajectory, () => trajectory.approvals.approve(y, doctor('a')))).toBe(
      'frozen',
    );
    await expect(trajectory.approvals.approve(y, doctor('a'))).rejects.toMatchObject({
      evidence: { by: half },
    });
    expect(await trajectory.approvals.approve(half, doctor('b'))).toMatchObject({
      ruling: 'committed',
    });
    expect(trajectory.state()).toMatchObject({ x: 9, rate: 0 });
  });
});
