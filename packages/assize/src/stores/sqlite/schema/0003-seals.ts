/** The seals of entries. The statements never change once they are released. */
export const seals = `
-- The id of a key and a MAC of the entry's id. A store of before has entries without it.
ALTER TABLE entry ADD COLUMN seal BLOB CHECK (seal IS NULL OR length(seal) = 40);

-- One row once every entry has a seal.
CREATE TABLE sealed (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  at TEXT NOT NULL
) STRICT;

CREATE TRIGGER entry_sealed BEFORE INSERT ON entry
WHEN new.seal IS NULL AND EXISTS (SELECT 1 FROM sealed)
BEGIN
  SELECT raise(ABORT, 'an entry of a sealed store needs a seal');
END;

-- Besides the changes of an archive, an entry of before gets its seal.
DROP TRIGGER entry_unchanged;

CREATE TRIGGER entry_unchanged BEFORE UPDATE ON entry
WHEN new.position IS NOT old.position OR new.trajectory IS NOT old.trajectory OR new.seq IS NOT old.seq
  OR new.id IS NOT old.id OR new.parent IS NOT old.parent OR new.kind IS NOT old.kind
  OR (old.seal IS NOT NULL AND new.seal IS NOT old.seal)
  OR (new.payload IS NOT old.payload AND (old.payload LIKE '@%' OR NOT EXISTS (
    SELECT 1 FROM log AS l CROSS JOIN archive AS a CROSS JOIN archive_file AS f
      ON f.segment = l.idx >> a.level AND f.part = 'entries' AND f.state = 'live'
    WHERE l.entry = old.position AND new.payload IN ('@' || l.idx, '@' || l.idx || 'h', '@' || l.idx || 'r', '@' || l.idx || 'hr')
  )))
  OR (new.payload IS old.payload AND new.seal IS old.seal)
BEGIN
  SELECT raise(ABORT, 'an entry cannot be changed. Append an entry that corrects it');
END;
`;
