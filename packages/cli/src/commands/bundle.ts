import {
  type BundleScope,
  type BundleVerdict,
  makeBundle,
  verifyBundle,
} from '@assize/audit/internal/bundle';
import { readCheckpoint } from '@assize/audit/internal/checkpoints';
import {
  checkpointOption,
  lastCheckpoint,
  logKeyOption,
  readKnownLog,
  readVerifierKey,
} from '@assize/audit/internal/commands/log-files.ts';
import {
  CliError,
  ENTRY_HELP,
  EXIT,
  type ExitCode,
  entryNamed,
  green,
  inSession,
  line,
  note,
  readBytes,
  red,
  repeatable,
  replaceFile,
  type Session,
  type SharedOptions,
  withSharedOptions,
  yellow,
} from '@assize/command';
import { parseInstant } from 'assize/internal/canon';
import { systemClock } from 'assize/internal/oracle';
import type { Store } from 'assize/internal/stores';
import { counted } from 'assize/internal/views';
import { type Command, Option } from 'commander';
import { bundleVerifiers } from '../files/built-console.ts';

interface BundleCommandOptions extends SharedOptions {
  readonly entry?: string;
  readonly approval?: string;
  readonly person?: string;
  readonly from?: string;
  readonly to?: string;
  readonly trajectory?: string;
  readonly out?: string;
  readonly verify?: string;
  readonly logKey: readonly string[];
  readonly checkpoint?: string;
  readonly witness: readonly string[];
}

const KEY = 'The public key of the log';

export function bundle(program: Command): void {
  withSharedOptions(
    program
      .command('bundle')
      .description(
        'create or verify a proof bundle: a zip that proves offline what the log contains',
      )
      .addOption(new Option('--entry <entry>', ENTRY_HELP))
      .addOption(
        new Option('--approval <entry>', 'pending proposal, by its id; its decision comes along'),
      )
      .addOption(
        new Option('--person <name>', 'principal: its decisions, and what ran under its writs'),
      )
      .option('--from <time>', 'first time of a period, such as 2026-03-26')
      .option('--to <time>', 'time after the period')
      .option('--trajectory <name>', 'of a person or a period, only this trajectory')
      .option('--out <file>', 'file of the new bundle')
      .option(
        '--verify <file>',
        'verify this bundle instead; needs no store, and --log-key from elsewhere',
      )
      .addOption(checkpointOption)
      .addOption(logKeyOption)
      .addOption(
        repeatable(
          '--witness <key>',
          'public key of a witness, or a file with it; it must have cosigned',
        ),
      ),
  )
    .addHelpText(
      'after',
      'The scope is one of --entry, --approval, --person (with or without a period), or --from and --to.\n' +
        'The bundle has proofs up to the last checkpoint. Create one with assize checkpoint.\n' +
        'Negative: the bundle is not valid.',
    )
    .action(
      inSession((session, options: BundleCommandOptions) =>
        options.verify === undefined
          ? made(session, options)
          : verified(session, options.verify, options),
      ),
    );
}

function made(session: Session, options: BundleCommandOptions): Promise<ExitCode> {
  const { out: file } = options;
  if (file === undefined)
    throw new CliError('usage', 'The file of the bundle is missing. Pass --out FILE.');
  return session.withStore('readonly', async (store) => {
    const scope = await scopeOf(store, options);
    const checkpoint = await lastCheckpoint(session.storeUrl, options.checkpoint);
    if (checkpoint === undefined)
      throw new CliError(
        'not_found',
        'The log has no checkpoint for the bundle. Create one with assize checkpoint.',
      );
    const { signatures } = readCheckpoint(
      checkpoint,
      readKnownLog(session.storeUrl, options.logKey),
    );
    const logKey = signatures[0]!.key;
    const { zip, entries, inScope } = await makeBundle(store, {
      ...(await bundleVerifiers()),
      ...{ scope, checkpoint, logKey, witnesses: witnessesOf(options), madeAt: systemClock.now() },
    });
    replaceFile(file, zip);
    if (session.json)
      session.out.document({
        file,
        bytes: zip.length,
        scope,
        entries,
        in_scope: [...inScope],
        log: logKey.name,
      });
    else {
      const context = counted(entries - inScope.length, 'entry');
      session.out.line(
        line`${counted(inScope.length, 'entry')} in scope, and ${context} as context: ${file}`,
      );
    }
    return EXIT.ok;
  });
}

