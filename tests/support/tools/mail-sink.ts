import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';

/**
 * The outcome of a message.
 * - `refuse`: the connection is refused.
 * - `reject`, `later`: the recipients are refused, permanently or for now.
 * - `reject_data`: the message itself is refused.
 * - `lose`: the message is accepted, and the connection ends.
 * - `lose_before`: the connection ends at the recipients.
 * - `hang_before`: the recipients are not answered.
 * - `hang`: the message is accepted, and not answered.
 */
export type MailFault =
  | 'none'
  | 'refuse'
  | 'reject'
  | 'later'
  | 'reject_data'
  | 'lose'
  | 'lose_before'
  | 'hang_before'
  | 'hang';

export interface Delivered {
  readonly from: string;
  readonly to: readonly string[];
  readonly id: string;
  readonly text: string;
}

/** A mail server on this machine, with its own log of accepted messages. */
export class MailSink implements AsyncDisposable {
  readonly delivered: Delivered[] = [];
  readonly users: string[] = [];
  connections = 0;
  readonly #faults: MailFault[];
  readonly #server: SMTPServer;

  private constructor(faults: readonly MailFault[], isSecret: boolean) {
    this.#faults = [...faults];
    let fault: MailFault = 'none';
    this.#server = new SMTPServer({
      authOptional: !isSecret,
      disabledCommands: isSecret ? ['STARTTLS'] : ['STARTTLS', 'AUTH'],
      allowInsecureAuth: true,
      disableReverseLookup: true,
      onConnect: (_, done) => {
        this.connections++;
        fault = this.#faults.shift() ?? 'none';
        done(fault === 'refuse' ? new Error('go away') : null);
      },
      onAuth: ({ username, password }, _, done) => {
        this.users.push(String(username));
        if (password === 'right') done(null, { user: username });
        else done(new Error('wrong'));
      },
      onRcptTo: ({ address }, _, done) => {
        if (fault === 'hang_before') return;
        if (fault === 'lose_before') this.#cut();
        else if (fault === 'reject' || fault === 'later' || address.startsWith('nobody@'))
          done(Object.assign(new Error('no'), { responseCode: fault === 'later' ? 451 : 550 }));
        else done();
      },
      onData: (stream, { envelope }, done) => {
        void stream.toArray().then((chunks) => {
          if (fault === 'reject_data')
            return done(Object.assign(new Error('spam'), { responseCode: 554 }));
          const text = Buffer.concat(chunks).toString();
          const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
          const id = /^message-id:\s*(\S+)/im.exec(text)?.[1] ?? '';
          this.delivered.push({
            from,
            to: envelope.rcptTo.map(({ address }) => address),
            id,
            text,
          });
          if (fault === 'lose') this.#cut();
          else if (fault !== 'hang') done();
        });
      },
    });
    // The tests include a client that ends its connection.
    this.#server.on('error', () => undefined);
  }

  static async open(faults: readonly MailFault[] = [], isSecret = false): Promise<MailSink> {
    const made = new MailSink(faults, isSecret);
    const server = made.#server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return made;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  has(id: string): boolean {
    return this.delivered.some((each) => each.id === id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #cut(): void {
    for (const { _socket } of this.#server.connections as unknown as Set<{ _socket: Socket }>)
      _socket.destroy();
  }
}
