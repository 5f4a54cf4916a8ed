import { once } from 'node:events';
import { Readable, type Writable } from 'node:stream';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { issueWords } from 'assize/internal/canon';
import { DidNothing, NoAnswer } from 'assize/internal/effects';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { z } from 'zod';

/** The SMTP server and its login. */
export interface SmtpOptions {
  readonly host: string;
  /** Default 465 if `secure` is set, else 587. */
  readonly port?: number;
  /** TLS from the first byte. */
  readonly secure?: boolean;
  /** Requires STARTTLS. Default: true if a password is to be sent. */
  readonly requireTLS?: boolean;
  /** The client's name in its greeting. */
  readonly name?: string;
  readonly auth?: { readonly user: string; readonly pass: string };
  /** Options of `node:tls`: certificates and similar. */
  readonly tls?: object;
}

const OPTIONS = z.strictObject({
  host: z.string().min(1),
  port: z.number().int().min(1).max(65_535).optional(),
  secure: z.boolean().optional(),
  requireTLS: z.boolean().optional(),
  name: z.string().optional(),
  auth: z.strictObject({ user: z.string(), pass: z.string() }).optional(),
  tls: z.looseObject({}).optional(),
});

const URL_FORM = 'smtp://user:password@host:port, or smtps://…, without a path';

/** @throws ZodError */
export function readSmtp(given: unknown): SmtpOptions {
  if (typeof given !== 'string') return OPTIONS.parse(given, { error: issueWords }) as SmtpOptions;
  const url = URL.parse(given);
  const isSmtp = url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== '';
  if (!isSmtp || !['', '/'].includes(url.pathname) || url.search !== '') throw misfit(URL_FORM);
  const { protocol, hostname, port } = url;
  const [user, pass] = [url.username, url.password].map(unescaped) as [string, string];
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    secure: protocol === 'smtps:',
    ...(port === '' ? {} : { port: Number(port) }),
    ...(user === '' ? {} : { auth: { user, pass } }),
  };
}

/** The error omits the text, because it is a secret. */
function unescaped(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw misfit(
      'user and password of smtp://user:password@host are escaped as in any URL: % is %25',
    );
  }
}

function misfit(message: string): z.ZodError {
  return new z.ZodError([{ code: 'custom', path: [], message, input: undefined }]);
}

export interface Envelope {
  readonly from: string;
  readonly to: string[];
}

/** The server's report on an accepted message. */
export interface AcceptedMessage {
  readonly accepted: string[];
  /** Recipients that the server refused while it accepted the message for the others. */
  readonly rejected: string[];
}

const CONNECT_MS = 10_000;
const SILENCE_MS = 60_000;
/** Time limit for the server's answer to QUIT. It is needed only after a refusal. */
const LEAVE_MS = 2_000;
/** Event loop turns that a stream may need to report its end. */
const TURNS = 5;

/**
 * Sends one message on its own connection. The connection ends with the signal.
 *
 * @throws DidNothing if the server did not receive all of the message, or refused it; NoAnswer if
 * the outcome is unknown
 */
export async function deliver(
  Connection: typeof SMTPConnection,
  { auth, ...options }: SmtpOptions,
  envelope: Envelope,
  text: Buffer,
  signal: AbortSignal,
): Promise<AcceptedMessage> {
  if (signal.aborted)
    throw new DidNothing('there was no time left to send it', {
      cause: signal.reason,
      why: 'no_time_left',
    });
  const letter = new Letter(text);
  const { requireTLS = auth !== undefined && options.secure !== true } = options;
  const connection = new Connection({
    ...options,
    requireTLS,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // A closed socket is destroyed immediately.
    socketCloseTimeout: 0,
  });
  const ended = once(connection, 'end');
  // An error that ends the connection is reported by the other promise.
  ended.catch(() => undefined);
  try {
    const taken = await untilEnded(connection, signal, async () => {
      await answered((done) => connection.connect(done));
      if (auth !== undefined) await answered((done) => connection.login(auth, done));
      const { accepted, rejected } = await answered<AcceptedMessage>((done) =>
        connection.send(envelope, letter, done as never),
      );
      if (!(await letter.hasGone())) throw tooEarly(connection);
      return { accepted: [...accepted], rejected: [...rejected] };
    });
    quit(connection);
    return taken;
  } catch (error) {
    const isUntaken =
      !letter.isGiven || (isRefusal(error, letter) && (await isLast(connection, ended, signal)));
    connection.close();
    throw isUntaken ? didNothing(error) : noAnswer(error);
  }
}

