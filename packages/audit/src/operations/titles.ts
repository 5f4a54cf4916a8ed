import type { Hash } from 'assize/internal/ledger';
import { summaryOf } from 'assize/internal/views';
import type { AuditService } from './service.ts';

type Ports = Pick<AuditService, 'store' | 'actions'>;

/** The proposal of an entry in words: `Pay carla €1,240.00`. Undefined after an erasure. */
export async function titleOf({ store, actions }: Ports, id: Hash): Promise<string | undefined> {
  const row = await store.resolve(id);
  return row && summaryOf(row, { actions: await actions.of(row.trajectory_id) }).title;
}
