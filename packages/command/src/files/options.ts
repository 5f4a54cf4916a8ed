import { DEFAULT_STORE } from 'assize/internal/config';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { EXIT } from '../exit-codes.ts';

export { DEFAULT_STORE };

/** The config of the project, for commands that use its store, domains, tools or policy. */
export const configOption: Option = new Option(
  '--config <file>',
  'config of the project (default: assize.config.* of this folder, or of a folder above)',
);

/** The archive of the store. A new option each time, because a command can describe its own. */
function archiveOption(): Option {
  return new Option(
    '--archive <place>',
    'archive of the older entries: file:FOLDER or s3:BUCKET/PREFIX (default: <store file>.archive)',
  ).env('ASSIZE_ARCHIVE');
}

/**
 * Adds the options of every command. `ownStore`: the command works on its own store, regardless of
 * the store of other commands.
 */
export function withSharedOptions(command: Command, ownStore?: string): Command {
  const store = new Option(
    '--store <url>',
    'URL of the store: sqlite:./file.db, sqlite:/absolute/file.db, postgres://…, memory: (discarded at the end), or cells:FILE for several databases',
  ).default(ownStore ?? DEFAULT_STORE);
  return withoutStore(
    ownStore === undefined
      ? command
          .addOption(store.env('ASSIZE_STORE'))
          .addOption(archiveOption())
          .addOption(configOption)
      : command.addOption(store),
  );
}

/** Adds the options of a command that has commands, and passes those of its line on to them. */
export function withGroupOptions(command: Command): Command {
  return withSharedOptions(command).hook('preSubcommand', (all, one) => {
    for (const name of ['json', 'store', 'config'])
      if (all.getOptionValueSource(name) === 'cli')
        one.setOptionValueWithSource(name, all.getOptionValue(name), 'cli');
  });
}

/** Adds the options of a command that opens no store, without the store option. */
export function withoutStore(command: Command): Command {
  return command
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `\nExit codes: ${EXIT.ok} ok, ${EXIT.negative} a negative finding, ${EXIT.misuse} misuse.`,
    );
}

export const domainOption: Option = new Option(
  '--domain <file>',
  'module that exports domains, in addition to the shipped ones (repeatable)',
)
  .argParser((file: string, before: readonly string[]) => [...before, file])
  .default([], 'none');

export const anchorsOption: Option = new Option(
  '--anchors <file>',
  'JSON list of trusted root public keys (default: <store file>.anchors.json)',
);

export const signerOption: Option = new Option(
  '--signer <file>',
  'private key that signs the entries of a signed ledger: 64 hex digits',
).env('ASSIZE_SIGNER');

/** One of these public keys must sign the first entry of a trajectory. */
export const entryKeyOption: Option = repeatable(
  '--entry-key <key>',
  'public key that signs the first entry of each trajectory, in hex',
);

/** The options that say which keys sign a ledger. */
export interface KeyOptions {
  readonly signer?: string | undefined;
  readonly entryKey?: readonly string[] | undefined;
}

export interface OpeningOptions extends KeyOptions {
  readonly domain: readonly string[];
  readonly anchors?: string;
}

/** Adds the options of a command that opens trajectories, and those of every command. */
export function withOpeningOptions(command: Command): Command {
  return withSharedOptions(
    command
      .addOption(domainOption)
      .addOption(anchorsOption)
      .addOption(signerOption)
      .addOption(entryKeyOption),
  );
}

/** An option that may be given more than once. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, `${description} (repeatable)`)
    .argParser((text: string, before: readonly string[]) => [...before, text])
    .default([], 'none');
}

export const toolsOption: Option = repeatable(
  '--tools <file>',
  'module that exports the required tools',
);

/**
 * Default and maximum seconds of a wait for another process's effects: 24 days, because a longer
 * timer fires immediately.
 */
const WAIT = 5;
const WAIT_MAX = 2_147_483;

export const waitOption: Option = new Option(
  '--wait <seconds>',
  'seconds to wait for another process that runs effects',
)
  .argParser(upTo(WAIT_MAX))
  .default(WAIT);

/** A whole number from 0. */
export function count(text: string): number {
  return whole(text, 0);
}

/** A whole number from 1. */
export function positive(text: string): number {
  return whole(text, 1);
}

/** A whole number from 1 to the given maximum. */
export function upTo(most: number): (text: string) => number {
  return (text) => whole(text, 1, most);
}

/** A whole number between two others, or one of them. */
export function between(least: number, most: number): (text: string) => number {
  return (text) => whole(text, least, most);
}

function whole(text: string, least: number, most?: number): number {
  const value = Number(text);
  if (
    !/^\d+$/.test(text) ||
    !Number.isSafeInteger(value) ||
    value < least ||
    value > (most ?? value)
  ) {
    const to = most === undefined ? '' : ` to ${most}`;
    throw new InvalidArgumentError(`It must be a whole number from ${least}${to}, in digits.`);
  }
  return value;
}

/** A number from 0 to 1, in digits. */
export function share(text: string): number {
  const value = Number(text);
  if (/^\d*\.?\d+$/.test(text) && value <= 1) return value;
  throw new InvalidArgumentError('It must be a number from 0 to 1.');
}
