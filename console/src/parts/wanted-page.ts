const KEY = 'assize:wanted-page';

/** Keeps the address of this page in this tab, for the time after a sign-in. */
export function keepWanted(): void {
  const { pathname, search } = location;
  if (pathname !== '/') sessionStorage.setItem(KEY, pathname + search);
}

/** The path to go to after a sign-in: the kept one, if it is of this server, else the inbox. */
export function wantedPath(kept: string | null = sessionStorage.getItem(KEY)): string {
  if (kept === null || !kept.startsWith('/') || !URL.canParse(kept, location.origin)) return '/inbox';
  const { origin, pathname, search } = new URL(kept, location.origin);
  return origin === location.origin && pathname !== '/' ? pathname + search : '/inbox';
}

export function forgetWanted(): void {
  sessionStorage.removeItem(KEY);
}
