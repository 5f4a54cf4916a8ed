import { onlineManager, type Query, type QueryClient, useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react';
import type { LogEvent } from '../api/events.ts';
import { ME } from '../api/queries.ts';
import { followLog } from '../api/shared-log.ts';

type Listener = (event: LogEvent) => void;

const IsConnected = createContext(false);
const listeners = new Set<Listener>();

/** Many entries together load the data again once. */
const GATHER_MS = 250;
/** Slow data do not hold up the rest for longer. */
const RELOAD_MS = 2_000;

interface ProviderProps {
  /** The principal of the session. */
  readonly person: string;
  readonly children: ReactNode;
}

/**
 * One stream of the log for all parts of a page. New entries load the data again that they can
 * change, and a new connection loads all shown data again.
 */
export function LiveProvider({ person, children }: ProviderProps) {
  const queries = useQueryClient();
  const [isFollowing, setFollowing] = useState(false);
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine);
  const isConnected = isFollowing && isOnline;
  useEffect(() => {
    const reload = reloader(queries);
    let wasFollowed = false;
    const leave = followLog(person, {
      onConnection: (isFollowed) => {
        setFollowing(isFollowed);
        // The server ends the stream of an ended session.
        if (wasFollowed && !isFollowed) void queries.invalidateQueries({ queryKey: ME });
        wasFollowed = isFollowed;
      },
      onEntry: (event) => {
        for (const listener of listeners) listener(event);
        reload.after(event);
      },
    });
    return () => {
      leave();
      reload.stop();
    };
  }, [person, queries]);
  useEffect(() => {
    if (isConnected) void queries.invalidateQueries();
  }, [isConnected, queries]);
  return <IsConnected value={isConnected}>{children}</IsConnected>;
}

/** Whether new entries arrive on their own. */
export function useIsConnected(): boolean {
  return useContext(IsConnected);
}

/** Calls back with each new entry, until the returned function is called. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Calls back when the browser gets a network or loses it. */
function subscribe(changed: () => void): () => void {
  return onlineManager.subscribe(changed);
}

/**
 * Loads data again after entries that can change them. Entries that arrive meanwhile wait until the
 * data are loaded, so that a busy log interrupts no loading.
 */
function reloader(queries: QueryClient): {
  readonly after: (event: LogEvent) => void;
  readonly stop: () => void;
} {
  let gathered: LogEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  const reload = async (): Promise<void> => {
    const events = gathered;
    gathered = [];
    const changed = queries
      .getQueryCache()
      .findAll({ queryKey: ['log'] })
      .filter((query) => isChanged(queries, query, events));
    const loaded = queries.invalidateQueries({ predicate: (query) => changed.includes(query) });
    await Promise.race([loaded, new Promise((over) => setTimeout(over, RELOAD_MS))]);
    timer = gathered.length === 0 || isStopped ? undefined : setTimeout(reload, GATHER_MS);
  };
  return {
    after: (event) => {
      gathered.push(event);
      timer ??= setTimeout(reload, GATHER_MS);
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** Whether a query must be loaded again. One that can tell its next data gets them now. */
function isChanged(
  queries: QueryClient,
  { queryKey, meta, state }: Query,
  events: readonly LogEvent[],
): boolean {
  if (events.some((event) => meta?.changedBy?.(event, state.data) ?? true)) return true;
  if (meta?.next === undefined || state.data === undefined) return false;
  // An answer on its way may be older than the entries.
  if (state.fetchStatus !== 'idle') return true;
  queries.setQueryData(queryKey, events.reduce<unknown>(meta.next, state.data));
  return false;
}
