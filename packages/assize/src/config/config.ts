import type { Amounts, Policy } from '#authority';
import type { Json } from '#base';
import type { Tool } from '#effects';
import type { Domain, Migration } from '#kernel';
import type { Embedder } from '#memory';
import type { ApprovalOptions, EffectOptions, Judge } from '#runtime';
import type { SimulationConfig } from './simulation-config.ts';

/** The kinds of work of a principal with a server. One principal may be of several kinds. */
export type PrincipalKind = 'agent' | 'counselor' | 'auditor' | 'admin';

/** The authority of an agent in some trajectories. The server issues short writs from it. */
export interface Grant {
  /** Ids of trajectories, or `*` for every trajectory. Default: `*`. */
  readonly trajectories?: readonly string[];
  /** Patterns of actions, as in a writ. */
  readonly actions: readonly string[];
  /**
   * Patterns of scopes, as in a writ. Default: `**`, and in a trajectory of the gateway domain the
   * agent's own role and every tool.
   */
  readonly scopes?: readonly string[];
  /** The amounts that the agent may spend in each trajectory, over all its writs. */
  readonly budget?: Amounts;
  /** Patterns of actions that need an approval, as in a writ. */
  readonly requireApproval?: readonly string[];
  /** How often the agent may pass a part of its authority on: 0 to 5. Default: 0. */
  readonly maxDepth?: number;
}

/** A person or an agent, with its name in the ledger: `agent:scout`, `manager:grace`. */
export interface PrincipalConfig {
  readonly kinds: readonly PrincipalKind[];
  /** For agents. */
  readonly grants?: readonly Grant[];
  /** Receives notices about proposals that wait for a decision. */
  readonly email?: string;
  /** The workspace and the member that decide as this person in Slack: `T0123ABCD/U0456EFGH`. */
  readonly slack?: string;
}

/** A trajectory that a server or `createAssize` creates if it does not exist. */
export interface WorldConfig {
  /** Name of the domain. */
  readonly domain: string;
  /** Default: the initial state of the domain. */
  readonly initial?: unknown;
  readonly note?: string;
}

/** A secret, or two while it changes: the one in use, and the one before or after it. */
export type Secrets = string | readonly [string, string];

/** People sign in with an OpenID provider. */
export interface OidcConfig {
  /** The issuer, an https URL. An http URL is accepted for a loopback host only. */
  readonly issuer: string;
  readonly clientId: string;
  /**
   * The second of two is tried where the provider refuses the first. Default: the lines of the
   * environment variable ASSIZE_OIDC_CLIENT_SECRET.
   */
  readonly clientSecret?: Secrets;
  readonly scope?: string;
  /** The principal of a person. Undefined refuses the person. */
  readonly principal: (claims: Readonly<Record<string, unknown>>) => MappedPrincipal | undefined;
}

/** Bearer tokens of another issuer. */
export interface JwtConfig {
  readonly issuer: string;
  readonly audience: string;
  /** The issuer's keys, an https URL. An http URL is accepted for a loopback host only. */
  readonly jwksUrl: string;
  /** Such as `['RS256']`. Only asymmetric algorithms are accepted. */
  readonly algorithms: readonly string[];
  readonly principal: (claims: Readonly<Record<string, unknown>>) => MappedPrincipal | undefined;
}

/** The principal that claims name. Members that it lacks are those in `principals`. */
export interface MappedPrincipal extends Partial<PrincipalConfig> {
  readonly name: string;
}

/** One receiver of signed notices. */
export interface WebhookConfig {
  readonly url: string;
  /**
   * Signs each request. At least 24 characters. Two secrets sign each request twice, so that a
   * receiver can change from one to the other.
   */
  readonly secret: Secrets;
  /** Channels of pending proposals. Default: all. */
  readonly channels?: readonly string[];
  /**
   * Whether the receiver may have a private or loopback address, and then also no TLS. Default:
   * false.
   */
  readonly allowPrivate?: boolean;
}

/** Sends a mail to each principal that has `email` and may decide. */
export interface MailConfig {
  /** `smtp://host:port` or `smtps://user:password@host`. */
  readonly smtp: string;
  readonly from: string;
}

/** Posts the card of each proposal to a channel of Slack, and closes it when it is decided. */
export interface SlackConfig {
  /** The token of the app's bot. It needs `chat:write`. */
  readonly token: string;
  /** The id of the channel, such as C0123ABCD. */
  readonly channel: string;
  /** The signing secret of the app. With it the buttons of a card decide. Default: no buttons. */
  readonly signingSecret?: Secrets;
  /** The most that a button approves, in minor units by currency. Default: any amount. */
  readonly amounts?: Amounts;
  /** Channels of pending proposals. Default: all. */
  readonly channels?: readonly string[];
  /** Default: https://slack.com/api/ */
  readonly apiUrl?: string;
}

export interface NoticesConfig {
  readonly webhooks?: readonly WebhookConfig[];
  readonly mail?: MailConfig;
  readonly slack?: SlackConfig;
  /** The address of a workflow of Teams that gets cards with a link. */
  readonly teams?: Omit<WebhookConfig, 'secret'>;
  /**
   * Seconds before its end at which a proposal that still waits is announced again. Default: never.
   */
  readonly reminderSeconds?: number;
}

/** The limits of one principal, and of one process. */
export interface LimitsConfig {
  /** Requests a second, on average. Default 50. */
  readonly requestsPerSecond?: number;
  /** Concurrent requests. Default 32. */
  readonly concurrency?: number;
  /** Open event streams. Default 16. */
  readonly streams?: number;
  /** Bytes of a request body. Default 1 MiB. */
  readonly bodyBytes?: number;
  /** Bytes of a proposal of an agent, with all that it carries. Default 64 KiB. */
  readonly proposalBytes?: number;
  /** Names of members in a request body of an agent, at all depths. Default 4,096. */
  readonly names?: number;
  /**
   * Proposals in progress in one process. Above it a principal with more than an equal share gets
   * 429. Default 1,000.
   */
  readonly backlog?: number;
  /** Simulations in progress in one process. Above it a request gets 429. Default 2. */
  readonly simulations?: number;
}

