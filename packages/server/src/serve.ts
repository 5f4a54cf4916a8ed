import {
  peerAddress,
  publicAddress,
  ServerError,
  settledRuling,
  signInLink,
} from '@assize/command/operation';
import { addMicros, type KeyPair } from 'assize/internal/canon';
import {
  AGENTS,
  type AgentStops,
  type Deployment,
  type ResolvedConfig,
} from 'assize/internal/config';
import type { EntryRow } from 'assize/internal/ledger';
import type { Hono } from 'hono';
import { type Housekeeping, startHousekeeping } from './background/housekeeping.ts';
import { NeedsPeople } from './background/needs-people.ts';
import { Recurring } from './background/recurring.ts';
import { StuckWork } from './background/stuck-work.ts';
import { wakingStore } from './background/waking-store.ts';
import { warnOfNoOperator, warnOfUnknownVersions } from './background/warnings.ts';
import { startWatchdog } from './background/watchdog.ts';
import { noticeCard } from './card/notice-card.ts';
import { type EventRulings, eventOf } from './events/event-stream.ts';
import { LogTail } from './events/log-tail.ts';
import { createApp, stopped } from './http/app.ts';
import { addConsole, addUnknownPage } from './http/console.ts';
import type { ConsoleFiles } from './http/console-files.ts';
import { addDocs } from './http/docs.ts';
import { addEvents } from './http/events.ts';
import { type Addresses, addressesOf } from './http/guards.ts';
import { closed, httpServer, listen } from './http/http-server.ts';
import { addLedgerMcp } from './http/ledger-mcp.ts';
import { addMcp, type McpEnds, mcpEnds } from './http/mcp.ts';
import { Backlog } from './http/requests/backlog.ts';
import { OpenRequests } from './http/requests/open-requests.ts';
import { RateLimiter } from './http/requests/rate-limiter.ts';
import { addSignIn } from './http/sign-in.ts';
import { addSlack } from './http/slack.ts';
import { Logger } from './log/logger.ts';
import { Metrics } from './log/metrics.ts';
import { isLoopback } from './loopback.ts';
import { decidersIn } from './notices/mail/deciders-in.ts';
import { mayHaveNotice } from './notices/notice.ts';
import { NoticeSender } from './notices/notice-sender.ts';
import { openProposalsIn } from './notices/open-proposals.ts';
import { progressOf } from './notices/progress.ts';
import { receiversOf, type SlackReceiver } from './notices/receivers.ts';
import { SlackCards } from './notices/slack/slack-cards.ts';
import { OPERATIONS } from './operations/table.ts';
import { Authenticator } from './principals/authenticator.ts';
import { JwtVerifier } from './principals/jwt.ts';
import { OidcSignIn } from './principals/oidc.ts';
import { Standings } from './principals/standings.ts';
import { DeploymentRoutes } from './routing/deployment-routes.ts';
import { ForwardMark } from './routing/forward-mark.ts';
import { Forwarder } from './routing/forwarder.ts';
import { type Router, routingOf, startRouting } from './routing/router.ts';
import type { ServeOptions } from './serve-options.ts';
import type { ServerService } from './service.ts';
import { startService } from './start-service.ts';

/** A running server. */
export interface Serving {
  /** The address of clients. */
  readonly url: string;
  readonly service: ServerService;
  /** Rejects if the store cannot be used any more. Stop the server, and open the store again. */
  readonly lost: Promise<never>;
  /** A link that signs a principal in once, within ten minutes. The code is in its fragment. */
  signInLink(principal: string): Promise<string>;
  /**
   * Stops within `STOP_MS`, whatever a tool does. New requests and waits are answered with
   * `stopping` immediately, requests in progress get their answers, and then the listener closes.
   * Calls without an answer by then are continued by the next process.
   */
  stop(): Promise<void>;
}

/** The longest time of a stop. */
export const STOP_MS = 20_000;
/** Parts of a stop: requests in progress, the last answers, calls of tools, and background work. */
const REQUESTS_MS = 9_000;
const ANSWERS_MS = 1_000;
const CALLS_MS = 5_000;
const WORK_MS = 1_000;
/** Entries of other processes are seen after this time, without a notification of the store. */
const POLL_MS = 250;
/** The time between two looks at the files of the store. */
const LOOK_MS = 2_000;
/** A request is answered within this time, without its wait. */
const REQUEST_MS = 60_000;

