import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isAssizeError, isRecord, type Json } from 'assize/internal/base';
import { contentHash } from 'assize/internal/canon';
import { type CallAnswer, callAnswer, type RulingDocument } from 'assize/internal/views';
import { McpError } from '../errors.ts';
import type {
  AskedCall,
  CallDesk,
  Outcome,
  PinnedTool,
  ServerView,
  ShownApproval,
} from './call-desk.ts';

/** A request to the API. The token is the sender's concern. */
export type Ask = (path: string, init: AskInit) => Promise<Answer>;

export interface AskInit {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export type Answer = Pick<Response, 'ok' | 'status' | 'json'>;

export interface ApiDeskOptions {
  readonly ask: Ask;
  /** Asks as the person at the client. Absent: the client is not asked for decisions. */
  readonly askAsPerson?: Ask | undefined;
  /** The trajectory of the domain `gateway`. */
  readonly world: string;
  /** The name of the server in the rules. */
  readonly server: string;
  /** The agent of the role. */
  readonly agent: string;
  /** The run of the calls. It holds its turns until it ends. Absent: they hold none. */
  readonly run?: string | undefined;
  /** The address of the console. */
  readonly url: string;
  /** Pins a definition in another way than by a proposal of the principal. */
  readonly pin?: CallDesk['pin'] | undefined;
  /** Records a decision in another way than with the token of a person. */
  readonly decide?: CallDesk['decide'];
}

/** The pauses before the next attempt of a request without an answer, in milliseconds. */
const PAUSES: readonly number[] = [100, 400, 1_500];

/** The longest wait for a request and its repetitions, beside the wait that it asks for. */
const ANSWER_MS = 30_000;

interface NamedCall {
  readonly call: string;
}

interface Asked {
  readonly method?: 'GET' | 'POST';
  readonly body?: object;
  readonly key?: string;
  readonly waitSeconds?: number;
  readonly signal?: AbortSignal | undefined;
}

/** The desk over the HTTP API of `assize serve`. */
export class ApiDesk implements CallDesk {
  readonly #options: ApiDeskOptions;
  readonly decide: CallDesk['decide'];

  constructor(options: ApiDeskOptions) {
    this.#options = options;
    const { askAsPerson, decide } = options;
    this.decide = decide ?? (askAsPerson && ((...given) => decideAs(askAsPerson, ...given)));
  }

