import {
  EXIT,
  inSession,
  isFile,
  line,
  readPrivateKey,
  type SharedOptions,
  withSharedOptions,
  writeNewFile,
} from '@assize/command';
import { generateKeys, type KeyPair } from 'assize/internal/canon';
import type { Command } from 'commander';

export function key(command: Command): void {
  withSharedOptions(
    command
      .command('key')
      .description(
        'create a key that signs writs, or read an existing one, and print its public key',
      )
      .argument('<file>', 'file of the private key: 64 hex digits'),
  )
    .addHelpText(
      'after',
      'An existing key is never overwritten, and its public key is printed.\n' +
        'Only its owner can read the private key file. The private key can delegate every writ of its public key.\n' +
        'A public key in <store file>.anchors.json can issue root writs.',
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
  writeNewFile(file, `${key.privateKey}\n`, 0o600);
  return key;
}
