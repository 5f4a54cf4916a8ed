import { expect } from 'vitest';
import type { Json } from '#base';
import type { Ruling } from '#runtime';
import { writFor } from '../support/ledger/runtime.ts';
import type { Caller } from './caller.ts';

/** The budget of the life of the ledger, and the amount that it spends. */
export const GRANT = 100;
export const SPENT = 90;

/** Entries of the last proposals. These are in flight concurrently, in any order. */
export const AT_ONCE = 3;

const worker = writFor('agent', { trajectory: 'main', budget: { usd: GRANT } });
const other = writFor('other', { trajectory: 'side', budget: { usd: GRANT } });

/** The rulings, by step: the same under all faults. */
export type Outcomes = Readonly<Record<string, string>>;

/**
 * A life with everything that a ledger can meet: commits, rejections, approvals, a branch, blobs,
 * answers of the oracle, and reopenings. It ends with several concurrent proposals.
 */
export async function liveThrough(caller: Caller): Promise<Outcomes> {
  const outcomes: Record<string, string> = {};
  const propose = async (
    name: string,
    key: string,
    action: string,
    args: unknown,
    more: object = {},
  ): Promise<Ruling> => {
    const ruling = await caller.propose(
      name,
      key,
      action,
      args,
      name === 'main' ? worker : other,
      more,
    );
    outcomes[key] = nameOf(ruling);
    return ruling;
  };
  await caller.create('main', [worker]);
  await propose('main', 'a commit', 'add', { by: 1 });
  await propose('main', 'a cost', 'pay', { usd: 30 });
  await propose('main', 'a rejection', 'add', { by: 20 });
  const answer = await caller.ask('reader', () => ({ said: 'yes' }));
  const observations = [{ name: 'answer', ...answer }];
  await propose('main', 'an observation', 'keep', { value: null }, { observations });
  await propose('main', 'a blob', 'keep', { value: 'long '.repeat(5_000) });
  const asked = await propose('main', 'an approval', 'ask', { amount: 5 });
  await propose('main', 'frozen', 'add', { by: 1 });
  outcomes['approved'] = nameOf(
    await caller.resolve('main', 'approved', 'approve', pendingOf(asked)),
  );
  await propose('main', 'after the approval', 'add', { by: 2 });
  const refused = await propose('main', 'an approval that is refused', 'ask', { amount: 6 });
  outcomes['refused'] = nameOf(
    await caller.resolve('main', 'refused', 'reject', pendingOf(refused)),
  );
  caller.release('main');
  await propose('main', 'after opening again', 'pay', { usd: 50 });
  await propose('main', 'too much', 'pay', { usd: 30 });
  await caller.branch('side', 'main', [other]);
  await propose('side', 'on the branch', 'add', { by: 3 });
  const [main, side] = [await caller.trajectory('main'), await caller.trajectory('side')];
  outcomes['main before the last'] = summary(main.state());
  outcomes['side'] = summary(side.state());
  caller.atOnce = true;
  await Promise.all([
    propose('main', 'together: a commit', 'add', { by: 3 }),
    propose('main', 'together: a cost', 'pay', { usd: 10 }),
    propose('main', 'together: the same', 'add', { by: 1 }),
    propose('main', 'together: the same', 'add', { by: 1 }),
  ]);
  caller.atOnce = false;
  outcomes['main'] = summary((await caller.trajectory('main')).state());
  return outcomes;
}

/** The rest of the grant equals the ledger's account, to the last unit. */
export async function expectSpent(caller: Caller): Promise<void> {
  caller.release('main');
  const tooMuch = await caller.propose(
    'main',
    'one too many',
    'pay',
    { usd: GRANT - SPENT + 1 },
    worker,
  );
  expect(tooMuch).toMatchObject({
    ruling: 'rejected',
    reason: 'budget_exhausted',
    detail: expect.stringContaining(`has ${GRANT - SPENT} usd left`),
  });
}

function pendingOf(ruling: Ruling): string {
  return ruling.ruling === 'escalated' ? ruling.pending : '';
}

function nameOf(ruling: Ruling): string {
  return ruling.ruling === 'rejected' ? ruling.reason : ruling.ruling;
}

function summary(state: Json): string {
  const { data, ...rest } = state as { data: Json };
  return JSON.stringify({ ...rest, data: JSON.stringify(data).slice(0, 40) });
}