/** The text of a message. It records how much of it the server received. */
class Letter extends Readable {
  readonly #text: Buffer;
  /** Whether the text was read. */
  isGiven = false;
  /** Whether all of the text was sent, with its end. */
  isSent = false;

  constructor(text: Buffer) {
    super();
    this.#text = text;
  }

  /** Called when the server is ready for the text, and not before. */
  override _read(): void {
    this.isGiven = true;
    this.push(this.#text);
    this.push(null);
  }

  /**
   * Whether the text was sent, at the time of a reply. The stream may report recently sent data
   * some event loop turns later.
   */
  async hasGone(): Promise<boolean> {
    for (let turns = 0; turns < TURNS && !this.isSent; turns++) await turn();
    return this.isSent;
  }

  override pipe<T extends NodeJS.WritableStream>(to: T, options?: { end?: boolean }): T {
    // The destination stream adds the end of a message, and ends after that is written.
    (to as unknown as Writable).once('end', () => {
      this.isSent = true;
    });
    return super.pipe(to, options);
  }
}

/** A server that does not answer would keep the process alive for its full timeout. */
function quit(connection: SMTPConnection): void {
  const timer = setTimeout(() => connection.close(), LEAVE_MS);
  connection.once('end', () => clearTimeout(timer));
  connection.quit();
}

/**
 * Whether the server read the message and refused it (RFC 5321 section 4.2.5). Any other reply, or
 * an earlier one, does not refuse the message.
 */
function isRefusal(error: unknown, { isSent }: Letter): boolean {
  const { code, responseCode } = error as SmtpError;
  return (
    isSent &&
    code === 'EMESSAGE' &&
    responseCode !== undefined &&
    responseCode >= 400 &&
    responseCode <= 599
  );
}

/**
 * A server accepts only a message that it has read. An earlier reply answers another command, or
 * comes from a proxy.
 */
function tooEarly({ lastServerResponse }: SMTPConnection): Error {
  const said = String(lastServerResponse);
  const responseCode = Number.parseInt(said, 10);
  return Object.assign(
    new Error(`the server answered before the whole message was sent: ${said}`),
    { responseCode },
  );
}

/**
 * Whether a refusal is the server's last reply before QUIT. If the refusal came before the server
 * read the end of the message, the message's own reply follows.
 */
async function isLast(
  connection: SMTPConnection,
  ended: Promise<unknown>,
  signal: AbortSignal,
): Promise<boolean> {
  const refusal = connection.lastServerResponse;
  connection.quit();
  const over = ended.then(
    () => true,
    () => true,
  );
  const silent = pause(LEAVE_MS, false, { signal, ref: false }).catch(() => false);
  const isOver = await Promise.race([over, silent]);
  const last = connection.lastServerResponse;
  return isOver && (last === refusal || /^221\b/.test(String(last)));
}

interface SmtpError {
  readonly code?: string;
  readonly responseCode?: number;
  readonly message: string;
}

function didNothing(error: unknown): DidNothing {
  const { code, responseCode = 0, message } = error as SmtpError;
  // A wrong password can be corrected. A permanently refused message or recipient stays refused.
  const final =
    (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 500 && responseCode <= 599;
  return new DidNothing(message, { final, cause: error, why: whyOfReply(error) });
}

function noAnswer(error: unknown): NoAnswer {
  return new NoAnswer((error as Error).message, { cause: error, why: whyOfReply(error) });
}

/** Uses the code of the server's reply, and not its text. */
function whyOfReply(error: unknown): string {
  const { responseCode } = error as { readonly responseCode?: unknown };
  return Number.isSafeInteger(responseCode) ? `smtp_${responseCode}` : 'connection_lost';
}

function answered<T = unknown>(
  call: (done: (error?: Error | null, value?: T) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, value) => (error ? reject(error) : resolve(value as T)));
  });
}

async function untilEnded<T>(
  connection: SMTPConnection,
  signal: AbortSignal,
  make: () => Promise<T>,
): Promise<T> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const onAbort = (): void =>
    reject(new Error('the time limit has passed', { cause: signal.reason }));
  connection.on('error', reject);
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([ended, make()]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
