/**
 * The effect log. A transaction's records are clustered by its epoch: those of young transactions, which are the ones that are
 * added to, then share a few pages at the end. `effect_open` has the epochs of transactions that have not ended; it is small,
 * and spares a second write to the row of the transaction. Only keys, which are hashes, are in no order.
 *
 * `effect_tenure` is one row: the fence of the tenure that was given last.
 */
export const effects = `
CREATE TABLE effect_tenure (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  fence INTEGER NOT NULL CHECK (fence >= 0)
) STRICT;

INSERT INTO effect_tenure (one, fence) VALUES (1, 0);

CREATE TABLE effect_transaction (
  epoch INTEGER PRIMARY KEY CHECK (epoch > 0),
  trajectory TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE effect_open (
  epoch INTEGER PRIMARY KEY
) STRICT;

CREATE TABLE effect_record (
  epoch INTEGER NOT NULL,
  place INTEGER NOT NULL CHECK (place >= 0),
  record TEXT NOT NULL,
  PRIMARY KEY (epoch, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE effect_key (
  key BLOB PRIMARY KEY CHECK (length(key) = 32),
  epoch INTEGER NOT NULL,
  n INTEGER NOT NULL CHECK (n >= 0)
) STRICT, WITHOUT ROWID;
`;
