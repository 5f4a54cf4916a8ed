import {
  anchorsOption,
  badFile,
  CliError,
  domainOption,
  EXIT,
  entryAt,
  everyDomain,
  findEntry,
  headOf,
  importModule,
  inSession,
  loadTools,
  lookedAt,
  note,
  type OpeningOptions,
  positive,
  projectPolicy,
  readAnchors,
  readingAssize,
  readJson,
  readWritFile,
  repeatable,
  requireAnchors,
  requireStoreFile,
  runtimeKeys,
  type SharedOptions,
  signerOption,
  toolsOption,
  upTo,
  watchedStore,
  withSharedOptions,
} from '@assize/command';
import type { Tool } from 'assize/internal/effects';
import type { EntryRow } from 'assize/internal/ledger';
import { findDomain } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import type { Command } from 'commander';
import { type Simulation, simulate, simulationDocument, type ToolSimulator } from '#agents';
import { simulationNamed } from './named-simulation.ts';
import { recordingTo } from './record-file.ts';
import { printSimulation } from './simulation-text.ts';
import { type VariantOptions, variantsOf } from './variants.ts';

interface Options extends SharedOptions, OpeningOptions, VariantOptions {
  readonly tools: readonly string[];
  readonly writ: readonly string[];
  readonly simulation?: string;
  readonly simulators?: string;
  readonly samples: number;
  readonly turns?: number;
  readonly seed?: string;
  readonly record?: string;
}

const SAMPLES_MAX = 1_000;
const TURNS = 100;

export function simulateCommand(program: Command): void {
  withSharedOptions(
    program
      .command('simulate')
      .description(
        'continue a trajectory in other ways, in memory, and compare the results with the record',
      )
      .argument('<trajectory>', 'TRAJECTORY, TRAJECTORY@SEQ, or the id of the last shared entry')
      .argument('[files...]', 'modules that export agents, as for assize run: one variant each')
      .option(
        '--variants <file>',
        'module that exports variants: a list, or a function that returns one',
      )
      .addOption(
        repeatable('--model <model>', 'a model: openai:NAME, openai:NAME@URL or anthropic:NAME'),
      )
      .option('--text-tools', 'describe actions in the prompt, for servers without tool calls')
      .addOption(
        repeatable('--policy <file>', 'a policy: rule table in JSON, rules file or Cedar policy'),
      )
      .option('--schema <file>', 'schema of Cedar policies: the text form of Cedar, or FILE.json')
      .addOption(
        repeatable('--instead <domain>', 'another version of the domain: FILE, NAME, NAME@FILE'),
      )
      .option('--baseline', 'also variants without a --policy, and without an --instead')
      .option('--simulation <name>', 'simulation of the config: its variants and its simulators')
      .option(
        '--simulators <file>',
        'answers to calls that the record does not have: JSON, or a module',
      )
      .option(
        '--people <decision>',
        'of approvals: recorded, wait, approve:PRINCIPAL, reject:PRINCIPAL (default: recorded)',
      )
      .option('--samples <n>', 'samples of each variant', upTo(SAMPLES_MAX), 1)
      .option(
        '--turns <n>',
        `maximum number of turns of a sample (default: ${TURNS}, or that of the config)`,
        positive,
      )
      .option('--seed <text>', 'start of all chance (default: 0)')
      .option('--fresh', 'ask every question again, also if the record has its answer')
      .option(
        '--record <file>',
        'SQLite file that keeps the answers, so that a repeated simulation asks nothing',
      )
      .addOption(
        repeatable(
          '--writ <file>',
          'writ of the agent that is its subject, for agents without a writ',
        ),
      )
      .addOption(domainOption)
      .addOption(anchorsOption)
      .addOption(signerOption)
      .addOption(toolsOption),
  )
    .addHelpText(
      'after',
      '\nExamples:\n' +
        '  assize lab simulate claim-17 desk.ts --model openai:gpt-5 --model anthropic:claude-sonnet-4-5 --samples 5\n' +
        '  assize lab simulate claim-17@12 desk.ts --policy stricter.json --tools bank.ts --simulators bank.json\n' +
        '  assize lab simulate claim-17 --variants prompts.ts --record answers.db --json\n' +
        '  assize lab simulate claim-17@12 --simulation careful --config assize.config.ts\n\n' +
        'Each combination of a file, a --model, a --policy and an --instead is one variant.\n' +
        'Nothing of the store is written, and no function of a tool that acts is called. Models are asked.\n' +
        'Negative: a sample failed, or a call had no answer.',
    )
    .action(
      inSession(async (session, options: Options, named: string, files: readonly string[]) => {
        requireStoreFile(session.storeUrl);
        requireAnchors(session.storeUrl, options.anchors);
        const writs = options.writ.map(readWritFile);
        const configured =
          options.simulation === undefined ? undefined : simulationNamed(options.simulation);
        const simulators = {
          ...configured?.simulators,
          ...(options.simulators !== undefined && (await simulatorsIn(options.simulators))),
        };
        const tools = await loadTools(options.tools);
        const domains = await everyDomain(options.domain);
        const policy = await projectPolicy();
        return session.withStore('readonly', async (store) => {
          const at = await lastSharedEntry(store, named);
          const domain = findDomain(domains, await readingAssize(store).domainAt(at));
          const signal = session.interruption;
          const inputs = { domain, writs, signal };
          const prepared = await configured?.prepared(store, at.trajectory_id, inputs);
          const variants = [
            ...(prepared?.variants ?? []),
            ...(await variantsOf(files, options, inputs)),
          ];
          if (variants.length === 0) throw noVariants();
          const simulation = await recordingTo(options.record, (record) =>
            simulate(
              {
                store: watchedStore(store, signal),
                oracleStore: store,
                trajectoryId: at.trajectory_id,
              },
              {
                ...{
                  domain,
                  tools,
                  variants,
                  simulators,
                  signal,
                  at: at.seq,
                  samples: options.samples,
                },
                anchors: [
                  ...readAnchors(session.storeUrl, options.anchors),
                  ...(prepared?.anchors ?? []),
                ],
                limits: { turns: options.turns ?? configured?.turns ?? TURNS },
                ...runtimeKeys({ signer: options.signer }),
                ...(policy && { policy }),
                ...(options.seed !== undefined && { seed: options.seed }),
                ...(record !== undefined && { record }),
              },
            ),
          );
          warnOfUnknownTools(simulators, [
            ...tools,
            ...variants.flatMap((variant) => variant.tools ?? []),
          ]);
          if (session.json) session.out.document(simulationDocument(simulation));
          else printSimulation(session.out, simulation);
          return isComplete(simulation) ? EXIT.ok : EXIT.negative;
        });
      }),
    );
}

