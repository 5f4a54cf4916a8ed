/** Erasures, and the upgrade to the next version of the domain. */
import { MOVE, type Stage } from '../stage.ts';
import { pending } from './approvals.ts';

export async function endings(stage: Stage): Promise<void> {
  const { hands, on, assize, trajectory, next, propose, writFor, writs, library } = stage;
  const eraser = writFor('office', {
    actions: ['assize.erase'],
    scopes: ['erase:**'],
    nonce: 'eraser',
  });
  await trajectory.previewErasure({ at: ['/notes/n1'], reason: 'asked', writ: eraser });
  await trajectory.erase({ at: ['/notes/n1'], reason: 'asked', writ: eraser });
  const memory = trajectory.memory({ space: 'ward', writ: writs.clerk });
  await memory.erase({ subject: 'bob', reason: 'asked', writ: eraser }).catch(() => undefined);

  const scopes = [`upgrade:${next.name}:${next.version}`];
  const writ = writFor('office', { actions: ['assize.upgrade'], scopes, nonce: 'upgrade' });
  const waiting = await propose('pay', { to: 'bob', cents: 650 });
  const migrate = on(
    'UpgradeOptions.migrate',
    (state: any) => void state.log.push('migrated'),
    'draft',
  );
  const upgrade = { migrate, writ, reason: 'a new version' };
  await trajectory.upgrade(next, { ...upgrade, dryRun: true });
  await assize.upgrade('branch', next, upgrade);
  await trajectory.upgrade(next, upgrade);
  await trajectory.upgrade(next, upgrade).catch(() => undefined);
  await trajectory.approvals.statusOf(waiting.pending);
  await pending(stage);
  await propose('move', MOVE);
  await assize.changeEntryKey('shop', { reason: 'a new key' }).catch(() => undefined);
  void library;
  hands.useKeptViews();
}
