import type { Command } from 'commander';
import { fileSink, httpWitness, makeCheckpoint, type Witness } from '#runtime';
import { checkpointFile } from '#stores';
import { CliError, EXIT } from '../errors.ts';
import { withSharedOptions } from '../files/options.ts';
import { checkpointOption, keyOption, lastCheckpoint, readSigner, readVerifierKey } from '../store/log-files.ts';
import { inSession, type SharedOptions } from '../store/session.ts';
import { line, printable } from '../terminal/printable.ts';

interface CheckpointOptions extends SharedOptions {
  readonly key?: string;
  readonly checkpoint?: string;
  readonly witness: readonly string[];
  readonly print?: boolean;
}

export function checkpoint(program: Command): void {
  withSharedOptions(
    program
      .command('checkpoint')
      .description('add all entries to the Merkle log, and sign its size and root')
      .addOption(keyOption)
      .addOption(checkpointOption)
      .option(
        '--witness <url> <key>',
        'witness that cosigns: URL=KEY, with its public key or a file of it (repeatable)',
        (text: string, before: readonly string[]) => [...before, text],
        [] as readonly string[],
      )
      .option('--print', 'print the signed checkpoint instead of a summary'),
  )
    .addHelpText(
      'after',
      'The checkpoint is stored in a file. Keep copies that the operator of the store cannot change.\n' +
        'A store that is behind its last checkpoint cannot be opened.',
    )
    .action(
      inSession((session, options: CheckpointOptions) => {
        const signer = readSigner(session.storeUrl, options.key);
        const witnesses = options.witness.map(witnessOf);
        const file = options.checkpoint ?? checkpointFile(session.storeUrl);
        if (file === undefined)
          throw new CliError('usage', 'The path of the checkpoint is missing. Pass --checkpoint FILE.');
        return session.withStore('existing', async (store) => {
          const last = await lastCheckpoint(session.storeUrl, options.checkpoint);
          const { entries } = { entries: (await store.trajectories()).reduce((sum, info) => sum + info.entries, 0) };
          const made = await makeCheckpoint(store, {
            signer,
            witnesses,
            ...(last === undefined ? {} : { last }),
            sinks: [
              fileSink(file),
              ...(options.print === true && !session.json ? [{ put: (text: string) => session.out.piece(text) }] : []),
            ],
            onProgress: (size) => session.progress.report('entries logged', size, entries),
          });
          session.progress.end();
          const root = Buffer.from(made.root).toString('hex');
          const said = {
            origin: signer.name,
            size: made.size,
            root,
            file,
            witnesses: witnesses.map(({ key }) => key.name),
            signed: made.signed,
          };
          if (session.json) session.out.document(said);
          else if (options.print !== true) {
            session.out.line(line`${made.size} entries, root ${root}`);
            const by = said.witnesses.length === 0 ? '' : `, cosigned by ${said.witnesses.join(', ')}`;
            session.out.line(line`signed by ${signer.name}${printable(by)}; stored in ${file}`);
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
  const [url, key] = [text.slice(0, cut), text.slice(cut + 1)];
  if (cut < 1 || !URL.canParse(url)) throw new CliError('usage', `'${text}' is not a witness. Write URL=KEY.`);
  return httpWitness({ url, key: readVerifierKey(key, undefined, 'The public key of the witness') });
}