/** A simulator that answers no tool may have a mistyped name. */
function warnOfUnknownTools(simulators: object, tools: readonly Tool[]): void {
  const known = new Set(tools.map(({ name }) => name));
  const unknown = Object.keys(simulators).filter((name) => !known.has(name));
  if (unknown.length > 0)
    note(
      `The simulators name ${unknown.join(', ')}, and no such tool is loaded. Tools: ${[...known].join(', ') || 'none'}; load more with --tools FILE.`,
    );
}

function noVariants(): CliError {
  const advice = 'Name a file with agents, or pass --variants FILE or --simulation NAME.';
  return new CliError('usage', `The simulation has no variants. ${advice}`);
}

/**
 * The entry after which the variants go on: of `TRAJECTORY@SEQ`, of an id, or the first of a
 * trajectory.
 *
 * @throws CliError
 */
async function lastSharedEntry(store: Store, named: string): Promise<EntryRow> {
  const [, trajectory, seq] = /^(.*)@(\d{1,15})$/.exec(named) ?? [];
  if (trajectory !== undefined) return entryAt(store, trajectory, Number(seq));
  if ((await store.head(named)) !== undefined) return entryAt(store, named, 0);
  return /^[0-9a-f]{8,64}$/i.test(named) ? findEntry(store, named) : headOf(store, named);
}

function isComplete({ variants }: Simulation): boolean {
  return variants.every(({ outcomes }) => outcomes.no_answer === 0 && outcomes.failed === 0);
}

/**
 * The simulators of a JSON file, or those that a module exports as `simulators`.
 *
 * @throws CliError
 */
async function simulatorsIn(file: string): Promise<{ readonly [tool: string]: ToolSimulator }> {
  const found: unknown = file.endsWith('.json') ? readJson(file) : await exportedSimulators(file);
  if (typeof found === 'object' && found !== null && !Array.isArray(found))
    return found as { readonly [tool: string]: ToolSimulator };
  throw badFile(file, 'it has no simulators; give it an object with one for each tool');
}

async function exportedSimulators(file: string): Promise<unknown> {
  const module = await importModule(
    file,
    'simulators',
    'Name a JSON file, or a module that exports simulators',
  );
  return lookedAt(
    file,
    'simulators',
    () => (module as { readonly simulators?: unknown }).simulators,
  );
}
