/**
 * Facts are whole (`fact_rebuild.whole`) where they are `made`, which they are not while they are made anew, and not `awaited`, as they are of
 * entries that came without theirs. So those that were there are known to be there still, and can be had again.
 */
export const awaitedFacts: string = `
ALTER TABLE fact_rebuild ADD COLUMN made INTEGER NOT NULL DEFAULT 1 CHECK (made IN (0, 1));
ALTER TABLE fact_rebuild ADD COLUMN awaited INTEGER NOT NULL DEFAULT 0 CHECK (awaited IN (0, 1));

UPDATE fact_rebuild SET made = whole;
`;
