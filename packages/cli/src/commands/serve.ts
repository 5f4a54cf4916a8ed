import { serverLogKeys } from '@assize/audit/internal/commands/log-files.ts';
import {
  bold,
  CliError,
  described,
  EXIT,
  httpUrl,
  inSession,
  line,
  note,
  project,
  projectPolicy,
  type SharedOptions,
  storeFormOf,
  withSharedOptions,
} from '@assize/command';
import { isRulesFile } from '@assize/gate/internal/commands/is-rules-file.ts';
import { rulesFileIn, trialBeside } from '@assize/gate/internal/commands/rules-files.ts';
import {
  faultText,
  observationOf,
  observingText,
  type Rules,
  type RulesFile,
  rulesPolicy,
  type TrialSet,
  warningsOf,
} from '@assize/gate/internal/gateway';
import { neverMet } from '@assize/gate/internal/hooks';
import { serve as startServer } from '@assize/server/internal';
import { parseRuleTable, ruleTable } from 'assize/internal/authority';
import { loadConfig, type ResolvedConfig, rootKeyOf } from 'assize/internal/config';
import { systemClock } from 'assize/internal/oracle';
import { openStore, sealKeys } from 'assize/internal/stores';
import { type Command, InvalidArgumentError } from 'commander';
import { builtConsole, builtDocs, bundleVerifiers } from '../files/built-console.ts';
import { projectDomains } from '../store/project-domains.ts';
import { isStartedOver, letIn, startOver } from './serve-dev.ts';

interface Options extends SharedOptions {
  readonly config?: string;
  readonly port?: number;
  readonly host?: string;
  readonly peerUrl?: string;
  readonly signIn?: string;
  readonly tour?: boolean;
  readonly fresh?: boolean;
  readonly dev?: boolean;
}

