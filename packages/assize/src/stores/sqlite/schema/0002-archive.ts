/**
 * The tables of an archive, and the one change of an entry that they allow. The statements never
 * change once they are released.
 */
export const archive = `
-- One row after the first run. A segment has 2^level entries. "place" is named in messages only.
CREATE TABLE archive (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 16),
  place TEXT NOT NULL
) STRICT;

-- Files of segments. "n" is in a file's name and never used again, so a late deletion of an old file
-- meets no new one. "new": perhaps being written. "live": in use. "old": to be deleted. "erasures"
-- counts the erased blobs that the file still has.
CREATE TABLE archive_file (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  segment INTEGER NOT NULL CHECK (segment >= 0),
  part TEXT NOT NULL CHECK (part IN ('entries', 'blobs')),
  first INTEGER NOT NULL CHECK (first >= 0),
  lines INTEGER NOT NULL CHECK (lines > 0),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  bytes INTEGER NOT NULL CHECK (bytes > 0),
  members TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('new', 'live', 'old')),
  erasures INTEGER NOT NULL DEFAULT 0 CHECK (erasures >= 0)
) STRICT;

CREATE UNIQUE INDEX archive_file_live ON archive_file (segment, part, first) WHERE state = 'live';

CREATE INDEX archive_file_due ON archive_file (state) WHERE state <> 'live' OR erasures > 0;

-- An archived entry keeps its row. Its payload becomes a marker with its index in the log, once the
-- files of its segment are in use.
DROP TRIGGER entry_unchanged;

CREATE TRIGGER entry_unchanged BEFORE UPDATE ON entry
WHEN new.position IS NOT old.position OR new.trajectory IS NOT old.trajectory OR new.seq IS NOT old.seq
  OR new.id IS NOT old.id OR new.parent IS NOT old.parent OR new.kind IS NOT old.kind OR old.payload LIKE '@%'
  OR NOT EXISTS (
    SELECT 1 FROM log AS l CROSS JOIN archive AS a CROSS JOIN archive_file AS f
      ON f.segment = l.idx >> a.level AND f.part = 'entries' AND f.state = 'live'
    WHERE l.entry = old.position AND new.payload IN ('@' || l.idx, '@' || l.idx || 'h', '@' || l.idx || 'r', '@' || l.idx || 'hr')
  )
BEGIN
  SELECT raise(ABORT, 'an entry cannot be changed. Append an entry that corrects it');
END;

-- An erasure discards files that are being written, because they can have the erased text. The file
-- of an archived blob is due to be written again.
CREATE TRIGGER blob_erased_in_archive AFTER UPDATE OF erased_by ON blob WHEN new.erased_by IS NOT NULL
BEGIN
  UPDATE archive_file SET state = 'old' WHERE state = 'new';
  UPDATE archive_file SET erasures = erasures + 1
  WHERE old.text GLOB '@[0-9]*.[0-9]*' AND state = 'live' AND part = 'blobs'
    AND segment = CAST(substr(old.text, 2) AS INTEGER)
    AND CAST(substr(old.text, instr(old.text, '.') + 1) AS INTEGER) BETWEEN first AND first + lines - 1;
END;
`;
