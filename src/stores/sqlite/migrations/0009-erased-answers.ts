/** An answer that was erased keeps its row, without its text: so it is never taken in again. `erased_by` is the entry that says so. */
export const erasedAnswers = `
ALTER TABLE oracle ADD COLUMN erased_by BLOB CHECK (erased_by IS NULL OR (length(erased_by) = 32 AND answer = ''));
`;