  async view(): Promise<ServerView> {
    const { world, server, agent } = this.#options;
    const path = `/v1/trajectories/${enc(world)}/servers/${enc(server)}?agent=${enc(agent)}`;
    return (await asked(this.#options.ask, path, {})) as unknown as ServerView;
  }

  async pin(
    tool: string,
    definition: Readonly<Record<string, Json>>,
    before: PinnedTool | undefined,
  ): Promise<'pinned' | 'waiting' | 'refused'> {
    const { pin, server } = this.#options;
    if (pin !== undefined) return pin(tool, definition, before);
    const key = pinKey(server, tool, definition, before);
    const { kind } = await this.#propose('pin', { server, tool, definition }, key, 'gate');
    return ({ committed: 'pinned', denied: 'refused', pending: 'waiting' } as const)[kind];
  }

  propose(asked: AskedCall): Promise<CallAnswer> {
    return this.#propose('call', this.#argsOf(asked), asked.id);
  }

  async allows(call: AskedCall): Promise<boolean> {
    const { ask, world, agent } = this.#options;
    const role = { name: 'agent', params: { agent } };
    const body = { action: 'call', role, args: this.#argsOf(call) };
    const { ruling } = await asked(ask, `/v1/trajectories/${enc(world)}/judge`, {
      method: 'POST',
      body,
    });
    return ruling === 'committed';
  }

  #argsOf({ id, tool, args, definition, undoes, parts, reaches }: AskedCall): object {
    return {
      id,
      server: this.#options.server,
      tool,
      args,
      once: true,
      ...defined({ definition, undoes, parts, reaches, session: this.#options.run }),
    };
  }

  begin(call: string, digest: string, attempt: string): Promise<CallAnswer> {
    return this.#propose('begin', { call, digest, as: attempt }, `begin-${attempt}`);
  }

  async report(call: string, outcome: Outcome, result?: Json): Promise<void> {
    const report = { call, outcome, ...(result !== undefined && { result }) };
    const answer = await this.#propose('report', report, `report-${outcome}-${call}`);
    if (answer.kind === 'committed') return;
    const { ruling } = answer.ruling;
    throw new McpError(
      'server_refused',
      `The outcome of the call ${call} was not recorded: ${ruling} ${answer.reason}`,
      {
        evidence: { code: ruling },
      },
    );
  }

  async decision(
    approval: string,
    seconds: number,
    signal?: AbortSignal,
  ): Promise<CallAnswer | 'void'> {
    const found = await asked(this.#options.ask, `/v1/approvals/${approval}`, {
      waitSeconds: seconds,
      signal,
    });
    return found['status'] === 'void' ? 'void' : answerOf(found['ruling']);
  }

  async shown(approval: string): Promise<ShownApproval | undefined> {
    const found = await asked(this.#options.ask, `/v1/approvals/${approval}`, {});
    return (found as { readonly approval?: ShownApproval }).approval;
  }

  async undoing(call: string): ReturnType<CallDesk['undoing']> {
    const path = `/v1/trajectories/${enc(this.#options.world)}/calls/${enc(call)}/undo`;
    return (await asked(this.#options.ask, path, {})) as unknown as Awaited<
      ReturnType<CallDesk['undoing']>
    >;
  }

  async startRun(): Promise<void> {
    const { run: session } = this.#options;
    if (session === undefined) return;
    const answer = await this.#propose('session', { session, event: 'start' }, randomUUID());
    if (answer.kind === 'committed') return;
    throw new McpError('server_refused', `The run ${session} does not start: ${answer.reason}`, {
      evidence: { code: answer.ruling.ruling },
    });
  }

  async failRun(): Promise<readonly string[]> {
    await this.#ofRun('fail');
    const { calls, left } = await asked(this.#options.ask, `${this.#runPath()}/undo`, {});
    return [...(calls as readonly NamedCall[]), ...(left as readonly NamedCall[])].map(
      ({ call }) => call,
    );
  }

  async endRun(): Promise<void> {
    if (this.#options.run !== undefined) await this.#ofRun('end');
  }

  #runPath(): string {
    const { world, run = '' } = this.#options;
    return `/v1/trajectories/${enc(world)}/sessions/${enc(run)}`;
  }

  async #ofRun(what: 'fail' | 'end'): Promise<void> {
    const path = `${this.#runPath()}/${what}`;
    await asked(this.#options.ask, path, { method: 'POST', body: {}, key: randomUUID() });
  }

  pageOf(approval: string): string {
    return new URL(`/inbox/${approval}`, this.#options.url).href;
  }

  settling(call: string): string {
    const body = JSON.stringify({ outcome: 'done', evidence: '…' });
    return `assize api calls.settle --trajectory ${this.#options.world} --call ${call} --body '${body}' (or "failed")`;
  }

  async #propose(
    action: string,
    args: object,
    key: string,
    roleName = 'agent',
  ): Promise<CallAnswer> {
    const { ask, world, agent } = this.#options;
    const role = roleName === 'agent' ? { name: 'agent', params: { agent } } : roleName;
    const path = `/v1/trajectories/${enc(world)}/proposals`;
    const body = { action, role, args };
    return answerOf(await asked(ask, path, { method: 'POST', body, key }));
  }
}

/** Every other document is an error, so none lets a call be made by mistake. */
function answerOf(document: unknown): CallAnswer {
  if (isRecord(document) && RULINGS.includes(document['ruling']))
    return callAnswer(document as unknown as RulingDocument);
  throw new McpError(
    'server_refused',
    'The server of Assize has answered without a ruling. Check its address.',
    {
      evidence: { code: 'no_ruling' },
    },
  );
}

const RULINGS: readonly unknown[] = ['committed', 'rejected', 'escalated', 'frozen'];

/** One key for each change of a definition, so that each change is asked about once. */
export function pinKey(
  server: string,
  tool: string,
  definition: Readonly<Record<string, Json>>,
  before: PinnedTool | undefined,
): string {
  return `pin-${contentHash([server, tool, definition, before?.hash ?? '', before?.at ?? ''])}`;
}

async function decideAs(
  ask: Ask,
  approval: string,
  decision: 'approve' | 'reject',
  digest: string,
): Promise<void> {
  const by = { digest, via: 'elicitation' };
  const body = decision === 'approve' ? by : { ...by, reason: 'declined at the client' };
  try {
    await asked(ask, `/v1/approvals/${approval}/${decision}`, { method: 'POST', body });
  } catch (error) {
    // Another decision came first, and counts.
    if (!isAssizeError(error, 'server_refused') || error.evidence['code'] !== 'not_pending')
      throw error;
  }
}

/** The document of an answer. A request without an answer is sent again under its key, in time. */
async function asked(
  ask: Ask,
  path: string,
  asking: Asked,
): Promise<Readonly<Record<string, unknown>>> {
  const { method = 'GET', body, key, waitSeconds, signal } = asking;
  const late = AbortSignal.timeout(ANSWER_MS + (waitSeconds ?? 0) * 1_000);
  const init: AskInit = {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(waitSeconds !== undefined && { prefer: `wait=${waitSeconds}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: signal === undefined ? late : AbortSignal.any([signal, late]),
  };
  const isRepeatable = method === 'GET' || key !== undefined;
  for (let tries = 0; ; tries++) {
    const wait = isRepeatable ? PAUSES[tries] : undefined;
    const answer = await ask(path, init).catch((cause: unknown) => {
      signal?.throwIfAborted();
      if (wait !== undefined && !late.aborted) return undefined;
      throw new McpError(
        'server_refused',
        'The server of Assize does not answer. Start it with assize serve.',
        {
          cause,
          evidence: { code: 'no_answer' },
        },
      );
    });
    if (
      answer !== undefined &&
      (wait === undefined || (answer.status !== 429 && answer.status !== 503))
    )
      return documentOf(answer);
    await pause(wait, undefined, { signal });
  }
}

async function documentOf(answer: Answer): Promise<Readonly<Record<string, unknown>>> {
  const found: unknown = await answer.json().catch(() => undefined);
  const isDocument = isRecord(found);
  if (answer.ok && isDocument) return found;
  const unread = `status ${answer.status}${answer.ok ? ' without a JSON document. Check its address.' : ''}`;
  const { code = 'no_problem', detail = unread } = isDocument ? found : {};
  throw new McpError('server_refused', `The server of Assize refused: ${String(detail)}`, {
    evidence: { code: String(code) },
  });
}

function defined(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined));
}

function enc(text: string): string {
  return encodeURIComponent(text);
}
