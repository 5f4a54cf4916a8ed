import {
  CliError,
  domainsNamed,
  EXIT,
  entryAt,
  headOf,
  inSession,
  type PolicyFiles,
  policyFrom,
  positive,
  projectPolicy,
  type SharedOptions,
  watchedStore,
  withSharedOptions,
} from '@assize/command';
import type { Policy } from 'assize/internal/authority';
import type { Domain } from 'assize/internal/kernel';
import type { Store } from 'assize/internal/stores';
import { readable } from 'assize/internal/views';
import { type Command, Option } from 'commander';
import { backtestStore, domainToRun } from '#replay';
import { backtestSum, printBacktest } from './backtest-text.ts';
import { domainsFor } from './deep-replay-text.ts';

interface Options extends SharedOptions, PolicyFiles {
  readonly domain: readonly string[];
  readonly limit?: number;
}

export function backtest(program: Command): void {
  withSharedOptions(
    program
      .command('backtest')
      .description('list rulings that differ under another policy or another version of a domain')
      .argument('<trajectory...>', 'trajectories with the proposals to adjudicate again')
      .option(
        '--policy <file>',
        'rule table in JSON, or Cedar policies (FILE.cedar, with --schema); default: that of the config',
      )
      .option('--schema <file>', 'schema of Cedar policies: the text form of Cedar, or FILE.json')
      .addOption(
        new Option(
          '--domain <domain>',
          'FILE (a module that exports domains), the NAME of a shipped domain, or NAME@FILE (repeatable)',
        )
          .argParser((text: string, before: readonly string[]) => [...before, text])
          .default([], 'the recorded ones'),
      )
      .option(
        '--limit <n>',
        'maximum number of listed differences per trajectory; all are counted',
        positive,
      ),
  )
    .addHelpText(
      'after',
      'Negative: a ruling differs.\n' +
        'Each proposal is adjudicated on the recorded state before it, with the recorded arguments, observations and time.\n' +
        'Human decisions are not adjudicated. Proposals with erased or missing values are counted, and not adjudicated.',
    )
    .action(
      inSession(async (session, options: Options, named: readonly string[]) => {
        const isNothing =
          options.policy === undefined &&
          options.schema === undefined &&
          options.domain.length === 0;
        const policy: Policy | undefined =
          (await policyFrom(options)) ?? (isNothing ? await projectPolicy() : undefined);
        if (isNothing && policy === undefined)
          throw new CliError(
            'usage',
            'The backtest has nothing to try. Pass --policy FILE, --domain DOMAIN, or both.',
          );
        const instead = (await Promise.all(options.domain.map(domainsNamed))).flat();
        const { domains } = await domainsFor({ domain: [] });
        const trajectoryIds = [...new Set(named)];
        return session.withStore('readonly', async (store) => {
          for (const trajectory of trajectoryIds) await headOf(store, trajectory);
          await requireFitting(store, trajectoryIds, domains, instead);
          const reports = await backtestStore(watchedStore(store, session.interruption), {
            domains,
            instead,
            trajectoryIds,
            oracle: store,
            ...(policy === undefined ? {} : { policy }),
            ...(options.limit === undefined ? {} : { limit: options.limit }),
            onProgress: (done, total) =>
              session.progress.report('adjudicating entries', done, total),
          });
          session.progress.end();
          const sum = backtestSum(reports);
          if (session.json) session.out.document({ ...sum, reports });
          else printBacktest(session.out, reports, sum);
          return sum.different === 0 ? EXIT.ok : EXIT.negative;
        });
      }),
    );
}

/**
 * Checks before long work that each trajectory has a domain, and each tried domain a trajectory.
 *
 * @throws CliError; RuntimeError `domain_mismatch`
 */
async function requireFitting(
  store: Store,
  trajectoryIds: readonly string[],
  domains: readonly Domain[],
  instead: readonly Domain[],
): Promise<void> {
  const names = new Set<string>();
  for (const trajectoryId of trajectoryIds) {
    const first = readable(await entryAt(store, trajectoryId, 0))?.payload;
    // The backtest reports unreadable entries itself.
    if (first?.kind !== 'root' && first?.kind !== 'branch') continue;
    names.add(first.domain.name);
    if (!instead.some(({ name }) => name === first.domain.name))
      domainToRun(first.domain, { domains });
  }
  if (instead.length === 0 || instead.some(({ name }) => names.has(name))) return;
  const tried = [...new Set(instead.map(({ name }) => name))].join(', ');
  throw new CliError(
    'usage',
    `The trajectories have the domains ${[...names].join(', ')}, and --domain names ${tried}. Pass a version of a recorded domain.`,
  );
}
