import { z } from 'zod';
import { issueText } from '#canon';
import { type Call, DidNothing, declareTool, type Reconciled, type Tool } from '#effects';
import { callback, invalidTool, readOptions, SAID, type Said, said } from '../options.ts';
import { address, line, type MailMessage, mailScopes, message, recipientsOf } from './message.ts';
import { handOver, readSmtp, type SmtpOptions, type Taken } from './smtp.ts';

/** An outbox as a tool. */
export interface MailToolOptions extends Said<typeof message> {
  /** Who writes: one address, or with a name. */
  readonly from: string | { readonly name: string; readonly address: string };
  /** `smtp://user:password@host:port`, `smtps://…`, options, or a function that is asked for them at each sending. */
  readonly transport: string | SmtpOptions | (() => string | SmtpOptions | Promise<string | SmtpOptions>);
  /**
   * Whether a message of that Message-ID was sent, for who can ask: the sink is then queryable, and else blind. Throws where that
   * is not known yet.
   */
  readonly sent?: (messageId: string) => boolean | Promise<boolean>;
}

const OPTIONS = z.strictObject({
  ...SAID,
  from: z.union([address, z.strictObject({ name: line, address })]),
  transport: z.union([z.string(), z.looseObject({}), callback]),
  sent: callback.optional(),
});

/**
 * A tool that sends mail, when its transaction has committed and not before. What it sends is identified by the key of the effect:
 * Message-ID `<KEY@DOMAIN>`, by which a receiver may tell that it has it.
 *
 * SMTP has no word for "again": when the answer to a message is lost, nobody can tell whether it was taken. Without `sent` it is
 * then left to a person, and never sent twice.
 *
 * @throws EffectError `invalid_tool`
 */
export function mailTool(options: MailToolOptions): Tool {
  const read = readOptions(OPTIONS, options) as unknown as MailToolOptions;
  const { name, sent, from, transport } = read;
  if (typeof transport !== 'function') requireTransport(name, transport);
  const sender = typeof from === 'string' ? from : from.address;
  const idOf = ({ key }: Call): string => `<${key}@${sender.slice(sender.lastIndexOf('@') + 1)}>`;
  return declareTool({
    ...said(read),
    input: message,
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: sent === undefined ? 'blind' : 'queryable' },
    writes: mailScopes,
    ...(sent === undefined
      ? {}
      : {
          reconcile: async (_: unknown, call: Call): Promise<Reconciled> =>
            (await sent(idOf(call))) ? { happened: true, result: { message_id: idOf(call) } } : { happened: false },
        }),
    execute: async (input, call) => ({
      message_id: idOf(call),
      ...(await send(read, sender, input, idOf(call), call)),
    }),
  });
}

function requireTransport(name: string, transport: unknown): void {
  try {
    readSmtp(transport);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    throw invalidTool(name, issueText(error, ['transport']));
  }
}

async function send(
  { from, transport }: MailToolOptions,
  sender: string,
  input: MailMessage,
  messageId: string,
  { signal }: Call,
): Promise<Taken> {
  const { Connection, Composer } = await loadPeer();
  const { server, text } = await untouched(async () => ({
    server: readSmtp(typeof transport === 'function' ? await transport() : transport),
    text: await new Composer({
      from,
      messageId,
      ...input,
      attachments: input.attachments?.map((each) => ({ ...each, encoding: 'base64' })),
      disableFileAccess: true,
      disableUrlAccess: true,
    } as object)
      .compile()
      .build(),
  }));
  return handOver(Connection, server, { from: sender, to: recipientsOf(input) }, text, signal);
}

async function loadPeer() {
  try {
    return {
      Connection: (await import('nodemailer/lib/smtp-connection')).default,
      Composer: (await import('nodemailer/lib/mail-composer')).default,
    };
  } catch (cause) {
    throw new DidNothing('mail needs the package nodemailer, which is not installed; run npm install nodemailer', {
      cause,
    });
  }
}

/** Whatever goes wrong before there is a connection, nothing was sent. */
async function untouched<T>(make: () => Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (cause) {
    throw new DidNothing(`the message could not be made: ${reasonOf(cause)}`, { cause });
  }
}

/** What does not fit is said by its place, and never with its value: that may be a password. */
function reasonOf(cause: unknown): string {
  if (cause instanceof z.ZodError) return issueText(cause, ['transport']);
  return cause instanceof Error ? cause.message : 'no error';
}
