import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineDomain, escalate, pass, reject } from '#kernel';
import { type ProposalInput, type Ruling, type Trajectory, verifyStore } from '#runtime';
import { HandClock, runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';

// Domain code that is called during a ruling proposes. Its proposal is adjudicated after the
// ruling, not during it.

const writ = writFor('clerk', { trajectory: 't', budget: { usd: 100 } });
const put = (box: string, n: number): ProposalInput => ({
  action: 'put',
  role: 'clerk',
  args: { box, n },
  writ,
});
const rulingOf = (ruling: Ruling | undefined): string | undefined =>
  ruling?.ruling === 'rejected' ? ruling.reason : ruling?.ruling;

const PLACES = ['apply', 'rule', 'cost', 'scopes', 'args', 'policy', 'clock'] as const;

async function stage(asked: (typeof PLACES)[number]) {
  let trajectory: Trajectory | undefined;
  let isArmed = false;
  let inner: Promise<Ruling> | undefined;
  const at = (place: (typeof PLACES)[number]): void => {
    if (!isArmed || place !== asked) return;
    isArmed = false;
    inner = trajectory?.propose(put('inner', 3));
  };
  const boxes = defineDomain<any, any>({
    name: 'boxes',
    version: '1',
    freeze: 'footprint',
    state: z.object({
      sum: z.number(),
      allowed: z.number(),
      boxes: z.record(z.string(), z.number()),
    }),
    initial: { sum: 0, allowed: 9, boxes: {} },
    processes: { putting: { writes: ['/sum', '/boxes/*'] } },
    roles: { clerk: { processes: ['putting'] } },
    counselors: { boss: (principal: string) => principal === 'boss' },
    actions: {
      put: {
        process: 'putting',
        args: z.object({ box: z.string(), n: z.number() }).refine(() => {
          at('args');
          return true;
        }),
        cost: () => {
          at('cost');
          return { usd: 1 };
        },
        scopes: () => {
          at('scopes');
          return [];
        },
        apply: (state: any, { box, n }: any) => {
          state.sum += n;
          state.boxes[box] = n;
          at('apply');
        },
      },
    } as never,
    invariants: ({ invariant, each }: any) => [
      invariant('SUM', ['/sum', '/boxes'], ({ sum, boxes }: any) => {
        at('rule');
        const all = Object.values<number>(boxes).reduce((one, other) => one + other, 0);
        return sum === all ? pass : reject(`${sum} is not ${all}`);
      }),
      each('NOT_TOO_MUCH', '/boxes/*', {}, (n: number) =>
        n <= 10 ? pass : reject('it is too much'),
      ),
      invariant(
        'ALLOWED',
        ['/sum', '/allowed'],
        ({ sum, allowed }: any) => (sum <= allowed ? pass : escalate('more')),
        {
          channel: 'boss',
          onApprove: (state: any) => {
            state.allowed = 99;
          },
        },
      ),
    ],
  });
  const clock = new HandClock();
  const store = new MemoryStore();
  const policy = {
    id: 'p',
    digest: 'a'.repeat(64),
    evaluate: () => {
      at('policy');
      return { decision: 'allow', reasons: [], errors: [] } as const;
    },
  };
  const ticking = {
    now: () => {
      at('clock');
      return clock.now();
    },
  };
  const assize = runtimeOver(store, [boxes], { ports: { clock: ticking }, policy });
  trajectory = await assize.create(boxes, { trajectoryId: 't', writs: [writ] });
  const opened = trajectory;
  const arm = (): void => {
    isArmed = true;
  };
  const expectSound = async (): Promise<void> => {
    for (const report of await verifyStore(store)) expect(report).toMatchObject({ valid: true });
    expect((await runtimeOver(store, [boxes], { policy }).open('t')).state()).toEqual(
      opened.state(),
    );
  };
  return { trajectory: opened, arm, inner: () => inner, expectSound };
}

describe.each(PLACES)('a proposal made by %s', (place) => {
  test('is committed next to the outer proposal', async () => {
    const { trajectory, arm, inner, expectSound } = await stage(place);
    arm();
    const outer = await trajectory.propose(put('outer', 6));
    expect([rulingOf(outer), rulingOf(await inner())]).toEqual(['committed', 'committed']);
    expect(trajectory.state()).toEqual({ sum: 9, allowed: 9, boxes: { inner: 3, outer: 6 } });
    await expectSound();
  });

  test('is committed without the rejected outer proposal', async () => {
    const { trajectory, arm, inner, expectSound } = await stage(place);
    arm();
    const outer = await trajectory.propose(put('outer', 60));
    expect([rulingOf(outer), rulingOf(await inner())]).toEqual(['invariant_rejected', 'committed']);
    expect(trajectory.state()).toEqual({ sum: 3, allowed: 9, boxes: { inner: 3 } });
    await expectSound();
  });

  test('is adjudicated after the approved proposal', async () => {
    const { trajectory, arm, inner, expectSound } = await stage(place);
    const escalated = await trajectory.propose(put('outer', 10));
    if (escalated.ruling !== 'escalated') throw new Error(`It was ${escalated.ruling}.`);
    arm();
    const approved = await trajectory.approvals.approve(escalated.pending, {
      principal: 'boss',
      method: 'test',
    });
    expect(rulingOf(approved)).toBe('committed');
    // The pending proposal is compiled again without a new read of its arguments. The clock is
    // asked before that, while the proposal freezes others.
    const said =
      place === 'args' || place === 'policy'
        ? undefined
        : place === 'clock'
          ? 'frozen'
          : 'committed';
    expect(rulingOf(await inner())).toBe(said);
    const boxes = said === 'committed' ? { inner: 3, outer: 10 } : { outer: 10 };
    expect(trajectory.state()).toEqual({ sum: said === 'committed' ? 13 : 10, allowed: 99, boxes });
    await expectSound();
  });
});
