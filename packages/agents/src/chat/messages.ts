import { arg, checkArgument } from 'assize/internal/base';
import { contentHash, issueText, readInstant, type Time } from 'assize/internal/canon';
import {
  STATEMENT_METADATA,
  type StatementAuthor,
  type StatementMetadata,
} from 'assize/internal/kernel';
import { MemoryError } from 'assize/internal/memory';
import type { Message } from '#agents';

/** A message of a chat, in the form of most model APIs. All of its content is data. */
export interface ChatMessage {
  /** Messages of `system` and `tool` are not read. */
  readonly role: 'user' | 'assistant' | 'system' | 'tool';
  readonly content: string;
  /** The author's name. Default: the user of the call for `user`, else the role. */
  readonly name?: string;
  /**
   * The source of its facts: 1 to 512 characters. Default: a hash of the message. So the same text
   * of the same author and time is the same message.
   */
  readonly id?: string;
  /** The time of writing, in any form of `Time`. Default: that of the call. */
  readonly at?: Time;
  /** Noted on each fact of the message, in addition to the metadata of the call. */
  readonly metadata?: StatementMetadata;
}

/** The messages that are read, for `extractFacts`, and the notes of their facts by id. */
export interface ReadMessages {
  readonly messages: readonly Message[];
  /** The number of each message in the given list, from 1. */
  readonly numbers: readonly number[];
  readonly notes: ReadonlyMap<string, StatementNotes>;
}

/** The author and the metadata of each statement of a message. */
export interface StatementNotes {
  readonly author: StatementAuthor;
  readonly metadata?: StatementMetadata;
}

/** The author of messages of the role `user`, if a call names no user. */
export const DEFAULT_USER = 'user';
export const MESSAGES_MAX = 200;

const MESSAGE = arg.members({
  role: arg.oneOf(['user', 'assistant', 'system', 'tool']),
  content: arg.text,
  name: arg.optional(arg.text),
  id: arg.optional(arg.text),
  at: arg.any,
  metadata: arg.optional(arg.object),
});
const LIST = arg.of(
  `a list of 1 to ${MESSAGES_MAX} messages`,
  (given) => Array.isArray(given) && given.length >= 1 && given.length <= MESSAGES_MAX,
);

/** @throws MemoryError `bad_metadata`; ArgumentError `bad_argument` */
export function readMessages(
  given: readonly ChatMessage[],
  {
    user,
    metadata = {},
    isShared = false,
  }: {
    readonly user?: string | undefined;
    readonly metadata?: object | undefined;
    readonly isShared?: boolean;
  },
): ReadMessages {
  checkArgument(arg.all(LIST, arg.list(MESSAGE)), given, 'messages');
  const notes = new Map<string, StatementNotes>();
  const repeated = new Map<string, number>();
  const isRead = ({ role }: ChatMessage): boolean => role === 'user' || role === 'assistant';
  const messages = given.filter(isRead).map((each): Message => {
    const { role, content: text, at, name = role === 'user' ? user : undefined } = each;
    const author = name ?? (role === 'user' ? DEFAULT_USER : role);
    const id = each.id ?? numbered(hashOf(each, author), repeated);
    const own = { ...metadata, ...each.metadata };
    notes.set(id, {
      author: {
        role: role as StatementAuthor['role'],
        ...(name !== undefined && { name }),
        ...(isShared && { shared: true }),
      },
      ...(Object.keys(own).length > 0 && { metadata: checkedMetadata(own) }),
    });
    return { id, author, text, ...(at !== undefined && { at }) };
  });
  const numbers = given.flatMap((each, i) => (isRead(each) ? [i + 1] : []));
  return { messages, numbers, notes };
}

/** @throws MemoryError `bad_metadata` */
export function checkedMetadata(given: object): StatementMetadata {
  const { data, error } = STATEMENT_METADATA.safeParse(given);
  if (data !== undefined) return data;
  throw new MemoryError(
    'bad_metadata',
    `The metadata is not valid: ${issueText(error!)}. Correct it.`,
  );
}

/** The same messages have the same key, in whatever order their members are. */
export function keyOf({ messages }: ReadMessages): string {
  return contentHash(
    messages.map(({ id, author, text, at }) => [
      ...[id, author, text].map((each) => each.toWellFormed()),
      timeOf(at),
    ]),
  );
}

function hashOf({ role, content, at }: ChatMessage, author: string): string {
  const texts = [role, author, content].map((each) => each.toWellFormed());
  return contentHash([...texts, timeOf(at)]).slice(0, ID_LENGTH);
}

const ID_LENGTH = 32;

/** An invalid time is refused with the messages. */
function timeOf(at: Time | undefined): string | null {
  return at === undefined ? null : (readInstant(at) ?? 'invalid');
}

/** A text that occurs twice in one list is two messages. */
function numbered(hash: string, seen: Map<string, number>): string {
  const count = (seen.get(hash) ?? 0) + 1;
  seen.set(hash, count);
  return count === 1 ? `chat:${hash}` : `chat:${hash}#${count}`;
}