/**
 * Starts a server. Resolves when it accepts requests.
 *
 * @throws ServerError `bad_config`; the errors of the store and of the configured worlds
 */
export async function serve(options: ServeOptions): Promise<Serving> {
  const { config } = options;
  requireSafeAddress(config, options.deployment);
  const logger = new Logger(options.log, () => new Date().toISOString());
  const metrics = new Metrics();
  const onFailure = (error: unknown): void => logger.failure(undefined, error);
  const rulings: EventRulings = {
    at: (row) => service.assize.rulingAt(row),
    entry: (id) => options.store.resolve(id),
  };
  const textOf = (position: number, row: EntryRow) => eventOf(position, row, rulings);
  const tail = new LogTail(options.store, { pollMs: POLL_MS, onFailure, textOf });
  const receivers = receiversOf(
    config.webhooks,
    config.mail === undefined ? new Map() : config.principals,
    config.chats,
  );
  let notices: NoticeSender | undefined;
  const wakeNotices = (): void => notices?.wake();
  let needs: NeedsPeople | undefined;
  let stops: AgentStops | undefined;
  let housekeeping: Housekeeping | undefined;
  const store = wakingStore(options.store, (entries) => {
    tail.wake();
    housekeeping?.committed(entries);
    if (entries.some((entry) => entry.trajectory_id === AGENTS)) stops?.expire();
    if (!entries.some(mayHaveNotice)) return;
    wakeNotices();
    needs?.wake();
  });
  const ports = { store, metrics, receivers, wakeNotices, onFailure };
  const stopWatchdog = startWatchdog(config.server.watchdogMs, onFailure);
  const service = await startService(options, ports).catch(async (error) => {
    // It would end a process that goes on without the server.
    await stopWatchdog();
    throw error;
  });
  const { assize, clock, gateways, sessions } = service;
  stops = service.grants.stops;
  const { server } = config;
  const stopping = new AbortController();
  const orEnd = async (error: unknown): Promise<never> => {
    await Promise.all([
      stopWatchdog(),
      service.deployment?.stop(),
      assize.close({ onCut: onFailure }),
    ]);
    throw error;
  };
  const warn = (name: string, text: string) => logger.event('mcp_warning', { server: name, text });
  const mcp = await mcpEnds(config, warn).catch(orEnd);
  const open = new OpenRequests();
  let app: Hono | undefined;
  const closers: (() => Promise<void>)[] = mcp === undefined ? [] : [() => mcp.close()];
  const http = httpServer(
    server,
    (request, env) => app?.fetch(request, env) ?? new Response(null, { status: 503 }),
  );
  const port = await listen(http, server).catch(orEnd);
  const url = publicAddress({ ...server, port });
  const peerUrl = peerAddress({ ...server, port });
  const addresses = addressesOf(url, server.host, port, peerUrl);
  const { root } = options;
  const routing =
    peerUrl === undefined
      ? undefined
      : routingOf({ side: store, root, url: peerUrl, clock, onFailure });
  const elsewhere = options.deployment && routesOf(options.deployment, root);
  const pageOf = (path: string): string => `${url}${path}`;
  const progressIn = (row: EntryRow) => progressOf(service, row);
  const channel = receivers.find(({ kind }) => kind === 'slack') as SlackReceiver | undefined;
  const slack =
    channel && new SlackCards({ receiver: channel, store, progressOf: progressIn, pageOf });
  app = appOf(
    service,
    {
      logger,
      metrics,
      addresses,
      open,
      tail,
      stopping: stopping.signal,
      router: routing?.router,
      elsewhere: elsewhere?.routes,
    },
    {
      console: options.console,
      docs: options.docs,
      linksAtStart: options.linksAtStart ?? false,
      mcp,
      slack,
      closers,
    },
  );
  await tail.start();
  if (routing !== undefined) await startRouting(routing, metrics);
  const openProposals = openProposalsIn(assize, onFailure);
  const sender = new NoticeSender({
    ...{ store, receivers, mail: config.mail, onFailure, clock },
    openProposals,
    decidersOf: decidersIn(assize),
    ...{ pageOf, progressOf: progressIn, slack, reminderSeconds: config.chats?.reminderSeconds },
    rulingOf: async (row) =>
      settledRuling(assize, await assize.rulingAt(row), {
        until: addMicros(clock.now(), CALLS_MS * 1_000),
      }),
    cardOf: (row) => noticeCard(service, row),
    onGivenUp: ({ entry, type, attempts, shown, error }) =>
      logger.event('notice_failed', { receiver: shown, type, entry, attempts, ...error }),
  });
  notices = sender;
  metrics.gauge({
    name: 'assize_event_streams',
    help: 'Open event streams.',
    read: () => tail.listeners,
  });
  for (const [name, help] of NOTICE_GAUGES)
    metrics.gauge({ name: `assize_notices_${name}`, help, read: () => sender.counts[name] });
  await sender.start();
  needs = new NeedsPeople({
    ...{ store, open: openProposals, onFailure },
    onEffect: ({ trajectory_id: trajectory, id: entry }, { epoch, n, tool }) =>
      logger.warning('effect_needs_person', { trajectory, entry, epoch, n, tool }),
  });
  needs.measure(metrics, clock);
  void needs.start().catch(onFailure);
  const worlds = Object.keys(config.worlds).filter(
    (name) => config.worlds[name]?.domain === 'gateway',
  );
  const stuck = new StuckWork({ assize, store, worlds, clock, onFailure });
  stuck.measure(metrics);
  void stuck.count();
  if (config.tools.length > 0) void assize.recoverEffects(stopping.signal).catch(onFailure);
  if (gateways.waiting.length > 0) logger.event('rules_wait', { worlds: gateways.waiting });
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => undefined);
  const looking = new Recurring(LOOK_MS, () => store.requireInPlace?.(), lost.reject);
  housekeeping = startHousekeeping({
    service,
    notices: sender,
    onFailure,
    signal: stopping.signal,
  });
  void warnOfUnknownVersions(service, logger).catch((error: unknown) => {
    if (!stopping.signal.aborted) onFailure(error);
  });
  warnOfNoOperator(service, logger);
  logger.event('listening', {
    ...{ url, store: config.store.split(':')[0], worlds: Object.keys(config.worlds) },
  });
  return {
    url,
    service,
    lost: lost.promise,
    signInLink: async (principal) => {
      if (!config.principals.has(principal))
        throw new ServerError('not_found', `The configuration has no principal ${principal}.`);
      return signInLink(url, await sessions.createCode(principal, clock.now()));
    },
    stop: async () => {
      const end = performance.now() + STOP_MS;
      const within = (ms: number, work: Promise<unknown>) =>
        settled(Math.max(0, Math.min(ms, end - performance.now())), work);
      logger.event('stopping');
      stopping.abort(stopped());
      const work = Promise.all([
        routing?.members.stop(),
        tail.stop(),
        sender.stop(),
        needs?.stop(),
        stuck.stop(),
        looking.stop(),
        housekeeping.stop(),
      ]).catch(onFailure);
      await within(WORK_MS, service.deployment?.stop() ?? Promise.resolve());
      // Until then the listener is open, so that a balancer reads the 503 of /readyz.
      const answered = performance.now() + REQUESTS_MS;
      await within(REQUESTS_MS, open.ended());
      const closing = closed(http);
      await within(answered - performance.now(), closing);
      open.end(stopped());
      await within(ANSWERS_MS, Promise.all(closers.map((close) => close())));
      await within(ANSWERS_MS, closing);
      http.closeAllConnections();
      routing?.forwarder.close();
      elsewhere?.forwarder.close();
      await within(WORK_MS, work);
      await within(STOP_MS, assize.close({ timeoutMs: CALLS_MS, onCut: onFailure }));
      await within(STOP_MS, stopWatchdog());
      logger.stopped();
    },
  };
}

