import { isAssizeError, type Json } from '#base';
import type { Hash } from '#ledger';
import type { AskedCall } from './asked-call.ts';
import type { CallPort, PersonsDecision, ShownCall } from './call-port.ts';
import type { Outcome } from './close-call.ts';
import type { DecideOptions, Decision, Judgement } from './decide-call.ts';
import { CallError } from './errors.ts';

export interface HttpPortOptions {
  /** The address of `assize serve`, such as `http://127.0.0.1:4517`. */
  readonly url: string;
  /** The token of the agent. */
  readonly token: string;
  /** The trajectory of the calls. */
  readonly trajectory: string;
  /** The tokens of people for whom this program records decisions, by their principals. */
  readonly people: Readonly<Record<string, string>>;
}

/** The longest wait of one request. */
const WAIT_SECONDS_MAX = 50;

/** Judges and records calls at a server. */
export class HttpPort implements CallPort {
  readonly #options: HttpPortOptions;

  constructor(options: HttpPortOptions) {
    this.#options = options;
  }

  ask(call: AskedCall, options: DecideOptions): Promise<Decision> {
    return this.#asked(call, options, {}) as Promise<Decision>;
  }

  judge(call: AskedCall, options: DecideOptions): Promise<Judgement> {
    return this.#asked(call, options, { later: true }) as Promise<Judgement>;
  }

  async #asked(
    { id, session, server, tool, args }: AskedCall,
    { waitMs, observations, isKnown }: DecideOptions,
    when: { readonly later?: true },
  ): Promise<Decision | Judgement> {
    const wait = Math.min(WAIT_SECONDS_MAX, Math.ceil(waitMs / 1_000));
    const place = { ...(session !== undefined && { session }), ...(observations !== undefined && { observations }) };
    const body = { id, server, tool, args, ...place, ...when, ...(isKnown === true && { known: true }) };
    const { decision, ...more } = await this.#send('POST', `${this.#calls()}?wait=${wait}`, body);
    return { kind: decision, ...more } as unknown as Decision | Judgement;
  }

  async report(call: string, outcome: Outcome): Promise<boolean> {
    const { recorded } = await this.#send('POST', `${this.#calls()}/${enc(call)}/report`, outcome);
    return recorded === true;
  }

  async outcomeOf(call: string): Promise<Outcome | undefined> {
    const found = await this.#send('GET', `${this.#calls()}/${enc(call)}/outcome`);
    return found['outcome'] === undefined ? undefined : (found as unknown as Outcome);
  }

  async shown(approval: Hash): Promise<ShownCall | undefined> {
    const { approval: shown } = await this.#send('GET', `/v1/approvals/${approval}`);
    return shown as ShownCall | undefined;
  }

  async decide(approval: Hash, { decision, by, digest, reason }: PersonsDecision): Promise<void> {
    const token = Object.hasOwn(this.#options.people, by) ? this.#options.people[by] : undefined;
    if (token === undefined)
      throw new CallError('no_credential', `This program has no token of ${by}. Pass it in \`people\`.`, {
        evidence: { principal: by },
      });
    const body = {
      digest,
      ...(decision === 'reject' && { reason: 'rejected' }),
      ...(reason !== undefined && { reason }),
    };
    try {
      await this.#send('POST', `/v1/approvals/${approval}/${decision}`, body, token);
    } catch (error) {
      // Another decision came first, and counts.
      if (!isAssizeError(error, 'server_refused') || error.evidence['code'] !== 'not_pending') throw error;
    }
  }

  pageOf(approval: Hash): string {
    return new URL(`/inbox/${approval}`, this.#options.url).href;
  }

  async close(): Promise<void> {}

  #calls(): string {
    return `/v1/trajectories/${enc(this.#options.trajectory)}/calls`;
  }

  async #send(
    method: 'GET' | 'POST',
    path: string,
    body?: object,
    token: string = this.#options.token,
  ): Promise<Readonly<Record<string, Json | undefined>>> {
    const url = new URL(path, this.#options.url);
    const answer = await fetch(url, {
      method,
      redirect: 'error',
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      const text = `The server ${url.origin} does not answer. Start it with assize serve.`;
      throw new CallError('no_answer', text, { cause, retryable: true });
    });
    const document = (await answer.json().catch(() => ({}))) as Readonly<Record<string, Json | undefined>>;
    if (answer.ok) return document;
    const { code = 'no_problem', detail = `status ${answer.status}` } = document;
    throw new CallError('server_refused', `The server refused: ${String(detail)}`, {
      evidence: { code: String(code) },
      retryable: answer.status === 429 || answer.status === 503,
    });
  }
}

function enc(text: string): string {
  return encodeURIComponent(text);
}
