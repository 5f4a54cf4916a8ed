/**
 * An SMTP outbox as a tool, by the optional peer `nodemailer`.
 * Guarantees: a message is sent only after its transaction has committed. No message is sent twice,
 * unless `sent` reports that it was not sent. A message counts as not sent if the server did not
 * receive all of it, or refused it after receiving it. A message has the headers of its own fields
 * and no others.
 * Never: reads a file or a URL for a message; sends a password over an unencrypted connection,
 * unless the options permit it; keeps a connection open.
 */
export { type MailToolOptions, mailTool } from './mail-tool.ts';
export { type MailMessage, readMail } from './message.ts';
export { mailResolver } from './resolver.ts';
export {
  type MailSender,
  type MailTransport,
  type OutgoingMail,
  senderAddress,
  sendMail,
} from './send-mail.ts';
export type { SmtpOptions } from './smtp.ts';
