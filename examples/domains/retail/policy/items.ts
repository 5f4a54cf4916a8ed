/**
 * policy.md, Modify items, Return and Exchange delivered order: the items and their replacements.
 */
import { type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import type { Options, OrderEvent, RetailState, Swap } from '../schema.ts';

export function items({ each }: Rules<RetailState>): Invariant<RetailState>[] {
  return [
    // Not a sentence of the policy: the tools accept an empty list, and the call uses up the
    // order's only change.
    each('ITEMS_NAMED', '/events/*/*/*', {}, (event) =>
      namedItems(event)?.length === 0 ? reject('no item is named') : pass,
    ),

    each('ITEMS_OF_THE_ORDER', '/events/*/*/*', {}, (event) => {
      const foreign = leftOver(namedItems(event) ?? [], 'items' in event ? event.items : []);
      return foreign === undefined ? pass : reject(`the order has fewer items ${foreign}, or none`);
    }),

    each('SAME_PRODUCT', '/events/*/*/*', {}, (event) => {
      const other = swapsIn(event).find(({ item, offer }) => offer.product_id !== item.product_id);
      return other === undefined
        ? pass
        : reject(`${other.offer.item_id} is not a variant of product ${other.item.product_id}`);
    }),

    each('NEW_ITEM_AVAILABLE', '/events/*/*/*', {}, (event) => {
      const gone = swapsIn(event).find(({ offer }) => !offer.available);
      return gone === undefined ? pass : reject(`${gone.offer.item_id} is not available`);
    }),

    // The tools take an item for itself.
    each('OPTION_DIFFERS', '/events/*/*/*', {}, (event) => {
      const same = swapsIn(event).find(({ item, offer }) =>
        sameOptions(item.options, offer.options),
      );
      return same === undefined
        ? pass
        : reject(`${same.offer.item_id} has the same options as ${same.item.item_id}`);
    }),
  ];
}

function swapsIn(event: OrderEvent): readonly Swap[] {
  return 'swaps' in event ? event.swaps : [];
}

function namedItems(event: OrderEvent): readonly string[] | undefined {
  if (event.kind === 'return') return event.returned;
  return 'swaps' in event ? event.swaps.map(({ item }) => item.item_id) : undefined;
}

/** The first of the ids that the others do not have, or not so often. */
function leftOver(ids: readonly string[], others: readonly string[]): string | undefined {
  const left = [...others];
  return ids.find((id) => {
    const place = left.indexOf(id);
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
}

function sameOptions(a: Options, b: Options): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
