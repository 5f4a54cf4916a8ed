import {
  CliError,
  domainOption,
  EXIT,
  entryAt,
  headOf,
  inSession,
  instantOrDay,
  policyFrom,
  positive,
  type SharedOptions,
  watchedStore,
  withSharedOptions,
} from '@assize/command';
import { isRulesFile } from '@assize/gate/internal/commands/is-rules-file.ts';
import { rulesFileIn } from '@assize/gate/internal/commands/rules-files.ts';
import { enforcing, gatewayUnder, rulesPolicy } from '@assize/gate/internal/gateway';
import type { Policy } from 'assize/internal/authority';
import type { Instant } from 'assize/internal/canon';
import type { Domain } from 'assize/internal/kernel';
import type { Store } from 'assize/internal/stores';
import { readable } from 'assize/internal/views';
import { type Command, Option } from 'commander';
import { backtestStore } from '#replay';
import { backtestSum, printBacktest } from './backtest-text.ts';
import { domainsFor } from './deep-replay-text.ts';

interface Options extends SharedOptions {
  readonly domain: readonly string[];
  readonly schema?: string;
  readonly from?: Instant;
  readonly to?: Instant;
  readonly limit?: number;
}

export function tryPolicy(command: Command): void {
  withSharedOptions(
    command
      .command('try')
      .description('list the recorded rulings that differ under a policy or a rules file')
      .argument('<file>', 'rules file such as assize.yaml, rule table in JSON, or Cedar policies')
      .argument(
        '[trajectory...]',
        'trajectories; default: those of the gateway domain, or all for other policies',
      )
      .addOption(domainOption)
      .option('--schema <file>', 'schema of Cedar policies: the text form of Cedar, or FILE.json')
      .addOption(
        new Option('--from <time>', 'first time: an instant, or a day').argParser(instantOrDay),
      )
      .addOption(
        new Option('--to <time>', 'end, which is excluded: an instant, or a day').argParser(
          instantOrDay,
        ),
      )
      .option('--limit <n>', 'maximum number of listed differences; all are counted', positive),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize policy try assize.yaml --store sqlite:./assize.db --from 2026-03-01\n\n' +
        'Each proposal is adjudicated on the recorded state before it. The first diverging ruling is first.\n' +
        'Negative: a ruling differs.',
    )
    .action(
      inSession(async (session, options: Options, path: string, named: readonly string[]) => {
        const { policy, instead } = await tried(path, options.schema);
        const { domains } = await domainsFor({ domain: [...options.domain] });
        return session.withStore('readonly', async (store) => {
          for (const trajectory of named) await headOf(store, trajectory);
          const trajectoryIds =
            named.length > 0 ? [...new Set(named)] : await concerned(store, instead);
          const reports = await backtestStore(watchedStore(store, session.interruption), {
            domains,
            instead,
            trajectoryIds,
            oracle: store,
            policy,
            ...(options.from === undefined ? {} : { from: options.from }),
            ...(options.to === undefined ? {} : { to: options.to }),
            onProgress: (done, total) =>
              session.progress.report('adjudicating entries', done, total),
            limit: ALL,
          });
          session.progress.end();
          const sum = backtestSum(reports);
          const listed = inOrder(reports, options.limit ?? LISTED);
          if (session.json)
            session.out.document({
              ...sum,
              differences: listed,
              reports: reports.map(withoutList),
            });
          else printBacktest(session.out, reports, sum, listed);
          return sum.different === 0 ? EXIT.ok : EXIT.negative;
        });
      }),
    );
}

/** How many differences are listed by default, and how many are sorted at most. */
const LISTED = 50;
const ALL = 100_000;

type Reports = Awaited<ReturnType<typeof backtestStore>>;

/** A rules file is tried as a whole: its policy, and the domain under its rules. */
async function tried(
  path: string,
  schema: string | undefined,
): Promise<{ policy: Policy; instead: Domain[] }> {
  if (isRulesFile(path)) {
    const rules = enforcing(rulesFileIn(path).rules);
    return { policy: rulesPolicy(rules), instead: [gatewayUnder(rules)] };
  }
  const policy = await policyFrom({ policy: path, ...(schema === undefined ? {} : { schema }) });
  return { policy: policy as Policy, instead: [] };
}

/** The trajectories of the tried domains, or all if none is tried. */
async function concerned(store: Store, instead: readonly Domain[]): Promise<string[]> {
  const all = (await store.trajectories()).map(({ trajectory_id }) => trajectory_id);
  if (instead.length === 0) return all;
  const found: string[] = [];
  for (const trajectory of all) {
    const first = readable(await entryAt(store, trajectory, 0))?.payload;
    const isRoot = first?.kind === 'root' || first?.kind === 'branch';
    if (isRoot && instead.some(({ name }) => name === first.domain.name)) found.push(trajectory);
  }
  if (found.length > 0) return found;
  throw new CliError(
    'not_found',
    `The store has no trajectory of the domain ${instead[0]?.name}. Name a trajectory.`,
  );
}

/** The first differences of all trajectories, in the order of their time. */
function inOrder(reports: Reports, limit: number): Reports[number]['differences'] {
  return reports
    .flatMap(({ differences }) => differences)
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.seq - b.seq))
    .slice(0, limit);
}

function withoutList({ differences: _listed, ...report }: Reports[number]): object {
  return report;
}
