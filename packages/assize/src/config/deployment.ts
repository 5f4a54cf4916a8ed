import type { Writ } from '#authority';
import type { Instant } from '#canon';
import type { Domain } from '#kernel';
import type { HALT_ACTION, REVOKE_ACTION, SideStore } from '#ledger';
import type { Clock } from '#oracle';
import type { Assize } from '#runtime';
import type { Store } from '#stores';
import type { GrantIssuer } from './grants/grant-issuer.ts';

/** The parts of a server that the deployment uses. */
export interface DeploymentHost {
  readonly domains: readonly Domain[];
  readonly grants: GrantIssuer;
  readonly clock: Clock;
  /** A runtime of the server over another store. The caller closes it. */
  readonly runtimeOver: (store: Store) => Assize;
  /** The writ of a principal for a built-in action in a trajectory. */
  readonly writFor: (
    principal: string,
    action: typeof HALT_ACTION | typeof REVOKE_ACTION,
    trajectoryId: string,
    now: Instant,
  ) => Writ;
  readonly onFailure: (error: unknown) => void;
}

/**
 * A deployment over several stores, as a server of one of them uses it. Each trajectory is in one
 * of the stores.
 */
export interface Deployment {
  /** The addresses of the servers of the other stores. */
  readonly peers: readonly { readonly name: string; readonly url?: string }[];
  /** The side store of the tokens. They count at every server. */
  readonly side: SideStore;
  readonly gauges: readonly {
    readonly name: string;
    readonly help: string;
    readonly read: () => number;
  }[];
  /** Carries out what the deployment has ordered, and goes on with it until `stop`. */
  readonly start: (host: DeploymentHost) => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Gives a new trajectory its place. */
  readonly place: (trajectoryId: string) => Promise<void>;
  /** Whether this place has the trajectory, and does not give it away. */
  readonly isHere: (trajectoryId: string) => boolean;
  /** The other place that has the trajectory. Undefined: it is here, or nowhere. */
  readonly elsewhere: (
    trajectoryId: string,
  ) => { readonly id: string; readonly url: string | undefined } | undefined;
  /** Throws if another place has the trajectory. */
  readonly requireHere: (trajectoryId: string) => void;
  /** Throws if this store accepts no entries at all. */
  readonly requireReady: () => void;
  /** Throws if the principal was stopped everywhere. */
  readonly requireStanding: (principal: string) => void;
  /** Throws unless a branch or a delegation may have that name. */
  readonly requireBeside: (source: string, name: string) => void;
  /** A name for a branch or a delegation, from one that no trajectory has. */
  readonly nameBeside: (source: string, name: string) => string;
  /** The command that stops an agent everywhere. */
  readonly stopCommand: (agent: string) => string;
  /** An error in the words of the deployment, if an order of it is the cause. */
  readonly explained: (error: unknown) => unknown;
}
