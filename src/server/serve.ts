import { readFileSync } from 'node:fs';
import { createServer as createPlainServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import type { Policy } from '#authority';
import { isAssizeError, type Json } from '#base';
import { anchorRoot, GrantIssuer, type ResolvedConfig, type RootKey, recoveryKeyOf, withdrawGrants } from '#config';
import type { Rules } from '#domains/gateway';
import type { Domain, Migration } from '#kernel';
import type { SignerKey } from '#merkle';
import { type Clock, systemClock, systemRandom } from '#oracle';
import { Assize } from '#runtime';
import { checkpointFile, type Store } from '#stores';
import { Checkpoints, derivedLogKey } from './checkpoints.ts';
import { ServerError } from './errors.ts';
import { eventOf } from './events/event-stream.ts';
import { LogTail } from './events/log-tail.ts';
import { GatewayWorlds } from './gateway-worlds.ts';
import { startHousekeeping } from './housekeeping.ts';
import { type AppParts, createApp, stopped } from './http/app.ts';
import { addEvents } from './http/events.ts';
import { type Addresses, addressesOf } from './http/guards.ts';
import { RateLimiter } from './http/limits.ts';
import { OpenRequests } from './http/open-requests.ts';
import { addSignIn } from './http/sign-in.ts';
import { checkpointInFile, checkpointInStore, type LastCheckpoint } from './last-checkpoint.ts';
import { Logger } from './log/logger.ts';
import { Metrics } from './log/metrics.ts';
import { isLoopback } from './loopback.ts';
import { NewestRules } from './newest-rules.ts';
import { decidersIn } from './notices/mail/deciders-in.ts';
import { NoticeSender } from './notices/notice-sender.ts';
import { openProposalsIn } from './notices/open-proposals.ts';
import { FailedNotices } from './notices/queue/failed-notices.ts';
import { receiversOf } from './notices/receivers.ts';
import { OPERATIONS } from './operations/table.ts';
import { Authenticator } from './principals/authenticator.ts';
import { credentialsOf } from './principals/credentials.ts';
import { FreeNames } from './principals/free-names.ts';
import { JwtVerifier } from './principals/jwt.ts';
import { OfficeWrits } from './principals/office-writs.ts';
import { OidcSignIn } from './principals/oidc.ts';
import { recentSideStore } from './principals/recent-side-store.ts';
import { Standings } from './principals/standings.ts';
import { publicAddress, signInLink } from './public-address.ts';
import type { Service } from './service.ts';
import { warnOfUnknownVersions } from './unknown-versions.ts';
import { wakingStore } from './waking-store.ts';
import { Watchdog } from './watchdog/watchdog.ts';

export interface ServeOptions {
  readonly config: ResolvedConfig;
  /** An open store. The server does not close it. */
  readonly store: Store;
  readonly root: RootKey;
  readonly domains: readonly Domain[];
  readonly policy?: Policy | undefined;
  /** The rules of the worlds of the gateway domain. Default: those in force there. */
  readonly rules?: Rules | undefined;
  /** The migrations of upgrades, by the hash of the later version. */
  readonly migrations?: ReadonlyMap<string, Migration>;
  /** Reads a rule table of a client. @throws AuthorityError `bad_policy` */
  readonly policyOf: (rules: Json) => Policy;
  /** Receives the lines of the log. */
  readonly log: (line: string) => void;
  /** Signs the checkpoints of the log. Default: derived from the root key. */
  readonly logKey?: SignerKey | undefined;
  readonly clock?: Clock;
}

/** A running server. */
export interface Serving {
  /** The address of clients. */
  readonly url: string;
  readonly service: Service;
  /** A link that signs a principal in once, within ten minutes. The code is in its fragment. */
  signInLink(principal: string): Promise<string>;
  /**
   * Stops within `STOP_MS`, whatever a tool does: no new requests, then the requests and calls in
   * progress, then the runtime. Calls without an answer by then are continued by the next process.
   */
  stop(): Promise<void>;
}

/** The longest time of a stop. */
export const STOP_MS = 20_000;
/** The parts of a stop: requests in progress, the last answers, and calls of tools. */
const REQUESTS_MS = 6_000;
const ANSWERS_MS = 1_000;
const CALLS_MS = 8_000;
/** Connections that have become idle are closed after this time. */
const IDLE_MS = 50;
/** The runtime's time limit of pending approvals, where the configuration has none: seven days. */
const APPROVAL_TIMEOUT_MS = 604_800_000;
/** Entries of other processes are seen after this time, without a notification of the store. */
const POLL_MS = 250;
/** A request is answered within this time, without its wait. */
const REQUEST_MS = 60_000;
/** A request must arrive within this time. */
const ARRIVAL_MS = 30_000;

/**
 * Starts a server. Resolves when it accepts requests.
 *
 * @throws ServerError `public_without_tls`; the errors of the store, of the configured worlds, and
 * of the system for an address that is in use
 */
export async function serve(options: ServeOptions): Promise<Serving> {
  const { config, root, domains, policy, clock = systemClock } = options;
  const { server } = config;
  requireSafeAddress(config);
  const logger = new Logger(options.log, () => new Date().toISOString());
  const metrics = new Metrics();
  const onFailure = (error: unknown): void => logger.failure(undefined, error);
  const tail = new LogTail(options.store, { pollMs: POLL_MS, onFailure, textOf: eventOf });
  const receivers = receiversOf(config.webhooks, config.mail === undefined ? new Map() : config.principals);
  let notices: NoticeSender | undefined;
  const store = wakingStore(options.store, () => {
    tail.wake();
    notices?.wake();
  });
  anchorRoot(config.store, root.publicKey);
  const watchdog = new Watchdog({ store, url: config.store, limitMs: server.watchdogMs, onFailure });
  await watchdog.start();
  const assize = new Assize({
    ...{ store, snapshots: store, oracle: store, domains, anchors: [root.publicKey] },
    ...(policy !== undefined && { policy }),
    ...(config.tools.length > 0 && { tools: config.tools }),
    effects: { recoveryKey: recoveryKeyOf(root), onRecoveryFailed: onFailure, ...config.effects },
    approvals: config.approvals,
    memory: config.memory,
    ports: { clock, watch: watchdog },
    onSnapshotFailed: onFailure,
    onNotificationFailed: onFailure,
  });
  // A row of a local file is read at once, and a row over the network is a round trip a request.
  const isRemote = checkpointFile(config.store) === undefined && !config.store.startsWith('memory:');
  const { tokens, sessions } = credentialsOf(isRemote ? recentSideStore(store) : store, root);
  const stopping = new AbortController();
  const open = new OpenRequests();
  const offices = new OfficeWrits(root, server.writSeconds);
  const { rules } = options;
  const calledTools = config.tools.filter(({ name }) => name.includes('.'));
  const gateways = new GatewayWorlds({
    ...{ assize, store, clock, offices, worlds: config.worlds, onFailure },
    rules: rules && { rules, tools: calledTools },
    newest: new NewestRules(store, root, systemRandom),
  });
  const service: Service = {
    ...{ assize, store, config, domains, clock, tokens, sessions, metrics, offices, gateways },
    names: new FreeNames(config.principals.keys()),
    migrations: options.migrations ?? new Map(),
    grants: new GrantIssuer(root, store, {
      principals: config.principals,
      writSeconds: server.writSeconds,
      waitMs: config.approvals.timeoutMs ?? APPROVAL_TIMEOUT_MS,
    }),
    checkpoints: new Checkpoints(store, options.logKey ?? derivedLogKey(root), lastCheckpointOf(config.store, store)),
    ...{ stuck: watchdog, watch: watchdog },
    failedNotices: new FailedNotices(store, receivers, clock, () => notices?.wake()),
    policyOf: options.policyOf,
  };
  await createWorlds(service, onFailure);
  await withdrawGrants(service.grants, { root, store, assize, now: clock.now(), onFailure });
  await gateways.start();
  let addresses: Addresses | undefined;
  const jwt = new JwtVerifier(server.jwt);
  const nowMs = (): number => performance.now();
  const authenticator = new Authenticator({ config, tokens, sessions, jwt, names: service.names, clock });
  const oidc = server.oidc === undefined ? undefined : new OidcSignIn(server.oidc, sessions);
  const parts: AppParts = {
    ...{ service, operations: OPERATIONS, authenticator, limits: server.limits, logger, metrics },
    standings: new Standings(authenticator, nowMs),
    limiter: new RateLimiter(server.limits, nowMs),
    addresses: () => addresses as Addresses,
    stopping: stopping.signal,
    requestMs: REQUEST_MS,
    open,
    more: (app, all) => {
      addEvents(app, all, tail);
      addSignIn(app, all, sessions, oidc);
    },
  };
  let app: Hono | undefined;
  const http = httpServer(config, (request, env) => app?.fetch(request, env) ?? new Response(null, { status: 503 }));
  await listening(http, server);
  const { port } = http.address() as AddressInfo;
  const url = publicAddress({ ...server, port });
  addresses = addressesOf(url, server.host, port);
  app = createApp(parts);
  metrics.gauge({ name: 'assize_event_streams', help: 'Open event streams.', read: () => tail.listeners });
  await tail.start();
  const sender = new NoticeSender({
    ...{ store, receivers, mail: config.mail, onFailure, clock },
    openProposals: openProposalsIn(assize, store, onFailure),
    decidersOf: decidersIn(assize),
    urlOf: (pendingId) => `${url}/v1/approvals/${pendingId}`,
    onGivenUp: ({ entry, type, attempts, shown, error }) =>
      logger.event('notice_failed', { receiver: shown, type, entry, attempts, ...error }),
  });
  notices = sender;
  for (const [name, help] of NOTICE_GAUGES)
    metrics.gauge({ name: `assize_notices_${name}`, help, read: () => sender.counts[name] });
  await sender.start();
  if (config.tools.length > 0) void assize.recoverEffects(stopping.signal).catch(onFailure);
  if (gateways.waiting.length > 0) logger.event('rules_wait', { worlds: gateways.waiting });
  const kept = startHousekeeping({ service, notices: sender, onFailure, signal: stopping.signal });
  void warnOfUnknownVersions(service, logger).catch((error: unknown) => {
    if (!stopping.signal.aborted) onFailure(error);
  });
  logger.event('listening', { url, store: config.store.split(':')[0], domains: domains.map(({ name }) => name) });
  return {
    url,
    service,
    signInLink: async (principal) => {
      if (!config.principals.has(principal))
        throw new ServerError('no_such_value', `The configuration has no principal ${principal}.`);
      return signInLink(url, await sessions.createCode(principal, clock.now()));
    },
    stop: async () => {
      logger.event('stopping');
      stopping.abort(stopped());
      const closing = closed(http);
      await within(REQUESTS_MS, closing);
      open.end(stopped());
      await within(ANSWERS_MS, closing);
      http.closeAllConnections();
      await Promise.all([tail.stop(), sender.stop(), watchdog.stop(), within(CALLS_MS, kept())]);
      await within(STOP_MS - REQUESTS_MS - ANSWERS_MS, assize.close({ timeoutMs: CALLS_MS }));
      logger.event('stopped');
    },
  };
}

const NOTICE_GAUGES = [
  ['waiting', 'Notices that wait, of all servers; at most 10,000 a receiver.'],
  ['failed', 'Notices that were given up, of all servers; at most 10,000.'],
  ['delivered', 'Notices that this process delivered.'],
] as const;

/** @throws ServerError `public_without_tls` */
function requireSafeAddress({ server }: ResolvedConfig): void {
  if (isLoopback(server.host) || server.tls !== undefined || server.behindProxy) return;
  throw new ServerError(
    'public_without_tls',
    `The address ${server.host} is public, and tokens would be sent in plain text. Set server.tls, or server.behindProxy if a proxy ends TLS.`,
  );
}

/** A file protects against a store that was put back, also where its entries were. */
function lastCheckpointOf(url: string, store: Store): LastCheckpoint {
  const file = checkpointFile(url);
  return file === undefined ? checkpointInStore(store) : checkpointInFile(file);
}

/**
 * Another process may create the same world at the same time. A world whose first state blocked a
 * process is left out, so that the others are served.
 */
async function createWorlds({ assize, config, domains }: Service, onFailure: (error: unknown) => void): Promise<void> {
  const known = new Set((await assize.trajectories()).map(({ trajectory_id }) => trajectory_id));
  for (const [trajectoryId, world] of Object.entries(config.worlds)) {
    const domain = domains.find(({ name }) => name === world.domain);
    if (domain === undefined)
      throw new ServerError(
        'no_such_value',
        `The world ${trajectoryId} has the domain ${world.domain}, which does not exist. Name one of: ${domains.map(({ name }) => name).join(', ')}.`,
      );
    if (known.has(trajectoryId)) continue;
    try {
      await assize.create(domain, {
        trajectoryId,
        ...(world.initial !== undefined && { initial: world.initial }),
        ...(world.note !== undefined && { note: world.note }),
      });
    } catch (error) {
      if (isAssizeError(error, 'domain_stuck')) onFailure(error);
      else if (!isAssizeError(error, 'exists')) throw error;
    }
  }
}

function httpServer(
  { server }: ResolvedConfig,
  fetch: (request: Request, env: object) => Response | Promise<Response>,
): Server {
  const limits = { requestTimeout: ARRIVAL_MS, headersTimeout: ARRIVAL_MS, maxHeaderSize: 16_384 };
  const tls = server.tls && { cert: readFileSync(server.tls.certFile), key: readFileSync(server.tls.keyFile) };
  return createAdaptorServer({
    fetch,
    createServer: (tls === undefined ? createPlainServer : createTlsServer) as never,
    serverOptions: { ...limits, ...tls },
  }) as Server;
}

async function listening(http: Server, { host, port }: ResolvedConfig['server']): Promise<void> {
  const begun = Promise.withResolvers<void>();
  http.once('error', begun.reject);
  http.listen(port, host, () => begun.resolve());
  await begun.promise.catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EADDRINUSE') throw cause;
    throw new ServerError(
      'port_in_use',
      `Port ${port} of ${host} is in use. Stop that program, or choose another port.`,
      {
        cause,
      },
    );
  });
  http.off('error', begun.reject);
}

function closed(http: Server): Promise<void> {
  const done = Promise.withResolvers<void>();
  const closingIdle = setInterval(() => http.closeIdleConnections(), IDLE_MS);
  http.close(() => {
    clearInterval(closingIdle);
    done.resolve();
  });
  return done.promise;
}

/** Resolves with the work, or when the time is over. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, ms);
  await Promise.race([work, over.promise]);
  clearTimeout(timer);
}
