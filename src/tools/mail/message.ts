import { z } from 'zod';
import { segment } from '#effects';

/** One line of a header: whoever could add a line could add a recipient. */
export const line = z
  .string()
  .max(900)
  .regex(/^\P{Cc}*$/u, 'one line, without control characters');

/** An address, with its domain in lower case. What stands before the `@` is the receiver's, and stays. */
export const address = z
  .email()
  .max(254)
  .transform((text) => text.replace(/@.*$/, (domain) => domain.toLowerCase()));

const RECIPIENTS_MAX = 100;
const recipients = z
  .union([address, z.array(address).min(1).max(RECIPIENTS_MAX)])
  .transform((one) => (typeof one === 'string' ? [one] : one));

/** What is inside of it is given, never named: no path and no URL is read. */
const attachment = z.strictObject({
  filename: line.min(1).regex(/^[^/\\]*$/, 'a name without folders'),
  content: z.base64(),
  contentType: z
    .string()
    .regex(/^[A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+$/, 'a media type')
    // Whoever reads a message takes what is said to have parts for them, and finds none.
    .regex(/^(?!multipart\/)/i, 'a media type of what is one part')
    .optional(),
});

/** A message as a tool is given it. */
export const message = z
  .strictObject({
    to: recipients,
    cc: recipients.optional(),
    bcc: recipients.optional(),
    replyTo: address.optional(),
    subject: line,
    text: z.string().optional(),
    html: z.string().optional(),
    attachments: z.array(attachment).max(20).optional(),
  })
  .refine(({ text, html }) => text !== undefined || html !== undefined, 'it has a text or an html');

export type MailMessage = z.infer<typeof message>;

/** Whoever gets it. */
export function recipientsOf({ to, cc = [], bcc = [] }: MailMessage): string[] {
  return [...new Set([...to, ...cc, ...bcc])];
}

/** Where it goes, as scopes. */
export function mailScopes(given: MailMessage): string[] {
  return [...new Set(recipientsOf(given).map((to) => `email:outbox:${segment(mailboxOf(to))}`))];
}

/** One mailbox has one name, since hardly any server tells its cases apart. */
export function mailboxOf(address: string): string {
  return address.toLowerCase().normalize('NFC').replace(/\.$/, '');
}
