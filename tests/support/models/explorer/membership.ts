/**
 * The group members that share the effects of a store, as the store records them. All members
 * receive the published events, in one order. A removed member receives no events, and its writes
 * are refused. `tests/properties/members.test.ts` compares this model with the members of a real
 * store.
 */
import type { ExplorerEvent } from './view.ts';

/** Something that was said to all. */
export interface Message {
  readonly said: ExplorerEvent;
  /** The member that published the event, and the attempt that receives the answer. */
  readonly by: number;
  readonly tx: number;
}

export interface Post {
  /** The events that the member has yet to apply. */
  readonly inbox: readonly Message[];
  /** Whether the member is running and its writes are not fenced. */
  readonly isIn: boolean;
}

export function broadcast<P extends Post>(all: readonly P[], ...messages: readonly Message[]): P[] {
  return all.map((one) => (one.isIn ? { ...one, inbox: [...one.inbox, ...messages] } : one));
}

/**
 * Another member adopts the work of a removed member and retries its unresolved work (`left`). A
 * member that applies this later sees the work as the new owner's from the start.
 */
export function handedOver<P extends Post>(
  all: readonly P[],
  gone: number,
  heir: { readonly fence: number; readonly by: number },
  left: readonly number[],
): P[] {
  const { fence, by } = heir;
  const rewritten = all.map((one) => ({
    ...one,
    inbox: one.inbox.map((each) => ofAnother(each, gone, fence)),
  }));
  const taken: ExplorerEvent = { is: 'taken', gone, fence };
  const tried = left.map((epoch): ExplorerEvent => ({ is: 'own', epoch, fence }));
  return broadcast(rewritten, ...[taken, ...tried].map((said) => ({ said, by, tx: NOBODY })));
}

/** It is about no attempt. */
export const NOBODY = -1;

function ofAnother(message: Message, gone: number, fence: number): Message {
  const { said } = message;
  return 'fence' in said && said.fence === gone
    ? { ...message, said: { ...said, fence } }
    : message;
}
