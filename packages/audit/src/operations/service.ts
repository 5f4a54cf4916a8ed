import { operationsOf, type Service } from '@assize/command/operation';
import type { Policy } from 'assize/internal/authority';
import type { Json } from 'assize/internal/base';
import type { DomainActions } from 'assize/internal/views';
import type { BundleOptions } from '#bundle';
import type { Checkpoints } from './log-checkpoints.ts';
import type { OneAtATime } from './one-at-a-time.ts';

/** The verifiers that proof bundles contain: the program in Python, and the page. */
export type BundleVerifiers = Pick<BundleOptions, 'script' | 'page'>;

/** The parts of a server that the operations of audits use. */
export interface AuditService extends Service {
  readonly checkpoints: Checkpoints;
  readonly verifiers: BundleVerifiers;
  /** A bundle or a report reads much of the ledger, so they are made one after the other. */
  readonly bundles: OneAtATime;
  /** The words of actions, by trajectory. */
  readonly actions: Pick<DomainActions, 'of'>;
  /** A policy of a client, for a backtest. @throws AuthorityError `bad_input` */
  readonly policyOf: (rules: Json) => Policy;
}

export const operation = operationsOf<AuditService>();
