import { OPEN_END } from '#memory';

/**
 * What changes are judged by is asked for by statements that a session plans once. A function in SQL that sets anything is never made part of
 * the statement that calls it, and here it was planned with each call, which took longer than all that it looks for.
 */
export const statesPlannedOnce: string = `
/* As in 0009. */
CREATE OR REPLACE FUNCTION fact_states(partitions bytea[], blobs bytea[], ids text[], starts text[], spaces text[], branches text[])
RETURNS json
LANGUAGE plpgsql STABLE SET search_path FROM CURRENT
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
BEGIN
  RETURN (
    SELECT json_build_object(
      'whole', r.whole,
      'run', r.run,
      'parts', r.parts,
      'erased', (SELECT json_agg(encode(b.hash, 'hex')) FROM blob AS b WHERE b.hash = ANY (blobs) AND b.erased_by IS NOT NULL),
      'versions', (
        SELECT json_agg(x.n) FROM unnest(ids, starts, spaces, branches) WITH ORDINALITY AS x (fact_id, start, space, branch, n)
        CROSS JOIN LATERAL (
          SELECT FROM fact AS f
          WHERE f.id = sha256(convert_to(
            fact_branch(x.branch) || octet_length(x.fact_id) || ' ' || x.fact_id || x.start || x.space, 'UTF8')) OFFSET 0
        ) AS found
      ),
      'partitions', (
        SELECT json_agg(json_build_array(encode(p.hash, 'hex'), encode(p.names, 'hex'), p.names_bytes, p.version, p.latest, p.several, p.since, (
          SELECT json_agg(json_build_array(f.fact_id, f.system_start, f.valid_from, f.valid_to)) FROM fact AS f
          WHERE f.key = p.key AND NOT f.audit AND f.system_end = '${OPEN_END}')))
        FROM fact_partition AS p WHERE p.hash = ANY (partitions)
      )
    ) FROM fact_rebuild AS r
  );
END
$$;
`;
