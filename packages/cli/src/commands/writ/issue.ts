import {
  CliError,
  EXIT,
  inSession,
  newNonce,
  noteUnanchored,
  readAnchors,
  readJson,
  readPrivateKey,
  type SharedOptions,
  type TermOptions,
  termsOf,
  withSharedOptions,
  withTerms,
  writeWritFile,
} from '@assize/command';
import { issueWrit, type WritGrant } from 'assize/internal/authority';
import { systemClock } from 'assize/internal/oracle';
import type { Command } from 'commander';

interface Options extends SharedOptions, TermOptions {
  readonly key: string;
  readonly from?: string;
  readonly out?: string;
}

export function issue(command: Command): void {
  withSharedOptions(
    withTerms(command.command('issue').description('sign a root writ'), 'any')
      .requiredOption('--key <file>', 'private key of the issuer: 64 hex digits')
      .option(
        '--from <file>',
        'JSON object of the same fields, such as {"actions":["spend"]}; options take precedence',
      )
      .option('--out <file>', 'output file (default: standard output)'),
  )
    .addHelpText(
      'after',
      'A writ grants only the given actions, scopes and budget.\n' +
        'It counts if the public key of its issuer is an anchor. A writ with a budget must name its trajectory.',
    )
    .action(
      inSession(async (session, options: Options) => {
        const key = readPrivateKey(options.key, readAnchors(session.storeUrl));
        const grant = {
          not_before: systemClock.now(),
          max_depth: 0,
          nonce: newNonce(),
          ...grantIn(options.from),
          ...termsOf(options),
          issuer: key.publicKey,
        };
        const missing = (['subject', 'expires'] as const).find((name) => !(name in grant));
        if (missing !== undefined)
          throw new CliError('usage', `The writ has no ${missing}. Pass --${missing}.`);
        writeWritFile(session, options.out, {
          writ: issueWrit(grant as WritGrant, key.privateKey),
          chain: [],
        });
        noteUnanchored(session.storeUrl, key);
        return EXIT.ok;
      }),
    );
}

function grantIn(path: string | undefined): object {
  if (path === undefined) return {};
  const grant = readJson(path);
  if (typeof grant === 'object' && grant !== null && !Array.isArray(grant)) return grant;
  throw new CliError(
    'bad_input',
    `${path} is not a JSON object. Write the grants of the writ as one object.`,
  );
}
