const KEY = 'assize:wanted-page';

/** Keeps the address of this page in this tab, for the time after a sign-in. */
export function keepWanted(): void {
  const { pathname, search } = location;
  if (pathname !== '/') sessionStorage.setItem(KEY, pathname + search);
}

/** The path to go to after a sign-in: the kept one, or the first one. */
export function wantedPath(): string {
  return pathOn(location.origin, sessionStorage.getItem(KEY)) ?? '/needs';
}

/** A kept path, if it is a page of this server. */
export function pathOn(server: string, kept: string | null): string | undefined {
  if (kept === null || !kept.startsWith('/') || !URL.canParse(kept, server)) return undefined;
  const { origin, pathname, search } = new URL(kept, server);
  return origin === server && pathname !== '/' ? pathname + search : undefined;
}

export function forgetWanted(): void {
  sessionStorage.removeItem(KEY);
}
