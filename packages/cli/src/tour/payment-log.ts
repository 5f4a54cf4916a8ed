import type { Json } from 'assize/internal/base';
import { type Payload, readRow } from 'assize/internal/ledger';
import type { Store } from 'assize/internal/stores';
import { type Summary, summaryOf } from 'assize/internal/views';
import { EXPENSES_WORLD } from './tour-config.ts';

/** A ruling on a payment, as the ledger of the tour has it. */
export interface RuledPayment {
  readonly seq: number;
  readonly id: string;
  readonly ruling: Summary['ruling'];
  readonly receipt: string;
  readonly to: string;
  readonly cents: number;
  readonly invariant?: string;
  readonly detail?: string;
  /** The pending entry that this ruling resolves. */
  readonly resolves?: string;
  /** The digest of a pending proposal. */
  readonly digest?: string;
}

/** The rulings on payments in the world `expenses`, in their order. */
export async function ruledPayments(store: Store): Promise<RuledPayment[]> {
  const rows =
    (await store.head(EXPENSES_WORLD)) === undefined ? [] : await store.entries(EXPENSES_WORLD);
  return rows.flatMap((row) => {
    const { payload } = readRow(row);
    const asked = actionIn(payload);
    if (asked?.name !== 'pay') return [];
    const { to, cents } = asked.args as { readonly to: string; readonly cents: number };
    const { ruling, invariant_id: invariant, detail, resolves } = summaryOf(row);
    return {
      ...{ seq: row.seq, id: row.id, ruling, receipt: asked.params['receipt'] ?? '', to, cents },
      ...(invariant !== undefined && { invariant }),
      ...(detail !== undefined && { detail }),
      ...(resolves !== undefined && { resolves }),
      ...(payload.kind === 'pending_approval' && { digest: payload.digest }),
    };
  });
}

interface AskedAction {
  readonly name: string;
  readonly params: Readonly<Record<string, string>>;
  readonly args: Json;
}

function actionIn(payload: Payload): AskedAction | undefined {
  if (payload.kind === 'rejection') {
    const { action, role, args } = payload.intent;
    return { name: action, params: role.params ?? {}, args: args as Json };
  }
  const action =
    payload.kind === 'pending_approval'
      ? payload.proposal.action
      : 'action' in payload && payload.action;
  return action
    ? { name: action.name, params: action.role.params ?? {}, args: action.args as Json }
    : undefined;
}
