import { existsSync } from 'node:fs';
import { MemoryStore } from '@assize/testing/memory';
import { onTestFinished } from 'vitest';
import { parseRuleTable, ruleTable } from '#authority';
import { addMicros, generateKeys } from '#canon';
import { type Cell, cellDeployment } from '#cells';
import type { AssizeConfig, PrincipalConfig, ResolvedConfig, RootKey, ServerConfig } from '#config';
import { budget } from '#domains/budget';
import type { Rules, TrialSet } from '#domains/gateway';
import type { Domain } from '#kernel';
import type { EntryRow, SideRow } from '#ledger';
import { type Clock, systemClock } from '#oracle';
import { type ConsoleFiles, credentialsOf, type ServeOptions, type Serving, serve } from '#server';
import type { Store } from '#stores';
import { resolveConfig } from '../../../packages/assize/src/config/resolved-config.ts';
import { pagesOf } from '../../../packages/server/src/notices/queue/delivery-rows.ts';
import { undocumented } from './documented.ts';
import { bank, laterTill, till } from './till.ts';

/** The principals of every kind. The agents have other grants than each other. */
export const PRINCIPALS = {
  'agent:scout': {
    kinds: ['agent'],
    grants: [
      {
        trajectories: ['main', 'spare'],
        actions: ['pay', 'wire', 'undo', 'bank.pay', 'assize.believe', 'assize.delegate'],
        scopes: ['role:clerk:**', 'memory:front:**', 'bank:**'],
        maxDepth: 2,
      },
    ],
  },
  'agent:other': {
    kinds: ['agent'],
    grants: [{ trajectories: ['other'], actions: ['pay'], scopes: ['role:clerk:away'] }],
  },
  'boss:ada': { kinds: ['counselor'] },
  'boss:bob': { kinds: ['counselor'] },
  'auditor:eve': { kinds: ['auditor'] },
  'admin:ann': { kinds: ['admin'] },
} satisfies Record<string, PrincipalConfig>;

/** The same without grants, for servers of other domains than the till. */
export const UNGRANTED: Record<string, PrincipalConfig> = Object.fromEntries(
  Object.entries(PRINCIPALS).map(([name, { kinds }]) => [name, { kinds }]),
);

export type PrincipalName = keyof typeof PRINCIPALS;

/** The root key of every server of the tests. */
export const ROOT: RootKey = {
  ...generateKeys(new Uint8Array(32).fill(7)),
  origin: 'ephemeral',
  created: false,
};

const WORLDS: NonNullable<AssizeConfig['worlds']> = {
  main: { domain: 'till' },
  spare: { domain: 'till' },
  other: { domain: 'till' },
  cash: { domain: 'budget' },
};

export interface Starting {
  readonly config?: Partial<AssizeConfig>;
  readonly server?: ServerConfig;
  readonly principals?: Record<string, PrincipalConfig>;
  readonly store?: Store;
  /** The cell whose store it is. */
  readonly cell?: Cell;
  readonly domains?: readonly Domain[];
  readonly rules?: Rules;
  readonly trial?: TrialSet | undefined;
  readonly clock?: Clock;
  readonly console?: ConsoleFiles | undefined;
  readonly verifiers?: ServeOptions['verifiers'];
  /** Default: whether a test runs. A test stops the server at its end. */
  readonly stopsAlone?: boolean;
}

/** The parts of a request. `token`: absent for that of no principal. */
export interface Asking {
  readonly token?: string | undefined;
  readonly body?: unknown;
  /** In place of `body`: the bytes as they are. */
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The document; undefined if the text is not JSON. */
  readonly body: any;
}

/** A server in this process, with a token for each principal. */
export interface TestServer extends Serving {
  readonly store: Store;
  readonly config: ResolvedConfig;
  readonly port: number;
  /** The answers that the OpenAPI document lacks: their status, media type or code. */
  readonly undocumented: string[];
  /** The lines of its log. */
  readonly lines: readonly string[];
  readonly tokens: Readonly<Record<PrincipalName, string>>;
  tokenFor(principal: string, terms?: { readonly expired?: boolean }): Promise<string>;
  /** The header Cookie of a browser that is signed in. */
  cookieFor(principal: string): Promise<string>;
  ask(method: string, path: string, asking?: Asking): Promise<Answered>;
  /** Every row that the server could append to or change. Equal before and after a refusal. */
  contents(): Promise<unknown>;
}

const open: Set<TestServer> = new Set();

