import type { Json } from 'assize/internal/base';
import { readRow } from 'assize/internal/ledger';
import type { CallWorld } from './call-world.ts';

/** The arguments of the agent's committed proposal under a key. Undefined if they are erased. */
export async function argsUnder(
  world: Pick<CallWorld, 'trajectory' | 'principal' | 'valueOf'>,
  key: string,
): Promise<{ readonly [name: string]: Json } | undefined> {
  const ruling = await world.trajectory.rulingOf(key, world.principal);
  if (ruling?.ruling !== 'committed') return undefined;
  const { payload } = readRow(ruling.entry);
  if (payload.kind !== 'commit') return undefined;
  return (await world.valueOf(payload, payload.action.args)) as
    | { readonly [name: string]: Json }
    | undefined;
}
