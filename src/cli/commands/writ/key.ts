import { generateKeys } from 'assize';
import type { Command } from 'commander';
import { EXIT } from '../../errors.ts';
import { writeNew } from '../../log-files.ts';
import { withSharedOptions } from '../../options.ts';
import { line } from '../../printable.ts';
import { inSession, type SharedOptions } from '../../session.ts';

export function key(command: Command): void {
  withSharedOptions(
    command
      .command('key')
      .description('make a key that signs writs, and print its public half')
      .argument('<file>', 'the private key: 64 hex digits'),
  )
    .addHelpText(
      'after',
      'The private key is readable by its owner only. Whoever has it can pass on whatever was granted to it; the root of\n' +
        'all is whose public key stands in <store file>.anchors.json.',
    )
    .action(
      inSession(async ({ json, out }, _options: SharedOptions, file: string) => {
        const { publicKey, privateKey } = generateKeys();
        writeNew(file, `${privateKey}\n`, 0o600);
        if (json) out.document({ public_key: publicKey, private_file: file });
        else out.line(line`${publicKey}`);
        return EXIT.ok;
      }),
    );
}
