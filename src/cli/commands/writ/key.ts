import type { Command } from 'commander';
import { generateKeys, type KeyPair } from '#canon';
import { EXIT } from '../../errors.ts';
import { isFile } from '../../files/module-file.ts';
import { withSharedOptions } from '../../files/options.ts';
import { readPrivateKey } from '../../input/private-key.ts';
import { writeNew } from '../../store/log-files.ts';
import { inSession, type SharedOptions } from '../../store/session.ts';
import { line } from '../../terminal/printable.ts';

export function key(command: Command): void {
  withSharedOptions(
    command
      .command('key')
      .description('make a key that signs writs, or take the one that is there, and print its public half')
      .argument('<file>', 'the private key: 64 hex digits'),
  )
    .addHelpText(
      'after',
      'A key is never overwritten: of one that is there the public half is printed.\n' +
        'The private key is readable by its owner only. Whoever has it can pass on whatever was granted to it; the root of\n' +
        'all is whose public key stands in <store file>.anchors.json.',
    )
    .action(
      inSession(async ({ json, out }, _options: SharedOptions, file: string) => {
        const isMade = !isFile(file);
        const { publicKey } = isMade ? makeKey(file) : readPrivateKey(file);
        if (json) out.document({ public_key: publicKey, private_file: file, made: isMade });
        else out.line(line`${publicKey}`);
        return EXIT.ok;
      }),
    );
}

function makeKey(file: string): KeyPair {
  const key = generateKeys();
  writeNew(file, `${key.privateKey}\n`, 0o600);
  return key;
}
