import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Hash } from '#ledger';
import { blobMarker, entryMarker } from '../../archive/marker.ts';
import {
  type ArchiveReads,
  type ArchiveState,
  type FileColumns,
  type FileDue,
  membersText,
  type ReplacedFile,
  type SegmentStep,
  segmentFile,
} from '../../archive/port.ts';
import type { NewSegmentFile, SegmentFile } from '../../archive/segment-file.ts';
import { requireRows } from '../connection/statements.ts';
import type { HashIndex } from './hash-index.ts';

const SELECT =
  'SELECT n, segment, part, first, lines, lower(hex(hash)), bytes, members, erasures FROM archive_file';

/** The reads of the tables of an archive. */
export function prepareArchiveReads(db: DatabaseSync): ArchiveReads {
  const state = db.prepare(`SELECT level, place, (
    SELECT coalesce(max(segment) + 1, 0) FROM archive_file WHERE part = 'entries' AND state = 'live'
  ) AS segments FROM archive`);
  const files = (rest: string): ((...values: number[]) => SegmentFile[]) => {
    const statement = db.prepare(`${SELECT} WHERE ${rest}`);
    statement.setReturnArrays(true);
    return (...values) => (statement.all(...values) as unknown as FileColumns[]).map(segmentFile);
  };
  const ofSegments = files(
    "state = 'live' AND segment >= ? AND segment < ? ORDER BY segment, part, first",
  );
  const withErased = files("state = 'live' AND erasures > 0 ORDER BY n");
  const discarded = files("state = 'old' ORDER BY n");
  const marked = db.prepare(
    "SELECT count(*) AS n FROM blob WHERE erased_by IS NULL AND text GLOB '@[0-9]*.[0-9]*'",
  );
  return {
    markedBlobs: () => marked.get()?.['n'] as number,
    archive: () => state.get() as unknown as ArchiveState | undefined,
    segmentFiles: (from, limit) => ofSegments(from, from + limit),
    filesDue: () => [
      ...withErased().map((file): FileDue => ({ file, due: 'rewrite' })),
      ...discarded().map((file): FileDue => ({ file, due: 'remove' })),
    ],
  };
}

/** The writes of the tables of an archive. Each runs inside a transaction. */
export interface ArchiveOperations {
  beginFiles(
    archive: Omit<ArchiveState, 'segments'>,
    files: readonly NewSegmentFile[],
  ): number[] | undefined;
  archiveSegment(step: SegmentStep): boolean;
  replaceFile(files: ReplacedFile): boolean;
  discardFiles(files?: readonly number[]): void;
  forgetFiles(files: readonly number[]): void;
}

export function prepareArchiveOperations(db: DatabaseSync, blobs: HashIndex): ArchiveOperations {
  const putArchive = db.prepare(`INSERT INTO archive (one, level, place) VALUES (1, ?, ?)
    ON CONFLICT (one) DO UPDATE SET place = excluded.place WHERE level = excluded.level`);
  const insertFile =
    db.prepare(`INSERT INTO archive_file (segment, part, first, lines, hash, bytes, members, state)
    VALUES (?, ?, ?, ?, ?, ?, ?, 'new')`);
  const setState = db.prepare('UPDATE archive_file SET state = ? WHERE n = ? AND state = ?');
  const countNew = db.prepare(
    "SELECT count(*) AS n FROM archive_file WHERE n = ? AND state = 'new'",
  );
  const segments = db.prepare(
    "SELECT coalesce(max(segment) + 1, 0) AS n FROM archive_file WHERE part = 'entries' AND state = 'live'",
  );
  const level = db.prepare('SELECT level FROM archive');
  const mark = db.prepare(
    'UPDATE entry SET payload = ? WHERE position = (SELECT entry FROM log WHERE idx = ?)',
  );
  const readable = db.prepare(
    "SELECT count(*) AS n FROM blob WHERE position = ? AND erased_by IS NULL AND text NOT GLOB '@[0-9]*'",
  );
  const markBlob = db.prepare('UPDATE blob SET text = ? WHERE position = ?');
  const sameErasures = db.prepare(
    "SELECT count(*) AS n FROM archive_file WHERE n = ? AND state = 'live' AND erasures = ?",
  );
  const discard = db.prepare("UPDATE archive_file SET state = 'old' WHERE state = 'new'");
  const forget = db.prepare("DELETE FROM archive_file WHERE n = ? AND state = 'old'");
  const count = (statement: StatementSync, ...values: number[]): number =>
    statement.get(...values)?.['n'] as number;
  const positionOf = (hash: Hash): number | undefined => {
    const position = blobs.findWritten(hash);
    return position !== undefined && count(readable, position) === 1 ? position : undefined;
  };
  return {
    beginFiles: (archive, files) => {
      if (putArchive.run(archive.level, archive.place).changes !== 1) return undefined;
      return files.map(({ segment, part, first, lines, hash, bytes, members }) => {
        const values = [
          segment,
          part,
          first,
          lines,
          Buffer.from(hash, 'hex'),
          bytes,
          membersText(members),
        ] as const;
        return Number(requireRows(insertFile.run(...values), 1).lastInsertRowid);
      });
    },
    archiveSegment: ({ segment, files, letters, blobs }) => {
      const positions = blobs.map(({ hash }) => positionOf(hash));
      if (count(segments) !== segment || positions.includes(undefined)) return false;
      if (files.some((n) => count(countNew, n) !== 1)) return false;
      for (const n of files) requireRows(setState.run('live', n, 'new'), 1);
      const first = segment * 2 ** (level.get()?.['level'] as number);
      letters.forEach(
        (each, at) => void requireRows(mark.run(entryMarker(first + at, each), first + at), 1),
      );
      blobs.forEach(
        ({ line }, n) =>
          void requireRows(markBlob.run(blobMarker(segment, line), positions[n]!), 1),
      );
      return true;
    },
    replaceFile: ({ old, fresh, erasures }) => {
      if (count(sameErasures, old, erasures) !== 1 || count(countNew, fresh) !== 1) return false;
      requireRows(setState.run('old', old, 'live'), 1);
      requireRows(setState.run('live', fresh, 'new'), 1);
      return true;
    },
    discardFiles: (files) => {
      if (files === undefined) discard.run();
      else for (const n of files) setState.run('old', n, 'new');
    },
    forgetFiles: (files) => {
      for (const n of files) forget.run(n);
    },
  };
}