export function serve(program: Command): void {
  withSharedOptions(
    program
      .command('serve')
      .description('run the HTTP server: agents propose, people decide')
      .option('--port <n>', 'port (default: 4517; 0: a free one)', portOf)
      .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
      .option(
        '--peer-url <url>',
        'address at which other servers of the store reach this one',
        peerUrlOf,
      )
      .option('--sign-in <principal>', 'print a link that signs this principal in, once')
      .option('--tour', 'serve sample worlds from ./assize-tour.db, and say what to try')
      .option('--fresh', 'with --tour: start the sample worlds over')
      .option('--dev', 'serve a throw-away store, and start over when a file changes'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize serve\n  assize serve --config assize.config.ts --port 8080\n\n' +
        'The log is JSON on standard error. Ctrl-C and SIGTERM stop the server within 20 seconds.\n' +
        'A public address needs TLS, or a proxy that the configuration states.',
    )
    .action(
      inSession(async ({ out, json, interruption, storeUrl }, options: Options) => {
        if (options.tour === true) {
          await (await import('../tour/tour.ts')).runTour({
            ...tourOf(options),
            json,
            out,
            interruption,
          });
          return EXIT.ok;
        }
        if (options.fresh === true)
          throw new CliError('usage', '--fresh belongs to --tour. Pass both, or neither.');
        const isDev = options.dev === true;
        if (isDev && !isStartedOver()) {
          await startOver(interruption);
          return EXIT.ok;
        }
        const loaded =
          project() ?? (await loadConfig({ store: storeUrl, archive: options.archive }));
        const config = {
          ...loaded,
          ...(isDev && { store: 'memory:' }),
          server: {
            ...loaded.server,
            ...(options.port !== undefined && { port: options.port }),
            ...(options.host !== undefined && { host: options.host }),
            ...(options.peerUrl !== undefined && { peerUrl: options.peerUrl }),
          },
        };
        if (config.principals.size === 0) note(withoutPrincipals(config));
        const form = await storeFormOf(config.store);
        await form?.requireKey(config.store);
        const root = rootKeyOf(config.store);
        if (root.created)
          note(
            `Created the root key ${root.file}. It grants all authority in this store: keep it secret.`,
          );
        const served = await form?.serve(config.store, { root, onFailure });
        const store =
          served?.store ??
          (await openStore(config.store, { archive: config.archive, ...sealKeys(root) }));
        const url = served?.url ?? config.store;
        try {
          if ((await store.sealState()) === 'absent')
            note(
              'The store is not sealed, so who can write to its database can add entries, approvals too. Stop its processes, and seal it with assize keys seal.',
            );
          const file = rulesOf(config);
          const rules = file?.rules;
          const domains = await projectDomains(file, config.tools);
          const trial = rules && trialBeside(config.policyFile as string);
          for (const text of judgingTexts(rules, trial)) note(text);
          const serving = await startServer({
            config: { ...config, store: url },
            ...{ store, deployment: served?.deployment, root, domains, rules, trial },
            logKeys: () => serverLogKeys(url, root),
            policy: rules === undefined ? await projectPolicy() : rulesPolicy(rules),
            ...{ console: await builtConsole(), docs: builtDocs() },
            verifiers: await bundleVerifiers(),
            policyOf: (rules) => ruleTable(parseRuleTable(rules)),
            log: (text) => void process.stderr.write(text),
          });
          const entrances = isDev ? await letIn(serving, loaded) : [];
          const link =
            options.signIn === undefined ? undefined : await serving.signInLink(options.signIn);
          if (json)
            out.document({ url: serving.url, ...(link !== undefined && { sign_in: link }) });
          else {
            out.line(line`Assize listens on ${bold(serving.url)}`);
            if (link !== undefined) out.line(line`Sign in, once: ${link}`);
            for (const text of entrances) out.line(text);
          }
          try {
            await Promise.race([stopped(interruption), serving.lost]);
          } catch (error) {
            note(
              'The server ends, because its store must be opened again. Start the server again.',
            );
            throw error;
          } finally {
            await serving.stop();
          }
        } finally {
          await store.close();
        }
        return EXIT.ok;
      }),
    );
}

/**
 * The options of a tour. A tour has its own store and configuration. ASSIZE_STORE is ignored.
 *
 * @throws CliError `usage`
 */
function tourOf({ config, signIn, host, port, fresh = false }: Options) {
  if (config !== undefined || signIn !== undefined)
    throw new CliError('usage', '--tour has its own configuration. Omit --config and --sign-in.');
  return { host, port, fresh };
}

/** A server without principals answers probes, and refuses every other request. */
function withoutPrincipals({ file }: ResolvedConfig): string {
  const why =
    file === undefined ? 'There is no assize.config.ts here or above' : `${file} has no principals`;
  return `${why}, so no agent and no person can use this server. Write a project with assize init, or see sample worlds with assize serve --tour.`;
}

/** The rules file of the configuration. Its warnings are printed. */
function rulesOf({ policyFile, tools }: ResolvedConfig): RulesFile | undefined {
  if (policyFile === undefined || !isRulesFile(policyFile)) return undefined;
  const file = rulesFileIn(policyFile);
  for (const warning of [...warningsOf(file, tools), ...neverMet(file)]) note(faultText(warning));
  return file;
}

/** Texts about rules that only judge after the start. */
function judgingTexts(rules: Rules | undefined, trial: TrialSet | undefined): string[] {
  const now = systemClock.now();
  const observed = rules && observationOf(rules, now);
  const isTrying = trial !== undefined && now < trial.until;
  return [
    ...(observed === undefined ? [] : [`The rules are ${observingText(observed)}.`]),
    ...(isTrying ? [`The trial set ${trial.rules.id} judges until ${trial.until}.`] : []),
  ];
}

/** A failure of the root log before the server has its own log. */
function onFailure(error: unknown): void {
  note(described(error).message);
}

function stopped(interruption: AbortSignal): Promise<void> {
  const done = Promise.withResolvers<void>();
  if (interruption.aborted) done.resolve();
  interruption.addEventListener('abort', () => done.resolve(), { once: true });
  return done.promise;
}

function peerUrlOf(text: string): string {
  const { origin, href } = httpUrl(text) ?? {};
  if (origin !== undefined && href === `${origin}/`) return origin;
  throw new InvalidArgumentError('It must be an http or https URL without user, path and query.');
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a port from 0 to 65535.');
}
