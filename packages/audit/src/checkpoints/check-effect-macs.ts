import { loggedTransactions } from 'assize/host';
import { isAssizeError } from 'assize/internal/base';
import {
  claimsOf,
  isNameClaim,
  type KnownTransaction,
  RowAuthentication,
  readTransaction,
} from 'assize/internal/effects';
import {
  type EffectStore,
  type Hash,
  isEffectStore,
  isHash,
  type LedgerStore,
  type LoggedTransaction,
} from 'assize/internal/ledger';

/** A transaction of the effect log that a process without the recovery key wrote or changed. */
export interface EffectFault {
  readonly code: 'effect_not_authentic' | 'effect_key_differs';
  readonly epoch: number;
  readonly detail: string;
}

/** The number of transactions in the effect log, and of those with MACs under the recovery key. */
export interface CheckedEffects {
  readonly transactions: number;
  /** Absent without a recovery key: the MACs were not checked. */
  readonly authentic?: number;
}

/**
 * Checks the MACs of all transactions of the effect log, and that each key of a named transaction
 * leads to its effect. The MACs cover principal, claims, writ and every record. Without a recovery
 * key, the function only counts.
 */
export async function checkEffectMacs(
  store: LedgerStore,
  recoveryKey: Uint8Array | undefined,
  limit: number,
  faults: { push(fault: EffectFault): number; readonly length: number },
): Promise<CheckedEffects> {
  let [transactions, authentic] = [0, 0];
  if (!isEffectStore(store)) return { transactions };
  for await (const logged of loggedTransactions(store)) {
    transactions += 1;
    if (recoveryKey === undefined) continue;
    const { epoch } = logged;
    const known = readable(logged, recoveryKey);
    if (known !== undefined) authentic += 1;
    else if (faults.length < limit) {
      const detail = `a process without the recovery key wrote or changed transaction ${epoch} of the effect log`;
      faults.push({ code: 'effect_not_authentic', epoch, detail });
    }
    for (const [n, { key }] of (known !== undefined && isNamed(known)
      ? known.effects
      : []
    ).entries()) {
      if (faults.length >= limit) break;
      const why = await keyFault(store, key, epoch, n);
      if (why === undefined) continue;
      const detail = `the key ${key} of effect ${n} of transaction ${epoch} ${why}, so the effect could happen again`;
      faults.push({ code: 'effect_key_differs', epoch, detail });
    }
  }
  return { transactions, ...(recoveryKey !== undefined && { authentic }) };
}

/** Undefined without MACs under the key. For a damaged transaction, `verify` reports the fault. */
function readable(
  logged: LoggedTransaction,
  recoveryKey: Uint8Array,
): KnownTransaction | undefined {
  try {
    return RowAuthentication.read(recoveryKey, logged) && readTransaction(logged);
  } catch (error) {
    if (isAssizeError(error)) return undefined;
    throw error;
  }
}

/** Whether the keys of the transaction can be used again, so that the store records their use. */
function isNamed({ body }: KnownTransaction): boolean {
  return isHash(body.transaction) || claimsOf(body).some(isNameClaim);
}

async function keyFault(
  store: EffectStore,
  key: Hash,
  epoch: number,
  n: number,
): Promise<string | undefined> {
  const used = await store.effectKey(key);
  if (used === undefined) return 'is missing in the table of keys';
  return used.epoch === epoch && used.n === n
    ? undefined
    : `leads to effect ${used.n} of transaction ${used.epoch}`;
}
