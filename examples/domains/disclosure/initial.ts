import { arg, checkArgument } from 'assize/internal/base';
import type { DisclosureState, Settings } from './schema.ts';

/**
 * The settings of a discovering organisation. The paper names no numbers. These are common ones: 90
 * days, and 7 if a vulnerability is already exploited.
 */
export const DISCLOSURE_SETTINGS: Settings = {
  rate_limit: { reports: 5, hours: 168 },
  embargo: {
    reply_days: 7,
    extension_days: 14,
    regimes: { standard: { days: 90 }, exploited: { days: 7 } },
  },
};

const SETTINGS = arg.members({
  rate_limit: arg.members({ reports: arg.whole, hours: arg.whole }),
  embargo: arg.members({
    reply_days: arg.whole,
    extension_days: arg.whole,
    regimes: arg.record(arg.members({ days: arg.whole })),
  }),
});

/**
 * An empty portfolio.
 *
 * @throws ArgumentError `bad_argument`
 */
export function disclosureInitial(settings: Settings = DISCLOSURE_SETTINGS): DisclosureState {
  checkArgument(SETTINGS, settings, 'settings');
  return {
    settings,
    vulnerabilities: {},
    queue: {},
    reports: {},
    signals: {},
    patches: {},
    severities: {},
    knowledge: {},
    cves: {},
    commitments: {},
    resolutions: {},
    groups: {},
    records: {},
    assignments: {},
  };
}
