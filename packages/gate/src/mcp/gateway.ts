import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/client';
import { isAssizeError, isInstance, type Json } from 'assize/internal/base';
import { reachesOf } from '#reach';
import type { CallDesk, Outcome, PinnedTool, ServerView, WaitingCall } from './desk/call-desk.ts';
import { KeptResults } from './results.ts';
import { Conversations } from './talk/conversations.ts';
import type { Definition } from './upstream/definitions.ts';
import type { Upstream } from './upstream/upstream.ts';

/** The limits of a gateway, all with defaults. */
export interface GatewayLimits {
  /** Milliseconds for which a call waits for a person before its client gets a pending result. */
  readonly waitMs: number;
  /** Milliseconds for an answer of the server behind the gateway. */
  readonly callMs: number;
  /** The most bytes of a result that is passed on and recorded as a whole. */
  readonly resultBytes: number;
}

export const DEFAULT_LIMITS: GatewayLimits = {
  waitMs: 20_000,
  callMs: 300_000,
  resultBytes: 65_536,
};

export interface GatewayOptions {
  readonly upstream: Upstream;
  readonly desk: CallDesk;
  readonly limits?: Partial<GatewayLimits> | undefined;
  readonly onWarning: (text: string) => void;
}

/** How old the known calls may be before they are read again, in milliseconds. */
const VIEW_MS = 2_000;
/** The longest wait of a call for earlier outcomes. Then a call without a record is in doubt. */
const REPORT_MS = 3_000;
/** The longest wait for the last outcomes. */
const SETTLE_MS = 10_000;
/** The pause before a waiting definition is asked about again. */
const PIN_MS = 3_000;

/**
 * One principal in front of one MCP server: the tools that it may see, its calls without an
 * outcome, and the calls that this process makes now. All connections of the principal share it.
 */
export class Gateway {
  readonly upstream: Upstream;
  readonly limits: GatewayLimits;
  readonly results: KeptResults = new KeptResults();
  readonly conversations: Conversations = new Conversations();
  /** The calls that this process is making, and those whose report is on its way. */
  readonly running: Set<string> = new Set();
  /** The desk of the latest request: the token of a principal can change. */
  desk: CallDesk;
  readonly #onWarning: (text: string) => void;
  readonly #asked: Map<string, number> = new Map();
  readonly #turns: Map<string, Promise<unknown>> = new Map();
  #view: ServerView | undefined;
  #viewedAt = Number.NEGATIVE_INFINITY;
  readonly #unrecorded: Set<string> = new Set();
  #reports: Promise<unknown> = Promise.resolve();
  #seen: string | undefined;

  constructor({ upstream, desk, limits, onWarning }: GatewayOptions) {
    this.upstream = upstream;
    this.desk = desk;
    this.limits = { ...DEFAULT_LIMITS, ...limits };
    this.#onWarning = onWarning;
  }

  /** The connected client of the server, in use by this principal. @throws McpError */
  client(): Promise<Client> {
    return this.upstream.client(this);
  }

