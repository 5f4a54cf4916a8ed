import { errorMessage, isInstance } from 'assize/internal/base';
import { issueText } from 'assize/internal/canon';
import { DidNothing } from 'assize/internal/effects';
import { z } from 'zod';
import { type MailMessage, recipientsOf } from './message.ts';
import { type AcceptedMessage, deliver, readSmtp, type SmtpOptions } from './smtp.ts';

/** The server of a message: a URL, options, or a function that returns one of these. */
export type MailTransport =
  | string
  | SmtpOptions
  | (() => string | SmtpOptions | Promise<string | SmtpOptions>);

/** One address, or an address with a name. */
export type MailSender = string | { readonly name: string; readonly address: string };

/** A message with its sender and its way. */
export interface OutgoingMail {
  readonly from: MailSender;
  readonly transport: MailTransport;
  readonly message: MailMessage;
  readonly messageId: string;
}

export function senderAddress(from: MailSender): string {
  return typeof from === 'string' ? from : from.address;
}

/**
 * Sends one message over a connection of its own.
 *
 * @throws DidNothing if the server did not receive all of the message, or refused it; NoAnswer if
 * the outcome is unknown
 */
export async function sendMail(
  { from, transport, message, messageId }: OutgoingMail,
  signal: AbortSignal,
): Promise<AcceptedMessage> {
  const { Connection, Composer } = await loadPeer();
  const { server, text } = await untouched(async () => ({
    server: readSmtp(typeof transport === 'function' ? await transport() : transport),
    text: await new Composer({
      from,
      messageId,
      ...message,
      attachments: message.attachments?.map((each) => ({ ...each, encoding: 'base64' })),
      disableFileAccess: true,
      disableUrlAccess: true,
    } as object)
      .compile()
      .build(),
  }));
  return deliver(
    Connection,
    server,
    { from: senderAddress(from), to: recipientsOf(message) },
    text,
    signal,
  );
}

async function loadPeer() {
  try {
    return {
      Connection: (await import('nodemailer/lib/smtp-connection')).default,
      Composer: (await import('nodemailer/lib/mail-composer')).default,
    };
  } catch (cause) {
    throw new DidNothing('the package nodemailer is not installed. Run npm install nodemailer', {
      cause,
    });
  }
}

/** Converts every error before the connection into an error that reports no effect. */
async function untouched<T>(make: () => Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (cause) {
    throw new DidNothing(`the message could not be built: ${reasonOf(cause)}`, { cause });
  }
}

/** Names an invalid option by its path and never with its value: that may be a password. */
function reasonOf(cause: unknown): string {
  if (isInstance(cause, z.ZodError)) return issueText(cause, ['transport']);
  return errorMessage(cause) ?? 'no error';
}