/** Starts a server. It stops at the end of the running test, or with `stopAll`. */
export async function start(starting: Starting = {}): Promise<TestServer> {
  const {
    cell,
    store: opened = cell?.store ?? new MemoryStore(),
    domains = [till, laterTill, budget as unknown as Domain],
    clock = systemClock,
    principals = PRINCIPALS,
  } = starting;
  const given: AssizeConfig = {
    ...{ store: 'memory:', tools: [bank], worlds: WORLDS, principals },
    ...starting.config,
    server: {
      port: 0,
      limits: { requestsPerSecond: 100_000, concurrency: 100 },
      ...starting.server,
    },
  };
  const config = resolveConfig(given, { folder: '.', store: undefined, env: {} });
  const sideKinds = new Set<string>();
  const store = notingKinds(opened, sideKinds);
  const lines: string[] = [];
  const serving = await serve({
    ...{ config, store, root: ROOT, domains, clock, rules: starting.rules, trial: starting.trial },
    deployment: cell && cellDeployment(cell),
    ...{ console: starting.console, verifiers: starting.verifiers },
    policyOf: (rules) => ruleTable(parseRuleTable(rules)),
    log: (text) => lines.push(...text.trimEnd().split('\n')),
  });
  const { tokens: issuer, sessions } = credentialsOf(cell?.log.store ?? store, ROOT);
  const tokenFor: TestServer['tokenFor'] = async (principal, { expired = false } = {}) => {
    const created = addMicros(clock.now(), expired ? -2_000_000 : 0);
    const kinds = (principals as Record<string, PrincipalConfig>)[principal]?.kinds ?? [];
    const expires = addMicros(created, expired ? 1_000_000 : 86_400_000_000);
    return (await issuer.create({ principal, kinds, created, expires })).token;
  };
  const names = Object.keys(principals) as PrincipalName[];
  const tokens = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await tokenFor(name)] as const)),
  ) as Record<PrincipalName, string>;
  const faults: string[] = [];
  const server: TestServer = {
    ...serving,
    ...{ store, config, lines, tokens, tokenFor },
    cookieFor: async (principal) =>
      `assize-session=${await sessions.start({ principal, method: 'session' }, clock.now())}`,
    port: Number(new URL(serving.url).port),
    undocumented: faults,
    ask: (method, path, asking) =>
      ask({ url: serving.url, undocumented: faults }, method, path, asking),
    contents: () => contentsOf(store, config.store, sideKinds),
    stop: async () => {
      open.delete(server);
      await serving.stop();
    },
  };
  open.add(server);
  if (starting.stopsAlone !== true)
    onTestFinished(async () => void (open.has(server) && (await server.stop())));
  return server;
}

/** Stops the servers of a file that were started outside its tests. */
export async function stopAll(): Promise<void> {
  await Promise.all([...open].map((server) => server.stop()));
}

async function ask(
  { url, undocumented: faults }: { readonly url: string; readonly undocumented: string[] },
  method: string,
  path: string,
  asking: Asking = {},
): Promise<Answered> {
  const { token, body, raw, key, headers = {}, signal } = asking;
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(sent !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
      ...headers,
    },
    ...(sent !== undefined && { body: sent }),
    ...(signal !== undefined && { signal }),
  });
  const text = await response.text();
  const answered = {
    status: response.status,
    headers: response.headers,
    text,
    body: documentOf(text) as any,
  };
  const fault = undocumented(method, path, answered);
  if (fault !== undefined) faults.push(fault);
  return answered;
}

function documentOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The same store. Each kind of side row that anything writes through it is added to the set. */
function notingKinds(store: Store, kinds: Set<string>): Store {
  const sidePut: Store['sidePut'] = (changes) => {
    for (const { kind } of changes) kinds.add(kind);
    return store.sidePut(changes);
  };
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'sidePut') return sidePut;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

async function contentsOf(
  store: Store,
  url: string,
  sideKinds: ReadonlySet<string>,
): Promise<unknown> {
  const heads: EntryRow[] = [];
  for (const { trajectory_id } of await store.trajectories())
    heads.push((await store.head(trajectory_id)) as EntryRow);
  const side: SideRow[] = [];
  for (const kind of [...sideKinds].sort())
    for await (const page of pagesOf(store, kind, 1_000)) side.push(...page);
  return {
    heads: heads.map(({ trajectory_id, seq, id }) => [trajectory_id, seq, id]).sort(),
    side: side.map(({ kind, key, version }) => [kind, key, version]),
    checkpoint:
      url.startsWith('sqlite:') && existsSync(`${url.slice('sqlite:'.length)}.checkpoint`),
  };
}
