import {
  fileBeside,
  readVerifierKey,
  writeKeys,
} from '@assize/audit/internal/commands/log-files.ts';
import {
  CliError,
  EXIT,
  inSession,
  line,
  type SharedOptions,
  withSharedOptions,
} from '@assize/command';
import { generateKeys } from 'assize/internal/canon';
import { formatVerifierKey, type KeyUse, signerKey } from 'assize/internal/merkle';
import { type Command, Option } from 'commander';
import { keysChange } from './keys-change.ts';
import { seal } from './keys-seal.ts';

interface NewOptions extends SharedOptions {
  readonly for: 'log' | 'witness';
  readonly out?: string;
}

const USES: Readonly<Record<NewOptions['for'], KeyUse>> = { log: 'note', witness: 'cosignature' };

export function keys(program: Command): void {
  const command = program
    .command('keys')
    .description(
      'create, show and change the keys that sign checkpoints and entries, and seal a store',
    );
  withSharedOptions(
    command
      .command('new')
      .description(
        'create a key; its name is the origin of the log: a URL without scheme, such as example.com/ledger',
      )
      .argument('<name>', 'name of the key, without spaces or +')
      .addOption(
        new Option('--for <use>', 'use of the key').choices(['log', 'witness']).default('log'),
      )
      .option(
        '--out <file>',
        'file of the private key; the public key is written next to it (default: <store file>.key and .vkey)',
      ),
  )
    .addHelpText(
      'after',
      'Only its owner can read the private key file. The private key signs checkpoints under this name.',
    )
    .action(
      inSession(async (session, options: NewOptions, name: string) => {
        const privatePath = options.out ?? fileBeside(session.storeUrl, 'key');
        if (privatePath === undefined)
          throw new CliError('usage', 'The path of the key is missing. Pass --out FILE.');
        const publicPath = `${privatePath.replace(/\.key$/, '')}.vkey`;
        const key = signerKey(name, USES[options.for], generateKeys().privateKey);
        writeKeys(key, privatePath, publicPath);
        const made = {
          name,
          for: options.for,
          public_key: formatVerifierKey(key),
          private_file: privatePath,
          public_file: publicPath,
        };
        if (session.json) session.out.document(made);
        else {
          session.out.line(line`${made.public_key}`);
          session.out.line(
            line`private key in ${privatePath}, public key in ${publicPath}; give the public key to auditors`,
          );
        }
        return EXIT.ok;
      }),
    );
  keysChange(command);
  seal(command);
  withSharedOptions(
    command
      .command('show')
      .description('show the public key of the log')
      .argument('[key]', 'public key, or a file with it (default: <store file>.vkey)'),
  ).action(
    inSession(async (session, _options: SharedOptions, given?: string) => {
      const key = readVerifierKey(given, fileBeside(session.storeUrl, 'vkey'), 'The public key');
      const shown = {
        name: key.name,
        for: key.use === 'note' ? 'log' : 'witness',
        public_key: formatVerifierKey(key),
      };
      if (session.json) session.out.document(shown);
      else session.out.line(line`${shown.public_key}`);
      return EXIT.ok;
    }),
  );
}
