import {
  CliError,
  EXIT,
  type ExitCode,
  ephemeralWrit,
  findWrit,
  green,
  headOf,
  inSession,
  isWritFile,
  keyOrRoot,
  line,
  type OpeningOptions,
  readWritFile,
  red,
  requireAnchor,
  type Session,
  type SharedOptions,
  withAssize,
  withOpeningOptions,
  writsIn,
  yellow,
} from '@assize/command';
import type { WritChain } from 'assize/host';
import { revokeScope, type Writ, writId } from 'assize/internal/authority';
import type { KeyPair } from 'assize/internal/canon';
import { REVOKE_ACTION } from 'assize/internal/kernel';
import type { Revocation } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { shortId } from 'assize/internal/views';
import type { Command } from 'commander';
import { shortName } from '../../render/writ-text.ts';

interface Options extends SharedOptions, OpeningOptions {
  readonly reason: string;
  readonly key?: string;
  readonly by?: string;
  readonly principal: string;
}

export function revoke(command: Command): void {
  withOpeningOptions(
    command
      .command('revoke')
      .description('revoke a writ and all its descendants permanently')
      .argument(
        '<trajectory>',
        'trajectory that records the revocation; its delegated trajectories adopt it',
      )
      .argument(
        '<writ>',
        'file, - for standard input, or the first 8 digits of the id of a writ of the trajectory',
      )
      .requiredOption('--reason <text>', 'reason for the revocation; stays in the ledger')
      .option(
        '--key <file>',
        'private key of the holder of --by, or of an anchor (default: the root key of the store)',
      )
      .option(
        '--by <file>',
        'writ that authorises the revocation: an ancestor that grants assize.revoke on writ:**',
      )
      .option(
        '--principal <name>',
        'without --by: the revoking principal, subject of the short-lived writ',
        'operator',
      ),
  )
    .addHelpText(
      'after',
      'Negative: the revocation was rejected, or a delegated trajectory did not adopt it; repeat the command to retry.\n' +
        'Commits under the writ stay. Pending proposals under it can only be rejected.',
    )
    .action(
      inSession((session, options: Options, trajectoryId: string, given: string) => {
        const key = keyOrRoot(session.storeUrl, options);
        return session.withStore('existing', async (store) => {
          const revoked = await targetOf(store, trajectoryId, given);
          const by = await authorityOf(
            session,
            store,
            options,
            key,
            trajectoryId,
            writId(revoked.writ),
          );
          const done = await withAssize(store, session.storeUrl, options, async (assize) => {
            const trajectory = await assize.open(trajectoryId);
            return trajectory.writs.revoke({ writ: revoked, reason: options.reason, by });
          });
          return say(session, writId(revoked.writ), done);
        });
      }),
    );
}

async function targetOf(store: Store, trajectoryId: string, given: string): Promise<WritChain> {
  if (isWritFile(given)) return readWritFile(given);
  return findWrit(await writsIn(store, trajectoryId), given, trajectoryId);
}

/**
 * The given writ, with the owner of the key as its holder, or a root writ for this revocation only.
 * @throws CliError
 */
async function authorityOf(
  { storeUrl }: Session,
  store: Store,
  { by, anchors, principal }: Options,
  key: KeyPair,
  trajectoryId: string,
  id: string,
): Promise<Writ | WritChain> {
  if (by !== undefined) {
    const held = readWritFile(by);
    if (held.writ.subject === key.publicKey) return held;
    throw new CliError(
      'usage',
      `The key does not belong to ${held.writ.subject}, the holder of the writ in ${by}. Pass the private key of the holder.`,
    );
  }
  requireAnchor(storeUrl, anchors, key, 'to revoke without --by');
  const what = { action: REVOKE_ACTION, scopes: [revokeScope(id)], principal };
  return ephemeralWrit(await headOf(store, trajectoryId), what, key);
}

function say({ json, out }: Session, writ: string, { ruling, propagated }: Revocation): ExitCode {
  if (ruling.ruling === 'frozen') throw new Error('A revocation is never frozen.');
  const { id, seq, trajectory_id } = ruling.entry;
  const told = propagated.map(({ trajectoryId, error }) => ({
    trajectory_id: trajectoryId,
    applied: error === undefined,
    ...(error && { error: error.message }),
  }));
  const why = ruling.ruling === 'rejected' ? { reason: ruling.reason, detail: ruling.detail } : {};
  if (json)
    out.document({
      ruling: ruling.ruling,
      writ,
      trajectory_id,
      seq,
      entry_id: id,
      ...why,
      propagated: told,
    });
  else if (ruling.ruling === 'rejected')
    out.line(line`${red('rejected')} as ${shortId(id)}: ${ruling.detail} (${ruling.reason})`);
  else {
    out.line(
      line`${green('revoked')} ${shortName(writ)} by ${shortId(id)}, ${trajectory_id} seq ${seq}`,
    );
    for (const { trajectory_id: child, error } of told)
      out.line(
        error === undefined
          ? line`  applied in ${child}`
          : line`  not yet applied in ${yellow(child)}: ${error}`,
      );
  }
  return ruling.ruling === 'committed' && told.every((each) => each.applied)
    ? EXIT.ok
    : EXIT.negative;
}
