/**
 * A batch may repeat texts in blobs of its own, as a question does that quotes what is believed. `hold_texts` is called for a group that has such
 * ones, in the statement that writes it: no text of them is erased, nor will be before the group is committed. Who erases one waits until then,
 * and finds what repeats it. The second list is there for the form of the call alone.
 */
export const heldTexts: string = `
CREATE FUNCTION hold_texts(hashes bytea[], bytea[]) RETURNS json
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
  erasers bytea[];
BEGIN
  SELECT array_agg(x.erased_by) INTO erasers
  FROM (SELECT b.erased_by FROM blob AS b WHERE b.hash = ANY (hashes) ORDER BY b.hash FOR SHARE) AS x
  WHERE x.erased_by IS NOT NULL;
  IF erasers IS NOT NULL THEN
    RAISE EXCEPTION 'a text was erased that is repeated' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN NULL;
END
$$;
`;
