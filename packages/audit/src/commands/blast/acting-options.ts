import {
  ephemeralWrit,
  headOf,
  keyOrRoot,
  type OpeningOptions,
  requireAnchor,
  requireLocal,
  type Session,
  withOpeningOptions,
} from '@assize/command';
import type { KeyPair } from 'assize/internal/canon';
import { INCIDENTS } from 'assize/internal/config';
import type { Store } from 'assize/internal/stores';
import type { Command } from 'commander';
import type { WritFor } from '#incidents';

/** The options by which a command signs writs with the key of an anchor, and acts under them. */
export interface ActingOptions extends OpeningOptions {
  readonly key?: string;
  readonly as: string;
  readonly incidents: string;
}

export function withActingOptions(command: Command): Command {
  return withOpeningOptions(
    command
      .option(
        '--key <file>',
        'private key of an anchor of the store (default: the root key of the store)',
      )
      .option('--as <principal>', 'the acting principal; recorded', 'operator')
      .option('--incidents <trajectory>', 'trajectory of incidents', INCIDENTS),
  );
}

/** The key of an anchor: of the file, or the root key of a local store. @throws CliError */
export function anchorKey({ storeUrl }: Session, options: ActingOptions, does: string): KeyPair {
  if (options.key === undefined)
    requireLocal(storeUrl, 'a server must authenticate its people. Pass --key FILE.');
  const pair = keyOrRoot(storeUrl, options);
  requireAnchor(storeUrl, options.anchors, pair, does);
  return pair;
}

/** Short-lived root writs, each for one action and scope in one trajectory. */
export function rootWrits(store: Store, principal: string, key: KeyPair): WritFor {
  return async (action, scope, trajectoryId) =>
    ephemeralWrit(await headOf(store, trajectoryId), { action, scopes: [scope], principal }, key);
}
