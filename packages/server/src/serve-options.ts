import type { LogKeys } from '@assize/audit/internal/checkpoints';
import type { BundleVerifiers } from '@assize/audit/internal/operations';
import type { Rules, TrialSet } from '@assize/gate/internal/gateway';
import type { Policy } from 'assize/internal/authority';
import type { Json } from 'assize/internal/base';
import type { Deployment, ResolvedConfig, RootKey } from 'assize/internal/config';
import type { Domain, Migration } from 'assize/internal/kernel';
import type { Clock } from 'assize/internal/oracle';
import type { Store } from 'assize/internal/stores';
import type { ConsoleFiles } from './http/console-files.ts';

/** The parts of a server that the caller has opened or loaded. */
export interface ServeOptions {
  readonly config: ResolvedConfig;
  /** An open store. The server does not close it. */
  readonly store: Store;
  readonly root: RootKey;
  /** The deployment that the store is part of. Absent: the store is a deployment of its own. */
  readonly deployment?: Deployment | undefined;
  readonly domains: readonly Domain[];
  readonly policy?: Policy | undefined;
  /** The rules of the worlds of the gateway domain. Default: those in force there. */
  readonly rules?: Rules | undefined;
  /** Rules that judge each call there until a day, and never act. */
  readonly trial?: TrialSet | undefined;
  /** The migrations of upgrades, by the hash of the later version. */
  readonly migrations?: ReadonlyMap<string, Migration>;
  /** Reads a rule table of a client. @throws AuthorityError `bad_input` */
  readonly policyOf: (rules: Json) => Policy;
  /** The pages of the console. Absent: the server has the API and a plain start page. */
  readonly console?: ConsoleFiles | undefined;
  /** The folder of the built documentation. Absent: /docs says how to install it. */
  readonly docs?: string | undefined;
  /** Whether the start prints sign-in links for its people. Default: false. */
  readonly linksAtStart?: boolean;
  /** The verifiers that proof bundles contain. Default: none. */
  readonly verifiers?: BundleVerifiers | undefined;
  /** Receives the lines of the log. */
  readonly log: (line: string) => void;
  /**
   * The keys of the log, read at each checkpoint: another process may change them. Default: derived
   * from the root key.
   */
  readonly logKeys?: (() => LogKeys) | undefined;
  readonly clock?: Clock;
}
