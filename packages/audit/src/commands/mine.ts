import { existsSync } from 'node:fs';
import {
  CliError,
  EXIT,
  green,
  headOf,
  inSession,
  line,
  positive,
  readText,
  replaceFile,
  type Session,
  type SharedOptions,
  watchedStore,
  withSharedOptions,
} from '@assize/command';
import { rulesFileIn } from '@assize/gate/internal/commands/rules-files.ts';
import type { Rules } from '@assize/gate/internal/gateway';
import {
  domainCode,
  type GatewayRule,
  KINDS,
  type MinedCandidate,
  type MinedKind,
  type MineStoreOptions,
  type MiningReport,
  mineStore,
  rulesText,
  withRules,
} from '@assize/gate/internal/mining';
import { counted } from 'assize/internal/views';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { backtestRules } from '#replay';
import { printMined } from './mined-text.ts';

interface Options extends SharedOptions {
  readonly good?: string;
  readonly kind: readonly MinedKind[];
  readonly minSupport?: number;
  readonly exceptions?: number;
  readonly chance?: number;
  readonly rules?: string;
  readonly effect?: 'ask' | 'deny';
  readonly backtest: boolean;
  readonly accept: readonly string[];
  readonly write?: string;
  readonly code?: true;
}

export function mine(program: Command): void {
  withSharedOptions(
    program
      .command('mine')
      .description('list rules that recorded runs obey, each with its exceptions and a backtest')
      .argument('[trajectory...]', 'trajectories with the runs (default: all of the store)')
      .option(
        '--good <file>',
        'ids of the good runs, one a line; only these are mined (default: all runs)',
      )
      .addOption(
        new Option('--kind <kind>', `only rules of this kind: ${KINDS.join(', ')} (repeatable)`)
          .choices(KINDS)
          .argParser((text: string, before: readonly string[]) => [...before, kindNamed(text)])
          .default([], 'all'),
      )
      .option(
        '--min-support <n>',
        'least number of runs that a rule is about (default: 5)',
        positive,
      )
      .option(
        '--exceptions <share>',
        'largest share of cases that may break a rule (default: 0.05)',
        share,
      )
      .option(
        '--chance <share>',
        'expected share of listed rules that hold by chance (default: 0.05)',
        share,
      )
      .option(
        '--rules <file>',
        'rules file to which rules are added for the backtest (default: the rules in force)',
      )
      .addOption(
        new Option(
          '--effect <effect>',
          'for calls outside a bound or a set of values (default: ask)',
        ).choices(['ask', 'deny']),
      )
      .option('--no-backtest', 'do not rule on the recorded calls again')
      .addOption(
        new Option('--accept <rule>', 'id of a rule to write (repeatable)')
          .argParser((text: string, before: readonly string[]) => [...before, text])
          .default([], 'none'),
      )
      .addOption(
        new Option('--write <file>', 'rules file to which the accepted rules are added').conflicts(
          'code',
        ),
      )
      .option('--code', 'print the accepted rules as a TypeScript module for a domain'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n' +
        '  assize lab mine desk --kind ordering --kind approval\n' +
        '  assize lab mine desk --accept bound-3f2a91c0 --write assize.yaml\n\n' +
        'A run is a trajectory, or a session of a gateway: TRAJECTORY#SESSION.\n' +
        'Without --write and --code the accepted rules are printed as lines of a rules file.',
    )
    .action(
      inSession(async (session, options: Options, named: readonly string[]) => {
        const { accept, write, code, effect } = options;
        if ((write !== undefined || code === true) && accept.length === 0)
          throw new CliError(
            'usage',
            `The option --${code ? 'code' : 'write'} needs rules. Pass --accept RULE with an id of the list.`,
          );
        if (write !== undefined) requireRulesFile(write);
        const report = await minedReport(session, options, named);
        const chosen = [...new Set(accept)].map((id) => chosenRule(report, id));
        if (chosen.length === 0) printReport(session, report);
        else if (code === true)
          printText(session, report, domainCode(chosen, effect === undefined ? {} : { effect }));
        else if (write === undefined) printText(session, report, rulesText(writtenRules(chosen)));
        else addRules(session, report, writtenRules(chosen), write);
        return EXIT.ok;
      }),
    );
}

/** @throws CliError `usage` */
function requireRulesFile(path: string): void {
  if (existsSync(path)) return;
  throw new CliError(
    'usage',
    `There is no rules file ${path}, to which --write adds rules. Create it with a line such as "id: desk", or print the rules without --write.`,
  );
}

async function minedReport(
  session: Session,
  options: Options,
  named: readonly string[],
): Promise<MiningReport> {
  const {
    good,
    rules: rulesFile = options.write,
    kind,
    minSupport,
    exceptions,
    chance,
    effect,
  } = options;
  const rules: Rules | undefined =
    rulesFile === undefined ? undefined : rulesFileIn(rulesFile).rules;
  const settings: MineStoreOptions = {
    ...(named.length === 0 ? {} : { trajectoryIds: [...new Set(named)] }),
    ...(good === undefined ? {} : { good: runsIn(good) }),
    ...(rules === undefined ? {} : { rules }),
    ...(kind.length === 0 ? {} : { kinds: kind }),
    ...(minSupport === undefined ? {} : { minSupport }),
    ...(exceptions === undefined ? {} : { exceptions }),
    ...(chance === undefined ? {} : { chance }),
    ...(effect === undefined ? {} : { effect }),
  };
  return session.withStore('readonly', async (store) => {
    for (const trajectory of named) await headOf(store, trajectory);
    const report = await mineStore(watchedStore(store, session.interruption), {
      ...settings,
      ...(options.backtest && {
        backtest: (ledger, added, given) =>
          backtestRules(ledger, added, { ...given, oracle: store }),
      }),
      onProgress: (step, done, total) => session.progress.report(step, done, total),
    });
    session.progress.end();
    return report;
  });
}

/** @throws CliError `not_found` */
function chosenRule({ candidates }: MiningReport, id: string): MinedCandidate {
  const found = candidates.find((each) => each.id === id);
  if (found !== undefined) return found;
  throw new CliError(
    'not_found',
    `No mined rule has the id ${id}. List the rules with the same options, and pass one of their ids.`,
  );
}

/** @throws CliError `usage` for a rule that no rules file can express */
function writtenRules(chosen: readonly MinedCandidate[]): GatewayRule[] {
  return chosen.map(({ written, not_written }) => {
    if (written !== undefined) return written;
    throw new CliError('usage', `${not_written} Print the code with --code.`);
  });
}

/** Adds rules to a rules file. @throws CliError; GatewayError `bad_rules` */
function addRules(
  { json, out }: Session,
  report: MiningReport,
  rules: readonly GatewayRule[],
  file: string,
): void {
  replaceFile(file, withRules(readText(file), rules, file));
  if (json) out.document({ ...report, accepted: rulesText(rules), written: file });
  else
    out.line(
      line`${green('Added')} ${counted(rules.length, 'rule')} to ${file}. Check the file with assize policy check ${file}.`,
    );
}

function printReport({ json, out }: Session, report: MiningReport): void {
  if (json) out.document(report);
  else printMined(out, report);
}

function printText({ json, out }: Session, report: MiningReport, text: string): void {
  if (json) out.document({ ...report, accepted: text });
  else for (const each of text.trimEnd().split('\n')) out.line(line`${each}`);
}

/** @throws CliError `bad_input` for a file without a line */
function runsIn(path: string): string[] {
  const runs = readText(path)
    .split(/\r?\n/)
    .map((each) => each.trim())
    .filter((each) => each !== '');
  if (runs.length > 0) return runs;
  throw new CliError(
    'bad_input',
    `${path} names no run. Write the ids of the good runs, one a line, or omit --good.`,
  );
}

function kindNamed(text: string): MinedKind {
  const kind = KINDS.find((each) => each === text);
  if (kind === undefined) throw new InvalidArgumentError(`Choose from ${KINDS.join(', ')}.`);
  return kind;
}

function share(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && value <= 0.5) return value;
  throw new InvalidArgumentError('Pass a number from 0 to 0.5, such as 0.05.');
}
