import { isInstance } from 'assize/internal/base';
import { issueText } from 'assize/internal/canon';
import {
  type CallContext,
  declareTool,
  type ReconcileResult,
  type Tool,
} from 'assize/internal/effects';
import { z } from 'zod';
import {
  COMMON_OPTIONS,
  type CommonToolOptions,
  callback,
  invalidTool,
  pickToolOptions,
  readOptions,
} from '../options.ts';
import { address, line, mailScopes, message } from './message.ts';
import { type MailSender, type MailTransport, senderAddress, sendMail } from './send-mail.ts';
import { readSmtp } from './smtp.ts';

/** The options of an outbox tool. */
export interface MailToolOptions extends CommonToolOptions<typeof message> {
  /** The sender: one address, or an address with a name. */
  readonly from: MailSender;
  /**
   * `smtp://user:password@host:port`, `smtps://…`, options, or a function that returns one of these
   * for each message.
   */
  readonly transport: MailTransport;
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
  const sender = senderAddress(from);
  const idOf = ({ key }: CallContext): string =>
    `<${key}@${sender.slice(sender.lastIndexOf('@') + 1)}>`;
  return declareTool({
    ...pickToolOptions(read),
    input: message,
    class: {
      reversibility: 'irreversible',
      delivery: 'buffered',
      sink: sent === undefined ? 'blind' : 'queryable',
    },
    writes: mailScopes,
    ...(sent === undefined
      ? {}
      : {
          reconcile: async (_: unknown, call: CallContext): Promise<ReconcileResult> =>
            (await sent(idOf(call)))
              ? { happened: true, result: { message_id: idOf(call) } }
              : { happened: false },
        }),
    execute: async (input, call) => ({
      message_id: idOf(call),
      ...(await sendMail({ from, transport, message: input, messageId: idOf(call) }, call.signal)),
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
