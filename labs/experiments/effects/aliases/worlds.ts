import { linkSync, mkdirSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileResolver, fileScope } from '@assize/tools/internal/files';
import { apiResolver, apiScope } from '@assize/tools/internal/http';
import { type Resolver, type Resolvers, segment } from 'assize/internal/effects';
import type { Case } from './cases.ts';

/**
 * How names become scopes: as they are written, as their kind alone, or through adapters and
 * resolvers.
 */
export type Naming = 'as written' | 'coarse' | 'resolved';

export const NAMINGS: readonly Naming[] = ['as written', 'coarse', 'resolved'];

/** The targets of the names: files in a folder, customers, pages, orders. */
export class Worlds {
  readonly #root: string;
  readonly resolvers: Resolvers;

  /** `folder`: an empty one, for the files. */
  constructor(folder: string) {
    this.#root = realpathSync(folder);
    for (const name of ['d', 'dd']) mkdirSync(join(this.#root, name));
    for (const name of ['a', 'a.bak', 'A', 'd/b', 'd/c', 'dd/b', 'caf\u00e9', 'cafe\u0301'])
      writeFileSync(join(this.#root, name), name);
    symlinkSync('d', join(this.#root, 'link'));
    symlinkSync(join(this.#root, 'd/b'), join(this.#root, 'far'));
    linkSync(join(this.#root, 'a'), join(this.#root, 'twin'));
    this.resolvers = {
      fs: fileResolver(this.#root),
      api: apiResolver({ 'www.shop.example': 'shop.example' }),
      crm: customers,
      page: elements,
      ...Object.fromEntries(['order', 'refund', 'shipment'].map((kind) => [kind, consumed])),
    };
  }

  /** The scope that a worker on it claims. */
  scopeOf(sort: Case['of'], name: string, naming: Naming): string {
    if (naming === 'coarse') return COARSE[sort];
    if (naming === 'as written') return written(sort, name);
    switch (sort) {
      case 'files': {
        const [, path = '', stars = ''] = /^(.*?)(\/\*+)?$/.exec(name) ?? [];
        return fileScope(this.#root, path) + stars;
      }
      case 'APIs':
        return name.startsWith('http') ? apiScope(name) : written(sort, name);
      default:
        return written(sort, name);
    }
  }

  /** Whether they are one thing, or one inside of the other. */
  meet({ of, one, other, meet }: Case): boolean {
    return of === 'files' ? this.#areOne(one, other) : meet === true;
  }

  /** As the disk has it. */
  #areOne(one: string, other: string): boolean {
    const [left, right] = [one, other].map((name) => {
      const path = realpathSync(join(this.#root, name.replace(/\/\*+$/, '')));
      return { path, id: statSync(path).ino, isFolder: statSync(path).isDirectory() };
    }) as [Place, Place];
    return left.id === right.id || isInside(left, right) || isInside(right, left);
  }
}

interface Place {
  readonly path: string;
  readonly id: number;
  readonly isFolder: boolean;
}

function isInside(folder: Place, { path }: Place): boolean {
  return folder.isFolder && path.startsWith(`${folder.path}/`);
}

const COARSE: Readonly<Record<Case['of'], string>> = {
  files: 'fs',
  APIs: 'api',
  pages: 'page',
  orders: 'shop',
};

/** A name as a scope, with no more done to it than that it is one. */
function written(sort: Case['of'], name: string): string {
  switch (sort) {
    case 'files':
      return `fs:/${name
        .split('/')
        .map((step) => (/^\*+$/.test(step) ? step : segment(step)))
        .join('/')}`;
    case 'APIs':
      if (name.startsWith('http')) return `api:${segment(name)}`;
      return name
        .split(':')
        .map((part) => (part === '*' ? part : segment(part)))
        .join(':');
    case 'pages': {
      const [page = '', selector = ''] = name.split(' ');
      return `page:${page}:${segment(selector)}`;
    }
    default:
      return name;
  }
}

/** By mail address, telephone, login, or a number with zeros before it. */
const CUSTOMERS: Readonly<Record<string, string>> = {
  'crm:mail:ada@example.com': 'crm:customer:7',
  'crm:phone:+1 555 0100': 'crm:customer:7',
  'crm:mail:bob@example.com': 'crm:customer:8',
  'crm:login:acme-3': 'crm:user:acme:3',
};

const customers: Resolver = async (scope) => {
  const name = scope.toLowerCase().replace(/^(crm:customer:)0+(?=\d)/, '$1');
  return CUSTOMERS[name] ?? name;
};

interface Element {
  readonly path: string;
  readonly tag: string;
  readonly id: string;
  readonly classes?: readonly string[];
  readonly attributes?: Readonly<Record<string, string>>;
}

/** Elements by page, in the order of the document. */
const PAGES: Readonly<Record<string, readonly Element[]>> = {
  shop: [
    { path: '/body/form', tag: 'form', id: 'cart' },
    { path: '/body/form/input', tag: 'input', id: 'mail', attributes: { name: 'mail' } },
    { path: '/body/form/li-1', tag: 'li', id: 'item-1', classes: ['item'] },
    { path: '/body/form/li-2', tag: 'li', id: 'item-2', classes: ['item'] },
    {
      path: '/body/form/button',
      tag: 'button',
      id: 'buy',
      classes: ['primary'],
      attributes: { 'aria-label': 'Buy' },
    },
    { path: '/body/a-1', tag: 'a', id: 'help', attributes: { 'aria-label': 'Help' } },
    { path: '/body/a-2', tag: 'a', id: 'about' },
  ],
  blog: [{ path: '/body/button', tag: 'button', id: 'buy' }],
};

/** Resolves selectors to the paths of elements, so a claim on a form covers its buttons. */
const elements: Resolver = (scope) => {
  const [, page = '', selector = ''] = scope.split(':');
  if (selector.startsWith('/')) return scope;
  const matched = (PAGES[page] ?? []).filter(
    matches(selector.replaceAll('~2f', '/'), PAGES[page] ?? []),
  );
  return matched.length === 0 ? scope : matched.map(({ path }) => `page:${page}:${path}`);
};

function matches(selector: string, all: readonly Element[]): (element: Element) => boolean {
  const [, tag, place] = /^\/\/(\w+)\[(\d+)\]$/.exec(selector) ?? [];
  if (tag !== undefined) {
    const found = all.filter((element) => element.tag === tag)[Number(place) - 1];
    return (element) => element === found;
  }
  const [, attribute = '', value] = /^\[([\w-]+)=(\w+)\]$/.exec(selector) ?? [];
  if (value !== undefined) return ({ attributes }) => attributes?.[attribute] === value;
  if (selector.startsWith('#')) return ({ id }) => id === selector.slice(1);
  if (selector.startsWith('.'))
    return ({ classes }) => classes?.includes(selector.slice(1)) === true;
  return (element) => element.tag === selector;
}

/** The other scopes that each order, refund and shipment accesses. */
const CONSUMED: Readonly<Record<string, readonly string[]>> = {
  'order:1': ['stock:lamp'],
  'order:2': ['stock:lamp', 'stock:chair'],
  'order:3': ['stock:desk'],
  'refund:1': ['order:1'],
  'shipment:1': ['order:2'],
};

const consumed: Resolver = (scope) => [scope, ...(CONSUMED[scope] ?? [])];
