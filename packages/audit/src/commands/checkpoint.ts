import {
  CliError,
  EXIT,
  entryKeyOption,
  httpUrl,
  inSession,
  line,
  note,
  printable,
  repeatable,
  type SharedOptions,
  watchedStore,
  withSharedOptions,
  yellow,
} from '@assize/command';
import { checkpointFile } from 'assize/internal/stores';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';
import {
  fileSink,
  httpWitness,
  makeCheckpoint,
  requireLogged,
  type VerifiedEntries,
  verifyLogged,
  type Witness,
} from '#checkpoints';
import {
  checkpointOption,
  hasLogKeys,
  keyOption,
  lastCheckpoint,
  logKeyOption,
  readKnownLog,
  readSigner,
  readVerifierKey,
  rememberLogKey,
} from './log-files.ts';

interface CheckpointOptions extends SharedOptions {
  readonly key?: string;
  readonly checkpoint?: string;
  readonly logKey: readonly string[];
  readonly witness: readonly string[];
  readonly print?: boolean;
  readonly verify: boolean;
  readonly entryKey: readonly string[];
}

export function checkpoint(program: Command): void {
  withSharedOptions(
    program
      .command('checkpoint')
      .description('add all entries to the Merkle log, and sign its size and root')
      .addOption(keyOption)
      .addOption(checkpointOption)
      .addOption(logKeyOption)
      .addOption(entryKeyOption)
      .addOption(
        repeatable(
          '--witness <url=key>',
          'witness that cosigns: its URL, and its public key or a file of it',
        ),
      )
      .option('--print', 'print the signed checkpoint instead of a summary')
      .option(
        '--no-verify',
        'replay no trajectory: check only the texts and seals of the entries since the last checkpoint',
      ),
  )
    .addHelpText(
      'after',
      'The command first verifies the entries since the last checkpoint: the trajectory of each, from its first entry.\n' +
        'The checkpoint is stored in a file. Keep copies that the operator of the store cannot change.\n' +
        'A store that is behind its last checkpoint cannot be opened.\n' +
        'Negative: an entry does not verify, and nothing is signed.',
    )
    .action(
      inSession((session, options: CheckpointOptions) => {
        const signer = readSigner(session.storeUrl, options.key);
        const witnesses = options.witness.map(witnessOf);
        const file = options.checkpoint ?? checkpointFile(session.storeUrl);
        if (file === undefined)
          throw new CliError(
            'usage',
            'The path of the checkpoint is missing. Pass --checkpoint FILE.',
          );
        return session.withStore('existing', async (store) => {
          const last = await lastCheckpoint(session.storeUrl, options.checkpoint);
          const total = (await store.trajectories()).reduce((sum, info) => sum + info.entries, 0);
          let since = 0;
          let verified: VerifiedEntries | undefined;
          const isAfterChange = options.logKey.length > 0 || hasLogKeys(session.storeUrl);
          const made = await makeCheckpoint(store, {
            signer,
            ...(isAfterChange && { earlier: readKnownLog(session.storeUrl, options.logKey).keys }),
            witnesses,
            ...(last === undefined ? {} : { last }),
            beforeSigning: async ({ from, to }) => {
              since = to - from;
              if (!options.verify) {
                await requireLogged(store, { from, to });
                return;
              }
              const onProgress = (done: number, of: number): void =>
                session.progress.report('verifying entries', done, of);
              verified = await verifyLogged(
                watchedStore(store, session.interruption),
                { from, to },
                {
                  onProgress,
                  ...(options.entryKey.length > 0 && { entryKeys: options.entryKey }),
                },
              );
            },
            sinks: [
              fileSink(file),
              ...(options.print === true && !session.json
                ? [{ put: (text: string) => session.out.piece(text) }]
                : []),
            ],
            onProgress: (size) => session.progress.report('entries logged', size, total),
          });
          session.progress.end();
          if (options.key !== undefined) rememberLogKey(session.storeUrl, signer);
          const root = Buffer.from(made.root).toString('hex');
          const said = {
            origin: signer.name,
            size: made.size,
            root,
            file,
            witnesses: witnesses.map(({ key }) => key.name),
            verified: verified ?? false,
            signed: made.signed,
          };
          const isFirst = last === undefined;
          const entries = counted(since, 'entry');
          const them = isFirst ? `all ${entries}` : `${entries} since the last checkpoint`;
          const first = `No earlier checkpoint at ${file}: this is the first one there, and cannot show that entries are missing.`;
          if (session.json) session.out.document(said);
          else if (options.print === true) {
            if (isFirst) note(first);
            if (verified === undefined) note(`The checkpoint is signed without verifying ${them}.`);
          } else {
            session.out.line(line`${counted(Number(made.size), 'entry')}, root ${root}`);
            const by =
              said.witnesses.length === 0 ? '' : `, cosigned by ${said.witnesses.join(', ')}`;
            session.out.line(line`signed by ${signer.name}${printable(by)}; stored in ${file}`);
            if (isFirst) session.out.line(yellow(line`${first}`));
            if (verified === undefined) session.out.line(yellow(line`not verified: ${them}`));
            else
              session.out.line(
                line`verified: ${them}, in ${counted(verified.trajectories, 'trajectory')}`,
              );
          }
          return EXIT.ok;
        });
      }),
    );
}

/**
 * `URL=KEY`. The last `=NAME` separates the two, because the key is last and starts with a name.
 */
function witnessOf(text: string): Witness {
  const cut = text.indexOf('=');
  const [url, key] = [httpUrl(text.slice(0, cut))?.href, text.slice(cut + 1)];
  if (cut < 1 || url === undefined)
    throw new CliError('usage', `'${text}' is not a witness. Write URL=KEY.`);
  return httpWitness({
    url,
    key: readVerifierKey(key, undefined, 'The public key of the witness'),
  });
}
