import { once } from 'node:events';
import { Readable, type Writable } from 'node:stream';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { z } from 'zod';
import { issueWords } from '#canon';
import { DidNothing, NoAnswer } from '#effects';

/** Where mail is handed over. */
export interface SmtpOptions {
  readonly host: string;
  /** Default 465 where it is secure, else 587. */
  readonly port?: number;
  /** TLS from the first byte. */
  readonly secure?: boolean;
  /** Refuses to go on without STARTTLS. By default where there is a password to be sent. */
  readonly requireTLS?: boolean;
  /** What it calls itself. */
  readonly name?: string;
  readonly auth?: { readonly user: string; readonly pass: string };
  /** Of `node:tls`: certificates and the like. */
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

/** Without what it was in what is said of it: it is a secret. */
function unescaped(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw misfit('user and password of smtp://user:password@host are escaped as in any URL: % is %25');
  }
}

function misfit(message: string): z.ZodError {
  return new z.ZodError([{ code: 'custom', path: [], message, input: undefined }]);
}

export interface Envelope {
  readonly from: string;
  readonly to: string[];
}

/** What a server says of a message that it took. */
export interface Taken {
  readonly accepted: string[];
  /** Recipients that it refused while it took the message for the others. */
  readonly rejected: string[];
}

const CONNECT_MS = 10_000;
const SILENCE_MS = 60_000;
/** For its answer when it is taken leave of, which only a refusal needs. */
const LEAVE_MS = 2_000;
/** Of the event loop, which a stream may take to say that it has ended. */
const TURNS = 5;

/**
 * Hands one message over, on a connection of its own, which ends with the signal.
 *
 * @throws DidNothing where the server was not given all of it, or has refused it; NoAnswer where nobody can tell what became of it
 */
export async function handOver(
  Connection: typeof SMTPConnection,
  { auth, ...options }: SmtpOptions,
  envelope: Envelope,
  text: Buffer,
  signal: AbortSignal,
): Promise<Taken> {
  if (signal.aborted)
    throw new DidNothing('there was no time left to send it', { cause: signal.reason, why: 'no_time_left' });
  const letter = new Letter(text);
  const { requireTLS = auth !== undefined && options.secure !== true } = options;
  const connection = new Connection({
    ...options,
    requireTLS,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // What is ended is ended now, and goes on nowhere.
    socketCloseTimeout: 0,
  });
  const ended = once(connection, 'end');
  // What ends with an error is told of by that.
  ended.catch(() => undefined);
  try {
    const taken = await untilEnded(connection, signal, async () => {
      await answered((done) => connection.connect(done));
      if (auth !== undefined) await answered((done) => connection.login(auth, done));
      const { accepted, rejected } = await answered<Taken>((done) => connection.send(envelope, letter, done as never));
      if (!(await letter.hasGone())) throw tooEarly(connection);
      return { accepted: [...accepted], rejected: [...rejected] };
    });
    takeLeave(connection);
    return taken;
  } catch (error) {
    const isUntaken = !letter.isGiven || (isRefusal(error, letter) && (await isLast(connection, ended, signal)));
    connection.close();
    throw isUntaken ? didNothing(error) : noAnswer(error);
  }
}

/** The text of a message, which knows how much of it the server was given. */
class Letter extends Readable {
  readonly #text: Buffer;
  /** It was read. */
  isGiven = false;
  /** All of it was sent, and its end. */
  isSent = false;

  constructor(text: Buffer) {
    super();
    this.#text = text;
  }

  /** Called when the server waits for it, and not before. */
  override _read(): void {
    this.isGiven = true;
    this.push(this.#text);
    this.push(null);
  }

  /** Whether it was sent, once a reply to it is there: of what has just gone the stream may say so some turns of the loop later. */
  async hasGone(): Promise<boolean> {
    for (let turns = 0; turns < TURNS && !this.isSent; turns++) await turn();
    return this.isSent;
  }

  override pipe<T extends NodeJS.WritableStream>(to: T, options?: { end?: boolean }): T {
    // What it is written to adds the end of a message, and ends when that was written on.
    (to as unknown as Writable).once('end', () => {
      this.isSent = true;
    });
    return super.pipe(to, options);
  }
}

/** A server that says nothing to that would keep the process for as long as it may be silent. */
function takeLeave(connection: SMTPConnection): void {
  const timer = setTimeout(() => connection.close(), LEAVE_MS);
  connection.once('end', () => clearTimeout(timer));
  connection.quit();
}

/** What was read, and not taken (RFC 5321 section 4.2.5). Any other reply, or one before the end of it was sent, is none to that. */
function isRefusal(error: unknown, { isSent }: Letter): boolean {
  const { code, responseCode } = error as SmtpError;
  return isSent && code === 'EMESSAGE' && responseCode !== undefined && responseCode >= 400 && responseCode <= 599;
}

/** Nobody takes what they have not read: such a reply was to something else, or of who stands between. */
function tooEarly({ lastServerResponse }: SMTPConnection): Error {
  const said = String(lastServerResponse);
  const responseCode = Number.parseInt(said, 10);
  return Object.assign(new Error(`it was answered before all of it was sent: ${said}`), { responseCode });
}

/**
 * Whether a refusal is the last that the server says before it takes leave. One that it gave before it had read the end of the message
 * is followed by what became of that.
 */
async function isLast(connection: SMTPConnection, ended: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
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
  // A wrong password may be put right; a message or a recipient that is refused for good stays so.
  const final = (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 500 && responseCode <= 599;
  return new DidNothing(message, { final, cause: error, why: whyOfReply(error) });
}

function noAnswer(error: unknown): NoAnswer {
  return new NoAnswer((error as Error).message, { cause: error, why: whyOfReply(error) });
}

/** By the code of the server's reply, and not by its text. */
function whyOfReply(error: unknown): string {
  const { responseCode } = error as { readonly responseCode?: unknown };
  return Number.isSafeInteger(responseCode) ? `smtp_${responseCode}` : 'connection_lost';
}

function answered<T = unknown>(call: (done: (error?: Error | null, value?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, value) => (error ? reject(error) : resolve(value as T)));
  });
}

async function untilEnded<T>(connection: SMTPConnection, signal: AbortSignal, make: () => Promise<T>): Promise<T> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(new Error('it took longer than it may', { cause: signal.reason }));
  connection.on('error', reject);
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([ended, make()]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
