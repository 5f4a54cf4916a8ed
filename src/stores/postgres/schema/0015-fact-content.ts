/**
 * Rows of a text are found by what it says and by its partition at once. By one of the two alone each text walked through all of its
 * partition, or through all that say the same elsewhere, whichever the planner took; what is erased is found by the first column as before.
 */
export const factContent: string = `
DROP INDEX fact_by_content;
CREATE INDEX fact_by_content ON fact (content, key);
`;
