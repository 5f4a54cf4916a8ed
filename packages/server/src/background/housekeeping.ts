import { IncidentRunner } from '@assize/audit/internal/operations';
import { INCIDENTS } from 'assize/internal/config';
import type { EntryRow } from 'assize/internal/ledger';
import type { NoticeSender } from '../notices/notice-sender.ts';
import type { ServerService } from '../service.ts';
import { Recurring } from './recurring.ts';

const HOUR_MS = 3_600_000;

/** The time after which the work that entries of other processes cause begins. */
const OTHERS_MS = 10_000;

export interface HousekeepingOptions {
  readonly service: ServerService;
  readonly notices: NoticeSender;
  readonly onFailure: (error: unknown) => void;
  /** Ends the work. */
  readonly signal: AbortSignal;
}

export interface Housekeeping {
  /** Takes the entries that this process has committed. */
  committed(entries: readonly EntryRow[]): void;
  /** Ends the work. Resolves when the work in progress has ended. */
  stop(): Promise<unknown>;
}

/**
 * Work at the start and hourly: deletes sessions, codes, tokens and rows of notices that have
 * ended; puts the rules of the file in force in trajectories of the gateway domain that were made
 * elsewhere; drops the figures there that no rule counts any more; finds the next expiries. Every
 * ten seconds, and soon after an entry of this process that needs it: puts rules in force that
 * waited for open questions, carries out approved incidents, and stores the facts of new entries.
 */
export function startHousekeeping(options: HousekeepingOptions): Housekeeping {
  const { service, notices, onFailure, signal } = options;
  const { assize, clock, gateways, sessions, tokens } = service;
  const works = [
    () => sessions.sweep(clock.now()),
    () => tokens.sweep(clock.now()),
    () => notices.sweep(),
    () => assize.findExpiries(signal),
    () => gateways.configureAll(signal),
    () => gateways.tidyAll(signal),
    () => gateways.closeStale(),
  ];
  const all = async () => {
    for (const work of works) if (!signal.aborted) await work().catch(onFailure);
  };
  const hourly = new Recurring(HOUR_MS, all, onFailure);
  const incidents = new IncidentRunner(service, onFailure);
  const afterEntries = async () => {
    await gateways.retryWaiting().catch(onFailure);
    await incidents.carryOutApproved(signal).catch(onFailure);
    await service.activity.store(await service.store.logSize(), signal);
  };
  const often = new Recurring(OTHERS_MS, afterEntries, onFailure);
  void hourly.run();
  often.wake();
  return {
    committed(entries) {
      if (gateways.waiting.length > 0 || entries.some((one) => one.trajectory_id === INCIDENTS))
        often.wake();
    },
    stop: () => Promise.all([hourly.stop(), often.stop()]),
  };
}
