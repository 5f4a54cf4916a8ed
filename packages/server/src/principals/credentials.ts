import { Tokens } from '@assize/command/operation';
import type { KeyPair } from 'assize/internal/canon';
import type { SideStore } from 'assize/internal/ledger';
import { systemRandom } from 'assize/internal/oracle';
import { sideSecretOf } from 'assize/internal/stores';
import { Sessions } from './sessions.ts';

/** The tokens and sessions of a store. Their rows are authenticated with the root key. */
export interface Credentials {
  readonly tokens: Tokens;
  readonly sessions: Sessions;
}

export function credentialsOf(store: SideStore, root: KeyPair): Credentials {
  const secret = sideSecretOf(root);
  return {
    tokens: new Tokens(store, secret, systemRandom),
    sessions: new Sessions(store, secret, systemRandom),
  };
}
