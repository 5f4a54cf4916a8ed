import {
  CliError,
  EXIT,
  inSession,
  line,
  readPrivateKey,
  type SharedOptions,
  withSharedOptions,
} from '@assize/command';
import { isAssizeError } from 'assize/internal/base';
import { generateKeys } from 'assize/internal/canon';
import { keyAfter, readRow } from 'assize/internal/ledger';
import { Assize, type KeyChange, RuntimeError } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { counted, shortId } from 'assize/internal/views';
import type { Command } from 'commander';

interface Options extends SharedOptions {
  readonly to: string;
  readonly from?: string;
  readonly reason: string;
  readonly all?: boolean;
}

/** A change of the key, for the commands of `keys`. */
export function keysChange(command: Command): void {
  withSharedOptions(
    command
      .command('change')
      .description('record that another key signs the later entries of a trajectory')
      .argument('[trajectory]', 'trajectory whose key changes')
      .option('--all', 'every trajectory of the store under the key of --from')
      .requiredOption('--to <file>', 'private key that signs from now on: 64 hex digits')
      .option(
        '--from <file>',
        'private key in force, to sign the record; without it, no entry may be signed yet',
      )
      .requiredOption('--reason <text>', 'reason; stays in the ledger'),
  )
    .addHelpText(
      'after',
      'Without --from the record accepts all entries before it, so verify the trajectory first.\n' +
        'Verifiers name the earlier key: --entry-key, or entryKeys of a runtime.',
    )
    .action(
      inSession((session, options: Options, trajectoryId?: string) => {
        if (trajectoryId !== undefined && options.all === true)
          throw new CliError('usage', 'Pass a trajectory or --all, not both.');
        if (trajectoryId === undefined && options.all !== true)
          throw new CliError('usage', 'Name a trajectory whose key changes, or pass --all.');
        const signer = readPrivateKey(options.to);
        const from = options.from === undefined ? undefined : readPrivateKey(options.from);
        return session.withStore('existing', async (store) => {
          const assize = new Assize({
            store,
            domains: [],
            anchors: [generateKeys().publicKey],
            signer,
          });
          const changed: (KeyChange & { readonly trajectory_id: string })[] = [];
          const names =
            trajectoryId === undefined
              ? await under(assize, store, from?.publicKey)
              : [trajectoryId];
          for (const name of names) {
            const change = { reason: options.reason, ...(from && { from }) };
            const made = await assize.changeEntryKey(name, change).catch(async (error: unknown) => {
              throw isAssizeError(error, 'wrong_signer')
                ? await withoutKey(store, name, error)
                : error;
            });
            if (made !== undefined) changed.push({ trajectory_id: name, ...made });
          }
          await assize.close();
          if (session.json) session.out.document({ key: signer.publicKey, changed });
          else {
            for (const { trajectory_id, id, seq } of changed)
              session.out.line(line`${trajectory_id} seq ${seq}: ${shortId(id)}`);
            session.out.line(
              line`${signer.publicKey} signs ${counted(changed.length, 'trajectory')} from now on.`,
            );
          }
          return EXIT.ok;
        });
      }),
    );
}

/** The trajectories whose last entry is signed by a key, or by none. */
async function under(assize: Assize, store: Store, key: string | undefined): Promise<string[]> {
  const names: string[] = [];
  for (const { trajectory_id } of await assize.trajectories()) {
    const head = await store.head(trajectory_id);
    if (head !== undefined && keyAfter(readRow(head).payload) === key) names.push(trajectory_id);
  }
  return names;
}

/** The private key in force is missing, or `--from` has another one. */
async function withoutKey(store: Store, name: string, cause: unknown): Promise<unknown> {
  const head = await store.head(name);
  const key = head && keyAfter(readRow(head).payload);
  if (key === undefined) return cause;
  const message = `The entries of ${name} are signed with ${key}. Pass its private key with --from.`;
  return new RuntimeError('wrong_signer', message, {
    evidence: { trajectory_id: name, key },
    cause,
  });
}
