import type { LedgerPart } from '../bundle/ledger-part.ts';
import { element } from './element.ts';
import { code, inert } from './inert.ts';

/**
 * An entry by its trajectory and number, with a link to its card. One that is not here is named by
 * its `place`, or by its id.
 */
export function nameOfEntry(id: string, part: LedgerPart | undefined, place?: string): HTMLElement {
  const entry = part?.byId.get(id);
  if (entry === undefined && place !== undefined)
    return element('span', {}, 'entry ', inert(place));
  if (entry === undefined) return element('span', {}, 'entry ', code(`${id.slice(0, 12)}…`));
  const { trajectory_id: trajectory, seq } = entry.payload;
  return element('a', { href: `#${anchorOf(id)}` }, 'entry ', inert(`${trajectory}@${seq}`));
}

export function anchorOf(id: string): string {
  return `entry-${id.slice(0, 16)}`;
}

/** An instant to the second, as people write it. The exact text is the title. */
export function time(at: string): HTMLElement {
  return element('time', { datetime: at, title: at }, `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`);
}
