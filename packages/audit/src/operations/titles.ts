import type { Hash } from 'assize/internal/ledger';
import { summaryOf } from 'assize/internal/views';
import type { AuditService } from './service.ts';

/** The rows of one list that get words. A longer list is read row by row in the timeline. */
const TITLED_MAX = 200;

/** Rows with the words of their entries: `Pay carla €1,240.00`. None after an erasure. */
export async function titled<Row extends object>(
  { store, actions }: Pick<AuditService, 'store' | 'actions'>,
  rows: readonly Row[],
  entryOf: (row: Row) => Hash | undefined,
): Promise<(Row & { readonly title?: string })[]> {
  const all: (Row & { readonly title?: string })[] = [];
  for (const [n, one] of rows.entries()) {
    const id = n < TITLED_MAX ? entryOf(one) : undefined;
    const row = id === undefined ? undefined : await store.resolve(id);
    const title = row && summaryOf(row, { actions: await actions.of(row.trajectory_id) }).title;
    all.push(title === undefined ? one : { ...one, title });
  }
  return all;
}
