import { z } from 'zod';
import { errorMessage, isInstance } from '#base';
import { issueText } from '#canon';
import { type CallContext, DidNothing, declareTool, type ReconcileResult, type Tool } from '#effects';
import {
  COMMON_OPTIONS,
  type CommonToolOptions,
  callback,
  invalidTool,
  pickToolOptions,
  readOptions,
} from '../options.ts';
import { address, line, type MailMessage, mailScopes, message, recipientsOf } from './message.ts';
import { type AcceptedMessage, deliver, readSmtp, type SmtpOptions } from './smtp.ts';

/** The options of an outbox tool. */
export interface MailToolOptions extends CommonToolOptions<typeof message> {
  /** The sender: one address, or an address with a name. */
  readonly from: string | { readonly name: string; readonly address: string };
  /**
   * `smtp://user:password@host:port`, `smtps://…`, options, or a function that returns one of these
   * for each message.
   */
  readonly transport: string | SmtpOptions | (() => string | SmtpOptions | Promise<string | SmtpOptions>);
  /**
   * Whether the message with that Message-ID was sent. With this option the sink is queryable, and
   * otherwise blind. Throws if the answer is not known yet.
   */
  readonly sent?: (messageId: string) => boolean | Promise<boolean>;
}

const OPTIONS = z.strictObject({
  ...COMMON_OPTIONS,
  from: z.union([address, z.strictObject({ name: line, address })]),
  transport: z.union([z.string(), z.looseObject({}), callback]),
  sent: callback.optional(),
});

/**
 * A tool that sends mail after its transaction has committed. The key of the effect identifies the
 * message: Message-ID `<KEY@DOMAIN>`, by which a receiver can detect a duplicate.
 * SMTP has no idempotent retry. If the answer to a message is lost, its outcome is unknown. Without
 * `sent`, the effect then needs a human decision and is never repeated.
 *
 * @throws EffectError `invalid_tool`
 */
export function mailTool(options: MailToolOptions): Tool {
  const read = readOptions(OPTIONS, options) as unknown as MailToolOptions;
  const { name, sent, from, transport } = read;
  if (typeof transport !== 'function') requireTransport(name, transport);
  const sender = typeof from === 'string' ? from : from.address;
  const idOf = ({ key }: CallContext): string => `<${key}@${sender.slice(sender.lastIndexOf('@') + 1)}>`;
  return declareTool({
    ...pickToolOptions(read),
    input: message,
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: sent === undefined ? 'blind' : 'queryable' },
    writes: mailScopes,
    ...(sent === undefined
      ? {}
      : {
          reconcile: async (_: unknown, call: CallContext): Promise<ReconcileResult> =>
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
    if (!isInstance(error, z.ZodError)) throw error;
    throw invalidTool(name, issueText(error, ['transport']));
  }
}

async function send(
  { from, transport }: MailToolOptions,
  sender: string,
  input: MailMessage,
  messageId: string,
  { signal }: CallContext,
): Promise<AcceptedMessage> {
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
  return deliver(Connection, server, { from: sender, to: recipientsOf(input) }, text, signal);
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

/** Names an invalid option by its path and never with its value, which may be a password. */
function reasonOf(cause: unknown): string {
  if (isInstance(cause, z.ZodError)) return issueText(cause, ['transport']);
  return errorMessage(cause) ?? 'no error';
}
