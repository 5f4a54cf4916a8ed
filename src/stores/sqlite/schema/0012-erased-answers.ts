/**
 * An answer that was erased keeps its row, without its text: so it is never taken in again. `erased_by` is the entry that says so.
 *
 * `oracle_within` lists answers by where they were given, so that what no entry names is found. Those that were there before are not
 * in it.
 */
export const erasedAnswers = `
ALTER TABLE oracle ADD COLUMN erased_by BLOB CHECK (erased_by IS NULL OR (length(erased_by) = 32 AND answer = ''));

CREATE TABLE oracle_within (
  within BLOB NOT NULL CHECK (length(within) = 32),
  key BLOB NOT NULL CHECK (length(key) = 32),
  PRIMARY KEY (within, key)
) STRICT, WITHOUT ROWID;
`;
