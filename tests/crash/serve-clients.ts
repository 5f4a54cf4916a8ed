import { setTimeout as sleep } from 'node:timers/promises';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { COUNSELORS, type Order, orderOf } from './serve-orders.ts';

/** Pause before the repetition of a request without an answer. */
const RETRY_MS = 20;
/** One request of so many loses its answer on the client's side. */
const LOSES = 12;
const LOST_AFTER_MS = 15;
/** An agent repeats one of its earlier orders after every so many new ones. */
const REPEATS = 4;

/** The longest connection of a follower. */
const FOLLOWS_MS = 2_000;

/** An answer of a served process. */
export interface Answer {
  readonly status: number;
  readonly body: any;
}

/** The members of a ruling that a repetition must return again. */
export interface Ruled {
  readonly ruling: 'committed' | 'rejected' | 'escalated';
  readonly entry: string;
  /** The pending proposal, if a person decides. */
  readonly approval?: string;
}

export interface Clients {
  /** The servers. Any of them answers. */
  readonly origins: () => readonly string[];
  readonly tokens: ReadonlyMap<string, string>;
  readonly seed: number;
}

/** Asks one of the servers. @throws where no answer came */
export async function ask(
  { tokens }: Pick<Clients, 'tokens'>,
  origin: string,
  { principal, method = 'POST', path, key, body, signal, wait }: Asked,
): Promise<Answer> {
  const response = await fetch(`${origin}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${tokens.get(principal)}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(wait !== undefined && { prefer: `wait=${wait}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  });
  return { status: response.status, body: await response.json() };
}

export interface Asked {
  readonly principal: string;
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly key?: string;
  readonly body?: object;
  readonly signal?: AbortSignal;
  readonly wait?: number;
}

/** An agent that proposes its orders one after the other, each until it is answered. */
export class Agent {
  readonly #clients: Clients;
  readonly #principal: string;
  readonly #next: (below: number) => number;
  /** Every answer to each order, in the order of the answers. */
  readonly heard = new Map<number, Ruled[]>();
  readonly latencies: number[] = [];

  constructor(clients: Clients, principal: string, seed: number) {
    this.#clients = clients;
    this.#principal = principal;
    this.#next = seededNumbers(clients.seed + seed);
  }

