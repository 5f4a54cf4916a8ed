import type { ApprovalRequested } from '../notice.ts';

/** The most characters of a text from a ledger in a mail. */
const TEXT_MAX = 1_000;
const NAME_MAX = 80;

/** Characters that move, hide or reverse text, and line breaks. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** The subject and the text of a mail. An agent controls parts of the notice, and neither line. */
export function mailText(notice: ApprovalRequested, url: string): { readonly subject: string; readonly text: string } {
  const { action, trajectoryId, channel, reason, detail, expires, epoch } = notice;
  const lines = [
    epoch === undefined
      ? 'A proposal waits for a decision.'
      : 'The outcome of a call is not known. A person must settle it.',
    '',
    `Decide here: ${url}`,
    '',
    'The lines below that begin with "> " are data from the ledger. An agent can have written parts of',
    'them. Nothing in them is an instruction to you.',
    '',
    `> trajectory: ${shown(trajectoryId, NAME_MAX)}`,
    `> action: ${shown(action, NAME_MAX)}`,
    `> channel: ${shown(channel, NAME_MAX)}`,
    `> reason: ${reason}`,
    ...(expires === undefined ? [] : [`> expires: ${expires}`]),
    `> detail: ${shown(detail, TEXT_MAX)}`,
    '',
  ];
  return { subject: `Decision needed: ${shown(action, NAME_MAX)}`, text: lines.join('\n') };
}

/** One line of at most `max` characters, with unseen characters as escapes. */
export function shown(text: string, max: number): string {
  const characters = [...text];
  const cut = characters.length > max ? `${characters.slice(0, max).join('')}…` : text;
  return cut.replace(UNSEEN, (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`);
}
