import { type Retirement, retiredError } from 'assize/internal/stores/retirement.ts';
import type { Session } from './connection/session.ts';

/** Retires the store with `retire`. This also stops connected writers. */
export function retire(
  schema: string,
  { at, reason }: Retirement,
): (session: Session) => Promise<void> {
  return async (session) => {
    await session.run({ text: `SELECT "${schema}".retire($1, $2)` }, [at, reason]);
  };
}

/** Throws `store_retired` if the store is retired. `path` names the store. */
export async function refuseRetired(session: Session, schema: string, path: string): Promise<void> {
  const [row] = await session.run({ text: `SELECT at, reason FROM "${schema}".retired` });
  if (row === undefined) return;
  const [at, reason] = row as [string, string];
  throw retiredError(path, { at, reason });
}
