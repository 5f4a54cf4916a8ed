/** Proposals of every outcome, and everything that shows the state. */
import { MOVE, ROLE, type Stage } from '../stage.ts';

export async function proposals({ hands, on, trajectory, propose }: Stage): Promise<void> {
  const stop = trajectory.subscribe(
    'clerk',
    ROLE.params,
    on('subscribe.listener', () => undefined),
  );
  const observed = {
    observations: [{ name: 'seen', value: { of: [1] } }],
    idempotencyKey: 'first',
  };
  await propose('move', MOVE, observed);
  await propose('move', MOVE, observed);
  const since = trajectory.head;
  await propose('move', { ...MOVE, cents: 9_999 });
  await propose('move', { ...MOVE, tags: ['twin'] });
  await propose('move', { from: 'bob', to: 'ann', cents: 1, tags: ['twin'] });
  await propose('move', { ...MOVE, to: 'nobody' });
  await propose('move', { from: 1 });
  await propose('stir', {});
  await propose('pay', { to: 'stranger', cents: 1 });
  await propose('move', MOVE, { precondition: { since, paths: ['/desks/d1'] } });
  await propose('note', { id: 'n1', text: 'a secret' }, { role: 'writer' });
  await propose('move', MOVE, { writ: 'f'.repeat(64) }).catch(() => undefined);
  for (let time = 0; time < 2; time++) {
    trajectory.state();
    trajectory.slice('clerk', ROLE.params);
    await trajectory.sliceAt(since, 'clerk', ROLE.params);
    await trajectory.sliceAt(trajectory.head, 'clerk', ROLE.params);
    void [trajectory.id, trajectory.domain, trajectory.length];
  }
  hands.useKeptViews();
  stop();
}
