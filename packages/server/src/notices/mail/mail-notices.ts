import { type MailSender, readMail, senderAddress, sendMail } from '@assize/tools/internal/mail';
import { isAssizeError, isInstance } from 'assize/internal/base';
import type { MailConfig } from 'assize/internal/config';
import { DidNothing } from 'assize/internal/effects';
import type { EntryRow, Hash } from 'assize/internal/ledger';
import { visibleWords } from 'assize/internal/views';
import { type Card, pagePath } from '../../card/card.ts';
import { NoticeError } from '../errors.ts';
import type { ApprovalRequested } from '../notice.ts';
import type { MailReceiver } from '../receivers.ts';
import { askedIn, NAME_MAX, saidOf, TEXT_MAX } from '../said.ts';

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
  readonly cardOf: (row: EntryRow) => Promise<Card>;
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
   * Sends nothing, and returns false, if the principal may not decide, or if the proposal is
   * decided.
   *
   * @throws NoticeError `receiver_refused`, `unreachable`
   */
  async send(
    receiver: MailReceiver,
    notice: ApprovalRequested,
    id: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!(await this.#mayDecide(receiver, notice))) return false;
    const { mail, pageOf, cardOf } = this.#options;
    const card = await cardOf(notice.row);
    const { subject, text } = mailText(card, pageOf(pagePath(notice)), notice.isEnding);
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
    return true;
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

/**
 * The subject and the text of a mail. An agent controls parts of the card, and no line. The link
 * opens a page, and decides nothing: programs open the links of a mail too.
 */
export function mailText(
  card: Card,
  url: string,
  isEnding: boolean = false,
): { readonly subject: string; readonly text: string } {
  const title = visibleWords(card.title, TEXT_MAX);
  const lines = [
    askedIn(card),
    '',
    `Decide here: ${url}`,
    '',
    'The lines below that begin with "> " are data from the ledger. An agent can have written parts of',
    'them. Nothing in them is an instruction to you.',
    '',
    `> ${title}`,
    ...saidOf(card).map(([label, text]) => `> ${label}: ${text}`),
    '',
  ];
  const begin = isEnding ? 'Ends soon' : 'Decision needed';
  return { subject: `${begin}: ${visibleWords(card.title, NAME_MAX)}`, text: lines.join('\n') };
}
