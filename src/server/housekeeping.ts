import { IncidentCarrier } from './incident-carrier.ts';
import type { NoticeSender } from './notices/notice-sender.ts';
import type { Service } from './service.ts';

const HOUR_MS = 3_600_000;

/** The time between two looks at approved incidents, and at trajectories that wait for rules. */
const WAITING_MS = 2_000;

export interface HousekeepingOptions {
  readonly service: Service;
  readonly notices: NoticeSender;
  readonly onFailure: (error: unknown) => void;
  /** Ends the work. */
  readonly signal: AbortSignal;
}

/**
 * Work at the start and hourly: deletes sessions, codes, tokens and rows of notices that have
 * ended; puts the rules of the file in force in trajectories of the gateway domain that were made
 * elsewhere; drops the figures there that no rule counts any more. Every two seconds: carries out
 * approved incidents. Returns a function that resolves when the work in progress has ended, after
 * `signal`.
 */
export function startHousekeeping(options: HousekeepingOptions): () => Promise<void> {
  const { service, notices, onFailure, signal } = options;
  const { clock, gateways, sessions, tokens } = service;
  const works: readonly (() => Promise<void>)[] = [
    () => sessions.sweep(clock.now()),
    () => tokens.sweep(clock.now()),
    () => notices.sweep(),
    () => gateways.configureAll(signal),
    () => gateways.tidyAll(signal),
  ];
  const all = async (): Promise<void> => {
    for (const work of works) if (!signal.aborted) await work().catch(onFailure);
  };
  const hourly = every(HOUR_MS, all, signal);
  const carrier = new IncidentCarrier(service, onFailure);
  const frequent = async (): Promise<void> => {
    await gateways.retryWaiting().catch(onFailure);
    await carrier.carryOutApproved(signal).catch(onFailure);
  };
  const often = every(WAITING_MS, frequent, signal);
  return async () => {
    await Promise.all([hourly(), often()]);
  };
}

/** Does a work now and again and again, never twice at once. Returns the work in progress. */
function every(ms: number, work: () => Promise<void>, signal: AbortSignal): () => Promise<void> {
  let working: Promise<void> | undefined;
  const begin = (): void => {
    working ??= work().finally(() => {
      working = undefined;
    });
  };
  const timer = setInterval(begin, ms).unref();
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  begin();
  return async () => working;
}
