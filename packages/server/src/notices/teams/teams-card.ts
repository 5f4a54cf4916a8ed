import { visibleWords } from 'assize/internal/views';
import type { Card } from '../../card/card.ts';
import { askedIn, saidOf, TEXT_MAX } from '../said.ts';

/**
 * A message with an Adaptive Card for a workflow of Teams. Its texts are runs without
 * Markdown, so no text of the ledger can be a link. Its button opens the page: a workflow sends
 * nothing back that names and proves who pressed one.
 */
export function teamsMessage(card: Card, url: string, reminded: string): string {
  const begin = reminded === '' ? '' : `${reminded} `;
  const content = {
    ...{ type: 'AdaptiveCard', $schema: 'http://adaptivecards.io/schemas/adaptive-card.json' },
    version: '1.4',
    body: [
      line(run(`${begin}${askedIn(card)}`)),
      line({ ...run(visibleWords(card.title, TEXT_MAX)), size: 'Large' }),
      ...saidOf(card).map(([name, text]) => line({ ...run(`${name}: `), ...BOLD }, run(text))),
    ],
    actions: [{ type: 'Action.OpenUrl', title: 'Decide on the page', url }],
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return JSON.stringify({ type: 'message', attachments: [{ contentType, content }] });
}

const BOLD = { weight: 'Bolder' };

function run(text: string) {
  return { type: 'TextRun', text };
}

function line(...inlines: readonly object[]): object {
  return { type: 'RichTextBlock', inlines };
}
