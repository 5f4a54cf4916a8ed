import { listedAgents, loadAgentsFile } from '@assize/agents/internal/commands/agents-file.ts';
import { recordingTo } from '@assize/agents/internal/commands/record-file.ts';
import {
  between,
  CliError,
  configOption,
  count,
  domainsNamed,
  EXIT,
  inSession,
  readJson,
  type Session,
  type StorelessOptions,
  upTo,
  withoutStore,
} from '@assize/command';
import type { Domain } from 'assize/internal/kernel';
import { type Command, Option } from 'commander';
import {
  COMPARE_LIMITS,
  type ComparedAgent,
  type CompareOptions,
  compareArchitectures,
} from '../index.ts';
import {
  type ArchitectureOptions,
  architecturesOf,
  requireJudgeOptions,
} from './architectures-of.ts';
import { printComparison } from './comparison-text.ts';

interface Options extends StorelessOptions, ArchitectureOptions {
  readonly agents?: string;
  readonly population?: number;
  readonly turns?: number;
  readonly schedules?: number;
  readonly seed?: number;
  readonly state?: string;
}

export function compare(program: Command): void {
  withoutStore(
    program
      .command('compare')
      .description(
        'run the same agents under microservices, a judge and the kernel, and list the broken rules',
      )
      .argument('<domain>', 'FILE, NAME or NAME@FILE')
      .addOption(
        new Option(
          '--agents <file>',
          'module that exports agents, as for assize run (default: generated agents)',
        ).conflicts('population'),
      )
      .option(
        '--population <n>',
        'generated agents of each case (default: 2)',
        between(2, COMPARE_LIMITS.population),
      )
      .option(
        '--turns <n>',
        'how often each agent reads and submits (default: 1)',
        upTo(COMPARE_LIMITS.turns),
      )
      .option(
        '--schedules <n>',
        'most schedules that each architecture runs (default: 400)',
        upTo(COMPARE_LIMITS.schedules),
      )
      .option('--seed <n>', 'start of all chance (default: 1)', count)
      .option('--state <file>', 'state to begin with, in JSON (default: that of the domain)')
      .option(
        '--judge <model>',
        'model of an LLM judge: openai:NAME, openai:NAME@URL or anthropic:NAME',
      )
      .option('--brief <file>', 'text for the judge, such as the policy in words')
      .option(
        '--record <file>',
        'SQLite file that keeps the answers of the judge, so that a repetition asks nothing',
      )
      .option('--recorded', 'ask no model: all answers of the judge come from --record')
      .option('--architectures <file>', 'module that exports architectures to compare too')
      .addOption(configOption),
  )
    .addHelpText(
      'after',
      '\nExamples:\n' +
        '  assize-experiments compare budget\n' +
        '  assize-experiments compare budget --judge openai:llama3@http://127.0.0.1:11434/v1 --schedules 40 --record judge.db\n' +
        '  assize-experiments compare desk.ts --agents agents.ts --json\n\n' +
        'Nothing is written except the record, and no tool is called.\n' +
        'Negative: a state that the kernel committed breaks a rule.',
    )
    .action(
      inSession(async (session, options: Options, named: string) => {
        requireJudgeOptions(options);
        const domain = await onlyDomain(named);
        const settings = await settingsOf(session, options, domain);
        const comparison = await recordingTo(options.record, async (record) =>
          compareArchitectures(domain, {
            ...settings,
            architectures: await architecturesOf(options, record),
          }),
        );
        session.progress.end();
        if (session.json) session.out.document(comparison);
        else printComparison(session.out, comparison, options);
        const kernel = comparison.architectures.find(
          ({ architecture }) => architecture === 'kernel',
        );
        return kernel?.broken_schedules === 0 ? EXIT.ok : EXIT.negative;
      }),
    );
}

async function settingsOf(
  { interruption, progress }: Session,
  { agents, population, turns, schedules, seed, state }: Options,
  domain: Domain,
): Promise<CompareOptions> {
  return {
    ...(agents !== undefined && { agents: await comparedAgentsIn(agents, domain, interruption) }),
    ...(population !== undefined && { population }),
    ...(turns !== undefined && { turns }),
    ...(schedules !== undefined && { schedules }),
    ...(seed !== undefined && { seed }),
    ...(state !== undefined && { states: [readJson(state)] }),
    signal: interruption,
    onProgress: (done, total) => progress.report('running schedules', done, total),
  };
}

/** @throws CliError */
async function onlyDomain(named: string): Promise<Domain> {
  const found = await domainsNamed(named);
  const [domain, other] = found;
  if (domain !== undefined && other === undefined) return domain;
  const names = found.map(({ name }) => name).join(', ');
  throw new CliError(
    'usage',
    `The file ${named} has several domains: ${names}. Pass NAME@${named}.`,
  );
}

/**
 * The agents of a file for a comparison: each decides by its slice alone, with `decide`.
 *
 * @throws CliError
 */
async function comparedAgentsIn(
  file: string,
  domain: Domain,
  signal: AbortSignal,
): Promise<ComparedAgent[]> {
  const loaded = await loadAgentsFile(file);
  const listed = await listedAgents(loaded, { domain, signal, model: undefined, writs: [] });
  return listed.map(({ name, role, entry }, i) => {
    const decide = entry.decide as ComparedAgent['decide'] | undefined;
    if (typeof decide !== 'function')
      throw new CliError(
        'bad_input',
        `The file ${loaded.path} is not valid: agent ${i + 1} has no decide. Give it a function of its slice.`,
      );
    return { name: name === '' ? `agent ${i + 1}` : name, role, decide: decide.bind(entry) };
  });
}
