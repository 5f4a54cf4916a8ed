import type { Commit, Payload } from '../entries/payloads.ts';
import { effectPlaceOf, settlementOf } from './effects.ts';
import { hasEffect } from './pending.ts';
import { differentMember } from './same-members.ts';

/** The rules of section 5.9 for a settlement: '' or the reason, as a sentence. */
export function wrongSettlement(
  commit: Commit,
  pending: Payload | undefined,
  entryOf: (id: string) => Payload | undefined,
): string {
  const args = settlementOf(commit);
  if (args === undefined) return 'It is a settlement of another form.';
  const ids = args.settled.flatMap(({ effects }) => effects.map(({ id }) => id));
  if (new Set(ids).size < ids.length) return 'It settles an effect twice.';
  for (const [n, { commit: id, effects }] of args.settled.entries()) {
    const settled = entryOf(id);
    if (settled === undefined) continue;
    if (
      settled.kind !== 'commit' ||
      !effects.every((effect) => hasEffect(settled, effect.id, commit))
    )
      return 'It settles an effect that its commit does not have.';
    const isNamed = n === 0 || effects.some(({ cost }) => cost !== undefined);
    if (isNamed && settled.writ_id !== commit.writ_id)
      return 'Its writ is not that of the commit that it settles.';
  }
  return pending === undefined ? '' : wrongForPending(commit, pending, args.settled[0]?.commit);
}

function wrongForPending(commit: Commit, pending: Payload, settled: string | undefined): string {
  const place = pending.kind === 'pending_approval' ? effectPlaceOf(pending) : undefined;
  if (pending.kind !== 'pending_approval' || place === undefined)
    return 'It settles a proposal that is about no effect.';
  const different = differentMember(commit, pending.proposal, ['proposal_id', 'writ_id']);
  if (different !== undefined)
    return `Its ${different} is not that of the proposal that it settles.`;
  const decided = settlementOf(commit)?.decided;
  if (decided?.id !== pending.proposal.delta.effects[0]?.id)
    return 'It decides about another effect.';
  const expected = decided?.as === 'retry' ? undefined : place.commit;
  const isRight = settled === expected || (decided?.as === 'applied' && settled === undefined);
  return isRight ? '' : 'It settles another commit than that of the effect.';
}