  /** Proposes new orders, and now and then an earlier one, until it may not begin another one. */
  async work(mayBegin: () => boolean, number: () => number): Promise<void> {
    const mine: number[] = [];
    while (mayBegin()) {
      const order = number();
      await this.propose(orderOf(this.#clients.seed, order));
      mine.push(order);
      if (mine.length % REPEATS === 0)
        await this.propose(orderOf(this.#clients.seed, mine[this.#next(mine.length)]!));
    }
  }

  /** Proposes until a server answers, with the same key at each attempt. */
  async propose(order: Order): Promise<Ruled> {
    const { number, key, world, kind, body } = order;
    for (;;) {
      const origins = this.#clients.origins();
      const origin = origins[this.#next(origins.length)]!;
      const start = performance.now();
      const asked = {
        principal: this.#principal,
        path: `/v1/trajectories/${world}/proposals`,
        key,
        body,
      };
      const loses = this.#next(LOSES) === 0 && {
        signal: AbortSignal.timeout(1 + this.#next(LOST_AFTER_MS)),
      };
      const wait = kind === 'ask' && this.#next(3) === 0 && { wait: 1 };
      const answer = await ask(this.#clients, origin, { ...asked, ...loses, ...wait }).catch(
        () => undefined,
      );
      if (answer === undefined || isTemporary(answer)) {
        await sleep(RETRY_MS + this.#next(RETRY_MS));
        continue;
      }
      this.latencies.push(performance.now() - start);
      const ruled = ruledIn(order, answer);
      const before = this.heard.get(number) ?? [];
      this.heard.set(number, [...before, ruled]);
      return ruled;
    }
  }
}

/** The same request may succeed later. */
function isTemporary({ status, body }: Answer): boolean {
  return status >= 500
    ? body.code !== 'internal'
    : status === 429 || (status === 409 && body.retryable === true);
}

function ruledIn({ kind }: Order, { status, body }: Answer): Ruled {
  const { ruling, entry_id: entry, approval_id: approval } = body;
  const expected =
    kind === 'refuse'
      ? ['rejected']
      : kind === 'ask'
        ? ['escalated', 'committed', 'rejected']
        : ['committed'];
  if (!expected.includes(ruling))
    throw new Error(`an order to ${kind} was answered ${status}: ${JSON.stringify(body)}`);
  return { ruling, entry, ...(approval !== undefined && { approval }) };
}

/** The refusals of a decision that another person's decision causes. */
const DECIDED_BEFORE = [
  'not_pending',
  'digest_mismatch',
  'not_found',
  'conflict',
  'concluded',
  'already_done',
];

/**
 * A person who decides every proposal that waits, at the same time as the other person. Returns the
 * answered decisions, by pending proposal, when it may stop and nothing waits.
 */
export async function decideAll(
  clients: Clients,
  principal: string,
  mayStop: () => boolean,
): Promise<ReadonlyMap<string, string>> {
  const next = seededNumbers(clients.seed + COUNSELORS.indexOf(principal));
  const decided = new Map<string, string>();
  for (;;) {
    const isLast = mayStop();
    const origins = clients.origins();
    const origin = origins[next(origins.length)]!;
    const path = '/v1/approvals?mine=true&limit=20';
    const listed = await ask(clients, origin, { principal, method: 'GET', path }).catch(
      () => undefined,
    );
    if (listed?.status !== 200) {
      if (listed !== undefined && !isTemporary(listed))
        throw new Error(JSON.stringify(listed.body));
      await sleep(RETRY_MS);
      continue;
    }
    const { approvals } = listed.body as { approvals: { id: string; digest: string }[] };
    if (approvals.length === 0) {
      if (isLast) return decided;
      await sleep(RETRY_MS);
    }
    for (const { id, digest } of approvals) {
      const does = next(4) === 0 ? 'reject' : 'approve';
      const body = { digest, reason: `by ${principal}` };
      const asked = { principal, path: `/v1/approvals/${id}/${does}`, body };
      const answer = await ask(clients, origin, asked).catch(() => undefined);
      if (answer?.status === 200) decided.set(id, answer.body.entry_id);
      else if (
        answer !== undefined &&
        !isTemporary(answer) &&
        !DECIDED_BEFORE.includes(answer.body.code)
      )
        throw new Error(`a decision was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    }
  }
}

/** The entries that a reader of events has seen, in order. */
export class Follower {
  readonly #clients: Clients;
  readonly #next: (below: number) => number;
  readonly ids: string[] = [];
  reconnects = 0;

  constructor(clients: Clients, seed: number) {
    this.#clients = clients;
    this.#next = seededNumbers(clients.seed + seed);
  }

  /** Follows the log from its beginning, over many connections, until it has that many entries. */
  async follow(size: () => number | undefined): Promise<void> {
    while (this.ids.length !== size()) {
      const origins = this.#clients.origins();
      try {
        await this.#connect(origins[this.#next(origins.length)]!, size);
      } catch {
        // The server was killed, or the follower left.
        await sleep(RETRY_MS);
      }
      this.reconnects++;
    }
  }

  async #connect(origin: string, size: () => number | undefined): Promise<void> {
    const headers = {
      authorization: `Bearer ${this.#clients.tokens.get('human:ada')}`,
      'last-event-id': String(this.ids.length - 1),
    };
    const signal = AbortSignal.timeout(100 + this.#next(FOLLOWS_MS));
    const response = await fetch(`${origin}/v1/events`, { headers, signal });
    if (response.status !== 200) throw new Error(await response.text());
    let text = '';
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      const events = (text + piece).split('\n\n');
      text = events.pop()!;
      for (const event of events) this.#hear(event);
      if (this.ids.length === size()) return;
    }
  }

  #hear(event: string): void {
    const [, position] = /^id: (-?\d+)$/m.exec(event) ?? [];
    const [, data] = /^data: (.+)$/m.exec(event) ?? [];
    if (position === undefined || data === undefined || event.includes('event: ready')) return;
    // A position that is missed or repeated is seen when the ids are compared.
    this.ids.push(`${position} ${(JSON.parse(data) as { id: string }).id}`);
  }
}
