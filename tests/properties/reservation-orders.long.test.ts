import { MemoryStore } from '@assize/testing/memory';
import { test } from 'vitest';
import type { Ruling, Trajectory } from '#runtime';
import { insurerOf } from '../support/ledger/insurer.ts';
import { HandClock, intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { expect } from '../support/quick-expect.ts';
import { someOf } from '../support/some-of.ts';

// Every order of three proposals, and of two that wait and are decided, under `freeze: 'reserve'`.
// Each ruling is compared with a naive model.

const SECOND = 1_000;
const writ = writFor('alice');
const domain = insurerOf('reserve');
const manager = { principal: 'manager:ann', method: 'desk' };

/** A proposal: a claim, or a change of the budget. Two of them need a manager. */
type Asked = { readonly id: string; readonly cents: number } | { readonly budget: number };
const WAITING: readonly Asked[] = [
  { id: 'p', cents: 30_000 },
  { id: 'q', cents: 15_000 },
];
const OTHERS: readonly (readonly Asked[])[] = [
  [{ id: 'a', cents: 4_000 }, { id: 'b', cents: 6_000 }, { budget: 46_000 }],
  // The same claims as those that wait, and a refund.
  [
    { id: 'p', cents: 2_000 },
    { id: 'q', cents: -5_000 },
    { id: 'c', cents: 10_000 },
  ],
];
const DECISIONS = ['approve', 'reject', 'expire'] as const;
type Decision = (typeof DECISIONS)[number];
type Event = { readonly ask: Asked } | { readonly decide: number; readonly how: Decision };

/** The orders of several sequences. Each sequence keeps its own order. */
function ordersOf<T>(sequences: readonly (readonly T[])[]): T[][] {
  const left = sequences.filter((sequence) => sequence.length > 0);
  if (left.length === 0) return [[]];
  return left.flatMap((sequence) => {
    const rest = left.map((each) => (each === sequence ? each.slice(1) : each));
    return ordersOf(rest).map((order) => [sequence[0] as T, ...order]);
  });
}

interface Claim {
  readonly cents: number;
  readonly by?: string;
}
interface State {
  readonly budget: number;
  readonly claims: Readonly<Record<string, Claim>>;
}

function after({ budget, claims }: State, asked: Asked, by?: string): State {
  if ('budget' in asked) return { budget: asked.budget, claims };
  const { id, cents } = asked;
  const isLarge = cents > 10_000 && by !== undefined;
  return { budget, claims: { ...claims, [id]: isLarge ? { cents, by } : { cents } } };
}

const fits = ({ budget, claims }: State): boolean =>
  Object.values(claims).reduce((total, { cents }) => total + cents, 0) <= budget;

/** The proposal changes this place, so the shown state and the present state must agree there. */
const place = (asked: Asked): string => ('budget' in asked ? 'budget' : asked.id);

async function play(order: readonly Event[], met: Record<string, number>): Promise<void> {
  const clock = new HandClock();
  const assize = runtimeOver(new MemoryStore(), [domain], {
    ports: { clock },
    approvals: { timeoutMs: 60 * SECOND },
  });
  const trajectory: Trajectory<any> = await assize.create(domain, { trajectoryId: 't' });
  let state: State = { budget: 50_000, claims: {} };
  let waiting: { readonly asked: Asked; readonly id: string }[] = [];
  const ids = new Map<Asked, string>();

  for (const event of order) {
    if ('ask' in event) {
      const { ask } = event;
      const ruling: Ruling = await trajectory.propose(
        intent('budget' in ask ? 'plan' : 'claim', ask, writ, { role: 'agent' }),
      );
      const [p, q] = waiting.map((one) => one.asked);
      const choices = [[], [p], [q], [p, q]].filter(
        (choice): choice is Asked[] => !choice.includes(undefined),
      );
      const isHeld = choices.some(
        (choice) =>
          !fits(
            after(
              choice.reduce<State>((now, one) => after(now, one, '$'), state),
              ask,
              '$',
            ),
          ),
      );
      const expected = !fits(after(state, ask))
        ? 'rejected'
        : isHeld || waiting.some((one) => place(one.asked) === place(ask))
          ? 'frozen'
          : 'cents' in ask && ask.cents > 10_000
            ? 'escalated'
            : 'committed';
      expect(ruling.ruling).toBe(expected);
      met[expected] = (met[expected] ?? 0) + 1;
      if (ruling.ruling === 'committed') state = after(state, ask);
      if (ruling.ruling === 'escalated') {
        waiting.push({ asked: ask, id: ruling.pending });
        ids.set(ask, ruling.pending);
      }
    } else {
      const asked = WAITING[event.decide] as Asked;
      const one = waiting.find((each) => each.asked === asked);
      if (one === undefined) continue;
      if (event.how === 'expire') {
        clock.forward(60 * SECOND);
        expect(await trajectory.approvals.approve(one.id, manager)).toMatchObject({
          reason: 'expired',
        });
        // The other one is as old.
        waiting = [];
      } else {
        const ruling =
          event.how === 'approve'
            ? await trajectory.approvals.approve(one.id, manager)
            : await trajectory.approvals.reject(one.id, { ...manager, reason: 'no' });
        expect(ruling.ruling).toBe(event.how === 'approve' ? 'committed' : 'rejected');
        if (event.how === 'approve') state = after(state, asked, manager.principal);
        waiting = waiting.filter((each) => each !== one);
      }
      met[event.how] = (met[event.how] ?? 0) + 1;
    }
    const { budget, claims } = trajectory.state() as unknown as State;
    expect({ budget, claims }).toEqual(state);
    expect(fits(state)).toBe(true);
  }
}

const COMBINATIONS = DECISIONS.flatMap((first) =>
  DECISIONS.map((second) => [first, second] as const),
);

test.each(COMBINATIONS)(
  'every order with %s and %s gives the rulings of the model',
  async (first, second) => {
    const met: Record<string, number> = {};
    for (const others of OTHERS) {
      const [p, q] = WAITING as [Asked, Asked];
      const events: Event[][] = [
        [{ ask: p }, { decide: 0, how: first }],
        [{ ask: q }, { decide: 1, how: second }],
        ...others.map((ask) => [{ ask }]),
      ];
      const orders = ordersOf(events);
      expect(orders.length).toBe(1_260);
      for (const order of someOf(orders)) await play(order, met);
    }
    for (const what of ['committed', 'escalated', 'frozen', first, second])
      expect(Object.keys(met)).toContain(what);
  },
);
