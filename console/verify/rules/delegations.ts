import type { Delegation, Payload, Root } from '../entries/payloads.ts';
import { differentMember } from './same-members.ts';

/** The other entries of a chain that a delegation entry is compared with. */
interface Around {
  /** The first entry of the trajectory, if the bundle has it. */
  readonly first: Payload | undefined;
  /** The entry that it concludes, if the bundle has it. */
  readonly start: Payload | undefined;
}

/** The rules of section 5.4: '' or the reason, as a sentence. */
export function wrongDelegation(payload: Delegation, { first, start }: Around): string {
  const from = first?.kind === 'root' ? first.delegated_from : undefined;
  if (payload.concludes === undefined) return wrongStart(payload, from);
  if (payload.begins !== undefined) return 'It ends a delegation, and says how one begins.';
  if (payload.child_trajectory_id !== payload.trajectory_id) return wrongConclusion(payload, start);
  if (first !== undefined && from?.entry_id !== payload.concludes)
    return 'It answers another delegation than its own.';
  return payload.child_head === undefined ? '' : 'It is an answer, and names one.';
}

function wrongStart(payload: Delegation, from: Root['delegated_from']): string {
  const {
    child_head: head,
    final_answer: answer,
    budget_cost: cost,
    child_trajectory_id: child,
  } = payload;
  if (head !== undefined || answer !== undefined || cost !== undefined)
    return 'It starts a delegation with an answer.';
  return child === payload.trajectory_id || child === from?.trajectory_id
    ? 'It delegates to a trajectory above.'
    : '';
}

function wrongConclusion(payload: Delegation, start: Payload | undefined): string {
  if (payload.child_head === undefined) return 'It concludes a delegation without an answer.';
  if (start === undefined) return '';
  const isStart =
    start.kind === 'delegation' &&
    start.concludes === undefined &&
    start.trajectory_id === payload.trajectory_id &&
    start.seq < payload.seq;
  if (!isStart) return 'It concludes an entry that starts no delegation.';
  const different = differentMember(payload, start, ['child_trajectory_id', 'task', 'writ']);
  return different === undefined ? '' : `Its ${different} is not that of the start.`;
}
