/** Pending proposals: shown, approved, amended, rejected, and overridden by several counselors. */
import { MANAGER, ROLE, type Stage } from '../stage.ts';

export async function approvals(stage: Stage): Promise<void> {
  await decided(stage);
  await overridden(stage);
  stage.hands.useKeptViews();
}

async function decided(stage: Stage): Promise<void> {
  const { trajectory, propose, approve } = stage;
  const ask = (cents: number): Promise<any> =>
    propose('pay', { to: 'bob', cents, note: { of: ['n'] } });
  const first = await ask(600);
  await pending(stage);
  await pending(stage);
  await ask(700);
  await trajectory.approvals.statusOf(first.pending);
  await trajectory.approvals.decidersAmong(first.pending, ['boss', 'clerk']);
  await trajectory.rulingOf('unknown', 'clerk');
  await approve(first.pending, { principal: 'clerk', method: 'test' });
  await approve(first.pending, MANAGER);
  await approve(first.pending, MANAGER);
  await trajectory.approvals.statusOf(first.pending);
  await trajectory.approvals.awaitDecision(first.pending);
  await propose('unpay', { to: 'bob' });
  const second = await ask(800);
  await foreseen(stage, second.pending);
  await approve(second.pending, { ...MANAGER, args: { to: 'bob', cents: 20 }, reason: 'less' });
  const third = await ask(900);
  await trajectory.approvals.reject(third.pending, { ...MANAGER, reason: 'no' });
}

/** Judgements of decisions and proposals. They share nothing with memory. */
async function foreseen({ trajectory, writs }: Stage, id: string): Promise<void> {
  await trajectory.approvals.judge(id, MANAGER);
  await trajectory.approvals.judge(id, { ...MANAGER, args: { to: 'bob', cents: 20 } });
  const asked = { action: 'pay', role: ROLE, args: { to: 'bob', cents: 5 }, writ: writs.clerk };
  await trajectory.judge(asked);
  await trajectory.judge(asked, trajectory.head);
}

async function overridden(stage: Stage): Promise<void> {
  const { propose, approve } = stage;
  const asked = await propose('ask', { to: 'ann', cents: 6_000 });
  await pending(stage);
  await approve(asked.pending, MANAGER);
  const once = await approve(asked.pending, { ...MANAGER, override: true });
  await pending(stage);
  await approve(once.pending, MANAGER);
  await approve(once.pending, { ...MANAGER, principal: 'manager:max' });
  await approve(once.pending, { ...MANAGER, principal: 'manager:max', override: true });
  await propose('unpay', { to: 'ann' });
}

/** Every list of what waits. */
export async function pending({ assize, trajectory }: Stage): Promise<void> {
  for (const query of [{}, { trajectoryId: 'shop', channel: 'manager' }])
    for await (const _ of assize.pending(query));
  trajectory.approvals.pending();
}
