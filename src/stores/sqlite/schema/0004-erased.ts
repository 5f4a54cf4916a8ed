/**
 * A blob that was erased keeps its row, without its text: so it is never taken in again. `erased_by` is the entry that says so.
 * The index is for counting them.
 */
export const erased = `
ALTER TABLE blob ADD COLUMN erased_by BLOB CHECK (erased_by IS NULL OR (length(erased_by) = 32 AND text = ''));

CREATE INDEX blob_erased ON blob (erased_by) WHERE erased_by IS NOT NULL;
`;
