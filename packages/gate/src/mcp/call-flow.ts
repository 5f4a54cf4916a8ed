import { randomUUID } from 'node:crypto';
import { isAssizeError, isInstance, type Json } from 'assize/internal/base';
import type { CallAnswer, RulingDocument } from 'assize/internal/views';
import { type CallDigested, callDigest } from '#gateway';
import type { AskedCall, ShownApproval, WaitingCall } from './desk/call-desk.ts';
import type { Gateway } from './gateway.ts';
import { recordedResult } from './results.ts';

/** One request of a client that is judged, and made once. */
export interface GatedCall<R extends object> {
  /** A tool of the server, or `resources.read` and `prompts.get`. */
  readonly tool: string;
  readonly args: Readonly<Record<string, Json>>;
  readonly definition?: string | undefined;
  /** The call that this one takes back. */
  readonly undoes?: string | undefined;
  /** The tools of the rules that the call amounts to, if its name does not say it. */
  readonly parts?: AskedCall['parts'] | undefined;
  /** Places that it may reach beside the paths that it names. The gateway adds them. */
  readonly reaches?: AskedCall['reaches'];
  /** Whether a second call does no harm. */
  readonly idempotent: boolean;
  /** The record of a result that the ledger must not have, and no hash of it either. */
  readonly recorded?: Json;
  /** Makes the call. Called at most once. */
  readonly make: () => Promise<R>;
  /** Whether a result says that the call failed. */
  readonly isFailure?: (result: R) => boolean;
  /** Whether an error proves that the server has refused the call. */
  readonly isRefusal: (error: unknown) => boolean;
}

/** The part of a call's client that waiting and asking need. */
export interface WaitingClient {
  readonly signal: AbortSignal;
  /** Tells the client that the call waits. Absent: the client wants no progress. */
  readonly progress?: ((text: string) => Promise<void>) | undefined;
  /** Whether the client can ask its person. */
  readonly elicits: boolean;
  /** The person's answer to the question of an earlier round. */
  readonly answer?: ElicitedAnswer | undefined;
}

export interface ElicitedAnswer {
  readonly question: Question;
  readonly decision: 'approve' | 'reject' | 'none';
}

/** The question that a client asks its person. It names the call exactly. */
export interface Question {
  readonly call: string;
  readonly approval: string;
  readonly tool: string;
  readonly digest: string;
  /** The hash of the tool's definition. */
  readonly definition?: string | undefined;
  readonly shown: string;
}

/** The end of a gated call. */
export type FlowEnd<R> =
  | { readonly end: 'made'; readonly call: string; readonly result: R }
  /** The server answered with an error. The error is passed on. */
  | { readonly end: 'failed'; readonly error: unknown }
  /** `ruling`: the whole document, where a ruling refuses the call. */
  | { readonly end: 'refused'; readonly text: string; readonly ruling?: RulingDocument }
  | {
      readonly end: 'pending';
      readonly approval: string;
      readonly text: string;
      readonly ruling?: RulingDocument;
    }
  /** The call may have been made, and is not made again. */
  | { readonly end: 'doubt'; readonly call: string; readonly text: string }
  | { readonly end: 'ask'; readonly question: Question; readonly text: string };

/** The longest arguments that a person at a client is asked about, in characters. */
const SHOWN_MAX = 4_000;
/** How often a call is proposed again after a freeze. */
const FREEZES_MAX = 5;
/** Seconds between two signs of progress. */
const PROGRESS_SECONDS = 2;

/**
 * Judges a call, waits where a person must decide, and makes it once.
 *
 * Guarantees: `make` runs only after the ledger has recorded the start of the call, and the ledger
 * starts each call once. If the outcome of a call is unknown, retrying the request does not repeat
 * the call.
 *
 * @throws McpError `server_refused`; the abort of the client
 */
export async function gatedCall<R extends object>(
  gateway: Gateway,
  given: GatedCall<R>,
  client: WaitingClient,
): Promise<FlowEnd<R>> {
  await gateway.reported();
  const call = await gateway.withReaches(given);
  const parts =
    call.parts && (await Promise.all(call.parts.map((one) => gateway.withReaches(one))));
  return new Flow(gateway, { ...call, parts }, client).run();
}

