import { arg, checkArgument } from 'assize/internal/base';
import { type Instant, readInstant, type Time } from 'assize/internal/canon';
import { STATEMENT_TEXTS } from 'assize/internal/kernel';
import { ExtractionError } from './errors.ts';

/** A message from any author. All of its content is data. */
export interface Message {
  /** The caller's unique id of the message, and the source of its claims: 1 to 512 characters. */
  readonly id: string;
  /** The author's name as the caller knows it: 1 to 512 characters, in Unicode's composed form. */
  readonly author: string;
  readonly text: string;
  /**
   * The time of writing, in any form of `Time`. Its facts are valid from then on, unless the
   * message states another time.
   * Default: the reference.
   */
  readonly at?: Time;
}

/** A message with a time. Its dates are relative to that. */
export type DatedMessage = Omit<Message, 'at'> & { readonly at: Instant };

const MESSAGES = arg.list(
  arg.members({ id: arg.text, author: arg.text, text: arg.text, at: arg.any }),
);

/** @throws ExtractionError `bad_argument`; ArgumentError `bad_argument` */
export function checkedMessages(
  messages: readonly Message[],
  reference: Instant | undefined,
): DatedMessage[] {
  checkArgument(MESSAGES, messages, 'messages');
  if (messages.length === 0) throw bad(0, 'it is missing; pass at least one message');
  const known = new Set<string>();
  return messages.map(({ id, author, text, at = reference }, index) => {
    if (!STATEMENT_TEXTS.source.safeParse(id).success)
      throw bad(index, 'its id is not a valid source; use 1 to 512 characters');
    if (known.has(id)) throw bad(index, 'an earlier message has the same id; give each its own id');
    known.add(id);
    if (!STATEMENT_TEXTS.name.safeParse(author).success)
      throw bad(
        index,
        'its author is not a valid name; use 1 to 512 characters in the composed form of Unicode (NFC)',
      );
    if (!text.isWellFormed()) throw bad(index, 'its text has half of a surrogate pair');
    const written = readInstant(at);
    if (written === undefined)
      throw bad(index, `${at === undefined ? NO_TIME : BAD_TIME}; ${SET_TIME}`);
    return { id, author, text, at: written };
  });
}

const NO_TIME = 'it has no time';
const BAD_TIME = 'its time `at` cannot be read';
const SET_TIME = 'set `at` to a time such as a Date, or 2026-03-23T09:00:00Z, or set `reference`';

function bad(index: number, what: string): ExtractionError {
  return new ExtractionError('bad_argument', `Message ${index + 1} is not valid: ${what}.`, {
    evidence: { message: index },
  });
}
