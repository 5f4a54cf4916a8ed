import { isDeepStrictEqual } from 'node:util';
import { isInstance } from 'assize/internal/base';

/** A server in a file of a client, with the place of its text. */
export interface ServerEntry {
  /** The members that lead to the entry, such as `mcpServers` and the name. */
  readonly at: readonly string[];
  readonly name: string;
  readonly value: Members;
  readonly start: number;
  readonly end: number;
  /** Why the text of the entry cannot be changed safely. */
  readonly fault?: string;
}

export type Members = Readonly<Record<string, unknown>>;

/** Members of an entry that get another value, and members that it loses. */
export interface EntryChange {
  readonly set: Members;
  readonly remove: readonly string[];
}

export interface EntryFormat {
  /** All servers of a text, those of every project included. @throws SyntaxError */
  entries(text: string): readonly ServerEntry[];
  /** The text of one entry after a change. Comments and other members stay. */
  changed(entryText: string, change: EntryChange, lineEnd: string): string;
  /** The members in the text of one entry. @throws SyntaxError */
  valueOf(entryText: string): Members;
  /** The comments in the text of one entry. */
  comments(entryText: string): readonly string[];
}

/** The text with another text for one entry. */
export function withEntryText(text: string, { start, end }: ServerEntry, entryText: string): string {
  return text.slice(0, start) + entryText + text.slice(end);
}

export function entryText(text: string, { start, end }: ServerEntry): string {
  return text.slice(start, end);
}

export function sameEntry(a: Pick<ServerEntry, 'at'>, b: Pick<ServerEntry, 'at'>): boolean {
  return isDeepStrictEqual(a.at, b.at);
}

/**
 * The text of a file after the change of one entry. Undefined if the changed text would mean
 * something else than intended: such a text is left alone.
 */
export function changedText(
  format: EntryFormat,
  text: string,
  { entry, change }: { readonly entry: ServerEntry; readonly change: EntryChange },
): string | undefined {
  const after = withEntryText(
    text,
    entry,
    format.changed(entryText(text, entry), change, text.includes('\r\n') ? '\r\n' : '\n'),
  );
  const wanted = format.entries(text).map(({ at, value }) => ({
    at,
    value: sameEntry({ at }, entry) ? changedMembers(value, change) : value,
  }));
  const found = readable(() => format.entries(after).map(({ at, value }) => ({ at, value })));
  return isDeepStrictEqual(plain(found), plain(wanted)) ? after : undefined;
}

function changedMembers(value: Members, { set, remove }: EntryChange): Members {
  const kept = Object.entries(value).filter(([name]) => !remove.includes(name));
  return { ...Object.fromEntries(kept), ...set };
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isInstance(error, SyntaxError)) return undefined;
    throw error;
  }
}

/** Without the classes and the order that the parsers give to their objects. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
