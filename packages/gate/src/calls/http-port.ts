import { setTimeout as pause } from 'node:timers/promises';
import { checkArgument, isAssizeError, isRecord } from 'assize/internal/base';
import type { Hash } from 'assize/internal/ledger';
import { currentTracer } from 'assize/internal/traces';
import type { AskedCall } from './asked-call.ts';
import { newAttempt } from './attempt.ts';
import {
  type CallPort,
  PERSONS_DECISION,
  type PersonsDecision,
  type ShownCall,
} from './call-port.ts';
import type { Outcome } from './close-call.ts';
import type { DecideOptions, Decision, Judgement } from './decide-call.ts';
import { CallError } from './errors.ts';
import {
  badAnswer,
  type Document,
  readDecision,
  readOutcome,
  readUndoCalls,
} from './read-answer.ts';
import type { SessionUndo } from './undo-calls.ts';

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

/** A server that is silent for so long, beside the wait of the request, does not answer. */
const SILENT_SECONDS_MAX = 30;

/** The pauses before a question is sent again whose answer was lost. */
const ASK_PAUSES_MS = [100, 500];

/** Judges and records calls at a server. */
export class HttpPort implements CallPort {
  readonly #options: HttpPortOptions;

  constructor(options: HttpPortOptions) {
    this.#options = options;
  }

  ask(call: AskedCall, options: DecideOptions): Promise<Decision> {
    const { attempt = newAttempt() } = options;
    return this.#asked(call, options, { attempt }) as Promise<Decision>;
  }

  judge(call: AskedCall, options: DecideOptions): Promise<Judgement> {
    return this.#asked(call, options, { later: true }) as Promise<Judgement>;
  }

  async #asked(
    { id, session, server, tool, args, undoes }: AskedCall,
    { waitMs, observations, isKnown }: DecideOptions,
    when: { readonly later?: true; readonly attempt?: string },
  ): Promise<Decision | Judgement> {
    const until = performance.now() + waitMs;
    const place = {
      ...(session !== undefined && { session }),
      ...(undoes !== undefined && { undoes }),
      ...(observations !== undefined && { observations }),
    };
    const body = {
      id,
      server,
      tool,
      args,
      ...place,
      ...when,
      ...(isKnown === true && { known: true }),
    };
    for (;;) {
      const isLast = until - performance.now() <= WAIT_SECONDS_MAX * 1_000;
      const decision = readDecision(await this.#question(body, until), id);
      if (decision.kind !== 'pending' || isLast) return decision;
    }
  }

  /** Sends a question, and again after a lost answer. With the same attempt, it is the same one. */
  async #question(body: object, until: number): Promise<Document> {
    for (let lost = 0; ; lost++) {
      const left = Math.max(0, until - performance.now());
      const wait = Math.min(WAIT_SECONDS_MAX, Math.ceil(left / 1_000));
      try {
        return await this.#send('POST', `${this.#calls()}?wait=${wait}`, body, { wait });
      } catch (error) {
        if (lost === ASK_PAUSES_MS.length || !isAssizeError(error, 'unreachable')) throw error;
        await pause(ASK_PAUSES_MS[lost]);
      }
    }
  }

  async report(call: string, outcome: Outcome): Promise<boolean> {
    const { recorded } = await this.#send('POST', `${this.#calls()}/${enc(call)}/report`, outcome);
    return recorded === true;
  }

  async outcomeOf(call: string): Promise<Outcome | undefined> {
    return readOutcome(await this.#send('GET', `${this.#calls()}/${enc(call)}/outcome`), call);
  }

  async shown(approval: Hash): Promise<ShownCall | undefined> {
    const { approval: shown } = await this.#send('GET', `/v1/approvals/${approval}`);
    return shown as ShownCall | undefined;
  }

  async decide(approval: Hash, persons: PersonsDecision): Promise<void> {
    checkArgument(PERSONS_DECISION, persons, 'decision');
    const { decision, by, digest, reason, args } = persons;
    const token = Object.hasOwn(this.#options.people, by) ? this.#options.people[by] : undefined;
    if (token === undefined)
      throw new CallError(
        'unauthenticated',
        `This program has no token of ${by}. Pass it in \`people\`.`,
        {
          evidence: { principal: by },
        },
      );
    const body = {
      digest,
      ...(decision === 'reject' && { reason: 'rejected' }),
      ...(reason !== undefined && { reason }),
      ...(args !== undefined && { args: { ...(await this.#argsOf(approval)), args } }),
    };
    try {
      await this.#send('POST', `/v1/approvals/${approval}/${decision}`, body, { token });
    } catch (error) {
      // Another decision came first, and counts.
      if (!isAssizeError(error, 'server_refused') || error.evidence['code'] !== 'not_pending')
        throw error;
    }
  }

  /** The arguments of the pending proposal. */
  async #argsOf(approval: Hash): Promise<object> {
    const { approval: shown } = await this.#send('GET', `/v1/approvals/${approval}`);
    return (
      (shown as { readonly action?: { readonly args?: object } } | undefined)?.action?.args ?? {}
    );
  }

  async fail(session: string): Promise<void> {
    await this.#send('POST', `${this.#session(session)}/fail`, {});
  }

  async undoCalls(session: string): Promise<SessionUndo> {
    return readUndoCalls(await this.#send('GET', `${this.#session(session)}/undo`), session);
  }

  async end(session: string): Promise<void> {
    await this.#send('POST', `${this.#session(session)}/end`, {});
  }

  pageOf(approval: Hash): string {
    return new URL(`/inbox/${approval}`, this.#options.url).href;
  }

  async close(): Promise<void> {}

  #session(session: string): string {
    return `/v1/trajectories/${enc(this.#options.trajectory)}/sessions/${enc(session)}`;
  }

  #calls(): string {
    return `/v1/trajectories/${enc(this.#options.trajectory)}/calls`;
  }

  async #send(
    method: 'GET' | 'POST',
    path: string,
    body?: object,
    {
      token = this.#options.token,
      wait = WAIT_SECONDS_MAX,
    }: { readonly token?: string; readonly wait?: number } = {},
  ): Promise<Document> {
    const url = new URL(path, this.#options.url);
    const traceparent = currentTracer()?.traceparent();
    const { answer, text } = await fetch(url, {
      method,
      redirect: 'error',
      signal: AbortSignal.timeout((wait + SILENT_SECONDS_MAX) * 1_000),
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(traceparent !== undefined && { traceparent }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
      .then(async (answer) => ({ answer, text: await answer.text() }))
      .catch((cause: unknown) => {
        const text = `The server ${url.origin} does not answer. Start it with assize serve.`;
        throw new CallError('unreachable', text, { cause, retryable: true });
      });
    const document = documentOf(text);
    if (answer.ok && document !== undefined) return document;
    if (answer.ok) throw badAnswer(path);
    const { code = 'no_problem', detail = `status ${answer.status}` } = document ?? {};
    throw new CallError('server_refused', `The server refused: ${String(detail)}`, {
      evidence: { code: String(code) },
      retryable: answer.status === 429 || answer.status === 503,
    });
  }
}

/** Undefined for a text that is not a JSON object, such as a page. */
function documentOf(text: string): Document | undefined {
  try {
    const document: unknown = JSON.parse(text);
    return isRecord(document) ? (document as Document) : undefined;
  } catch {
    return undefined;
  }
}

function enc(text: string): string {
  return encodeURIComponent(text);
}
