import { parseVerifierKey } from '#merkle';
import type {
  JwtConfig,
  LimitsConfig,
  MailConfig,
  NoticesConfig,
  OidcConfig,
  ServerConfig,
  SlackConfig,
  WebhookConfig,
  WitnessConfig,
} from '../config.ts';
import {
  accepted,
  all,
  code,
  type Fault,
  type Form,
  fits,
  flag,
  list,
  object,
  oneOf,
  optional,
  record,
  text,
  whole,
} from './form.ts';

/** Algorithms whose keys can be public. A shared secret would let each verifier sign. */
const ASYMMETRIC: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

const SECRET_CHARACTERS_MIN = 24;
const DAY_SECONDS = 86_400;
const BODY_BYTES_MAX = 64 * 1024 * 1024;

/** An address with `@`. Whether it exists is for the mail server to say. */
export const mailAddress: Form = fits(
  'a mail address',
  (value) =>
    typeof value === 'string' && value.length <= 320 && /^[^\s@<>,;]+@[^\s@<>,;]+$/.test(value),
);

/** An address of a sender may have a name: `Assize <assize@example.com>`. */
const sender: Form = fits(
  'a mail address, or a name with a mail address in <>',
  (value) =>
    typeof value === 'string' &&
    /^(?:[^\r\n<>]*<[^\s@<>,;]+@[^\s@<>,;]+>|[^\s@<>,;]+@[^\s@<>,;]+)$/.test(value),
);

const web: Form = fits(
  'an http or https URL',
  (value) => urlOf(value, ['http:', 'https:']) !== undefined,
);

/** A request to another host must not be read or changed on its way. */
const secure: Form = fits('an https URL, or an http URL of a loopback host', (value) => {
  const url = urlOf(value, ['http:', 'https:']);
  return url !== undefined && (url.protocol === 'https:' || isLoopback(url.hostname));
});

const origin: Form = fits('an http or https URL with no user, path, query or fragment', (value) => {
  const url = urlOf(value, ['http:', 'https:']);
  return (
    url !== undefined &&
    url.pathname === '/' &&
    url.username === '' &&
    url.search === '' &&
    url.hash === ''
  );
});

/** One secret, or two while it changes. */
function secrets(wanted: string, isSecret: (text: string) => boolean): Form {
  const isOne = (value: unknown): boolean => typeof value === 'string' && isSecret(value);
  return fits(
    `${wanted}, or two of them`,
    (value) => isOne(value) || (Array.isArray(value) && value.length === 2 && value.every(isOne)),
  );
}

const limits: Form = object<LimitsConfig>({
  requestsPerSecond: optional(whole(1, 1_000_000)),
  concurrency: optional(whole(1, 1_000_000)),
  streams: optional(whole(0, 1_000_000)),
  simulations: optional(whole(1, 100)),
  bodyBytes: optional(whole(1_024, BODY_BYTES_MAX)),
  proposalBytes: optional(whole(1_024, BODY_BYTES_MAX)),
  names: optional(whole(64, 1_000_000)),
  backlog: optional(whole(1, 1_000_000)),
});

const oidc: Form = object<OidcConfig>({
  issuer: secure,
  clientId: text,
  clientSecret: optional(secrets('a text', (value) => value !== '')),
  scope: optional(
    all(
      text,
      fits('scopes that contain openid', (scope) => scope.split(' ').includes('openid')),
    ),
  ),
  principal: code,
});

const jwt: Form = object<JwtConfig>({
  issuer: text,
  audience: text,
  jwksUrl: secure,
  algorithms: list(oneOf(ASYMMETRIC), 1),
  principal: code,
});

const witness: Form = object<WitnessConfig>({
  url: web,
  key: all(
    accepted('a public key: NAME+ID+KEY', parseVerifierKey),
    fits(
      'the key of a witness, and not of a log',
      (key) => parseVerifierKey(String(key)).use === 'cosignature',
    ),
  ),
});

