import { randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PayingBank, Transfer } from './expenses.ts';

/** One line of the bank's log: a received request, and whether it made a payment. */
export type BankLine = { readonly at: string; readonly key: string } & (
  | ({ readonly does: 'pays'; readonly payment: string } & Transfer)
  | { readonly does: 'repeats' | 'refunds'; readonly payment: string }
);

/** A bank that pays once for each key. It knows nothing of the ledger. */
export class Bank implements PayingBank {
  readonly #log: (line: BankLine) => void;
  readonly #payments: Map<string, string> = new Map();
  #count = 0;

  /** `earlier`: the lines of its log until now. `log`: gets each further line before the answer. */
  constructor(log: (line: BankLine) => void, earlier: readonly BankLine[] = []) {
    this.#log = log;
    for (const { key, does, payment } of earlier) {
      if (does === 'pays') this.#count += 1;
      if (does === 'refunds') this.#payments.delete(key);
      else this.#payments.set(key, payment);
    }
  }

  pay(key: string, { to, receipt, cents }: Transfer): string {
    const at = new Date().toISOString();
    const known = this.#payments.get(key);
    if (known !== undefined) {
      this.#log({ at, key, does: 'repeats', payment: known });
      return known;
    }
    this.#count += 1;
    const payment = `B-${this.#count}`;
    this.#log({ at, key, does: 'pays', payment, to, receipt, cents });
    this.#payments.set(key, payment);
    return payment;
  }

  refund(key: string): void {
    const payment = this.#payments.get(key);
    if (payment === undefined) return;
    this.#log({ at: new Date().toISOString(), key, does: 'refunds', payment });
    this.#payments.delete(key);
  }

  /** Whether it has made a payment under this key. */
  has(key: string): boolean {
    return this.#payments.has(key);
  }
}

/** Where the bank is, and the secret of its clients. */
export interface BankAddress {
  readonly url: string;
  readonly secret: string;
}

/** A bank over HTTP. Its log is a file: a payment is on disk before the answer is sent. */
export class BankServer {
  readonly #file: number;
  readonly #bank: Bank;
  readonly #server: Server;
  readonly #secret = randomBytes(24).toString('hex');
  #cut: (() => void) | undefined;

  private constructor(path: string) {
    this.#file = openSync(path, 'a', 0o600);
    this.#bank = new Bank((line) => {
      writeSync(this.#file, `${JSON.stringify(line)}\n`);
      fsyncSync(this.#file);
    }, readBankLog(path));
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** Opens the bank on its log file, and listens on a free port of this machine. */
  static async open(path: string): Promise<BankServer> {
    const bank = new BankServer(path);
    const listening = Promise.withResolvers<void>();
    bank.#server.once('error', listening.reject);
    bank.#server.listen(0, '127.0.0.1', listening.resolve);
    await listening.promise;
    return bank;
  }

  get address(): BankAddress {
    const { port } = this.#server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, secret: this.#secret };
  }

  /** Makes the next new payment without an answer. Resolves when the payment is on disk. */
  cutNextPayment(): Promise<void> {
    const made = Promise.withResolvers<void>();
    this.#cut = made.resolve;
    return made.promise;
  }

  async close(): Promise<void> {
    const closed = Promise.withResolvers<void>();
    this.#server.close(() => closed.resolve());
    this.#server.closeAllConnections();
    await closed.promise;
    closeSync(this.#file);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const key = request.headers['idempotency-key'];
    if (!this.#isClient(request) || typeof key !== 'string') {
      response.writeHead(403).end();
      return;
    }
    if (request.method === 'DELETE') {
      this.#bank.refund(key);
      response.writeHead(204).end();
      return;
    }
    const order = (await bodyOf(request)) as Transfer;
    const cut = this.#bank.has(key) ? undefined : this.#cut;
    const payment = this.#bank.pay(key, order);
    if (cut === undefined) {
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ payment }));
      return;
    }
    this.#cut = undefined;
    cut();
  }

  #isClient({ headers }: IncomingMessage): boolean {
    const given = Buffer.from(headers.authorization ?? '');
    const wanted = Buffer.from(`Bearer ${this.#secret}`);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }
}

/** The bank over HTTP, for the tool of a server in any process. */
export function bankAt({ url, secret }: BankAddress): PayingBank {
  const send = async (method: string, key: string, body?: object): Promise<Response> => {
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'idempotency-key': key },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`The bank answered ${response.status}.`);
    return response;
  };
  return {
    pay: async (key, order) => {
      const answer = await (await send('POST', key, order)).json();
      return (answer as { readonly payment: string }).payment;
    },
    refund: async (key) => {
      await send('DELETE', key);
    },
  };
}

/** The lines of a bank's log. */
export function readBankLog(path: string): BankLine[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as BankLine);
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString());
}
