import type { AssizeConfig } from '#config';
import type { Domain } from '#kernel';
import type { EffectStore, FactStore, LedgerStore, LogStore } from '#ledger';
import type { Clock } from '#oracle';
import type { Assize, Trajectory } from '#runtime';
import type { Store } from '#stores';
import type { LogTail } from './events/log-tail.ts';
import type { Tokens } from './principals/tokens.ts';
import type { WritIssuer } from './principals/writ-issuer.ts';

/** The parts that operations use. One for each server process. */
export interface Service {
  readonly assize: Assize;
  readonly store: Store;
  readonly config: AssizeConfig;
  readonly domains: readonly Domain[];
  readonly clock: Clock;
  readonly writs: WritIssuer;
  readonly tokens: Tokens;
  readonly tail: LogTail;
}
