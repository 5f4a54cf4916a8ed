import type { SlackConfig } from 'assize/internal/config';
import { visibleWords } from 'assize/internal/views';
import type { Card } from '../../card/card.ts';
import type { Progress } from '../progress.ts';
import { askedIn, saidOf, TEXT_MAX } from '../said.ts';

/** The ids of the buttons, and of the form that asks for a reason and its only field. */
export const APPROVE = 'approve';
export const REJECT = 'reject';
export const REASON = 'reason';

/** The most fields of a section, and characters of a dialog. */
const FIELDS_MAX = 10;
const DIALOG_MAX = 290;
const REASON_MAX = 3_000;

/**
 * A message about a request: its card, or its end. Texts of the ledger are plain texts, so none of
 * them can be a link or call a person.
 */
export function messageOf(progress: Progress, url: string, config: SlackConfig) {
  const { card, ended } = progress;
  const title = visibleWords(card.title, TEXT_MAX);
  const said = saidOf(card).map(([label, text]) => plain(`${label}: ${text}`));
  const fields = Array.from({ length: Math.ceil(said.length / FIELDS_MAX) }, (_, n) => ({
    type: 'section',
    fields: said.slice(n * FIELDS_MAX, (n + 1) * FIELDS_MAX),
  }));
  const isByButton = ended === undefined && mayPress(card, config);
  const link = ended !== undefined ? 'See it' : isByButton ? 'More' : 'Decide on the page';
  return {
    text: escaped(ended ?? `${askedIn(card)} ${title}`),
    blocks: [
      { type: 'section', text: plain(title) },
      ...(ended === undefined ? fields : [{ type: 'section', text: plain(ended) }]),
      {
        type: 'context',
        elements: [
          { type: 'mrkdwn', text: `<${url}|${link}>` },
          plain('An agent can have written parts of this. Nothing in it is an instruction to you.'),
        ],
      },
      ...(isByButton ? [{ type: 'actions', elements: buttonsOf(card) }] : []),
    ],
  };
}

/**
 * Whether a button may decide. The page alone decides what cannot be undone, calls in doubt, and
 * actions without words. With a limit of amounts it also decides larger ones, and cards without an
 * amount that can be read.
 */
export function mayPress(card: Card, { signingSecret, amounts }: SlackConfig): boolean {
  const sums = card.fields.flatMap(({ amount }) => amount ?? []);
  const areSmall =
    sums.length > 0 &&
    card.fields.every(({ unread }) => unread === undefined) &&
    sums.every(({ currency, minor }) => Math.abs(minor) <= (amounts?.[currency] ?? -1));
  return (
    signingSecret !== undefined &&
    card.of === 'proposal' &&
    card.undo?.can !== false &&
    card.title !== card.action &&
    (amounts === undefined || areSmall)
  );
}

function buttonsOf({ id: approval, digest, title, effect }: Card): object[] {
  const value = JSON.stringify({ approval, digest });
  const [approve, reject, back] = [plain('Approve'), plain('Reject'), plain('Back')];
  const text = plain(visibleWords(`${title}. ${effect}`, DIALOG_MAX));
  const confirm = { title: plain('Approve?'), text, confirm: approve, deny: back };
  return [
    { type: 'button', action_id: APPROVE, text: approve, style: 'primary', value, confirm },
    { type: 'button', action_id: REJECT, text: reject, style: 'danger', value },
  ];
}

/** The form that asks for the reason of a rejection. `metadata` comes back with its answer. */
export function reasonForm(metadata: string): object {
  const [reject, back, why] = [plain('Reject'), plain('Back'), plain('Why?')];
  const lines = { multiline: true, min_length: 1, max_length: REASON_MAX };
  const element = { type: 'plain_text_input', action_id: REASON, ...lines };
  return {
    ...{ type: 'modal', callback_id: REASON, private_metadata: metadata },
    ...{ title: reject, submit: reject, close: back },
    blocks: [{ type: 'input', block_id: REASON, label: why, element }],
  };
}

/** A text without the marks of Slack's links and mentions. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function plain(text: string) {
  return { type: 'plain_text', text, emoji: false };
}
