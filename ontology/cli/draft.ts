import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createOracle, openStore, systemClock } from 'assize';
import { CliError, EXIT } from 'assize/internal/cli/errors.ts';
import { checked, readJson, readText } from 'assize/internal/cli/files/input-file.ts';
import { withSharedOptions } from 'assize/internal/cli/files/options.ts';
import { writeNew } from 'assize/internal/cli/files/write-file.ts';
import { inSession, type Session, type SharedOptions } from 'assize/internal/cli/store/session.ts';
import { line, yellow } from 'assize/internal/cli/terminal/printable.ts';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';
import { z } from 'zod';
import type { Draft, Model } from '../index.ts';

interface Options extends SharedOptions {
  readonly answers?: string;
  readonly modelCommand?: string;
  readonly context?: string;
  readonly out?: string;
  readonly force?: boolean;
}

export function draftOntologyCommand(command: Command): void {
  withSharedOptions(
    command
      .command('draft')
      .description('draft an ontology from prose with a model: parsed, checked and corrected once, for human review')
      .argument('<prose>', 'file with a description of the domain')
      .option('--model-command <cmd>', 'program that reads the request and prints the answer; recorded in the store')
      .option('--answers <file>', 'recorded answers instead of a model: a JSON list of strings, in order')
      .option('--context <file>', 'text that the model reads before the description, such as a reference of BFO')
      .option('--out <file>', 'output file (default: standard output)')
      .option('--force', 'overwrite an existing file'),
  )
    .addHelpText(
      'after',
      'A repeated call with the same prose and command uses the answer in the store’s oracle log.\n\n' +
        'Example:\n  assize ontology draft library.md --model-command "my-model --quiet" --out library.ttl',
    )
    .action(
      inSession(async (session, options: Options, file: string) => {
        const prose = readText(file);
        const draft = await drafted(session, prose, options);
        const { out, json } = session;
        const { text, rounds, findings } = draft;
        if (options.out !== undefined) writeNew([[options.out, text]], options.force ?? false);
        if (json) out.document({ text, rounds, findings, ...(options.out !== undefined && { file: options.out }) });
        else if (options.out === undefined) await out.piece(text);
        else {
          out.line(line`${options.out} written after ${counted(rounds, 'round')}`);
          for (const { term, says, todo } of findings) out.line(line`${yellow('warning')}  ${term}: ${says}; ${todo}`);
        }
        return EXIT.ok;
      }),
    );
}

async function drafted(session: Session, prose: string, options: Options): Promise<Draft> {
  const { answers, modelCommand } = options;
  const { draftOntology } = await import('../index.ts');
  if ((answers === undefined) === (modelCommand === undefined))
    throw new CliError('usage', 'The command has no model. Pass --model-command CMD or --answers FILE.');
  const context = options.context !== undefined && { context: readText(options.context) };
  if (answers !== undefined) {
    const store = await openStore('memory:');
    const oracle = createOracle({ store, clock: systemClock, mode: 'record' });
    return draftOntology(prose, { oracle, model: recorded(answers), ...context });
  }
  const command = modelCommand as string;
  return session.withStore('create', (store) => {
    const oracle = createOracle({ store, clock: systemClock, mode: 'record' });
    return draftOntology(prose, { oracle, model: commandModel(command), modelVersion: command, ...context });
  });
}

function recorded(file: string): Model {
  const answers = checked(readJson(file), z.array(z.string()), file).values();
  return () => {
    const { value, done } = answers.next();
    if (done) throw new CliError('bad_input', `${file} has no further answer.`);
    return value;
  };
}

/** A program of the user: the request on its standard input, the answer on its standard output. */
function commandModel(command: string): Model {
  return async (request) => {
    const child = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'inherit'] });
    let answer = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
    });
    // A model that does not read its question to the end may answer all the same.
    child.stdin.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') child.emit('error', error);
    });
    child.stdin.end(request);
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new CliError('bad_input', `The model’s command ended with ${code ?? 'a signal'}: ${command}`);
    return answer;
  };
}
