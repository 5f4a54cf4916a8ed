import type { Command } from 'commander';
import { revokeScope, type Writ, writId } from '#authority';
import type { KeyPair } from '#canon';
import { REVOKE_ACTION } from '#kernel';
import type { Revocation, WritChain } from '#runtime';
import type { Store } from '#stores';
import { CliError, EXIT, type ExitCode } from '../../errors.ts';
import { anchorsOption, domainOption, type OpeningOptions, withSharedOptions } from '../../files/options.ts';
import { ephemeralWrit } from '../../input/ephemeral-writ.ts';
import { readPrivateKey, requireAnchor } from '../../input/private-key.ts';
import { isWritFile, readWritFile } from '../../input/writ-file.ts';
import { shortName } from '../../render/writ-text.ts';
import { readAnchors } from '../../store/anchors.ts';
import { headOf, shortId } from '../../store/entries.ts';
import { findWrit, writsIn } from '../../store/listed-writs.ts';
import { openAssize } from '../../store/runtime.ts';
import { inSession, type Session, type SharedOptions } from '../../store/session.ts';
import { green, line, red, yellow } from '../../terminal/printable.ts';

interface Options extends SharedOptions, OpeningOptions {
  readonly reason: string;
  readonly key: string;
  readonly by?: string;
  readonly principal: string;
}

export function revoke(command: Command): void {
  withSharedOptions(
    command
      .command('revoke')
      .description('revoke a writ and all below it, for good')
      .argument('<trajectory>', 'where it is revoked; trajectories that were delegated to from there are told')
      .argument('<writ>', 'a file, - for standard input, or the first 8 digits of the id of one that is known there')
      .requiredOption('--reason <text>', 'why; it stays in the ledger')
      .requiredOption('--key <file>', 'a private key: of the holder of --by, or of one of the store’s anchors')
      .option('--by <file>', 'the writ to do it under, which stands above and grants assize.revoke on writ:**')
      .option(
        '--principal <who>',
        'who revokes, without --by: the subject of the writ that is made for this',
        'operator',
      )
      .addOption(domainOption)
      .addOption(anchorsOption),
  )
    .addHelpText(
      'after',
      'Negative: it was refused, or a trajectory that was delegated to could not be told; doing it again tells it.\n' +
        'What was done stays done. What waits for approval under the writ can only be rejected.',
    )
    .action(
      inSession((session, options: Options, trajectoryId: string, given: string) => {
        const key = readPrivateKey(options.key, readAnchors(session.storeUrl, options.anchors));
        return session.withStore('existing', async (store) => {
          const revoked = await targetOf(store, trajectoryId, given);
          const by = await authorityOf(session, store, options, key, trajectoryId, writId(revoked.writ));
          const assize = await openAssize(store, session.storeUrl, options);
          const done = await (await assize.open(trajectoryId)).revoke({ writ: revoked, reason: options.reason, by });
          await assize.close();
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
 * The given writ, whose holder has the key, or a root writ for this revocation only.
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
    throw new CliError('usage', `The key is not that of ${held.writ.subject}, who holds the writ in ${by}.`);
  }
  requireAnchor(storeUrl, anchors, key, 'revokes without --by');
  const what = { action: REVOKE_ACTION, scopes: [revokeScope(id)], principal };
  return ephemeralWrit(await headOf(store, trajectoryId), what, key);
}

function say({ json, out }: Session, writ: string, { ruling, propagated }: Revocation): ExitCode {
  if (ruling.ruling === 'frozen') throw new Error('a revocation is never frozen');
  const { id, seq, trajectory_id } = ruling.entry;
  const told = propagated.map(({ trajectoryId, error }) => ({
    trajectory_id: trajectoryId,
    applied: error === undefined,
    ...(error && { error: error.message }),
  }));
  const why = ruling.ruling === 'rejected' ? { reason: ruling.reason, detail: ruling.detail } : {};
  if (json) out.document({ ruling: ruling.ruling, writ, trajectory_id, seq, entry_id: id, ...why, propagated: told });
  else if (ruling.ruling === 'rejected')
    out.line(line`${red('rejected')} as ${shortId(id)}: ${ruling.detail} (${ruling.reason})`);
  else {
    out.line(line`${green('revoked')} ${shortName(writ)} by ${shortId(id)}, ${trajectory_id} seq ${seq}`);
    for (const { trajectory_id: child, error } of told)
      out.line(
        error === undefined ? line`  applied in ${child}` : line`  not yet applied in ${yellow(child)}: ${error}`,
      );
  }
  return ruling.ruling === 'committed' && told.every((each) => each.applied) ? EXIT.ok : EXIT.negative;
}
