import { IncidentRunner } from '@assize/audit/internal/operations';
import type { NoticeSender } from '../notices/notice-sender.ts';
import type { ServerService } from '../service.ts';
import { Recurring } from './recurring.ts';

const HOUR_MS = 3_600_000;

/** The time between two looks at approved incidents, and at trajectories that wait for rules. */
const WAITING_MS = 2_000;

/** The time between two looks at entries whose facts are not stored. */
const INDEX_MS = 10_000;

export interface HousekeepingOptions {
  readonly service: ServerService;
  readonly notices: NoticeSender;
  readonly onFailure: (error: unknown) => void;
  /** Ends the work. */
  readonly signal: AbortSignal;
}

/**
 * Work at the start and hourly: deletes sessions, codes, tokens and rows of notices that have
 * ended; puts the rules of the file in force in trajectories of the gateway domain that were made
 * elsewhere; drops the figures there that no rule counts any more; finds the next expiries. Every
 * two seconds: carries out approved incidents. Every ten seconds: stores the facts of new entries.
 * Returns a function that ends the work, and resolves when the work in progress has ended.
 */
export function startHousekeeping(options: HousekeepingOptions): () => Promise<void> {
  const { service, notices, onFailure, signal } = options;
  const { assize, clock, gateways, sessions, tokens } = service;
  const works: readonly (() => Promise<void>)[] = [
    () => sessions.sweep(clock.now()),
    () => tokens.sweep(clock.now()),
    () => notices.sweep(),
    () => assize.findExpiries(signal),
    () => gateways.configureAll(signal),
    () => gateways.tidyAll(signal),
    () => gateways.closeStale(),
  ];
  const all = async (): Promise<void> => {
    for (const work of works) if (!signal.aborted) await work().catch(onFailure);
  };
  const hourly = new Recurring(HOUR_MS, all, onFailure);
  const incidents = new IncidentRunner(service, onFailure);
  const frequent = async (): Promise<void> => {
    await gateways.retryWaiting().catch(onFailure);
    await incidents.carryOutApproved(signal).catch(onFailure);
  };
  const often = new Recurring(WAITING_MS, frequent, onFailure);
  const indexed = new Recurring(
    INDEX_MS,
    async () => service.activity.store(await service.store.logSize(), signal),
    onFailure,
  );
  void hourly.run();
  void often.run();
  void indexed.run();
  return async () => {
    await Promise.all([hourly.stop(), often.stop(), indexed.stop()]);
  };
}
