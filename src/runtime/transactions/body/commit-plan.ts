import type { LoggedEffect } from '#effects';
import { type Acting, sum } from '../../records/tool-authority.ts';
import type { Run } from '../log/advance.ts';
import { blobsOf, type Prepared } from '../log/call-record.ts';

/**
 * The part of the proposal that a transaction adds: its executed effects that stay, and the calls
 * that run at the commit.
 */
export function actingOf(
  run: Run,
  planned: readonly Prepared[],
  { uses, cost, pivot }: Pick<Acting, 'uses' | 'cost' | 'pivot'>,
): Acting {
  return {
    effects: [...run.standing.map(named), ...planned.map(({ effect }) => named(effect))],
    epoch: run.epoch,
    cost,
    undoCost: run.hasOnFailure ? planned.reduce((total, { effect }) => sum(total, effect.undo_cost ?? {}), {}) : {},
    uses,
    pivot,
    blobs: blobsOf(planned),
    write: (entry) => run.commitWrite(entry, planned),
    undone: (entry, by) => run.undoingWrite(entry, by),
  };
}

/** The same for a pending proposal: executed calls are listed as they would be repeated. */
export function parkedOf(acting: Acting, again: readonly Prepared[], planned: readonly Prepared[]): Acting {
  const all = [...again, ...planned];
  return { ...acting, effects: all.map(({ effect }) => named(effect)), blobs: blobsOf(all) };
}

/** Fields in canonical order, as in the payload, which serialises fastest. */
function named({ key, payload }: LoggedEffect): Acting['effects'][number] {
  return { effect: payload, id: key };
}
