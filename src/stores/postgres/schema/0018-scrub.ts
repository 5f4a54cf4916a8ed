/** What of the tables and columns below is said of somebody, or made of it. */
const CONTENT: readonly (readonly [table: string, column: string])[] = [
  ['blob', 'text'],
  ['oracle', 'answer'],
  ['snapshot', 'text'],
  ['fact', 'object'],
  ['fact_partition', 'space'],
  ['fact_partition', 'subject'],
  ['fact_partition', 'predicate'],
  ['fact_text', 'words'],
  ['fact_vector', 'vector'],
];

/**
 * How many erasures there were, and how many of them the tables were written anew after (`scrub.ts`). What lags behind is still to be done,
 * also after a crash. A store in which something was erased before this table was there has it all to do.
 *
 * Erasures are counted by triggers, whichever function erases, and with the rights of the owner, so that whoever could erase before still
 * can. Everybody who gets into the schema may read what is due, as a check of the store does.
 *
 * `scrub_probe` has no rows. One that was in it and is deleted is there until the server needs it for nobody.
 *
 * ANALYZE copies values into a catalogue of the server, where only its superuser can take them out again. So it is to look at no column that has
 * content, as long as it has not: no plan needs it. What it has copied in an older store is copied anew each time that the tables are written.
 */
export const scrub: string = `
CREATE TABLE scrub (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  erasures BIGINT NOT NULL CHECK (erasures >= 0),
  rewritten BIGINT NOT NULL CHECK (rewritten BETWEEN 0 AND erasures)
);

INSERT INTO scrub (one, erasures, rewritten)
SELECT 1, (EXISTS (SELECT FROM blob WHERE erased_by IS NOT NULL) OR EXISTS (SELECT FROM oracle WHERE erased_by IS NOT NULL))::int, 0;

GRANT SELECT ON scrub TO PUBLIC;

CREATE TABLE scrub_probe (one INTEGER NOT NULL);

CREATE FUNCTION mark_erasure() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE scrub SET erasures = erasures + 1;
  RETURN NULL;
END
$$;

CREATE TRIGGER mark_erasure AFTER UPDATE OF erased_by ON blob FOR EACH STATEMENT EXECUTE FUNCTION mark_erasure();
CREATE TRIGGER mark_erasure AFTER UPDATE OF erased_by ON oracle FOR EACH STATEMENT EXECUTE FUNCTION mark_erasure();

DO $$
DECLARE
  x record;
BEGIN
  FOR x IN
    SELECT c.name, c.col FROM (VALUES ${CONTENT.map(([table, column]) => `('${table}', '${column}')`).join(', ')}) AS c (name, col)
    WHERE NOT EXISTS (SELECT FROM pg_stats AS s WHERE s.schemaname = current_schema() AND s.tablename = c.name AND s.attname = c.col)
  LOOP
    EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET STATISTICS 0', x.name, x.col);
    IF x.col = 'subject' THEN
      ALTER INDEX fact_partition_order ALTER COLUMN 2 SET STATISTICS 0;
    END IF;
  END LOOP;
END
$$;
`;
