import type { Entry } from '../entries/payloads.ts';
import { counted, element, section } from './element.ts';
import { entryCard, foldedCard, type Shown } from './entry-card.ts';

const STEP = 50;

/** The entries in scope, open; and the entries that give them their meaning, folded. */
export function entriesParts(content: Shown): readonly HTMLElement[] {
  const { manifest, part } = content;
  const names = new Set(manifest.in_scope);
  const [inScope, context] = [true, false].map((isIn) =>
    part.entries.filter(({ id }) => names.has(id) === isIn),
  );
  const parts = [
    section('Entries in scope', ...inSteps(inScope ?? [], (entry) => entryCard(entry, content))),
  ];
  if (context !== undefined && context.length > 0)
    parts.push(
      section('Entries around them', ...inSteps(context, (entry) => foldedCard(entry, content))),
    );
  return parts;
}

/** The first entries, and a button that shows more of them. */
function inSteps(
  entries: readonly Entry[],
  card: (entry: Entry) => HTMLElement,
): readonly HTMLElement[] {
  const list = element('div', { class: 'cards' }, ...entries.slice(0, STEP).map(card));
  if (entries.length <= STEP) return [list];
  const more = element('button', { type: 'button' });
  const label = () => {
    const left = entries.length - list.children.length;
    more.textContent = `Show more (${counted(left, 'entry', 'entries')} left)`;
    more.hidden = left === 0;
  };
  more.addEventListener('click', () => {
    const shown = list.children.length;
    list.append(...entries.slice(shown, shown + STEP).map(card));
    label();
  });
  label();
  return [list, more];
}
