import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef } from 'react';
import { type LogEvent, useLogEvents } from '../api/events.ts';

type Listener = (event: LogEvent) => void;

interface Live {
  readonly isConnected: boolean;
  readonly listen: (listener: Listener) => () => void;
}

const Context = createContext<Live>({ isConnected: false, listen: () => () => undefined });

/** Many entries at once load the data again once. */
const GATHER_MS = 250;

/**
 * One stream of the log for all parts of a page. New entries, and a new connection, load the shown
 * data again.
 */
export function LiveProvider({ children }: { readonly children: ReactNode }) {
  const queries = useQueryClient();
  const listeners = useRef(new Set<Listener>());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isConnected = useLogEvents((event) => {
    for (const listener of listeners.current) listener(event);
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void queries.invalidateQueries({ queryKey: ['log'] });
    }, GATHER_MS);
  });
  useEffect(() => {
    if (isConnected) void queries.invalidateQueries();
  }, [isConnected, queries]);
  const live = useMemo<Live>(
    () => ({
      isConnected,
      listen: (listener) => {
        listeners.current.add(listener);
        return () => void listeners.current.delete(listener);
      },
    }),
    [isConnected],
  );
  return <Context value={live}>{children}</Context>;
}

export function useLive(): Live {
  return useContext(Context);
}
