import { useMemo } from 'react';
import { useLocation, useParams, useSearchParams } from 'wouter';
import { decoded, timelineHref } from '../../parts/addresses.ts';
import { RULINGS, type RulingName } from '../../parts/ruling-mark.tsx';

export const VIEWS = ['entry', 'state', 'compare', 'try', 'record'] as const;
/** The parts of an entry's panel. */
export type View = (typeof VIEWS)[number];

/** The state of the page that is in the search part of its address. */
export interface TimelineSearch {
  readonly view: View;
  readonly ruling: RulingName | undefined;
  readonly text: string;
  /** The other point of a comparison. */
  readonly to: string;
  /** A JSON Pointer into the state. */
  readonly place: string;
  /** A part of the names of the members there. */
  readonly find: string;
}

export interface TimelineAddress extends TimelineSearch {
  readonly trajectory: string | undefined;
  readonly seq: number | undefined;
  /** The address of an entry, with the filters and the view of now. */
  readonly hrefOf: (seq: number) => string;
  readonly open: (seq: number | undefined, replace?: boolean) => void;
  readonly set: (change: Partial<Record<keyof TimelineSearch, string | undefined>>) => void;
}

/** The state of the page. Its address has all of it. */
export function useTimelineAddress(): TimelineAddress {
  const params = useParams<{ readonly trajectory?: string; readonly seq?: string }>();
  const [, navigate] = useLocation();
  const [search, setSearch] = useSearchParams();
  const query = search.toString();
  return useMemo(() => {
    const trajectory = params.trajectory === undefined ? undefined : decoded(params.trajectory);
    const suffix = query === '' ? '' : `?${query}`;
    const hrefOf = (seq?: number) => `${timelineHref(trajectory ?? '', seq)}${suffix}`;
    return {
      ...readSearch(new URLSearchParams(query)),
      trajectory,
      seq: /^\d{1,15}$/.test(params.seq ?? '') ? Number(params.seq) : undefined,
      hrefOf,
      open: (seq, replace = false) => navigate(hrefOf(seq), { replace }),
      set: (change) =>
        setSearch(
          (before) => {
            const next = new URLSearchParams(before);
            for (const [name, value] of Object.entries(change))
              if (value === undefined || value === '' || value === 'entry') next.delete(name);
              else next.set(name, value);
            return next;
          },
          { replace: true },
        ),
    };
  }, [params, query, navigate, setSearch]);
}

function readSearch(search: URLSearchParams): TimelineSearch {
  const ruling = search.get('ruling') ?? '';
  return {
    view: VIEWS.find((view) => view === search.get('view')) ?? 'entry',
    ruling: Object.hasOwn(RULINGS, ruling) ? (ruling as RulingName) : undefined,
    text: search.get('text') ?? '',
    to: search.get('to') ?? '',
    place: search.get('place') ?? '',
    find: search.get('find') ?? '',
  };
}
