import type { Content } from '../bundle/verify.ts';
import type { Entry, Payload } from '../entries/payloads.ts';
import { element } from './element.ts';
import { entryFacts } from './entry-facts.ts';
import { code, inert } from './inert.ts';
import { anchorOf, time } from './names.ts';

/** The sign and the word of a ruling. */
const RULINGS: Readonly<Record<Payload['kind'], readonly [string, string]>> = {
  commit: ['\u2713', 'Committed'],
  rejection: ['\u2715', 'Rejected'],
  pending_approval: ['?', 'Escalated'],
  root: ['\u25cb', 'Started'],
  branch: ['\u25cb', 'Branched'],
  delegation: ['\u2192', 'Delegation'],
  key_change: ['\u25cb', 'Key changed'],
};

/** The content of a bundle, and the ids of the entries at fault. */
export interface Shown extends Content {
  readonly faulty: ReadonlySet<string>;
}

/** An entry as a card: its ruling, action and time, and everything that it says. */
export function entryCard(entry: Entry, content: Shown): HTMLElement {
  return element(
    'article',
    { ...attributesOf(entry, content), 'aria-label': nameOf(entry) },
    element('h3', {}, ...title(entry, content)),
    ...entryFacts(entry, content),
    identity(entry),
  );
}

/** The same, folded. Its content is made when it is opened. */
export function foldedCard(entry: Entry, content: Shown): HTMLElement {
  const fold = element(
    'details',
    attributesOf(entry, content),
    element('summary', {}, element('h3', {}, ...title(entry, content))),
  );
  fold.addEventListener('toggle', () => {
    if (fold.open && fold.children.length === 1)
      fold.append(element('div', {}, ...entryFacts(entry, content), identity(entry)));
  });
  return fold;
}

function attributesOf({ id }: Entry, { faulty }: Shown): Readonly<Record<string, string>> {
  return { class: 'card', id: anchorOf(id), ...(faulty.has(id) && { 'data-fault': '' }) };
}

function title({ id, payload }: Entry, { faulty }: Shown): readonly (Node | string)[] {
  const [sign, word] = RULINGS[payload.kind];
  return [
    element('span', { class: 'ruling', 'data-kind': payload.kind }, `${sign} ${word}`),
    element('span', { class: 'action' }, inert(actionOf(payload))),
    ...(faulty.has(id) ? [element('span', { class: 'at-fault' }, '\u2715 at fault')] : []),
    element(
      'span',
      { class: 'place' },
      time(payload.at),
      ', ',
      inert(`${payload.trajectory_id}@${payload.seq}`),
    ),
  ];
}

function nameOf({ payload }: Entry): string {
  return `Entry ${payload.seq} of ${payload.trajectory_id}`;
}

function actionOf(payload: Payload): string {
  switch (payload.kind) {
    case 'commit':
      return payload.action.name;
    case 'rejection':
      return payload.intent.action;
    case 'pending_approval':
      return payload.proposal.action.name;
    case 'delegation':
      return payload.child_trajectory_id;
    case 'key_change':
      return '';
    default:
      return payload.domain.name;
  }
}

function identity({ id, index }: Entry): HTMLElement {
  return element('p', { class: 'identity' }, code(id), `, place ${index} in the log`);
}
