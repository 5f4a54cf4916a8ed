import type {
  EffectKeyRow,
  EffectTransactionRow,
  EffectWrite,
  LoggedTransaction,
} from 'assize/internal/ledger';
import { blobOf } from './store-rows.ts';

// Rows of the effect log for tests of stores. A store does not interpret their texts.

/** A transaction that differs from every other one. */
export function transactionOf(epoch: number, note = ''): EffectTransactionRow {
  return { epoch, trajectory_id: `t${epoch % 3}`, body: `{"epoch":${epoch},"note":"${note}"}` };
}

/** The n-th key of a transaction, or a key that another transaction has for a different effect. */
export function keyOf(epoch: number, n = 0, text = `${epoch}/${n}`): EffectKeyRow {
  return { key: blobOf(text).hash, epoch, n };
}

/** A whole transaction in one write that leaves it open. */
export function writeOf(
  fence: number,
  epoch: number,
  records: readonly string[] = ['begun'],
): EffectWrite {
  return {
    fence,
    begun: [transactionOf(epoch)],
    records: records.map((record, place) => ({ epoch, place, record })),
    keys: [keyOf(epoch)],
  };
}

/** The logged rows of that write. */
export function loggedOf(epoch: number, records: readonly string[] = ['begun']): LoggedTransaction {
  return { ...transactionOf(epoch), records };
}
