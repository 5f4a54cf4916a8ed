import { APPLICATION_ID } from './0001-ledger.ts';

/**
 * Facts are whole (`fact_rebuild.whole`) where they are `made`, which they are not while they are made anew, and not `awaited`, as they are of
 * entries that came without theirs. So those that were there are known to be there still, and can be had again.
 */
export const awaitedFacts: string = `
ALTER TABLE fact_rebuild ADD COLUMN made BOOLEAN NOT NULL DEFAULT true, ADD COLUMN awaited BOOLEAN NOT NULL DEFAULT false;

UPDATE fact_rebuild SET made = whole;

/* As in 0008, called by begin_facts (0010). What came before is among what facts are made of. */
CREATE OR REPLACE FUNCTION begin_fact_rows() RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  begun bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'snapshot'::regclass::oid::int4);
  UPDATE fact_rebuild AS r SET run = r.run + 1, parts = 0, whole = false, made = false, awaited = false RETURNING r.run INTO begun;
  RETURN begun;
END
$$;

/* As in 0008, but for entries that came meanwhile without their facts. */
CREATE OR REPLACE FUNCTION end_facts(mine bigint) RETURNS boolean
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'snapshot'::regclass::oid::int4);
  UPDATE fact_rebuild AS r SET made = true, whole = NOT r.awaited WHERE r.run = mine;
  RETURN FOUND;
END
$$;

/*
 * Called last in the statement that writes a group, whose locks are all taken by then. Who writes facts at the same time goes on: those are of
 * what was there before, and are kept like them. The parameters are there for the form of the call alone.
 */
CREATE FUNCTION await_facts(bytea[], bytea[]) RETURNS json
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE fact_rebuild SET awaited = true, whole = false;
  RETURN NULL;
END
$$;

/* Has facts again that are awaited and there; whether they are whole then. */
CREATE FUNCTION keep_facts() RETURNS boolean
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(${APPLICATION_ID}, 'snapshot'::regclass::oid::int4);
  UPDATE fact_rebuild AS r SET awaited = false, whole = true WHERE r.made AND EXISTS (SELECT FROM fact_partition);
  RETURN (SELECT r.whole FROM fact_rebuild AS r);
END
$$;
`;