class Flow<R extends object> {
  readonly #gateway: Gateway;
  readonly #given: GatedCall<R>;
  readonly #client: WaitingClient;
  readonly #digest: string;

  constructor(gateway: Gateway, given: GatedCall<R>, client: WaitingClient) {
    this.#gateway = gateway;
    this.#given = given;
    this.#client = client;
    this.#digest = callDigest(given as CallDigested);
  }

  async run(): Promise<FlowEnd<R>> {
    const { tool } = this.#given;
    const { answer } = this.#client;
    if (answer !== undefined) return this.#answered(answer);
    const found = await this.#gateway.inTurn(`${tool}|${this.#digest}`, () => this.#asked());
    return 'end' in found ? found : this.#takenUp(found);
  }

  /** Finds the call, or proposes it. A call that commits immediately also starts. */
  async #asked(): Promise<FlowEnd<R> | WaitingCall> {
    const { tool, definition, idempotent } = this.#given;
    const known = await this.#gateway.waiting({ tool, definition, digest: this.#digest });
    if (known !== undefined && !(known.phase === 'begun' && idempotent)) return known;
    const id = randomUUID();
    for (let tries = 0; ; tries++) {
      const { args, undoes, parts, reaches } = this.#given;
      const begun = { call: id, tool, digest: this.#digest, phase: 'begun', at: '' } as const;
      const ruled = await this.#gateway.desk
        .propose({ id, tool, args, definition, undoes, parts, reaches })
        .catch((error: unknown) => {
          // The call may have started. A repetition looks there first.
          this.#gateway.noteWaiting(begun);
          throw error;
        });
      if (ruled.kind === 'denied') return refused(ruled);
      if (ruled.kind === 'committed') {
        this.#gateway.running.add(id);
        return begun;
      }
      if (ruled.ruling.ruling !== 'frozen') {
        const waiting = { call: id, tool, digest: this.#digest, phase: 'pending', at: '' } as const;
        const noted = { ...waiting, approval: ruled.approval, definition };
        this.#gateway.noteWaiting(noted);
        return noted;
      }
      const blocks =
        tries < FREEZES_MAX ? await this.#wait(ruled.approval, ruled.reason) : undefined;
      if (blocks === undefined || (blocks !== 'void' && blocks.kind === 'pending'))
        return frozen(ruled);
    }
  }

  async #takenUp(waiting: WaitingCall): Promise<FlowEnd<R>> {
    const { call, phase, approval } = waiting;
    if (phase === 'approved') return this.#begun(call);
    if (phase === 'pending' && approval !== undefined) return this.#held(call, approval);
    if (this.#gateway.running.has(call)) return this.#made(call);
    return this.#doubt(call, 'it was started, and its outcome is not known');
  }

  /** A pending call: the person at the client decides, or the people of the queue. */
  async #held(call: string, approval: string, mayAsk: boolean = true): Promise<FlowEnd<R>> {
    const { desk } = this.#gateway;
    if (mayAsk && desk.decide !== undefined && this.#client.elicits && this.#isShort()) {
      const shown = await desk.shown(approval);
      // One client is never two people, so such a call goes to the queue.
      if (shown?.approvals === 1) return this.#question(call, approval, shown);
    }
    const answer = await this.#wait(approval, 'it waits for approval');
    if (answer === 'void') return { end: 'refused', text: refusal('the question is void') };
    if (answer?.kind === 'committed') return this.#begun(call);
    if (answer?.kind === 'denied') return refused(answer);
    // An approval of several makes another question about the same call.
    const { approval: open, ruling } = answer ?? { approval };
    const text = `The call waits for approval at ${desk.pageOf(open)}. Call the tool again with the same arguments after the decision.`;
    return { end: 'pending', approval: open, text, ...(ruling !== undefined && { ruling }) };
  }

  /** Whether the person at the client can be shown all arguments. */
  #isShort(): boolean {
    return JSON.stringify(this.#given.args, null, 2).length <= SHOWN_MAX;
  }

  #question(call: string, approval: string, { digest, detail }: ShownApproval): FlowEnd<R> {
    const { tool, args, definition } = this.#given;
    const text = `Approve this call of ${tool}, once?\n${JSON.stringify(args, null, 2)}\n${detail}`;
    return {
      end: 'ask',
      question: { call, approval, tool, digest: this.#digest, definition, shown: digest },
      text,
    };
  }

