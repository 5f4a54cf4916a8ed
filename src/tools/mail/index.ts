/**
 * An outbox over SMTP as a tool, by the optional peer `nodemailer`.
 *
 * Guarantees: no message leaves before its transaction has committed; none is sent twice unless `sent` says that it was not sent; one that
 * the server was not given, or has refused when it had all of it, counts as not sent; a message has the headers of its own fields and no others.
 *
 * Never: reads a file or a URL for a message; sends a password over a connection that is not encrypted, unless told to; keeps a
 * connection.
 */
export { type MailToolOptions, mailTool } from './mail-tool.ts';
export type { MailMessage } from './message.ts';
export { mailResolver } from './resolver.ts';
export type { SmtpOptions } from './smtp.ts';