export const server: Form = all(
  object<ServerConfig>({
    host: optional(
      fits('a host name or an IP address', (value) => typeof value === 'string' && isHost(value)),
    ),
    port: optional(whole(0, 65_535)),
    publicUrl: optional(origin),
    peerUrl: optional(origin),
    behindProxy: optional(flag),
    tokensForPeople: optional(flag),
    tls: optional(object<NonNullable<ServerConfig['tls']>>({ certFile: text, keyFile: text })),
    limits: optional(limits),
    writSeconds: optional(whole(1, DAY_SECONDS)),
    watchdogMs: optional(whole(100, 2_147_483_647)),
    witnesses: optional(list(witness)),
    oidc: optional(oidc),
    jwt: optional(list(jwt)),
  }),
  (value, path) =>
    oneTls(value as ServerConfig, path) ??
    otherIssuers(value as ServerConfig, path) ??
    otherWitnesses(value as ServerConfig, path),
);

const longSecrets: Form = secrets(
  `a text of at least ${SECRET_CHARACTERS_MIN} characters`,
  ({ length }) => length >= SECRET_CHARACTERS_MIN,
);
const channels: Form = optional(list(text, 1));
const address = { url: web, channels, allowPrivate: optional(flag) };
const webhook: Form = object<WebhookConfig>({ ...address, secret: longSecrets });

const mail: Form = object<MailConfig>({
  smtp: fits(
    'a URL that starts with smtp:// or smtps://',
    (value) => urlOf(value, ['smtp:', 'smtps:']) !== undefined,
  ),
  from: sender,
});

const currencyFault = (name: string): string | undefined =>
  /^[A-Z]{3}$/.test(name) ? undefined : 'named by a currency';

const slack: Form = object<SlackConfig>({
  token: text,
  channel: fits('the id of a channel, such as C0123ABCD', (value) => /^[CG][A-Z0-9]+$/.test(value)),
  signingSecret: optional(longSecrets),
  amounts: optional(record(currencyFault, whole(0, Number.MAX_SAFE_INTEGER))),
  channels,
  apiUrl: optional(secure),
});

export const notices: Form = object<NoticesConfig>({
  webhooks: optional(list(webhook)),
  mail: optional(mail),
  slack: optional(slack),
  teams: optional(object<NonNullable<NoticesConfig['teams']>>(address)),
  reminderSeconds: optional(whole(1, 30 * DAY_SECONDS)),
});

/** Two programs that both end TLS would each see the other's plain text. */
function oneTls({ tls, behindProxy }: ServerConfig, path: string): Fault | undefined {
  if (tls === undefined || behindProxy !== true) return undefined;
  return {
    path: `${path}.behindProxy`,
    wanted: 'left out or false, because the server has `tls` of its own',
  };
}

/** Two entries of one issuer and audience could map one token to two principals. */
function otherIssuers({ jwt = [] }: ServerConfig, path: string): Fault | undefined {
  const again = jwt.findIndex(({ issuer, audience }, i) =>
    jwt.slice(0, i).some((before) => before.issuer === issuer && before.audience === audience),
  );
  return again < 0
    ? undefined
    : { path: `${path}.jwt[${again}]`, wanted: 'of another issuer or audience' };
}

/** A witness that is named twice would seem to be two. */
function otherWitnesses({ witnesses = [] }: ServerConfig, path: string): Fault | undefined {
  const keys = witnesses.map(({ key }) => parseVerifierKey(key).publicKey);
  const again = keys.findIndex((key, i) => keys.indexOf(key) < i);
  return again < 0
    ? undefined
    : { path: `${path}.witnesses[${again}].key`, wanted: 'the key of another witness' };
}

function urlOf(value: unknown, schemes: readonly string[]): URL | undefined {
  if (
    typeof value !== 'string' ||
    /\s/.test(value) ||
    !/^[a-z]+:\/\//i.test(value) ||
    !URL.canParse(value)
  )
    return undefined;
  const url = new URL(value);
  return schemes.includes(url.protocol) && url.hostname !== '' ? url : undefined;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function isHost(value: string): boolean {
  return /^[A-Za-z0-9._:-]{1,255}$/.test(value) && !value.includes('://');
}
