import { visible, visibleWords } from 'assize/internal/views';
import type { Card } from '../card/card.ts';
import type { ApprovalRequested } from './notice.ts';

/** A label, and a line about it. */
export type Said = readonly [label: string, text: string];

/** The most characters of a title or a value from a ledger, and of a name. */
export const TEXT_MAX = 1_000;
export const NAME_MAX = 80;

/** The lines of a card under its title, for every receiver. No text has a line of its own. */
export function saidOf(card: Card): readonly Said[] {
  const { of, effect, undo, fields, approvals, approved_by, expires, detail, rule } = card;
  const { deputies = [], requester, channel, trajectory_id } = card;
  const by = undo?.by === undefined ? '' : `, by ${undo.by}`;
  const done = approved_by.length === 0 ? '' : `, given by ${approved_by.join(', ')}`;
  const lines: readonly (Said | undefined)[] = [
    undo && ['Undo', undo.can ? `possible${by}` : 'not possible'],
    ...fields.map(({ label, text }): Said => [label, text]),
    ['Why', detail],
    rule === undefined ? undefined : ['Rule', rule],
    ['Asked by', requester],
    ['Decided by', `${channel}${approvals > 1 ? `, ${approvals} approvals` : ''}${done}`],
    ...deputies.map(
      ({ of: kind, kind: deputy, from }): Said => [
        'Deputy',
        `${deputy} for ${kind}, from ${timeText(from)}`,
      ],
    ),
    expires === undefined ? undefined : ['Ends', timeText(expires)],
    ['Where', trajectory_id],
  ];
  const said = lines.flatMap((line): Said[] =>
    line === undefined || line[1] === ''
      ? []
      : [[shown(line[0], NAME_MAX), shown(line[1], TEXT_MAX)]],
  );
  return of === 'effect' ? said : [['If you approve', visibleWords(effect, TEXT_MAX)], ...said];
}

/** The sentence above a card. */
export function askedIn({ of }: Pick<Card, 'of'>): string {
  return of === 'proposal'
    ? 'A proposal waits for a decision.'
    : 'The outcome of a call is not known. A person must settle it.';
}

/** The text of a reminder: when deputies may decide, and before the end. */
export function remindedOf({
  deputies,
  isEnding = false,
}: Pick<ApprovalRequested, 'deputies' | 'isEnding'>): string {
  const kinds = [...new Set(deputies.map(({ kind }) => kind))].join(' or ');
  const may = kinds === '' ? [] : [shown(`The ${kinds} may decide now.`, TEXT_MAX)];
  return [...may, ...(isEnding ? ['It ends soon.'] : [])].join(' ');
}

/** `2026-12-06 09:00 UTC`. */
export function timeText(at: string): string {
  return `${at.slice(0, 16).replace('T', ' ')} UTC`;
}

/** One line of at most `max` characters, with unseen characters as escapes. */
export function shown(text: string, max: number): string {
  const seen = visible(text.slice(0, max + 1).toWellFormed());
  return seen.length > max ? `${seen.slice(0, max - 1).toWellFormed()}…` : seen;
}
