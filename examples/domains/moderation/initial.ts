import { arg, checkArgument } from 'assize/internal/base';
import type { Account, ModerationState, Policy } from './schema.ts';

/** One rung per strike. A strike counts for 90 days, and a decision can be appealed for 14 days. */
export const MODERATION_POLICY: Policy = {
  ladder: ['warn', 'limit', 'suspend', 'ban'],
  strike_days: 90,
  appeal_days: 14,
  term_days: { limit: 7, suspend: 30 },
};

/**
 * A platform on which nothing was reported yet, under a policy.
 *
 * @throws ArgumentError `bad_argument`
 */
export function moderationInitial(policy: Policy = MODERATION_POLICY): ModerationState {
  checkArgument(arg.object, policy, 'policy');
  return { policy, accounts: {} };
}

/** A record on which nothing stands. */
export function newAccount(): Account {
  return {
    events: 0,
    standing: { level: 'good' },
    reports: {},
    cases: {},
    assessments: {},
    strikes: {},
    actions: {},
    notices: {},
    enforcements: {},
    ends: {},
    appeals: {},
    decisions: {},
    closures: {},
  };
}