function routesOf(deployment: Deployment, root: KeyPair) {
  const mark = new ForwardMark(root);
  const forwarder = new Forwarder(mark);
  return { routes: new DeploymentRoutes(deployment, forwarder, mark), forwarder };
}

interface AppPorts {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly addresses: Addresses;
  readonly open: OpenRequests;
  readonly tail: LogTail;
  readonly stopping: AbortSignal;
  readonly router: Router | undefined;
  readonly elsewhere: DeploymentRoutes | undefined;
}

/** The pages of the app, its MCP servers, and the ends of those. */
interface AppEnds {
  readonly console: ConsoleFiles | undefined;
  readonly docs: string | undefined;
  readonly linksAtStart: boolean;
  readonly mcp: McpEnds | undefined;
  readonly slack: SlackCards | undefined;
  readonly closers: (() => Promise<void>)[];
}

function appOf(service: ServerService, { tail, ...ports }: AppPorts, ends: AppEnds): Hono {
  const { console: files, linksAtStart, mcp, slack, closers } = ends;
  const { tokens, sessions, names, clock, config, metrics } = service;
  const { limits, oidc, jwt } = config.server;
  const nowMs = (): number => performance.now();
  const authenticator = new Authenticator({
    ...{ config, tokens, sessions, jwt: new JwtVerifier(jwt), names, clock },
    requireStanding: async (principal) => {
      service.deployment?.requireStanding(principal);
      await service.grants.stops.requireNone([principal]);
    },
  });
  const signIn = oidc === undefined ? undefined : new OidcSignIn(oidc, sessions);
  const way = signIn !== undefined ? 'oidc' : linksAtStart ? 'start' : 'link';
  return createApp({
    ...{ service, operations: OPERATIONS, authenticator, limits, ...ports },
    standings: new Standings(authenticator, nowMs),
    limiter: new RateLimiter(limits, nowMs),
    backlog: backlogOf(limits, metrics, nowMs),
    requestMs: REQUEST_MS,
    more: (app, all) => {
      addEvents(app, all, tail);
      if (mcp !== undefined) addMcp(app, all, mcp);
      closers.push(addLedgerMcp(app, all));
      if (slack !== undefined) closers.push(addSlack(app, all, slack));
      addDocs(app, ends.docs);
      if (files !== undefined) addConsole(app, files, way);
      addSignIn(app, all, { sessions, oidc: signIn, way });
      if (files !== undefined) addUnknownPage(app, files, way);
    },
  });
}

