/** Calls of every class: declared by an action, and made by the body of a transaction. */

import { operatorWrit } from '../../../support/ledger/runtime.ts';
import { ROLE, type Stage } from '../stage.ts';

const INPUT = { to: 'ann', cents: 3, tags: ['a', 'b'] };
const MINE = {
  action: 'move',
  role: ROLE,
  args: { from: 'ann', to: 'bob', cents: 1, tags: ['t'] },
};

export async function transactions(stage: Stage): Promise<void> {
  await declared(stage);
  await speculative(stage);
  await staged(stage);
  await failing(stage);
  await undecided(stage);
}

async function declared({ propose }: Stage): Promise<void> {
  await propose('pay', { to: 'ann', cents: 10 }, { idempotencyKey: 'pay ann' });
  await propose('pay', { to: 'ann', cents: 10 }, { idempotencyKey: 'pay ann' });
  await propose('pay', { to: 'bob', cents: 13 });
  await propose('unpay', { to: 'ann' });
}

async function speculative(stage: Stage): Promise<void> {
  const { hands, on } = stage;
  await transact(stage, 'order 1', async (tx) => {
    void [tx.epoch, tx.claims];
    await tx.call('shop.look', INPUT);
    await tx.call('shop.hold', INPUT);
    await tx.call('shop.pay', INPUT);
    await tx.call('shop.look', INPUT);
    await tx.call('shop.row', INPUT);
    await tx.call('shop.row', INPUT);
    await tx.nested(part(stage, (inner) => inner.call('shop.pay', INPUT)));
    const refused = part(stage, async (inner) => {
      await inner.call('shop.pay', INPUT);
      throw new Error('not this part');
    });
    await tx.nested(refused).catch(() => undefined);
    await tx.speculate(
      [
        part(stage, (inner) => inner.call('shop.row', { ...INPUT, to: 'bob' })),
        part(stage, async () => ({ of: [2] })),
      ],
      on('speculate.choose', () => 0),
    );
    await tx.expand({ reads: ['shelf:1'] });
    await tx.release({ reads: ['shelf:1'] });
    tx.propose(MINE);
    return { of: ['value'] };
  });
  hands.useKeptViews();
}

async function staged(stage: Stage): Promise<void> {
  await transact(stage, 'order 2', async (tx) => {
    await tx.call('shop.stage', INPUT);
    await tx.call('shop.read', INPUT);
    const refused = part(stage, async (inner) => {
      await inner.call('shop.hold', { ...INPUT, to: 'bob' });
      throw new Error('not this part');
    });
    await tx.nested(refused).catch(() => undefined);
    tx.propose(MINE);
  });
  await transact(stage, 'order 3', async (tx) => {
    await tx.call('shop.stage', INPUT);
    throw new Error('the body changed its mind');
  });
}

/** Compensated calls: one whose answer was lost, and rows whose batch is rolled back. */
async function failing(stage: Stage): Promise<void> {
  await transact(stage, 'order 4', async (tx) => {
    await tx.call('shop.hold', { ...INPUT, cents: 13 });
    throw new Error('the body changed its mind');
  });
  await transact(stage, 'order 5', async (tx) => {
    await tx.call('shop.row', INPUT);
    await tx.call('shop.row', INPUT);
    await tx.call('shop.pay', { ...INPUT, cents: 13 });
    tx.propose({ action: 'pay', role: ROLE, args: { to: 'ann', cents: 10 } });
  });
}

async function undecided(stage: Stage): Promise<void> {
  const { assize, hands } = stage;
  const shipped = await transact(stage, 'order 6', async (tx) => {
    await tx.call('shop.ship', INPUT);
    tx.propose(MINE);
  });
  const [left] = await assize.effects();
  await assize.effects({ all: true });
  const decision = {
    epoch: left.epoch,
    n: 0,
    as: 'applied',
    by: 'ops',
    writ: operatorWrit(),
    evidence: { seen: ['it'] },
  };
  await assize.resolveEffect(decision);
  await assize.resolveEffect(decision).catch(() => undefined);
  await assize.awaitEffects(shipped.ruling.entry.id);
  await stage.propose('unpay', { to: 'ann' });
  hands.useKeptViews();
}

function transact(stage: Stage, name: string, body: (tx: any) => Promise<unknown>): Promise<any> {
  const { trajectory, writs, settled } = stage;
  const options = { name, writ: writs.clerk, reads: ['account:*'], writes: ['account:*'] };
  return settled(trajectory.transaction(options, part(stage, body)).catch(() => undefined));
}

function part(
  { hands, on }: Stage,
  body: (tx: any) => Promise<unknown>,
): (tx: object) => Promise<unknown> {
  return on('transaction.body', (tx: object) => body(hands.given(tx)));
}
