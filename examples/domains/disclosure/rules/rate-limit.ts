import { type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import type { DisclosureState } from '../schema.ts';
import { addHours } from '../time.ts';

/**
 * A window of the configured length holds at most N reports to a maintainer under one condition.
 * Every report is at least that length after the N-th report before it. So each new report is
 * checked against that earlier report only, and no clock is needed. Two reports exactly that length
 * apart share no window.
 */
export function rateLimit({ each }: Rules<DisclosureState>): Invariant<DisclosureState>[] {
  return [
    each(
      'MAINTAINER_RATE_LIMIT',
      '/reports/*/*/*',
      {
        reads: ['/reports', '/settings/rate_limit'],
        with: ({ limit }, [organisation, maintainer, n]) => {
          const place = Number(n);
          const at = (index: number) => `/reports/${organisation}/${maintainer}/${index}` as const;
          // Before the first report there is no value, and the lookup finds none.
          return {
            settings: '/settings/rate_limit',
            before: at(place - 1),
            first: at(place - limit),
          };
        },
      },
      (report, { settings, before, first }, [organisation, maintainer]) => {
        if (settings === undefined || report.limit !== settings.reports) {
          return reject(`${report.limit} is not the configured limit of reports`);
        }
        if (before !== undefined && before.at > report.at)
          return reject('reports must be in order of time');
        if (first === undefined) return pass;
        const free = addHours(first.at, settings.hours);
        if (report.at >= free) return pass;
        return reject(
          `${maintainer} of ${organisation} would get more than ${settings.reports} reports in ${settings.hours} hours; the next may go out at ${free}`,
        );
      },
    ),
  ];
}