function backlogOf(
  { backlog: limit }: ResolvedConfig['server']['limits'],
  metrics: Metrics,
  nowMs: () => number,
) {
  const backlog = new Backlog(limit, nowMs);
  metrics.gauge({
    name: 'assize_backlog',
    help: 'Proposals in progress; above server.limits.backlog some get 429.',
    read: () => backlog.size,
  });
  return backlog;
}

const NOTICE_GAUGES = [
  ['waiting', 'Notices that wait, of all servers; at most 10,000 a receiver.'],
  ['failed', 'Notices that were given up, of all servers; at most 10,000.'],
  ['delivered', 'Notices that this process delivered.'],
] as const;

/** @throws ServerError `bad_config` */
function requireSafeAddress({ server }: ResolvedConfig, deployment: Deployment | undefined): void {
  requireSafeUrl(server.peerUrl, 'server.peerUrl', server);
  for (const { name, url } of deployment?.peers ?? [])
    requireSafeUrl(url, `the cell ${name}`, server);
  if (isLoopback(server.host) || server.tls !== undefined || server.behindProxy) return;
  throw new ServerError(
    'bad_config',
    `The address ${server.host} is public, and tokens would be sent in plain text. Set server.tls, or server.behindProxy if a proxy ends TLS.`,
  );
}

function requireSafeUrl(
  url: string | undefined,
  place: string,
  { behindProxy }: ResolvedConfig['server'],
): void {
  if (url === undefined || behindProxy) return;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || isLoopback(hostname)) return;
  throw new ServerError(
    'bad_config',
    `Servers would send tokens to ${url} in plain text. Use an https address for ${place}, or set server.behindProxy if the network of the servers is private.`,
  );
}

/** Resolves with the work, or when the time is over. @throws the errors of the work in that time */
async function settled(ms: number, work: Promise<unknown>): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, ms);
  try {
    await Promise.race([work, over.promise]);
  } finally {
    clearTimeout(timer);
  }
}
