/**
 * The tables of an archive. The statements never change once they are released. They run as those
 * of `0001-schema.ts`.
 */
export const archive = `
-- One row after the first run. A segment has 2^level entries. "place" is named in messages only.
CREATE TABLE archive (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 16),
  place TEXT COLLATE "C" NOT NULL
);

-- Files of segments. "n" is in a file's name and never used again, so a late deletion of an old file
-- meets no new one. "new": perhaps being written. "live": in use. "old": to be deleted. "erasures"
-- counts the erased blobs that the file still has.
CREATE TABLE archive_file (
  n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  segment BIGINT NOT NULL CHECK (segment >= 0),
  part TEXT COLLATE "C" NOT NULL CHECK (part IN ('entries', 'blobs')),
  first BIGINT NOT NULL CHECK (first >= 0),
  lines BIGINT NOT NULL CHECK (lines > 0),
  hash BYTEA NOT NULL CHECK (octet_length(hash) = 32),
  bytes BIGINT NOT NULL CHECK (bytes > 0),
  members TEXT COLLATE "C" NOT NULL,
  state TEXT COLLATE "C" NOT NULL CHECK (state IN ('new', 'live', 'old')),
  erasures BIGINT NOT NULL DEFAULT 0 CHECK (erasures >= 0)
);

CREATE UNIQUE INDEX archive_file_live ON archive_file (segment, part, first) WHERE state = 'live';

CREATE INDEX archive_file_due ON archive_file (n) WHERE state <> 'live' OR erasures > 0;

-- Every role that may use the schema reads entries, and so the places of archived ones.
GRANT SELECT ON archive, archive_file TO PUBLIC;

-- Every change of "archive_file" takes this lock, after the locks of blobs if it needs both.
CREATE FUNCTION lock_archive() RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(1095981637, 'archive_file'::regclass::oid::int4);
END
$$;

-- Records files before they are written. Returns null if the archive has another level.
CREATE FUNCTION begin_archive_files(
  depth int, said text, segments bigint[], parts text[], firsts bigint[], counts bigint[], hashes bytea[], sizes bigint[],
  places text[]
) RETURNS bigint[]
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  numbers bigint[];
BEGIN
  PERFORM lock_archive();
  INSERT INTO archive AS a (one, level, place) VALUES (1, depth, said)
  ON CONFLICT (one) DO UPDATE SET place = excluded.place WHERE a.level = excluded.level;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  WITH written AS (
    INSERT INTO archive_file (segment, part, first, lines, hash, bytes, members, state)
    SELECT x.segment, x.part, x.first, x.lines, x.hash, x.bytes, x.members, 'new'
    FROM unnest(segments, parts, firsts, counts, hashes, sizes, places) WITH ORDINALITY
      AS x (segment, part, first, lines, hash, bytes, members, n)
    ORDER BY x.n
    RETURNING n, part, first
  )
  SELECT array_agg(w.n ORDER BY x.n) INTO numbers
  FROM unnest(parts, firsts) WITH ORDINALITY AS x (part, first, n)
  JOIN written AS w ON w.part = x.part AND w.first = x.first;
  IF cardinality(numbers) IS DISTINCT FROM cardinality(parts) THEN
    PERFORM refuse_partial_write();
  END IF;
  RETURN numbers;
END
$$;

-- Replaces the texts of a segment by markers. "places": the line of each blob. Returns false, and writes nothing, if the segment is
-- not the next one, a file was discarded or a blob was erased. Returns true if it was done before.
CREATE FUNCTION archive_segment(which bigint, files bigint[], letters text[], hashes bytea[], places bigint[])
RETURNS boolean
LANGUAGE plpgsql SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
  start bigint;
  written bigint;
BEGIN
  -- In the order of an erasure, so the two never wait for each other.
  PERFORM FROM blob AS b WHERE b.hash = ANY (hashes) ORDER BY b.hash FOR UPDATE;
  PERFORM lock_archive();
  IF (SELECT count(*) FROM archive_file AS f WHERE f.n = ANY (files) AND f.state = 'live') = cardinality(files) THEN
    RETURN true;
  END IF;
  IF (SELECT count(*) FROM archive_file AS f WHERE f.n = ANY (files) AND f.state = 'new') <> cardinality(files)
    OR (SELECT coalesce(max(f.segment) + 1, 0) FROM archive_file AS f WHERE f.part = 'entries' AND f.state = 'live') <> which
    OR (SELECT count(*) FROM blob AS b WHERE b.hash = ANY (hashes) AND b.erased_by IS NULL AND b.text !~ '^@[0-9]')
      <> cardinality(hashes)
  THEN
    RETURN false;
  END IF;
  UPDATE archive_file AS f SET state = 'live' WHERE f.n = ANY (files);
  start := which << (SELECT a.level FROM archive AS a);
  UPDATE entry AS e SET payload = '@' || l.idx || x.letters
  FROM unnest(letters) WITH ORDINALITY AS x (letters, n), log AS l
  WHERE l.idx = start + x.n - 1 AND e.position = l.entry;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written <> cardinality(letters) THEN
    PERFORM refuse_partial_write();
  END IF;
  UPDATE blob AS b SET text = '@' || which || '.' || x.place
  FROM unnest(hashes, places) AS x (hash, place) WHERE b.hash = x.hash;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written <> cardinality(hashes) THEN
    PERFORM refuse_partial_write();
  END IF;
  RETURN true;
END
$$;

-- Takes a file into use in the place of another. Returns false, and writes nothing, if the other has
-- more erasures than the new one follows, or one of the two is gone.
CREATE FUNCTION replace_archive_file(before bigint, after bigint, followed bigint) RETURNS boolean
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM lock_archive();
  IF EXISTS (SELECT FROM archive_file AS f WHERE f.n = after AND f.state = 'live') THEN
    RETURN true;
  END IF;
  IF NOT EXISTS (SELECT FROM archive_file AS f WHERE f.n = after AND f.state = 'new')
    OR NOT EXISTS (SELECT FROM archive_file AS f WHERE f.n = before AND f.state = 'live' AND f.erasures = followed)
  THEN
    RETURN false;
  END IF;
  UPDATE archive_file AS f SET state = 'old' WHERE f.n = before;
  UPDATE archive_file AS f SET state = 'live' WHERE f.n = after;
  RETURN true;
END
$$;

-- Discards files that are not in use. "files": null for all of them.
CREATE FUNCTION discard_archive_files(files bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM lock_archive();
  UPDATE archive_file AS f SET state = 'old' WHERE f.state = 'new' AND (files IS NULL OR f.n = ANY (files));
END
$$;

-- An erasure discards files that are being written, because they can have the erased text. The file
-- of an archived blob is due to be written again.
CREATE FUNCTION note_archived_erasure() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM lock_archive();
  UPDATE archive_file AS f SET state = 'old' WHERE f.state = 'new';
  IF old.text ~ '^@[0-9]{1,15}[.][0-9]{1,15}$' THEN
    UPDATE archive_file AS f SET erasures = f.erasures + 1
    WHERE f.state = 'live' AND f.part = 'blobs' AND f.segment = substring(old.text FROM '^@([0-9]+)')::bigint
      AND substring(old.text FROM '([0-9]+)$')::bigint BETWEEN f.first AND f.first + f.lines - 1;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER note_archived_erasure AFTER UPDATE OF erased_by ON blob
FOR EACH ROW WHEN (new.erased_by IS NOT NULL) EXECUTE FUNCTION note_archived_erasure();
`;
