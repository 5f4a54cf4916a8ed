import {
  type ActingIn,
  type ActingOptions,
  actingWrit,
  anchoredRoot,
  CliError,
  callLines,
  EXIT,
  type ExitCode,
  findingLines,
  headOf,
  Interrupted,
  inSession,
  jsonOption,
  line,
  loadTools,
  openAssize,
  readRecoveryKey,
  readWritFile,
  reportingWaits,
  requireAnchors,
  requireLocal,
  requireStoreFile,
  rulingLine,
  type Session,
  type SharedOptions,
  untilStopped,
  whenEffectsFree,
  withActingOptions,
} from '@assize/command';
import type { WritChain } from 'assize/host';
import { isInstance, type Json } from 'assize/internal/base';
import { DEFAULT_AGENT } from 'assize/internal/config';
import type { Tool } from 'assize/internal/effects';
import { type Ruling, RuntimeError } from 'assize/internal/runtime';
import { rulingView, shortId } from 'assize/internal/views';
import { type Command, Option } from 'commander';

interface Options extends SharedOptions, ActingOptions {
  readonly role?: string;
  readonly params?: Json;
  readonly args: Json;
  readonly writ?: string;
  readonly as?: string;
  readonly principal?: string;
  readonly key?: string;
}

export function propose(program: Command): void {
  withActingOptions(
    program
      .command('propose')
      .description('propose an action, as an agent would')
      .argument('<trajectory>', 'trajectory of the action')
      .argument('<action>', 'action of the domain')
      .option('--role <name>', 'role that performs the action (default: the only one)')
      .option('--params <json>', 'parameters of the role', jsonOption)
      .requiredOption('--args <json>', 'arguments of the action', jsonOption)
      .addOption(
        new Option(
          '--writ <file>',
          'writ that authorises the action; - for standard input',
        ).conflicts('as'),
      )
      .option(
        '--as <agent>',
        `or the agent, in a local store with a root key (default: ${DEFAULT_AGENT})`,
      )
      .option('--principal <name>', 'the proposing principal (default: the subject of the writ)')
      .option(
        '--key <text>',
        'idempotency key: a repetition with the same content gets the first ruling',
      ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n' +
        '  assize propose claims add_employee --role clerk --args \'{"employee":"ada"}\' --writ clerk.json --domain expenses.ts\n' +
        '  assize propose claims pay --role clerk --args \'{"id":"c1"}\' --writ clerk.json --key pay-c1 --domain expenses.ts --tools bank.ts\n' +
        '  assize propose claims pay --role clerk --args \'{"id":"c1"}\' --as agent:scout\n\n' +
        'Without --writ, the command signs a writ with the root key of the store. In a project, it has the grants of the agent.\n' +
        'An action that declares tool calls needs its tools, from the config or --tools: the calls run after the commit.\n' +
        'To try a rule and change nothing, propose on a branch (assize branch), or in a copy of the store.\n' +
        'Negative: the proposal is rejected, pending or frozen, or it is committed and an effect has not ended.',
    )
    .action(
      inSession((session, options: Options, trajectoryId: string, action: string) => {
        const writOf = proposerOf(session.storeUrl, options, action);
        return session.withStore('existing', async (store) => {
          await headOf(store, trajectoryId);
          const { wait, principal, key, role, params = {}, args } = options;
          if (role === undefined && options.params !== undefined)
            throw new CliError('usage', 'The parameters are those of a role. Pass --role too.');
          const tools = await loadTools(options.tools);
          const recovery = readRecoveryKey(options.recoveryKey);
          const assize = await openAssize(
            reportingWaits(store, wait),
            session.storeUrl,
            options,
            tools,
            recovery,
          );
          const { interruption } = session;
          const ruling = await untilStopped(assize, tools, interruption, async () => {
            const trajectory = await assize.open(trajectoryId);
            if (tools.length > 0) {
              await whenEffectsFree(interruption, wait, (signal) => assize.recoverEffects(signal));
              interruption.throwIfAborted();
            }
            const made = await trajectory.propose({
              action,
              ...(role !== undefined && { role: { name: role, params } }),
              args,
              writ: await writOf({ store, assize, trajectory }, tools),
              ...(principal !== undefined && { principal }),
              ...(key !== undefined && { idempotencyKey: key }),
            } as never);
            // The buffered effects run before this returns.
            await assize.close();
            return made;
          }).catch((error: unknown) => {
            if (isInstance(error, Interrupted))
              throw new Interrupted(error.signal, true, 'nothing was proposed');
            throw tools.length === 0 &&
              isInstance(error, RuntimeError) &&
              error.code === 'bad_argument'
              ? withoutTools(action, error)
              : error;
          });
          return say(session, ruling, options);
        });
      }),
    );
}

/**
 * The writ of the file, or that of `--as`. Both are refused here, before the store is opened, if
 * they can't count.
 *
 * @throws CliError; ConfigError
 */
function proposerOf(
  storeUrl: string,
  { writ, as = DEFAULT_AGENT, anchors }: Options,
  action: string,
): (place: ActingIn, tools: readonly Tool[]) => Promise<WritChain> {
  if (writ !== undefined) {
    const held = readWritFile(writ);
    requireStoreFile(storeUrl);
    requireAnchors(storeUrl, anchors);
    return async () => held;
  }
  requireLocal(storeUrl, 'a server must authenticate its agents. Pass --writ FILE.');
  const root = anchoredRoot(
    storeUrl,
    ' to sign the writ of --as. Pass --writ FILE, or create the store with assize create: it makes a root key beside it.',
  );
  return (place, tools) => actingWrit(root, place, { agent: as, action, tools });
}

function withoutTools(action: string, cause: unknown): CliError {
  return new CliError(
    'usage',
    `The action ${action} makes tool calls. Pass the module of their tools with --tools FILE.`,
    {
      cause,
    },
  );
}

function say(
  { json, out, again }: Session,
  ruling: Ruling,
  { domain = [], tools }: Options,
): ExitCode {
  if (json) out.document(rulingView(ruling));
  else {
    out.line(rulingLine(ruling));
    for (const finding of findingLines(ruling)) out.line(finding);
    if (ruling.ruling === 'escalated') {
      const modules = [
        ...domain.map((file) => ['--domain', file]),
        ...tools.map((file) => ['--tools', file]),
      ];
      const given = modules.map(([option, file]) => ` ${option} ${file}`).join('');
      out.line(
        line`Show it with assize pending${again}, and approve it with assize approve ${shortId(ruling.pending)} --as PRINCIPAL${given}${again}.`,
      );
    }
    for (const told of callLines(ruling)) out.line(told);
  }
  return ruling.ruling === 'committed' && (ruling.effects ?? 'settled') === 'settled'
    ? EXIT.ok
    : EXIT.negative;
}
