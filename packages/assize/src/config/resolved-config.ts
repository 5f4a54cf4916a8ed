import { resolve } from 'node:path';
import type { Amounts, Policy } from '#authority';
import type { Tool } from '#effects';
import type { Domain, Migration } from '#kernel';
import type { EffectOptions } from '#runtime';
import { checkPrincipal } from './check/check-config.ts';
import type {
  AssizeConfig,
  Grant,
  JwtConfig,
  LimitsConfig,
  MailConfig,
  MappedPrincipal,
  McpConfig,
  NoticesConfig,
  OidcConfig,
  PrincipalConfig,
  PrincipalKind,
  Secrets,
  ServerConfig,
  WebhookConfig,
  WitnessConfig,
  WorldConfig,
} from './config.ts';
import type { Environment } from './environment.ts';
import { ConfigError } from './errors.ts';
import type { SimulationBounds, SimulationConfig } from './simulation-config.ts';

/** The store of a project that names none. */
export const DEFAULT_STORE = 'sqlite:./assize.db';

/** A grant with every default. */
export interface ResolvedGrant extends Required<Omit<Grant, 'scopes'>> {
  readonly budget: Amounts;
  /** Absent: the default, depending on the domain of a trajectory. */
  readonly scopes?: readonly string[];
}

/** A principal with every default. */
export interface ResolvedPrincipal {
  readonly name: string;
  readonly kinds: readonly PrincipalKind[];
  readonly grants: readonly ResolvedGrant[];
  readonly email: string | undefined;
  readonly slack?: string | undefined;
}

/** The configuration of the server with every default. Paths are absolute. */
export interface ResolvedServer {
  readonly host: string;
  readonly port: number;
  /** Undefined: the address that the server listens on. */
  readonly publicUrl: string | undefined;
  /** Undefined: requests are not forwarded. */
  readonly peerUrl: string | undefined;
  readonly behindProxy: boolean;
  readonly tokensForPeople: boolean;
  readonly tls: NonNullable<ServerConfig['tls']> | undefined;
  readonly limits: Required<LimitsConfig>;
  readonly writSeconds: number;
  readonly watchdogMs: number;
  readonly oidc: OidcConfig | undefined;
  readonly jwt: readonly JwtConfig[];
  readonly witnesses: readonly WitnessConfig[];
}

/** A simulation with every default. */
export interface ResolvedSimulation extends SimulationConfig {
  readonly limits: Required<SimulationBounds>;
}

/** The configuration of a project with every default. Paths are absolute. */
export interface ResolvedConfig {
  /** The config file. Undefined if the project has none. */
  readonly file: string | undefined;
  /** The folder of relative paths: that of the config file, or the working folder. */
  readonly folder: string;
  readonly store: string;
  /** The place of the store's archive. Undefined: the default of `openStore`. */
  readonly archive: string | undefined;
  readonly domains: readonly Domain[];
  readonly migrations: Readonly<Record<string, Migration>>;
  readonly tools: readonly Tool[];
  readonly policy: Policy | undefined;
  /** The file of a policy, if the config names one instead of a policy. */
  readonly policyFile: string | undefined;
  readonly worlds: Readonly<Record<string, WorldConfig>>;
  /** By name. */
  readonly simulations: ReadonlyMap<string, ResolvedSimulation>;
  /** By name. */
  readonly principals: ReadonlyMap<string, ResolvedPrincipal>;
  readonly approvals: NonNullable<AssizeConfig['approvals']>;
  readonly effects: EffectOptions;
  readonly memory: NonNullable<AssizeConfig['memory']>;
  readonly webhooks: readonly WebhookConfig[];
  readonly mail: MailConfig | undefined;
  readonly chats?: Pick<NoticesConfig, 'slack' | 'teams' | 'reminderSeconds'>;
  readonly server: ResolvedServer;
  readonly mcp: McpConfig | undefined;
  /** The address of a trace, with `{traceId}` and `{spanId}` in it. */
  readonly traces?: string | undefined;
}

/** The places that a configuration comes from. */
export interface ConfigSources {
  readonly file?: string | undefined;
  readonly folder: string;
  /** The store of the command line. It overrides all others. */
  readonly store?: string | undefined;
  /** The archive of the command line. It overrides all others. */
  readonly archive?: string | undefined;
  /** The environment: ASSIZE_STORE, ASSIZE_ARCHIVE, ASSIZE_TRACES and ASSIZE_OIDC_CLIENT_SECRET. */
  readonly env: Environment;
}

const LIMITS: Required<LimitsConfig> = {
  requestsPerSecond: 50,
  concurrency: 32,
  streams: 16,
  bodyBytes: 1_048_576,
  proposalBytes: 65_536,
  names: 4_096,
  backlog: 1_000,
  simulations: 2,
};

const SIMULATION: Required<SimulationBounds> = { samples: 5, turns: 100, seconds: 30 };

/** A folder in the config is relative to it. */
function archiveIn(folder: string, archive: string | undefined): string | undefined {
  return archive?.startsWith('file:')
    ? `file:${resolve(folder, archive.slice('file:'.length))}`
    : archive;
}

