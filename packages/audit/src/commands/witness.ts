import { once } from 'node:events';
import {
  CliError,
  EXIT,
  inSession,
  line,
  note,
  readText,
  type SharedOptions,
  withSharedOptions,
} from '@assize/command';
import { thrownText } from 'assize/internal/base';
import { formatVerifierKey, parseSignerKey } from 'assize/internal/merkle';
import type { Command } from 'commander';
import { WitnessFile, witnessServer } from '#witness';
import { readVerifierKey } from './log-files.ts';

interface WitnessOptions extends SharedOptions {
  readonly key: string;
  readonly log: readonly string[];
  readonly state: string;
  readonly listen: string;
}

export function witness(program: Command): void {
  withSharedOptions(
    program
      .command('witness')
      .description(
        'cosign the checkpoints of logs over HTTP (c2sp.org/tlog-witness), until interrupted',
      )
      .requiredOption(
        '--key <file>',
        'file of the private key; create one with assize keys new NAME --for witness',
      )
      .requiredOption(
        '--log <key>',
        'public key of a log to cosign, or a file with it (repeatable)',
        (text: string, before: readonly string[] = []) => [...before, text],
      )
      .option(
        '--state <file>',
        'file of the cosigned checkpoints; must never be lost or reset',
        './witness.db',
      )
      .option('--listen <address>', 'HOST:PORT; port 0 selects a free port', '127.0.0.1:2112'),
  )
    .addHelpText(
      'after',
      'The witness speaks plain HTTP. Run it behind a server with TLS.\n' +
        'For a log without a cosigned checkpoint, it prints a note and cosigns the first checkpoint that it receives.',
    )
    .action(
      inSession(async (session, options: WitnessOptions) => {
        const signer = parseSignerKey(
          readText(
            options.key,
            'The private key',
            'Create one with assize keys new NAME --for witness',
          ).trim(),
        );
        if (signer.use !== 'cosignature')
          throw new CliError(
            'bad_input',
            `${options.key} is not a witness key. Create one with assize keys new NAME --for witness.`,
          );
        const logs = options.log.map((given) => {
          const key = readVerifierKey(given, undefined, 'The public key of the log');
          return { origin: key.name, keys: [key] };
        });
        const { host, port } = addressOf(options.listen);
        const file = openState(options.state);
        try {
          const anew = logs
            .map(({ origin }) => origin)
            .filter((origin) => file.recorded(origin) === undefined);
          // Stored before the first cosignature: a witness that forgets can be made to cosign a
          // fork.
          for (const origin of anew) note(beginsAnew(origin, options.state));
          const server = witnessServer({
            logs,
            signer,
            file,
            now: () => Math.floor(Date.now() / 1_000),
            onError: (error) => note(thrownText(error)),
          });
          server.listen(port, host);
          await once(server, 'listening', { signal: session.interruption });
          const bound = server.address() as { port: number };
          const url = `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}/`;
          const said = {
            url,
            public_key: formatVerifierKey(signer),
            logs: logs.map(({ origin }) => origin),
            begins_anew: anew,
          };
          if (session.json) session.out.document(said);
          else {
            session.out.line(line`${said.public_key}`);
            session.out.line(line`cosigning at ${url} for ${said.logs.join(', ')}`);
          }
          if (!session.interruption.aborted) await once(session.interruption, 'abort');
          server.closeAllConnections();
          server.close();
          return EXIT.ok;
        } finally {
          file.close();
        }
      }),
    );
}

function beginsAnew(origin: string, path: string): string {
  return `${path} has no checkpoint of ${origin}, so the witness cosigns the first one that it receives. If it has cosigned this log before, stop it and pass its earlier file with --state.`;
}

/**
 * Creates the file if it is missing.
 * @throws CliError
 */
function openState(path: string): WitnessFile {
  try {
    return new WitnessFile(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_SQLITE_ERROR') throw cause;
    throw new CliError(
      'unreadable_file',
      `Cannot open the witness state ${path}: ${(cause as Error).message}. Pass the earlier state of this witness with --state, or a new file for a new witness.`,
      { cause },
    );
  }
}

function addressOf(text: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^\[?([^\]]*)\]?:(\d{1,5})$/.exec(text) ?? [];
  if (host !== '' && Number(port) <= 65_535) return { host, port: Number(port) };
  throw new CliError(
    'usage',
    `'${text}' is not an address. Write HOST:PORT, such as 127.0.0.1:2112.`,
  );
}
