import { useLocation, useParams, useSearchParams } from 'wouter';
import { decoded } from '../../parts/addresses.ts';

/** The members of the query. */
const NAMES = [
  'view',
  'find',
  'subject',
  'predicate',
  'fact',
  'since',
  'valid',
  'system',
  'text',
  'derived',
] as const;

/** Every choice on the page, as the address has it. */
export interface MemoryAddress extends Partial<Record<(typeof NAMES)[number], string>> {
  readonly trajectory?: string;
  readonly space?: string;
}

/** The address that another one changes to. Undefined members are removed. */
export type Change = { readonly [name in keyof MemoryAddress]?: MemoryAddress[name] | undefined };

/** The choices that belong to one key, removed. */
export const NO_KEY = {
  ...{ subject: undefined, predicate: undefined },
  ...{ fact: undefined, since: undefined, derived: undefined },
} satisfies Change;

/** The choices that belong to one space, removed. */
export const NO_CHOICE = { ...NO_KEY, find: undefined, text: undefined } satisfies Change;

export function hrefOf({ trajectory, space, ...query }: MemoryAddress | Change): string {
  const path = [
    '/memory',
    ...[trajectory, space].flatMap((part) => (part ? [encodeURIComponent(part)] : [])),
  ];
  const search = new URLSearchParams();
  for (const name of NAMES) if (query[name]) search.set(name, query[name]);
  return path.join('/') + (search.size === 0 ? '' : `?${search}`);
}

/** The address, and a function that changes parts of it. */
export function useAddress() {
  const params = useParams<{ readonly trajectory?: string; readonly space?: string }>();
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const address: MemoryAddress = {
    ...(params.trajectory && { trajectory: decoded(params.trajectory) }),
    ...(params.space && { space: decoded(params.space) }),
    ...Object.fromEntries(
      NAMES.flatMap((name) => (search.get(name) ? [[name, search.get(name)]] : [])),
    ),
  };
  const hrefWith = (change: Change) => hrefOf({ ...address, ...change });
  const go = (change: Change, options?: { readonly replace: boolean }) =>
    navigate(hrefWith(change), options);
  return { address, go, hrefWith };
}