/** Fills in the defaults of a checked config. The store is that of the first source with one. */
export function resolveConfig(
  config: AssizeConfig,
  { file, folder, store, archive, env }: ConfigSources,
): ResolvedConfig {
  const { policy, principals = {}, simulations = {}, server = {} } = config;
  const { webhooks = [], mail, ...chats } = config.notices ?? {};
  const inFolder = (path: string): string => resolve(folder, path);
  return {
    file,
    folder,
    store: store ?? env['ASSIZE_STORE'] ?? storeIn(folder, config.store ?? DEFAULT_STORE),
    archive: archive ?? env['ASSIZE_ARCHIVE'] ?? archiveIn(folder, config.archive),
    domains: config.domains ?? [],
    migrations: config.migrations ?? {},
    tools: config.tools ?? [],
    policy: typeof policy === 'string' ? undefined : policy,
    policyFile: typeof policy === 'string' ? inFolder(policy) : undefined,
    worlds: config.worlds ?? {},
    simulations: new Map(
      Object.entries(simulations).map(([name, given]) => [name, resolveSimulation(given)]),
    ),
    principals: new Map(
      Object.entries(principals).map(([name, given]) => [name, resolvePrincipal(name, given)]),
    ),
    approvals: config.approvals ?? {},
    effects: config.effects ?? {},
    memory: config.memory ?? {},
    webhooks,
    mail,
    chats,
    server: resolveServer(server, inFolder, env['ASSIZE_OIDC_CLIENT_SECRET']),
    mcp: config.mcp,
    traces: env['ASSIZE_TRACES'],
  };
}

/**
 * The principal that a mapping of claims returned. Members that it lacks are those of the principal
 * with that name in the config.
 *
 * @throws ConfigError `bad_config` for a mapped principal that is not valid, or has no kinds
 */
export function mappedPrincipal(
  config: Pick<ResolvedConfig, 'principals'>,
  given: MappedPrincipal,
  source: string,
): ResolvedPrincipal {
  if (typeof (given as Partial<MappedPrincipal> | null)?.name !== 'string')
    throw new ConfigError(
      'bad_config',
      `${source}: the mapped principal must be an object with a name.`,
      {
        evidence: { path: 'name' },
      },
    );
  const { name, ...own } = given;
  const known = config.principals.get(name);
  const members = Object.fromEntries(
    Object.entries(own).filter(([, member]) => member !== undefined),
  );
  const merged = {
    ...(known && { kinds: known.kinds, grants: known.grants, email: known.email }),
    ...members,
  };
  if (!('kinds' in merged))
    throw new ConfigError(
      'bad_config',
      `${source}: the mapped principal ${name} has no kinds, and the config has no principal of that name.`,
      { evidence: { path: 'kinds' } },
    );
  checkPrincipal(name, merged, source);
  return resolvePrincipal(name, merged);
}

function resolveSimulation(given: SimulationConfig): ResolvedSimulation {
  return { ...given, limits: { ...SIMULATION, ...definedOf(given.limits) } };
}

function resolvePrincipal(
  name: string,
  { kinds, grants = [], email, slack }: PrincipalConfig,
): ResolvedPrincipal {
  return { name, kinds: [...new Set(kinds)], grants: grants.map(resolveGrant), email, slack };
}

function resolveGrant(given: Grant): ResolvedGrant {
  const {
    trajectories = ['*'],
    actions,
    scopes,
    budget = {},
    requireApproval = [],
    maxDepth = 0,
  } = given;
  return {
    trajectories,
    actions,
    budget,
    requireApproval,
    maxDepth,
    ...(scopes !== undefined && { scopes }),
  };
}

function resolveServer(
  given: ServerConfig,
  inFolder: (path: string) => string,
  secret?: string,
): ResolvedServer {
  const { tls, oidc } = given;
  const clientSecret = secret === undefined ? {} : { clientSecret: linesOf(secret) };
  return {
    host: given.host ?? '127.0.0.1',
    port: given.port ?? 4517,
    publicUrl: given.publicUrl,
    peerUrl: given.peerUrl,
    behindProxy: given.behindProxy ?? false,
    tokensForPeople: given.tokensForPeople ?? false,
    tls: tls && { certFile: inFolder(tls.certFile), keyFile: inFolder(tls.keyFile) },
    limits: { ...LIMITS, ...definedOf(given.limits) },
    writSeconds: given.writSeconds ?? 3_600,
    watchdogMs: given.watchdogMs ?? 60_000,
    oidc: oidc && ({ ...clientSecret, ...definedOf(oidc) } as OidcConfig),
    jwt: given.jwt ?? [],
    witnesses: given.witnesses ?? [],
  };
}

/** A secret, or the first two lines of a text. */
function linesOf(text: string): Secrets {
  const [one = '', other] = text.split(/\s*\n/).filter((line) => line !== '');
  return other === undefined ? one : [one, other];
}

/** A member that is undefined counts as absent. */
function definedOf<T extends object>(given: T | undefined): Partial<T> {
  return Object.fromEntries(
    Object.entries(given ?? {}).filter(([, member]) => member !== undefined),
  ) as Partial<T>;
}

/** The file of a SQLite store, or of cells, is relative to the config. Other URLs have no path. */
function storeIn(folder: string, url: string): string {
  const [, scheme, path = ''] = /^(sqlite:|cells:)(.+)$/s.exec(url) ?? [];
  return scheme === undefined || folder === process.cwd()
    ? url
    : `${scheme}${resolve(folder, path)}`;
}
