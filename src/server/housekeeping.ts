import { isAssizeError } from '#base';
import type { Instant } from '#canon';
import type { NoticeSender } from './notices/notice-sender.ts';
import type { Sessions } from './principals/sessions.ts';
import type { Service } from './service.ts';

const HOUR_MS = 3_600_000;

/** The principal of the server's own proposals. */
const SERVER = 'assize:server';

/**
 * Hourly work: deletes sessions and codes that have ended, and drops the figures in worlds of the
 * gateway domain that no rule counts any more. Returns the timer.
 */
export function startHousekeeping(
  service: Service,
  sessions: Sessions,
  notices: NoticeSender,
  onFailure: (error: unknown) => void,
): NodeJS.Timeout {
  const work = (): void => {
    const now = service.clock.now();
    void sessions.sweep(now).catch(onFailure);
    void notices.sweep().catch(onFailure);
    void tidyGateways(service, now).catch(onFailure);
  };
  return setInterval(work, HOUR_MS).unref();
}

/** One entry a day in each world, also of several servers: the day is the idempotency key. */
export async function tidyGateways({ assize, config, writs }: Service, now: Instant): Promise<void> {
  const day = now.slice(0, 10);
  for (const [trajectoryId, world] of Object.entries(config.worlds)) {
    if (world.domain !== 'gateway') continue;
    const trajectory = await assize.open(trajectoryId);
    const idempotencyKey = `tidy ${day}`;
    if ((await trajectory.rulingOf(idempotencyKey, SERVER)) !== undefined) continue;
    const writ = writs.forServer(SERVER, 'tidy', trajectoryId, now);
    try {
      await trajectory.propose({ action: 'tidy', role: 'gate', args: {}, writ, idempotencyKey } as never);
    } catch (error) {
      // A halted world is tidied after its resume.
      if (!isAssizeError(error, 'halted')) throw error;
    }
  }
}
