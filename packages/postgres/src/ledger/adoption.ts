import type { Hash } from 'assize/internal/ledger';
import type { Adoption } from 'assize/internal/stores/adoption.ts';
import type { Readers } from '../connection/readers.ts';
import { bytea } from '../connection/row.ts';
import type { Session } from '../connection/session.ts';

/** Records the takeover. `raise_fence` compares the last place with the present one. */
export function prepareAdopt(
  schema: string,
): (adoption: Adoption) => (session: Session) => Promise<void> {
  const store = `INSERT INTO "${schema}".adoption (place, at, reason) VALUES ("${schema}".store_place(), $1, $2)`;
  const trajectories = `INSERT INTO "${schema}".adoption (root, at, reason) SELECT unnest($3::bytea[]), $1, $2`;
  return ({ at, reason, roots }) =>
    async (session) => {
      if (roots === undefined) await session.run({ text: store }, [at, reason]);
      else await session.run({ text: trajectories }, [at, reason, roots.map(bytea)]);
    };
}

export function prepareAdopted(readers: Readers, schema: string): (root: Hash) => Promise<boolean> {
  const text = `SELECT 1 FROM "${schema}".adoption WHERE root = $1 LIMIT 1`;
  return async (root) =>
    (await readers.run({ name: 'assize adopted', text }, [bytea(root)])).length > 0;
}
