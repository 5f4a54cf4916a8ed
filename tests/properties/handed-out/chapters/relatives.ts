/** Branches, delegations, revocations and halts: what one trajectory has to do with others. */
import { LEAD, MOVE, ROLE, type Stage } from '../stage.ts';

export async function relatives(stage: Stage): Promise<void> {
  await branched(stage);
  await delegated(stage);
  await revoked(stage);
  stage.hands.useKeptViews();
}

async function branched({ assize, trajectory, store, writFor }: Stage): Promise<void> {
  const [, first] = await store.entries('shop');
  const writ = writFor('clerk');
  const branch = await assize.branch('shop', first!.id, {
    trajectoryId: 'branch',
    note: 'what if',
    writs: [writ],
  });
  const observations = [{ name: 'seen', value: { of: [1] } }];
  // The key has its ruling from the source.
  for (let time = 0; time < 3; time++)
    await branch.propose({
      action: 'move',
      role: ROLE,
      args: MOVE,
      writ,
      observations,
      idempotencyKey: 'first',
    });
  branch.state();
  branch.delegations.origin;
  trajectory.delegations.origin;
}

async function delegated({ trajectory, propose, writs, writFor }: Stage): Promise<void> {
  const task = { task: 'count', writ: writs.leader, subject: 'helper', budget: { cents: 60 } };
  const child = await trajectory.delegations.delegate({
    ...task,
    childTrajectoryId: 'child',
    privateKey: LEAD.privateKey,
  });
  trajectory.delegations.open();
  const [open] = trajectory.delegations.open();
  void child.delegations.origin;
  const { writ } = child.delegations.origin;
  await child.propose({ action: 'move', role: ROLE, args: MOVE, writ });
  const security = writFor('security', { actions: ['assize.halt'], scopes: ['halt:**'] });
  await trajectory.halt({ writ: security, reason: 'stop' });
  void [trajectory.halted, trajectory.halted];
  await propose('move', MOVE).catch(() => undefined);
  await trajectory.resume({ writ: security, reason: 'go on' });
  await child.delegations.answer({ finalAnswer: { counted: [1, 2] } });
  await child.delegations.answer({ finalAnswer: { counted: [1, 2] } });
  await trajectory.delegations.conclude(open.id);
  await trajectory.delegations.conclude(open.id);
}

async function revoked({ assize, trajectory, propose, writFor }: Stage): Promise<void> {
  const [gone, late] = [writFor('gone'), writFor('late')];
  const by = writFor('office', { actions: ['assize.revoke'], scopes: ['writ:*'] });
  await propose('move', MOVE, { writ: gone });
  await trajectory.writs.revoke({ writ: gone, reason: 'left', by });
  await assize.revoke({ writ: late, reason: 'left', by, trajectoryId: 'shop' });
  await propose('move', MOVE, { writ: gone });
  trajectory.writs.revoked();
  trajectory.writs.revoked();
}
