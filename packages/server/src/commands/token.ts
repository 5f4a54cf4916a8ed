import {
  CliError,
  EXIT,
  type ExitCode,
  inSession,
  line,
  project,
  repeatable,
  type Session,
  type SharedOptions,
  serverAddress,
  storeFormOf,
  upTo,
  withSharedOptions,
} from '@assize/command';
import { COMMAND_LINE, publicAddress, signInLink, type TokenRow } from '@assize/command/operation';
import { addMicros, type Instant } from 'assize/internal/canon';
import {
  loadConfig,
  type PrincipalKind,
  type ResolvedConfig,
  rootKeyOf,
} from 'assize/internal/config';
import { systemClock } from 'assize/internal/oracle';
import { shortTime } from 'assize/internal/views';
import { type Command, Option } from 'commander';
import { type Credentials, credentialsOf } from '../principals/credentials.ts';

interface Options extends SharedOptions {
  readonly config?: string;
}

interface SignInOptions extends Options {
  readonly url?: string;
}

interface CreateOptions extends Options {
  readonly days: number;
  readonly kind: readonly PrincipalKind[];
  readonly note?: string;
}

const DAYS = 30;
const DAY_MICROS = 86_400_000_000;

export function token(program: Command): void {
  const command = program
    .command('token')
    .description('create, list and revoke bearer tokens of a server');
  withSharedOptions(
    command
      .command('create')
      .description('create a token for a principal of the configuration, and print it once')
      .argument('<principal>', 'name of the principal, such as agent:scout')
      .addOption(
        new Option('--days <n>', 'days until the token expires').argParser(upTo(365)).default(DAYS),
      )
      .addOption(
        repeatable('--kind <kind>', 'only for this kind: agent, counselor, auditor or admin'),
      )
      .option('--note <text>', 'note in the list of tokens'),
  ).action(inStore(create));
  withSharedOptions(
    command.command('list').description('list the tokens, without their secrets'),
  ).action(inStore(list));
  withSharedOptions(
    command
      .command('revoke')
      .description('revoke a token; every server refuses it within a second')
      .argument('<id>', 'id of the token, as listed'),
  ).action(inStore(revoke));
  withSharedOptions(
    command
      .command('sign-in')
      .description(
        'print a code that signs a principal in at the pages of a server, once, within ten minutes',
      )
      .argument('<principal>', 'name of the principal')
      .addOption(
        new Option('--url <url>', 'address of the server (default: that of the configuration)').env(
          'ASSIZE_URL',
        ),
      ),
  ).action(inStore(signIn));
}

type Work<O extends Options> = (
  session: Session,
  /** Creates the root key of the store if there is none. */
  credentials: () => Credentials,
  config: ResolvedConfig,
  options: O,
  argument: string,
) => Promise<ExitCode>;

/** A command on the tokens of a store, with the root key of the store. */
function inStore<O extends Options>(work: Work<O>) {
  return inSession(async (session: Session, options: O, argument: string = '') => {
    const config = project() ?? (await loadConfig({ store: session.storeUrl }));
    // Tokens of a deployment count at every server.
    const root = { root: true };
    await (await storeFormOf(session.storeUrl))?.requireKey(session.storeUrl);
    return session.withStore(
      'existing',
      (store) => {
        const credentials = () => credentialsOf(store, rootKeyOf(session.storeUrl));
        return work(session, credentials, config, options, argument);
      },
      root,
    );
  });
}

/** @throws CliError `not_found` */
function principalOf({ principals, file }: ResolvedConfig, name: string) {
  const principal = principals.get(name);
  if (principal !== undefined) return principal;
  const place = file ?? 'The configuration';
  throw unknown(name, place, principals.keys(), 'add it to `principals`');
}

function unknown(name: string, place: string, known: Iterable<string>, or: string): CliError {
  const names = [...known].join(', ') || 'none';
  return new CliError(
    'not_found',
    `${place} has no principal ${name === '' ? "''" : name}. Name one of: ${names}, or ${or}.`,
  );
}

/**
 * Without a configuration here, such as that of the tour, the principals with a token of the store
 * are known. The server of the store decides about the name again.
 *
 * @throws CliError `not_found`
 */
async function requireKnown(
  config: ResolvedConfig,
  { tokens }: Credentials,
  name: string,
): Promise<void> {
  if (config.file !== undefined) return void principalOf(config, name);
  const known = new Set<string>();
  for await (const { principal } of tokens.list()) known.add(principal);
  if (known.has(name)) return;
  const place = 'There is no configuration here, and a token of the store';
  throw unknown(name, place, known, 'run the command in the folder of the configuration');
}

async function create(
  { json, out }: Session,
  credentials: () => Credentials,
  config: ResolvedConfig,
  { days, kind, note }: CreateOptions,
  name: string,
): Promise<ExitCode> {
  const { kinds } = principalOf(config, name);
  const extra = kind.find((one) => !kinds.includes(one));
  if (extra !== undefined)
    throw new CliError(
      'usage',
      `${name} is not of the kind ${extra}. Pass one of: ${kinds.join(', ')}.`,
    );
  const created = systemClock.now();
  const { token, row } = await credentials().tokens.create({
    principal: name,
    kinds: kind.length > 0 ? kind : kinds,
    created,
    expires: addMicros(created, days * DAY_MICROS),
    by: COMMAND_LINE,
    ...(note !== undefined && { note }),
  });
  if (json) out.document({ token, ...row });
  else out.line(line`${token}`);
  return EXIT.ok;
}

async function list({ json, out }: Session, credentials: () => Credentials): Promise<ExitCode> {
  const rows: TokenRow[] = [];
  for await (const row of credentials().tokens.list()) rows.push(row);
  const now: Instant = systemClock.now();
  if (json) out.document({ tokens: rows.map(({ writ: _writ, ...row }) => row) });
  else
    out.table(
      [
        { title: 'id' },
        { title: 'principal' },
        { title: 'for' },
        { title: 'expires' },
        { title: 'by' },
        { title: 'note' },
      ],
      rows.map(({ id, principal, kinds, expires, by, note }) => [
        id,
        principal,
        kinds.join(', '),
        expires <= now ? `expired ${shortTime(expires)}` : shortTime(expires),
        by?.principals.join(', ') || (by?.method ?? ''),
        note ?? '',
      ]),
    );
  return EXIT.ok;
}

async function revoke(
  { json, out }: Session,
  credentials: () => Credentials,
  _config: ResolvedConfig,
  _options: Options,
  id: string,
): Promise<ExitCode> {
  if (!(await credentials().tokens.revoke(id)))
    throw new CliError(
      'not_found',
      `The store has no token ${id}. List tokens with assize token list.`,
    );
  if (json) out.document({ revoked: id });
  else out.line(line`revoked ${id}`);
  return EXIT.ok;
}

async function signIn(
  { json, out }: Session,
  credentials: () => Credentials,
  config: ResolvedConfig,
  { url }: SignInOptions,
  name: string,
): Promise<ExitCode> {
  const known = credentials();
  await requireKnown(config, known, name);
  const address = addressOf(config, url);
  const link = signInLink(address, await known.sessions.createCode(name, systemClock.now()));
  if (json) out.document({ sign_in: link });
  else out.line(line`${link}`);
  return EXIT.ok;
}

/** @throws CliError `usage` */
function addressOf({ server }: ResolvedConfig, url: string | undefined): string {
  if (url === undefined && server.port !== 0) return publicAddress(server);
  if (url === undefined)
    throw new CliError(
      'usage',
      'The configuration leaves the port open. Pass --url with the address of the server.',
    );
  return serverAddress(url);
}