  /** The tools that the principal may call now, with their approved definitions. */
  async tools(): Promise<ReadonlyMap<string, Definition>> {
    const definitions = await this.upstream.tools();
    let pins = pinsIn(await this.view());
    if (unpinned(definitions, pins).length > 0) {
      await this.inTurn('pins', async () => {
        const now = pinsIn(await this.view());
        if (await this.#pinAll(unpinned(definitions, now), now)) await this.view(0);
      });
      pins = pinsIn(await this.view());
    }
    return new Map(
      [...definitions].filter(([name, { hash }]) => {
        const pin = pins.get(name);
        return pin?.hash === hash && pin.callable;
      }),
    );
  }

  /** The approved definition of a tool that the principal may call. */
  async tool(name: string): Promise<(Definition & { readonly idempotent: boolean }) | undefined> {
    const definition = (await this.upstream.tools()).get(name);
    if (definition === undefined) return undefined;
    let pin = pinsIn(await this.view()).get(name);
    if (pin?.hash !== definition.hash) {
      await this.tools();
      pin = pinsIn(await this.view()).get(name);
    }
    if (pin?.hash !== definition.hash || !pin.callable) return undefined;
    return { ...definition, idempotent: pin.idempotent };
  }

  /**
   * A call with these arguments that has no outcome, and that this process is not making. A call
   * that has not started counts only with the same definition.
   */
  async waiting({ tool, digest, definition }: SoughtCall): Promise<WaitingCall | undefined> {
    const isSought = (one: WaitingCall): boolean =>
      one.tool === tool &&
      one.digest === digest &&
      (one.phase === 'begun' || one.definition === definition);
    const matching = ({ calls }: ServerView): readonly WaitingCall[] =>
      calls.filter((one) => isSought(one) && !this.running.has(one.call));
    if (matching(await this.view()).length === 0) return undefined;
    const found = matching(await this.view(0));
    return PHASES.map((phase) => found.find((one) => one.phase === phase)).find(
      (one) => one !== undefined,
    );
  }

  /**
   * A call, or a part of one, with the places that it may reach on this machine. Of a server that
   * runs elsewhere, only the named paths are known.
   */
  async withReaches<T extends Reaching>(used: T): Promise<T> {
    const { folder } = this.upstream;
    const files = (await this.view()).files.find(({ tool }) => tool === used.tool);
    if (folder === undefined || files === undefined) return used;
    const { spec, places } = files;
    const asking = { spec, args: used.args as Json, isPart: false, folder };
    const reaches = await reachesOf(asking, places);
    return reaches.length === 0 ? used : { ...used, reaches };
  }

  /** The tools and the open calls of the principal, at most `ageMs` old. */
  async view(ageMs: number = VIEW_MS): Promise<ServerView> {
    const now = performance.now();
    if (this.#view !== undefined && now - this.#viewedAt < ageMs) return this.#view;
    const view = await this.desk.view();
    this.#view = view;
    this.#viewedAt = now;
    return view;
  }

  /** Remembers a call that waits, for connections that repeat it immediately. */
  noteWaiting(call: WaitingCall): void {
    if (this.#view !== undefined)
      this.#view = { ...this.#view, calls: [...this.#view.calls, call] };
  }

  /** Does the work of equal calls one after the other. */
  async inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(key) ?? Promise.resolve();
    const turn = before.then(work, work);
    this.#turns.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    }
  }

  /** Resolves when earlier outcomes are recorded, or are in doubt because they are not in time. */
  async reported(): Promise<void> {
    await this.#reports;
  }

  /** Resolves when no call of this process is without a report any more, or after ten seconds. */
  async settled(): Promise<void> {
    const until = performance.now() + SETTLE_MS;
    while (this.running.size + this.#unrecorded.size > 0 && performance.now() < until)
      await pause(20);
  }

  /** The tools for a client that asks. Returns the same as `tools`. */
  async listed(): Promise<ReadonlyMap<string, Definition>> {
    const tools = await this.tools();
    this.#seen = namesOf(tools);
    return tools;
  }

  /** Tells of other tools than a client was last shown or told of, for example by an approval. */
  async onOtherTools(changed: () => void): Promise<void> {
    const before = this.#seen;
    // The next request of the client meets the same fault, and tells it.
    const tools = await this.tools().catch(() => undefined);
    if (tools === undefined) return;
    this.#seen = namesOf(tools);
    if (before !== undefined && before !== this.#seen) changed();
  }

  /** Sends the outcome of a call while its answer goes out. Later calls wait for it. */
  report(waiting: WaitingCall, outcome: Outcome, result?: Json): void {
    const { desk } = this;
    const { call } = waiting;
    this.#unrecorded.add(call);
    const recorded = desk
      .report(call, outcome, result)
      .finally(() => this.#unrecorded.delete(call));
    const sent = inTime(recorded, REPORT_MS)
      .catch((error: unknown) => {
        const why = isInstance(error, Error) ? error.message : String(error);
        this.noteWaiting(waiting);
        this.warn(`The outcome of the call ${call} is not recorded, so it is in doubt: ${why}`);
      })
      .finally(() => this.running.delete(call));
    this.#reports = Promise.all([this.#reports, sent]);
  }

  warn(text: string): void {
    this.#onWarning(text);
  }

  /** Returns whether a definition is pinned now that was not before. */
  async #pinAll(
    definitions: readonly (readonly [string, Definition])[],
    pins: ReadonlyMap<string, PinnedTool>,
  ): Promise<boolean> {
    let isChanged = false;
    for (const [name, { json, hash }] of definitions) {
      const key = `${name}|${hash}`;
      const asked = this.#asked.get(key) ?? Number.NEGATIVE_INFINITY;
      if (performance.now() - asked < PIN_MS) continue;
      this.#asked.set(key, performance.now());
      const answer = await this.desk.pin(name, json, pins.get(name)).catch((error: unknown) => {
        if (!isAssizeError(error)) throw error;
        this.warn(`The definition of ${name} cannot be pinned: ${error.message}`);
        return 'refused' as const;
      });
      if (answer === 'pinned') isChanged = true;
      else if (asked === Number.NEGATIVE_INFINITY)
        this.warn(
          `The tool ${name} is hidden: its definition ${answer === 'waiting' ? 'waits for approval' : 'was refused'}.`,
        );
    }
    return isChanged;
  }
}

interface Reaching {
  readonly tool: string;
  readonly args: object;
}

/** The members by which a repetition of a call is recognised. */
export type SoughtCall = Pick<WaitingCall, 'tool' | 'digest' | 'definition'>;

/** A call that can start comes first, and then one that a person can still decide about. */
const PHASES: readonly WaitingCall['phase'][] = ['approved', 'pending', 'begun'];

/** The work, or an error if it takes longer. */
async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  const isDone = new AbortController();
  const late = pause(ms, undefined, { signal: isDone.signal }).then(() => {
    throw new Error(`no answer came in ${ms / 1_000} seconds`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    isDone.abort();
    late.catch(() => undefined);
  }
}

function namesOf(tools: ReadonlyMap<string, Definition>): string {
  return [...tools]
    .map(([name, { hash }]) => `${name} ${hash}`)
    .sort()
    .join();
}

function unpinned(
  definitions: ReadonlyMap<string, Definition>,
  pins: ReadonlyMap<string, PinnedTool>,
): readonly (readonly [string, Definition])[] {
  return [...definitions].filter(([name, { hash }]) => pins.get(name)?.hash !== hash);
}

function pinsIn({ tools }: ServerView): ReadonlyMap<string, PinnedTool> {
  return new Map(tools.map((one) => [one.tool, one]));
}
