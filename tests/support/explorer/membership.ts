/**
 * Those who share the effects of a store, as the store has them: what is said goes to all, in one order; who is gone hears nothing, and
 * what it writes is refused. `tests/properties/members.test.ts` compares this with the members of a real store.
 */
import type { ExplorerEvent } from './view.ts';

/** Something that was said to all. */
export interface Message {
  readonly said: ExplorerEvent;
  /** Who said it, and about which attempt: what it is told. */
  readonly by: number;
  readonly tx: number;
}

export interface Post {
  /** What it has yet to hear. */
  readonly inbox: readonly Message[];
  /** Whether it goes on, and what it writes is not fenced. */
  readonly isIn: boolean;
}

export function broadcast<P extends Post>(all: readonly P[], ...messages: readonly Message[]): P[] {
  return all.map((one) => (one.isIn ? { ...one, inbox: [...one.inbox, ...messages] } : one));
}

/**
 * What was of a member that is gone is another one's, and what it had left (`left`) is tried again. Who has not heard of it yet hears of it
 * as if it had been the new one's from the beginning.
 */
export function handedOver<P extends Post>(
  all: readonly P[],
  gone: number,
  heir: { readonly fence: number; readonly by: number },
  left: readonly number[],
): P[] {
  const { fence, by } = heir;
  const rewritten = all.map((one) => ({ ...one, inbox: one.inbox.map((each) => ofAnother(each, gone, fence)) }));
  const taken: ExplorerEvent = { is: 'taken', gone, fence };
  const tried = left.map((epoch): ExplorerEvent => ({ is: 'own', epoch, fence }));
  return broadcast(rewritten, ...[taken, ...tried].map((said) => ({ said, by, tx: NOBODY })));
}

/** It is about no attempt. */
export const NOBODY = -1;

function ofAnother(message: Message, gone: number, fence: number): Message {
  const { said } = message;
  return 'fence' in said && said.fence === gone ? { ...message, said: { ...said, fence } } : message;
}
