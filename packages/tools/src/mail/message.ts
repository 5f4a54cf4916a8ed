import { domainToASCII } from 'node:url';
import { segment } from 'assize/internal/effects';
import { z } from 'zod';

/** One line of a header. An added line could add a recipient. */
export const line = z
  .string()
  .max(900)
  .regex(/^\P{Cc}*$/u, 'one line, without control characters');

/** ASCII addresses, as `z.email()` has them, and top-level domains in Punycode too. */
const ASCII_ADDRESS =
  /^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9-]*\.)+([A-Za-z]{2,}|xn--[A-Za-z0-9-]+)$/;

/**
 * An address, with its domain in lower case and ASCII. The receiver defines the part before the
 * `@`, so that part is unchanged.
 */
export const address = z
  .string()
  .max(254)
  .transform(withCanonicalDomain)
  .pipe(z.email({ pattern: ASCII_ADDRESS }).max(254));

const RECIPIENTS_MAX = 100;
const recipients = z
  .union([address, z.array(address).min(1).max(RECIPIENTS_MAX)])
  .transform((one) => (typeof one === 'string' ? [one] : one));

/** The content is given inline. No path and no URL is read. */
const attachment = z.strictObject({
  filename: line.min(1).regex(/^[^/\\]*$/, 'a name without folders'),
  content: z.base64(),
  contentType: z
    .string()
    .regex(/^[A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+$/, 'a media type')
    // A mail reader would search a multipart type for parts, and find none.
    .regex(/^(?!multipart\/)/i, 'a media type other than multipart')
    .optional(),
});

/** The message that a tool receives. */
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
  .refine(
    ({ text, html }) => text !== undefined || html !== undefined,
    'it needs a text or an html',
  );

export type MailMessage = z.infer<typeof message>;

/** A message in the form that a tool receives. @throws ZodError */
export function readMail(given: z.input<typeof message>): MailMessage {
  return message.parse(given);
}

/** All recipients of a message. */
export function recipientsOf({ to, cc = [], bcc = [] }: MailMessage): string[] {
  return [...new Set([...to, ...cc, ...bcc])];
}

/** The recipients as scopes. */
export function mailScopes(given: MailMessage): string[] {
  return [...new Set(recipientsOf(given).map((to) => `email:outbox:${segment(mailboxOf(to))}`))];
}

/** The canonical mailbox in lower case, because almost no server distinguishes case. */
export function mailboxOf(address: string): string {
  return withCanonicalDomain(address.toLowerCase().normalize('NFC'));
}

/** A domain in Unicode and its Punycode are one, as for URLs. */
function withCanonicalDomain(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  if (at === 0) return address;
  const domain = address.slice(at);
  return address.slice(0, at) + (domainToASCII(domain) || domain.toLowerCase()).replace(/\.$/, '');
}
