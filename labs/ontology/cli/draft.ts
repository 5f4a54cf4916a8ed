import {
  CliError,
  EXIT,
  inSession,
  line,
  readText,
  type Session,
  type SharedOptions,
  withSharedOptions,
  writeNew,
  yellow,
} from '@assize/command';
import { createOracle, openStore, systemClock } from 'assize';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';
import type { Draft } from '../index.ts';
import { type ModelCliOptions, modelOf, withModelOptions } from './model.ts';

interface Options extends SharedOptions, ModelCliOptions {
  readonly bfo?: string;
  readonly context?: string;
  readonly out?: string;
  readonly force?: boolean;
}

export function draftOntologyCommand(command: Command): void {
  withSharedOptions(
    withModelOptions(
      command
        .command('draft')
        .description(
          'draft an ontology from prose with a model: parsed, checked and corrected once, for human review',
        )
        .argument('<prose>', 'file with a description of the domain'),
    )
      .option(
        '--bfo <file>',
        'text of BFO, or of another upper ontology, that the model reads first',
      )
      .option('--context <file>', 'other text that the model reads before the description')
      .option('--out <file>', 'output file (default: standard output)')
      .option('--force', 'overwrite an existing file'),
  )
    .addHelpText(
      'after',
      'A repeated call with the same prose and command uses the answer in the store’s oracle log.\n\n' +
        'Example:\n  assize-experiments ontology draft library.md --model-command "my-model --quiet" --out library.ttl',
    )
    .action(
      inSession(async (session, options: Options, file: string) => {
        const prose = readText(file);
        const draft = await drafted(session, prose, options);
        const { out, json } = session;
        const { text, rounds, findings } = draft;
        if (options.out !== undefined) writeNew([[options.out, text]], options.force ?? false);
        if (json)
          out.document({
            text,
            rounds,
            findings,
            ...(options.out !== undefined && { file: options.out }),
          });
        else if (options.out === undefined) await out.piece(text);
        else {
          out.line(line`${options.out} written after ${counted(rounds, 'round')}`);
          for (const { term, says, todo } of findings)
            out.line(line`${yellow('warning')}  ${term}: ${says}; ${todo}`);
        }
        return EXIT.ok;
      }),
    );
}

async function drafted(session: Session, prose: string, options: Options): Promise<Draft> {
  const { draftOntology } = await import('../index.ts');
  const named = modelOf(options, session.interruption);
  if (named === undefined)
    throw new CliError(
      'usage',
      'The command has no model. Pass --model MODEL, --model-command CMD or --answers FILE.',
    );
  const files = [options.bfo, options.context].filter((file) => file !== undefined);
  const context = files.length > 0 && { context: files.map((path) => readText(path)).join('\n\n') };
  const { model, modelVersion, isPrepared } = named;
  if (isPrepared) {
    const store = await openStore('memory:');
    const oracle = createOracle({ store, clock: systemClock, mode: 'record' });
    return draftOntology(prose, { oracle, model, ...context });
  }
  return session.withStore('create', (store) => {
    const oracle = createOracle({ store, clock: systemClock, mode: 'record' });
    return draftOntology(prose, { oracle, model, modelVersion, ...context });
  });
}