/** A witness that cosigns the checkpoints of the server (c2sp.org/tlog-witness). */
export interface WitnessConfig {
  /** Requests go to `add-checkpoint` below it. */
  readonly url: string;
  /** Its public key as `assize keys new NAME --for witness` writes it, from the witness's owner. */
  readonly key: string;
}

export interface ServerConfig {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: 4517. */
  readonly port?: number;
  /** The address that clients use, such as https://assize.example.com. Default: `http://host:port`. */
  readonly publicUrl?: string;
  /**
   * The address at which the other servers of the store reach this one, such as
   * https://10.0.0.5:4517. It differs between the servers, as `assize serve --peer-url` does. Each
   * trajectory is then written by one of these servers, and the others forward requests to it.
   * Without TLS the network must be private; state that with `behindProxy`. Default: none, and no
   * request is forwarded.
   */
  readonly peerUrl?: string;
  /** States that a proxy in front of the server terminates TLS. Default: false. */
  readonly behindProxy?: boolean;
  /**
   * Whether administrators may create tokens for other people by the API. A decision under one says
   * who made it, and counts as its maker's too. Default false: for agents, and for oneself.
   */
  readonly tokensForPeople?: boolean;
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
  readonly limits?: LimitsConfig;
  /** Seconds after which an agent gets another writ. Default 3600. */
  readonly writSeconds?: number;
  /**
   * Milliseconds for which code, such as a rule of a domain, may block the process. After that,
   * the process ends itself. Default 60,000.
   */
  readonly watchdogMs?: number;
  /** Each cosigns every checkpoint. If one of them fails, no checkpoint is signed. */
  readonly witnesses?: readonly WitnessConfig[];
  readonly oidc?: OidcConfig;
  readonly jwt?: readonly JwtConfig[];
}

/** An MCP server that `assize serve` stands in front of: a command to start, or an address. */
export interface McpServerConfig {
  readonly command?: string;
  readonly args?: readonly string[];
  /** Variables of its environment, beside the few that every server gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** In place of `command`. */
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The person at the client of an agent, by the agent's name. Answers of that client to an
   * elicitation are recorded as this person's decisions. Needs `clientsSpeakForPeople`.
   */
  readonly people?: Readonly<Record<string, string>>;
  /**
   * Accepts that any holder of an agent's token can answer as the person of `people`: the server
   * cannot tell a person at the client from the client's program.
   */
  readonly clientsSpeakForPeople?: boolean;
  /**
   * The questions of the server that reach a client in a call, if the rules let them through:
   * `NAME/elicitation.create`, `NAME/sampling.create`, `NAME/roots.list`. Default: none.
   */
  readonly questions?: readonly ('elicitation' | 'sampling' | 'roots')[];
}

/** MCP servers behind the rules: each is at `/mcp/NAME`, for agents with a token. */
export interface McpConfig {
  /** The world of the domain `gateway` that judges the calls. Default: the only one. */
  readonly world?: string;
  /** By the name of the server in the rules. */
  readonly servers: Readonly<Record<string, McpServerConfig>>;
  /** Seconds for which a call waits for a person before it is answered as pending. Default 20. */
  readonly waitSeconds?: number;
  /** Seconds that a server may take for an answer. Default 300. */
  readonly timeoutSeconds?: number;
  /** Larger results are passed on as links. Default 65,536. */
  readonly resultBytes?: number;
}

/** The services of the memory. */
export interface MemoryConfig {
  readonly judge?: Judge;
  readonly embedder?: Embedder;
  /** Reads the messages of `remember`: from a prompt and a JSON Schema to an answer. */
  readonly model?: (prompt: string, schema: Json) => Json | Promise<Json>;
  /** The model and its settings. Other settings ask again. */
  readonly theta?: { readonly model_version?: string };
}

/** The content of `assize.config.ts`. */
export interface AssizeConfig {
  /** URL of the store. Default: ASSIZE_STORE, else `sqlite:./assize.db`. */
  readonly store?: string;
  /**
   * Place of the store's archive: `file:FOLDER` or `s3:BUCKET/PREFIX`. Default: ASSIZE_ARCHIVE,
   * else the folder `<file>.archive` of a SQLite store, if there is one.
   */
  readonly archive?: string;
  /** Domains of one's own. One with the name of a shipped domain replaces it. */
  readonly domains?: readonly Domain[];
  /**
   * By the name of a domain: changes a state of the version in force into one of the new version,
   * in place, for `assize upgrade`.
   */
  readonly migrations?: Readonly<Record<string, Migration>>;
  readonly tools?: readonly Tool[];
  /** A policy, or the path of its file: a rule table in JSON, or rules for tool calls in YAML. */
  readonly policy?: Policy | string;
  readonly worlds?: Readonly<Record<string, WorldConfig>>;
  /** Other ways to continue recorded trajectories, by name. */
  readonly simulations?: Readonly<Record<string, SimulationConfig>>;
  readonly principals?: Readonly<Record<string, PrincipalConfig>>;
  readonly approvals?: Pick<ApprovalOptions, 'timeoutMs' | 'maxPending'>;
  readonly effects?: EffectOptions;
  readonly memory?: MemoryConfig;
  readonly notices?: NoticesConfig;
  readonly server?: ServerConfig;
  readonly mcp?: McpConfig;
}
