/**
 * What a transaction is begun with stands in its own row: most have one record more, which says that they have settled, and a row for
 * each of the two would make every group write to twice as many pages.
 */
export const firstRecord = `
ALTER TABLE effect_transaction ADD COLUMN first TEXT;
`;
