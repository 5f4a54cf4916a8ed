import { join } from 'node:path';
import {
  CliError,
  EXIT,
  type ExitCode,
  inSession,
  line,
  type Session,
  upTo,
  withSharedOptions,
  writeNew,
} from '@assize/command';
import type { Command } from 'commander';
import type { Ontology } from '../index.ts';
import { type DraftCliOptions, draftInto } from './draft-module.ts';
import { loadOntology, ONTOLOGY_ARGUMENT } from './load.ts';
import { type ModelCliOptions, modelOf, withModelOptions } from './model.ts';
import { type RoleCliOptions, thresholdOption } from './roles.ts';

interface Options extends RoleCliOptions, ModelCliOptions, DraftCliOptions {}

/** They say how a model is asked, and mean nothing without one. */
const DRAFT_OPTIONS = ['rounds', 'bfo', 'record', 'timeLimit'] as const;

export function scaffoldOntology(command: Command): void {
  withSharedOptions(
    withModelOptions(
      command
        .command('scaffold')
        .description(
          'write a domain skeleton: a module that compiles, a test that fails until each invariant is written, a README; with a model, a draft of the whole module',
        )
        .argument('<ontology>', ONTOLOGY_ARGUMENT)
        .argument('<dir>', 'output folder')
        .addOption(thresholdOption())
        .option('--force', 'overwrite existing files'),
    )
      .option(
        '--rounds <n>',
        'maximum number of questions to the model, 1 to 20 (default: 5)',
        roundCount,
      )
      .option(
        '--bfo <file>',
        'text of BFO, or of another upper ontology, that the model reads first',
      )
      .option(
        '--record <file>',
        'ledger of the draft (default: NAME.draft.db in the output folder)',
      )
      .option(
        '--time-limit <seconds>',
        'seconds for the checks of one round (default: 120)',
        upTo(3_600),
      ),
  )
    .addHelpText(
      'after',
      'With a model, the command writes NAME.draft.ts. Its findings go back to the model until no error is left. A repeated\n' +
        'command asks no model again. A person accepts the draft with assize-experiments ontology accept.\n' +
        'Negative: errors are left in the draft.\n\n' +
        'Examples:\n  assize-experiments ontology scaffold ./library.ttl examples/domains/library\n' +
        '  assize-experiments ontology scaffold ./library.ttl examples/domains/library --model openai:gpt-5 --bfo bfo.txt',
    )
    .action(
      inSession(async (session, options: Options, nameOrFile: string, folder: string) => {
        const named = modelOf(options, session.interruption);
        const alone =
          named === undefined
            ? DRAFT_OPTIONS.find((name) => options[name] !== undefined)
            : undefined;
        if (alone !== undefined)
          throw new CliError(
            'usage',
            `--${alone === 'timeLimit' ? 'time-limit' : alone} needs a model. Pass --model.`,
          );
        if (named !== undefined && options.threshold !== undefined)
          throw new CliError(
            'usage',
            'A model completes the roles of the ontology. Leave --threshold out.',
          );
        const ontology = await loadOntology(nameOrFile);
        return named === undefined
          ? writeScaffold(session, options, ontology, folder)
          : draftInto(session, options, ontology, folder, named);
      }),
    );
}

/** The number of rounds. @throws InvalidArgumentError */
function roundCount(text: string): number {
  return upTo(20)(text);
}

async function writeScaffold(
  { json, out }: Session,
  { threshold, force = false }: Options,
  ontology: Ontology,
  folder: string,
): Promise<ExitCode> {
  const { scaffold } = await import('../index.ts');
  const files = scaffold(ontology, threshold === undefined ? {} : { threshold });
  const written = [...files].map(([name, text]) => [join(folder, name), text] as const);
  writeNew(written, force);
  const paths = written.map(([path]) => path);
  if (json) out.document({ files: paths });
  else for (const path of paths) out.line(line`${path} written`);
  return EXIT.ok;
}
