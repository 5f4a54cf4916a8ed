import { isSame } from '../bytes/canonical.ts';
import type { Commit, Counselor, Entry, Pending, Rejection } from '../entries/payloads.ts';
import { isAboutEffect, isSettlement } from './effects.ts';
import { obeysOverrides } from './overrides.ts';
import { differentMember } from './same-members.ts';

const COMMITTED = ['proposal_id', 'writ_id', 'observations', 'key_hash'];
const CONTENT = [
  'proposal',
  'digest',
  'channel',
  'reason',
  'detail',
  'freezes',
  'approvals',
  'policy',
  'invariant_id',
  'expires',
  'deputies',
];
const NAME_MAX = 512;

/**
 * Whether an entry decides a pending as the rules of the chain say (ledger reference, section
 * 5.3): '' or the reason, as a sentence.
 */
export function wrongDecision({ payload }: Entry, pending: Pending): string {
  if (payload.trajectory_id !== pending.trajectory_id)
    return 'It decides a proposal of another trajectory.';
  if (payload.seq <= pending.seq) return 'It stands before the proposal that it decides.';
  // The rules of settlements have their own file.
  if (payload.kind === 'commit') return isSettlement(payload) ? '' : wrongCommit(payload, pending);
  if (payload.kind === 'rejection') return wrongRejection(payload, pending);
  return payload.kind === 'pending_approval'
    ? wrongPartial(payload, pending)
    : 'It is of no kind that decides.';
}

function wrongCommit(commit: Commit, pending: Pending): string {
  const { proposal } = pending;
  const { counselor, amended, detection_vector: vector } = commit;
  if (counselor === undefined || vector === undefined)
    return 'It names no approver, or no detection vector.';
  const different =
    differentMember(commit, proposal, COMMITTED) ??
    (amended === undefined
      ? differentMember(commit, proposal, ['action', 'budget_cost'])
      : undefined);
  if (different !== undefined) return `Its ${different} is not that of the approved proposal.`;
  return (
    wrongApprover(counselor, commit.at, pending) ||
    wrongApprovals(commit, pending) ||
    wrongAmended(commit, pending)
  );
}

function wrongApprovals(commit: Commit, pending: Pending): string {
  const { approved_by: earlier = [], approvals = 1 } = pending;
  const counselor = commit.counselor as Counselor;
  if (earlier.length !== approvals - 1)
    return `It has ${earlier.length + 1} of ${approvals} approvals.`;
  if (!isSame(commit.approved_by ?? [], earlier))
    return 'Its earlier approvers are not those of the proposal.';
  if (earlier.some((one) => isSamePerson(one, counselor))) return 'One person approved twice.';
  const isLong = [...earlier, counselor].some(hasLongName);
  if (earlier.length > 0 && isLong) return 'The name of an approver is too long.';
  return obeysOverrides([...earlier, counselor], commit.detection_vector ?? [], pending)
    ? ''
    : 'Its overrides do not cover the violations of its detection vector.';
}

function wrongAmended(
  { amended, action, delta }: Commit,
  { proposal, approvals }: Pending,
): string {
  if (amended === undefined) return '';
  if (!isSame(amended.action, proposal.action))
    return 'The action before its amendment is not the proposed one.';
  const isOther = !isSame(action, proposal.action) && action.name === proposal.action.name;
  if (!isOther || action.name.startsWith('assize.'))
    return 'Its amended action is not an amendment of the proposed one.';
  if (approvals !== undefined) return 'It amends a proposal that needs several approvals.';
  const ids = new Set(proposal.delta.effects.map(({ id }) => id));
  return delta.effects.some(({ id }) => ids.has(id))
    ? 'An amended call has the id of a proposed one.'
    : '';
}

function wrongRejection(rejection: Rejection, pending: Pending): string {
  const { intent, reason, counselor, at } = rejection;
  const { proposal, expires } = pending;
  if (isAboutEffect(pending))
    return 'It rejects an entry about an effect. Only a settlement decides about one.';
  if (rejection.proposal_id === undefined) return 'It names no proposal.';
  const { name, role, args } = proposal.action;
  const different =
    differentMember(intent, { action: name, role, args, observations: proposal.observations }, [
      'action',
      'role',
      'args',
      'observations',
    ]) ?? differentMember(rejection, proposal, ['proposal_id', 'writ_id', 'key_hash']);
  if (different !== undefined)
    return `Its ${different} is not that of the proposal that it rejects.`;
  switch (reason) {
    case 'counselor_rejected':
    case 'conflict':
      if (reason === 'conflict' && pending.freezes === 'world')
        return 'It reports a conflict on a frozen state.';
      return counselor === undefined
        ? 'It names no counselor.'
        : wrongApprover(counselor, at, pending);
    case 'expired':
      if (counselor !== undefined) return 'It expired, and names a counselor.';
      return expires !== undefined && at >= expires
        ? ''
        : 'It expired before the time of the proposal was over.';
    case 'upgraded':
      return counselor === undefined ? '' : 'An upgrade closed it, and it names a counselor.';
    default:
      return `It rejects with the reason ${reason}. That reason decides nothing.`;
  }
}

function wrongPartial(payload: Pending, pending: Pending): string {
  const different = differentMember(payload, pending, CONTENT);
  if (different !== undefined)
    return `Its ${different} is not that of the proposal that it continues.`;
  const { approved_by: all = [], approvals = 1, at } = payload;
  const { approved_by: earlier = [] } = pending;
  const added = all.at(-1);
  if (added === undefined || !isSame(all.slice(0, -1), earlier))
    return 'It does not add one approver.';
  if (added.at !== at) return 'Its added approver has another time than the entry.';
  if (all.length >= approvals) return 'It has all approvals, and should be a commit.';
  if (earlier.some((one) => isSamePerson(one, added))) return 'One person approved twice.';
  if (hasLongName(added)) return 'The name of an approver is too long.';
  return (
    wrongApprover(added, at, pending) ||
    (obeysOverrides(all, [], pending) ? '' : 'Its overrides differ.')
  );
}

function wrongApprover({ as }: Counselor, at: string, pending: Pending): string {
  const { channel, deputies = [], expires } = pending;
  const [asked, held] = [channel.split('+'), as.split('+')];
  const isOne = (of: string, n: number): boolean =>
    of === held[n] ||
    deputies.some((one) => one.of === of && one.kind === held[n] && one.from <= at);
  if (channel !== 'any' && !(asked.length === held.length && asked.every(isOne)))
    return `It was decided as ${as}, and asks for ${channel}.`;
  return expires !== undefined && at >= expires
    ? 'It was decided after the proposal had expired.'
    : '';
}

/** The makers of an approver's token count as one person with the approver. */
function isSamePerson(a: Counselor, b: Counselor): boolean {
  const names = new Set(namesOf(a).map((name) => name.normalize('NFC')));
  return namesOf(b).some((name) => names.has(name.normalize('NFC')));
}

function hasLongName(counselor: Counselor): boolean {
  return namesOf(counselor).some((name) => name.length > NAME_MAX);
}

function namesOf({ principal, token_by = [] }: Counselor): readonly string[] {
  return [principal, ...token_by];
}
