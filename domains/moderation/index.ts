/**
 * User case management of a social platform (seed 000 §1.3.3): reports, strikes, actions, appeals, each account governed by
 * what is on its record and by time. Four agents propose, each by its slice; people decide bans and appeals.
 *
 * Guarantees: an account is acted against only for a content that was assessed to break the policy, on the rung that its
 * strikes of that moment give and never two rungs at once; nobody is banned for good without a person; what is in force ends
 * at its time, and earlier only by an appeal that somebody else than who decided has granted.
 * Not promised: that an assessment is right, and that anything happens in time. README.md says where each rule comes from.
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
