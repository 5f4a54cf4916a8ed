import { contentHash, isInstant } from 'assize/internal/canon';
import type { FactRow } from 'assize/internal/memory';
import { z } from 'zod';
import { ChatMemoryError } from './errors.ts';
import type { ListPlace } from './list.ts';

/** The place in a recall where the next page begins. */
export interface Cursor {
  /** Every page is as of these times, also while others write. */
  readonly valid: string;
  readonly system: string;
  /** With a question: the facts of earlier pages, by `shownKey`. */
  readonly shown?: readonly string[] | undefined;
  /** Without a question: the last fact of the page. */
  readonly after?: ListPlace | undefined;
}

/** The most facts of all pages of one search: a cursor names them. */
export const SEARCHED_MAX = 1_000;

const KEY_LENGTH = 12;
const CURSOR = z.strictObject({
  query: z.string().regex(/^[0-9a-f]{16}$/),
  valid: z.string().refine((text) => text === 'any' || isInstant(text)),
  system: z.string().refine(isInstant),
  shown: z
    .array(z.string().regex(/^[0-9a-f]{12}$/))
    .max(SEARCHED_MAX)
    .optional(),
  after: z
    .strictObject({
      space: z.int().min(0),
      subject: z.string().min(1).max(512),
      predicate: z.string().min(1).max(512),
      n: z.int().min(0),
    })
    .optional(),
});

/** The version of a fact, shortly. */
export function shownKey({
  space,
  subject,
  predicate,
  fact_id,
  system_time_start,
}: FactRow): string {
  return contentHash([space, subject, predicate, fact_id, system_time_start]).slice(0, KEY_LENGTH);
}

/** `query`: all that decides which facts match, so a cursor continues its own recall only. */
export function cursorText(cursor: Cursor, query: unknown): string {
  return Buffer.from(JSON.stringify({ query: queryKey(query), ...cursor })).toString('base64url');
}

/** @throws ChatMemoryError `bad_argument` */
export function readCursor(text: string, query: unknown): Cursor {
  let given: unknown;
  try {
    given = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch (cause) {
    throw badCursor(cause);
  }
  const { data } = CURSOR.safeParse(given);
  if (data === undefined || data.query !== queryKey(query)) throw badCursor();
  const { valid, system, shown, after } = data;
  return { valid, system, shown, after };
}

function queryKey(query: unknown): string {
  return contentHash(query).slice(0, 16);
}

function badCursor(cause?: unknown): ChatMemoryError {
  return new ChatMemoryError(
    'bad_argument',
    'The cursor is not one of this recall. Repeat the recall without a cursor, and pass `next` of each page.',
    { cause },
  );
}
