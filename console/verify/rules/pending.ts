import { hashOfValue } from '../bytes/hash.ts';
import type { Commit, Payload, Pending } from '../entries/payloads.ts';
import { effectPlaceOf, isAboutEffect } from './effects.ts';

/** The rules for a pending by itself (5.3, 5.9): '' or the reason, as a sentence. */
export function wrongPending(
  pending: Pending,
  commitOf: (id: string) => Payload | undefined,
): string {
  const {
    proposal,
    digest,
    head,
    parent,
    reason,
    freezes,
    resolves,
    approved_by: approved,
  } = pending;
  if (isAboutEffect(pending)) return wrongAboutEffect(pending, commitOf);
  if (['assize.revoke', 'assize.halt'].includes(proposal.action.name))
    return 'It asks for an action that never waits.';
  if (head !== parent) return 'Its head is not its parent.';
  if (digest !== hashOfValue(proposal)) return 'Its digest is not the hash of its proposal.';
  if (reason === 'irreversible' && proposal.delta.effects.length === 0)
    return 'It is irreversible and has no effect.';
  const asks = reason === 'contradiction';
  const freezesNothing = freezes !== 'world' && freezes.length === 0;
  if (asks !== (proposal.questions !== undefined) || (asks && !freezesNothing))
    return 'Its questions do not fit its reason.';
  if (resolves !== undefined) return '';
  if (approved !== undefined) return 'It has approvers before any approval.';
  return isDeputised(pending) ? '' : 'Its deputies are not those of its channel, from later on.';
}

function isDeputised({ channel, deputies, at }: Pending): boolean {
  if (deputies === undefined) return true;
  const asked = new Set(channel.split('+'));
  // A kind that cannot be deleted is there twice, or not asked for.
  return deputies.length > 0 && deputies.every(({ of, from }) => asked.delete(of) && from > at);
}

function wrongAboutEffect(pending: Pending, commitOf: (id: string) => Payload | undefined): string {
  const place = effectPlaceOf(pending);
  if (place === undefined) return 'It is about an effect, and has another form than such an entry.';
  const { head, parent, digest, proposal } = pending;
  if (head !== parent) return 'Its head is not its parent.';
  if (digest !== hashOfValue(proposal)) return 'Its digest is not the hash of its proposal.';
  const commit = place.commit === undefined ? undefined : commitOf(place.commit);
  if (commit === undefined) return '';
  const isOf =
    commit.kind === 'commit' && hasEffect(commit, proposal.delta.effects[0]?.id ?? '', pending);
  return isOf && commit.writ_id === proposal.writ_id
    ? ''
    : 'It is about an effect that its commit does not have.';
}

/** Whether a commit, earlier in the same trajectory, has an effect. */
export function hasEffect(commit: Commit, id: string, after: Payload): boolean {
  const isEarlier = commit.trajectory_id === after.trajectory_id && commit.seq < after.seq;
  return isEarlier && commit.delta.effects.some((effect) => effect.id === id);
}
