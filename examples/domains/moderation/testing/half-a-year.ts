import type { ModerationState } from '../index.ts';
import { dayAt, Platform } from './platform.ts';

/**
 * Ana after half a year. c1 is warned and closed; c2 is limited, served, then overturned on appeal;
 * c3 is limited in its place and in force. c4 is reported and found harmless; c5 is suspended,
 * notified, under appeal. Report r6 waits for triage.
 */
export async function halfAYear(): Promise<ModerationState> {
  const platform = await Platform.open();
  await platform.done('open_record', {});
  await platform.answered('c1', 'warn');
  platform.on(1);
  await platform.answered('c2', 'limit');
  await platform.done('enforce', { case: 'c2', until: dayAt(8) });
  platform.on(8);
  await platform.done('lift', { case: 'c2' });
  await platform.done('file_appeal', { appeal: 'a2', case: 'c2', statement: 'it was a joke' });
  await platform.approved(
    'decide_appeal',
    { appeal: 'a2', granted: true, reason: 'it was' },
    'mod:mona',
  );
  await platform.done('reinstate', { appeal: 'a2' });
  platform.on(15);
  await platform.done('close_case', { case: 'c1' });
  await platform.answered('c3', 'limit');
  await platform.done('enforce', { case: 'c3', until: dayAt(22) });
  const post = { content: 'post-c4', clause: 'spam', reporter: 'rita' };
  await platform.done('receive_report', { report: 'r-c4', ...post });
  await platform.done('triage', { report: 'r-c4', case: 'c4' });
  await platform.done('assess', { violates: false, rationale: 'it is not' }, { case: 'c4' });
  await platform.done('receive_report', { report: 'r6', ...post, content: 'post-c6' });
  await platform.answered('c5', 'suspend');
  await platform.done('file_appeal', { appeal: 'a5', case: 'c5', statement: 'again a joke' });
  return platform.state;
}
