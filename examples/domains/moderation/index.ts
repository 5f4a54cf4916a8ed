/**
 * User case management of a social platform (seed 000 §1.3.3): reports, strikes, actions and
 * appeals. The record of an account and the time govern it. Four agents propose, each by its slice;
 * humans decide bans and appeals.
 *
 * Guarantees: an action on an account needs content that was assessed to break the policy. The
 * account's active strikes at that moment give the rung, never two rungs together. No account is
 * banned permanently without a human. An action in force ends at its time. An earlier end needs an
 * appeal, granted by a human other than the decider of the action.
 *
 * Not promised: that an assessment is right, and that anything happens in time. README.md gives the
 * source of each rule.
 */
import { defineDomain } from 'assize/internal/kernel';
import { actions } from './actions.ts';
import { moderationInitial } from './initial.ts';
import { isModerator, MODERATOR } from './people.ts';
import { processes, roles } from './roles.ts';
import { rules } from './rules.ts';
import { moderationState } from './schema.ts';

export type { ModerationActions } from './actions.ts';
export { MODERATION_POLICY, moderationInitial } from './initial.ts';
export type { Kind, Level, ModerationState, Policy, Standing } from './schema.ts';

export const moderation = defineDomain({
  name: 'moderation',
  version: '1',
  state: moderationState,
  initial: moderationInitial(),
  processes,
  roles,
  actions,
  invariants: rules,
  counselors: { [MODERATOR]: isModerator },
  // While a person decides about one account, all others go on.
  freeze: 'footprint',
});
