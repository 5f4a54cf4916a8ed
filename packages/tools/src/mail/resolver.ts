import { type Resolver, segment } from 'assize/internal/effects';
import { unsegment } from '../segment.ts';
import { mailboxOf } from './message.ts';

/**
 * Resolves scopes of mail (`email:outbox:ada@example.com`) as the outbox of this adapter claims
 * them. One mailbox has one name in any case, and its domain is in ASCII without a trailing dot.
 * Segments that are not addresses are unchanged.
 */
export const mailResolver: Resolver = (scope) =>
  scope
    .split(':')
    .map((part, i) => (i > 0 && part.includes('@') ? segment(mailboxOf(unsegment(part))) : part))
    .join(':');