  /** The person's answer counts for exactly the call that was shown. */
  async #answered({ question, decision }: ElicitedAnswer): Promise<FlowEnd<R>> {
    const { call, approval, tool, digest, definition, shown } = question;
    if (
      tool !== this.#given.tool ||
      digest !== this.#digest ||
      definition !== this.#given.definition
    )
      return {
        end: 'refused',
        text: 'The answer is for other arguments or another definition, so nothing was called.',
      };
    const { desk } = this.#gateway;
    if (decision !== 'none') await desk.decide?.(approval, decision, shown);
    return this.#held(call, approval, false);
  }

  /** Starts an approved call and makes it, unless another request has started it. */
  async #begun(call: string): Promise<FlowEnd<R>> {
    this.#gateway.running.add(call);
    let answer: CallAnswer;
    try {
      answer = await this.#gateway.desk.begin(call, this.#digest, randomUUID());
    } catch (error) {
      this.#gateway.running.delete(call);
      throw error;
    }
    if (answer.kind === 'committed') return this.#made(call);
    this.#gateway.running.delete(call);
    return answer.kind === 'pending' ? frozen(answer) : this.#doubt(call, answer.reason);
  }

  async #made(call: string): Promise<FlowEnd<R>> {
    const { tool, make, isFailure = () => false, isRefusal } = this.#given;
    const begun = { call, tool, digest: this.#digest, phase: 'begun', at: '' } as const;
    let result: R;
    try {
      result = await make();
    } catch (error) {
      const refused = isRefusal(error);
      const said = (isInstance(error, Error) ? error.message : String(error)).slice(0, 1_000);
      this.#gateway.report(begun, refused ? 'failed' : 'unknown', { error: wellFormed(said) });
      if (refused) return { end: 'failed', error };
      // A repetition must meet this call before the desk is asked again.
      this.#gateway.noteWaiting(begun);
      return this.#doubt(call, `it was sent, and no usable answer came: ${said}`);
    }
    const outcome = isFailure(result) ? 'failed' : 'done';
    const { recorded = recordedResult(result, this.#gateway.limits.resultBytes) } = this.#given;
    this.#gateway.report(begun, outcome, recorded);
    return { end: 'made', call, result };
  }

  #doubt(call: string, why: string): FlowEnd<R> {
    const settle = this.#gateway.desk.settling(call);
    const text = `The call ${call} is not made again: ${why}. If it is in doubt, a person looks whether it took effect, and settles it with a token of that person: ${settle}`;
    return { end: 'doubt', call, text };
  }

  /** The answer at the end of the wait. Undefined: the question is of another, and not shown. */
  async #wait(approval: string, about: string): Promise<CallAnswer | 'void' | undefined> {
    const { signal, progress } = this.#client;
    const until = performance.now() + this.#gateway.limits.waitMs;
    for (;;) {
      const left = Math.ceil((until - performance.now()) / 1_000);
      const seconds = Math.max(0, progress === undefined ? left : Math.min(left, PROGRESS_SECONDS));
      let found: CallAnswer | 'void';
      try {
        found = await this.#gateway.desk.decision(approval, Math.min(seconds, 250), signal);
      } catch (error) {
        // A question of another principal is not shown; its end can only be awaited.
        if (!isAssizeError(error, 'server_refused') || error.evidence['code'] !== 'not_found')
          throw error;
        return undefined;
      }
      if (found === 'void' || found.kind !== 'pending' || performance.now() >= until) return found;
      await progress?.(about);
    }
  }
}

type Answered<K extends CallAnswer['kind']> = Extract<CallAnswer, { readonly kind: K }>;

function refused({ reason, ruling }: Answered<'denied'>): FlowEnd<never> {
  return { end: 'refused', text: refusal(reason), ruling };
}

function frozen({ approval, reason, ruling }: Answered<'pending'>): FlowEnd<never> {
  return { end: 'pending', approval, text: `The call is frozen: ${reason}`, ruling };
}

function refusal(detail: string): string {
  return `The call was refused: ${detail}`;
}

/** A text that has a canonical form: halves of surrogate pairs are replaced. */
function wellFormed(text: string): string {
  return text.toWellFormed();
}
