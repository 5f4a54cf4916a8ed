/**
 * Two names for the targets of two agents, and whether both name one target or one contains the
 * other.
 */
export interface Case {
  readonly of: 'files' | 'APIs' | 'pages' | 'orders';
  readonly one: string;
  readonly other: string;
  /** For files the disk says it. */
  readonly meet: boolean | 'by the disk';
}

const of = (
  sort: Case['of'],
  meet: Case['meet'],
  pairs: readonly (readonly [string, string])[],
): Case[] => pairs.map(([one, other]) => ({ of: sort, one, other, meet }));

/** Names as agents write them. `worlds.ts` defines their targets. */
export const CASES: readonly Case[] = [
  ...of('files', 'by the disk', [
    ['a', './a'],
    ['a', 'd/../a'],
    ['d//b', 'd/b'],
    ['link/b', 'd/b'],
    ['far', 'd/b'],
    ['twin', 'a'],
    ['d/**', 'link/b'],
    ['d', 'd/b'],
    ['a', 'd/b'],
    ['d/b', 'd/c'],
    ['link/c', 'd/b'],
    ['d/*', 'a'],
    ['a', 'a.bak'],
    ['d/b', 'dd/b'],
    // One file on some systems, and two on others.
    ['caf\u00e9', 'cafe\u0301'],
    ['A', 'a'],
  ]),
  ...of('APIs', true, [
    ['crm:customer:7', 'crm:mail:ada@example.com'],
    ['crm:customer:7', 'crm:customer:007'],
    ['crm:mail:Ada@Example.com', 'crm:customer:7'],
    ['crm:mail:ada@example.com', 'crm:phone:+1 555 0100'],
    ['https://API.shop.example:443/orders/7', 'https://api.shop.example/orders/%37'],
    ['https://www.shop.example/orders/7', 'https://shop.example/x/../orders/7'],
    ['crm:user:acme:3', 'crm:login:acme-3'],
    ['crm:customer:*', 'crm:mail:bob@example.com'],
  ]),
  ...of('APIs', false, [
    ['crm:customer:7', 'crm:customer:8'],
    ['crm:customer:7', 'crm:customer:70'],
    ['crm:mail:ada@example.com', 'crm:mail:bob@example.com'],
    ['crm:mail:ada@example.com', 'crm:customer:8'],
    ['https://shop.example/orders/7', 'https://shop.example/orders/8'],
    ['https://shop.example/orders/7', 'https://other.example/orders/7'],
    ['crm:phone:+1 555 0100', 'crm:mail:bob@example.com'],
    ['https://shop.example/orders/7', 'https://shop.example/customers/7'],
  ]),
  ...of('pages', true, [
    ['shop #buy', 'shop //button[1]'],
    ['shop #buy', 'shop .primary'],
    ['shop #buy', 'shop [aria-label=Buy]'],
    ['shop #cart', 'shop #buy'],
    ['shop .item', 'shop #item-2'],
    ['shop button', 'shop .primary'],
    ['shop //input[1]', 'shop [name=mail]'],
  ]),
  ...of('pages', false, [
    ['shop #buy', 'shop #help'],
    ['shop .primary', 'shop .item'],
    ['shop #item-1', 'shop #item-2'],
    ['shop //a[1]', 'shop //a[2]'],
    ['shop [aria-label=Buy]', 'shop [aria-label=Help]'],
    ['shop #cart', 'shop #help'],
    ['shop #buy', 'blog #buy'],
  ]),
  ...of('orders', true, [
    ['order:1', 'stock:lamp'],
    ['order:1', 'order:2'],
    ['refund:1', 'order:1'],
    ['refund:1', 'stock:lamp'],
    ['shipment:1', 'order:2'],
    ['shipment:1', 'stock:chair'],
    ['order:2', 'stock:chair'],
  ]),
  ...of('orders', false, [
    ['order:1', 'stock:chair'],
    ['order:1', 'order:3'],
    ['refund:1', 'order:3'],
    ['shipment:1', 'stock:desk'],
    ['stock:lamp', 'stock:chair'],
    ['refund:1', 'stock:chair'],
    ['shipment:1', 'order:3'],
  ]),
];