async function scopeOf(store: Store, options: BundleCommandOptions): Promise<BundleScope> {
  const { entry, approval, person, from, to, trajectory } = options;
  if ([entry, approval, person].filter((one) => one !== undefined).length > 1)
    throw new CliError('usage', 'Pass one of --entry, --approval and --person.');
  if ((from === undefined) !== (to === undefined))
    throw new CliError('usage', 'A period has two ends. Pass --from and --to.');
  const within =
    from === undefined || to === undefined
      ? undefined
      : { from: parseInstant(from), to: parseInstant(to) };
  const searched = { ...within, ...(trajectory !== undefined && { trajectory }) };
  const named = entry ?? approval;
  if (named !== undefined) {
    if (Object.keys(searched).length > 0)
      throw new CliError(
        'usage',
        '--from, --to and --trajectory belong to a person or a period. Omit them.',
      );
    const { id } = await entryNamed(store, named);
    return entry === undefined ? { kind: 'approval', approval: id } : { kind: 'entry', entry: id };
  }
  if (person !== undefined) return { kind: 'person', person, ...searched };
  if (within !== undefined)
    return { kind: 'period', ...within, ...(trajectory !== undefined && { trajectory }) };
  throw new CliError(
    'usage',
    'The scope is missing. Pass --entry, --approval, --person, or --from and --to.',
  );
}

async function verified(
  session: Session,
  file: string,
  options: BundleCommandOptions,
): Promise<ExitCode> {
  if (options.out !== undefined)
    throw new CliError('usage', '--verify writes nothing. Omit --out.');
  const zip = readBytes(file, 'The bundle', 'Create one with assize bundle');
  const logKeys = options.logKey.map((given) => readVerifierKey(given, undefined, KEY));
  const witnesses = witnessesOf(options);
  let verdict = await verifyBundle(zip, { ...(logKeys[0] && { logKey: logKeys[0] }), witnesses });
  for (const logKey of logKeys.slice(1))
    if (!verdict.valid) verdict = await verifyBundle(zip, { logKey, witnesses });
  if (session.json) session.out.document(documentOf(verdict));
  else sayVerdict(session, verdict);
  return verdict.valid ? EXIT.ok : EXIT.negative;
}

function documentOf(verdict: BundleVerdict) {
  if (!verdict.valid) return { valid: false, ...verdict.fault };
  const { madeAt: made_at, inScope: in_scope, logKey: log_key, ...rest } = verdict;
  return JSON.parse(JSON.stringify({ ...rest, made_at, in_scope, log_key }));
}

function sayVerdict({ out }: Session, verdict: BundleVerdict): void {
  if (!verdict.valid) {
    out.line(red(line`The bundle is not valid: ${verdict.fault.detail} (${verdict.fault.code})`));
    return;
  }
  const { entries, inScope, checkpoint, witnesses, erased, logKey } = verdict;
  out.line(
    green(
      line`The bundle is valid: ${counted(inScope.length, 'entry')} in scope and ${counted(entries - inScope.length, 'entry')} as context are in the ${counted(Number(checkpoint.size), 'entry')} signed by ${checkpoint.origin}.`,
    ),
  );
  if (witnesses.length > 0) out.line(line`Cosigned by ${witnesses.join(', ')}`);
  if (erased > 0) out.line(line`Erased: ${counted(erased, 'value')}`);
  if (logKey === 'bundle') {
    out.line(
      yellow(line`The key of the log is from the bundle. It proves nothing until you compare it.`),
    );
    note('Pass --log-key KEY, from a place that the sender of the bundle does not control.');
  }
}

function witnessesOf({ witness }: BundleCommandOptions) {
  return witness.map((given) => readVerifierKey(given, undefined, 'The public key of the witness'));
}
