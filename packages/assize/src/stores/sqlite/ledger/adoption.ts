import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Hash } from '#ledger';
import { type Adoption, copiedError, linkedError } from '../../adoption.ts';

/** A file: its inode, and its creation time in nanoseconds. */
interface Place {
  readonly inode: bigint;
  readonly born: bigint;
  readonly changed: bigint;
}

const MEMORY = 'memory';
const RECORD = 'INSERT INTO adoption (root, place, at, reason) VALUES (?, ?, ?, ?)';

/** Records the takeover, inside a transaction. `path`: null for a store in memory. */
export function prepareAdopt(db: DatabaseSync, path: string | null): (adoption: Adoption) => void {
  const statement = db.prepare(RECORD);
  return ({ at, reason, roots }) => {
    if (roots === undefined)
      statement.run(null, path === null ? MEMORY : placeText(placeOf(path)), at, reason);
    else for (const root of roots) statement.run(Buffer.from(root, 'hex'), null, at, reason);
  };
}

/** Records the place of a new file. */
export function recordFirstPlace(db: DatabaseSync, path: string, at: string): void {
  db.prepare(RECORD).run(null, placeText(placeOf(path)), at, 'created');
}

/** Prepared at the first call, so that a reader opens a store of a schema without the table. */
export function prepareAdopted(db: DatabaseSync): (root: Hash) => boolean {
  let statement: StatementSync | undefined;
  return (root) => {
    statement ??= db.prepare('SELECT 1 FROM adoption WHERE root = ?');
    return statement.get(Buffer.from(root, 'hex')) !== undefined;
  };
}

/**
 * Throws `store_copied` if the file at `path` is not the one that the store last recorded. A moved
 * file stays the same file, and a copy is another one. A file with a second name is refused too,
 * because each name has its own write-ahead log and lock. A store in memory is never a copy.
 */
export function prepareRefuseCopied(db: DatabaseSync, path: string | null): () => void {
  if (path === null) return () => undefined;
  const statement = db.prepare(
    'SELECT place FROM adoption WHERE place IS NOT NULL ORDER BY n DESC LIMIT 1',
  );
  return () => {
    if (statSync(path).nlink > 1) throw linkedError(path);
    const recorded = statement.get()?.['place'];
    if (typeof recorded !== 'string' || !isAt(placeOf(path), recorded)) throw copiedError(path);
  };
}

function placeOf(path: string): Place {
  const { ino: inode, birthtimeNs: born, ctimeNs: changed } = statSync(path, { bigint: true });
  return { inode, born, changed };
}

function placeText({ inode, born }: Place): string {
  return `${inode}:${born}`;
}

/** A file system without creation times gives the time of the last change instead. */
function isAt(place: Place, recorded: string): boolean {
  if (placeText(place) === recorded) return true;
  return place.born === place.changed && recorded.startsWith(`${place.inode}:`);
}
