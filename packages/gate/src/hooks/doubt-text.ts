import type { CallWorld } from '#calls';
import type { OpenCall } from '#gateway';

const SHOWN = 5;

/** Tells a person of calls without a known outcome. Undefined if there are none. */
export function doubtText(world: CallWorld, calls: readonly OpenCall[], inboxUrl: string): string | undefined {
  if (calls.length === 0) return undefined;
  const listed = calls.slice(0, SHOWN).map(({ tool, at, id }) => `${tool} of ${at.slice(0, 16)}Z (${id})`);
  const more = calls.length > SHOWN ? ` and ${calls.length - SHOWN} more` : '';
  return `Assize: ${calls.length === 1 ? '1 call has' : `${calls.length} calls have`} no known outcome: ${listed.join(', ')}${more}. See ${inboxUrl.replace(/\/inbox$/, '/timeline')}/${world.trajectory.id}.`;
}
