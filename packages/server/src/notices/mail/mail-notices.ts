import { type MailSender, readMail, senderAddress, sendMail } from '@assize/tools/internal/mail';
import { isAssizeError, isInstance } from 'assize/internal/base';
import type { MailConfig } from 'assize/internal/config';
import { DidNothing } from 'assize/internal/effects';
import type { Hash } from 'assize/internal/ledger';
import { pagePath } from '../../card/card.ts';
import { NoticeError } from '../errors.ts';
import type { ApprovalRequested } from '../notice.ts';
import type { MailReceiver } from '../receivers.ts';

/** The principals of a list that may decide about a pending proposal now. */
export type DecidersOf = (
  trajectoryId: string,
  pendingId: Hash,
  among: readonly string[],
) => Promise<readonly string[]>;

export interface MailNoticesOptions {
  readonly mail: MailConfig;
  readonly decidersOf: DecidersOf;
  readonly pageOf: (path: string) => string;
}

/** The time for one message, below the time for which a server has claimed it. */
const MAIL_TIMEOUT_MS = 30_000;

/** The codes of proposals that wait for no decision any more. */
const DECIDED: readonly string[] = ['not_pending', 'not_found', 'erased'];

/**
 * Mails to principals about proposals that they may decide. A message has the same Message-ID at
 * each attempt, so a mailbox can show a repetition as one message.
 */
export class MailNotices {
  readonly #options: MailNoticesOptions;

  constructor(options: MailNoticesOptions) {
    this.#options = options;
  }

  /**
   * Sends nothing if the principal may not decide, or if the proposal is decided.
   *
   * @throws NoticeError `receiver_refused`, `unreachable`
   */
  async send(
    receiver: MailReceiver,
    notice: ApprovalRequested,
    id: string,
    signal: AbortSignal,
  ): Promise<void> {
    if (!(await this.#mayDecide(receiver, notice))) return;
    const { mail, pageOf } = this.#options;
    const { subject, text } = mailText(notice, pageOf(pagePath(notice)));
    const message = readMail({ to: receiver.address, subject, text });
    const limit = AbortSignal.any([signal, AbortSignal.timeout(MAIL_TIMEOUT_MS)]);
    const from = senderOf(mail.from);
    const { smtp: transport } = mail;
    try {
      await sendMail(
        { from, transport, message, messageId: messageIdOf(id, senderAddress(from)) },
        limit,
      );
    } catch (error) {
      throw failureOf(error);
    }
  }

  async #mayDecide(
    { shownAs: principal }: MailReceiver,
    notice: ApprovalRequested,
  ): Promise<boolean> {
    const { trajectoryId, pendingId } = notice;
    try {
      return (await this.#options.decidersOf(trajectoryId, pendingId, [principal])).includes(
        principal,
      );
    } catch (error) {
      if (isAssizeError(error) && DECIDED.includes(error.code)) return false;
      throw error;
    }
  }
}

/** `a@b.example`, or a name before `<a@b.example>`. */
function senderOf(from: string): MailSender {
  const [, name, address] = /^(.*)<([^<>]+)>$/.exec(from) ?? [];
  return address === undefined ? from : { name: (name ?? '').trim(), address };
}

function messageIdOf(id: string, sender: string): string {
  return `<${id}@${sender.slice(sender.lastIndexOf('@') + 1)}>`;
}

/** The reason of the server is not repeated, because it can contain what a client sent. */
function failureOf(error: unknown): NoticeError {
  const why = (error as { readonly why?: unknown }).why;
  const reason = typeof why === 'string' ? why : 'no_answer';
  const isRefused = isInstance(error, DidNothing) && reason.startsWith('smtp_');
  return new NoticeError(
    isRefused ? 'receiver_refused' : 'unreachable',
    `The mail server did not accept the message (${reason}).`,
    { evidence: { reason }, retryable: true, cause: error },
  );
}

/** The most characters of a text from a ledger in a mail. */
const TEXT_MAX = 1_000;
const NAME_MAX = 80;

/** Characters that move, hide or reverse text, and line breaks. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** The subject and the text of a mail. An agent controls parts of the notice, and neither line. */
export function mailText(
  notice: ApprovalRequested,
  url: string,
): { readonly subject: string; readonly text: string } {
  const { action, title, trajectoryId, channel, reason, detail, expires, epoch } = notice;
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
    ...(title === undefined ? [] : [`> title: ${shown(title, TEXT_MAX)}`]),
    `> trajectory: ${shown(trajectoryId, NAME_MAX)}`,
    `> action: ${shown(action, NAME_MAX)}`,
    `> channel: ${shown(channel, NAME_MAX)}`,
    `> reason: ${reason}`,
    ...(expires === undefined ? [] : [`> expires: ${expires}`]),
    `> detail: ${shown(detail, TEXT_MAX)}`,
    '',
  ];
  return {
    subject: `Decision needed: ${shown(title ?? action, NAME_MAX)}`,
    text: lines.join('\n'),
  };
}

/** One line of at most `max` characters, with unseen characters as escapes. */
export function shown(text: string, max: number): string {
  const characters = [...text];
  const cut = characters.length > max ? `${characters.slice(0, max).join('')}…` : text;
  return cut.replace(UNSEEN, (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`);
}
