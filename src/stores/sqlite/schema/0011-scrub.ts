/**
 * One row: how many erasures there were, how many of them the file was written anew after, and how many of those were followed by a cut
 * of the WAL. What lags behind is still to be done, also after a crash. A file in which something was erased before this table was there
 * has it all to do.
 */
export const scrub = `
CREATE TABLE scrub (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  erasures INTEGER NOT NULL CHECK (erasures >= 0),
  rewritten INTEGER NOT NULL CHECK (rewritten BETWEEN 0 AND erasures),
  cut INTEGER NOT NULL CHECK (cut BETWEEN 0 AND rewritten)
) STRICT;

INSERT INTO scrub (one, erasures, rewritten, cut)
SELECT 1, EXISTS (SELECT 1 FROM blob WHERE erased_by IS NOT NULL), 0, 0;
`;
