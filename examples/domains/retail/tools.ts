/**
 * The benchmark's tools. The seven writing tools are the domain's actions, under their own names.
 * They refuse exactly the calls that the benchmark's own code refuses, in its words. The tools do
 * not know the policy.
 */
import type { ProcessName } from './roles.ts';
import type { Address } from './schema.ts';
import { type CancelPendingOrder, cancelPendingOrder } from './tools/cancel-pending-order.ts';
import { exchangeDeliveredOrderItems } from './tools/exchange-delivered-order-items.ts';
import { modifyPendingOrderAddress } from './tools/modify-pending-order-address.ts';
import { modifyPendingOrderItems } from './tools/modify-pending-order-items.ts';
import {
  type ModifyPendingOrderPayment,
  modifyPendingOrderPayment,
} from './tools/modify-pending-order-payment.ts';
import { modifyUserAddress } from './tools/modify-user-address.ts';
import {
  type ReturnDeliveredOrderItems,
  returnDeliveredOrderItems,
} from './tools/return-delivered-order-items.ts';
import type { SwapArgs } from './tools/swap.ts';
import { actionOf, type RetailAction, type Tool } from './tools/tool.ts';

/** Arguments by tool. */
export type RetailActions = {
  cancel_pending_order: CancelPendingOrder;
  exchange_delivered_order_items: SwapArgs;
  modify_pending_order_address: { order_id: string } & Address;
  modify_pending_order_items: SwapArgs;
  modify_pending_order_payment: ModifyPendingOrderPayment;
  modify_user_address: { user_id: string } & Address;
  return_delivered_order_items: ReturnDeliveredOrderItems;
};

export const tools = {
  cancel_pending_order: cancelPendingOrder,
  exchange_delivered_order_items: exchangeDeliveredOrderItems,
  modify_pending_order_address: modifyPendingOrderAddress,
  modify_pending_order_items: modifyPendingOrderItems,
  modify_pending_order_payment: modifyPendingOrderPayment,
  modify_user_address: modifyUserAddress,
  return_delivered_order_items: returnDeliveredOrderItems,
} satisfies { readonly [Name in keyof RetailActions]: Tool<ProcessName, RetailActions[Name]> };

type Actions = {
  readonly [Name in keyof typeof tools]: (typeof tools)[Name] extends Tool<
    infer Process,
    infer Args
  >
    ? RetailAction<Process, Args>
    : never;
};

export const actions = Object.fromEntries(
  Object.entries(tools).map(([name, tool]) => [name, actionOf(tool as Tool<ProcessName, unknown>)]),
) as unknown as Actions;

/** The kernel's action for a recorded call, by the tool's name. */
export interface RetailTools {
  /** Proposals: each is an action of the domain. */
  readonly writes: readonly (keyof RetailActions)[];
  /** Look something up in the database: observations of the next proposal. */
  readonly reads: readonly string[];
  /** Neither: a calculator, a place to think, the way to a person. */
  readonly rest: readonly string[];
}

export const retailTools: RetailTools = {
  writes: Object.keys(actions) as (keyof RetailActions)[],
  reads: [
    'find_user_id_by_email',
    'find_user_id_by_name_zip',
    'get_order_details',
    'get_product_details',
    'get_user_details',
    'list_all_product_types',
  ],
  rest: ['calculate', 'think', 'transfer_to_human_agents'],
};
