import { useEffect } from 'react';
import { PAGES } from './pages.ts';

/** Names the tab of the browser after the page, with the number of what needs the person. */
export function usePageTitle(location: string, waiting: string | undefined): void {
  const page = PAGES.find(({ path }) => location.startsWith(path));
  useEffect(() => {
    const name = page === undefined ? 'Assize' : `${page.name} · Assize`;
    document.title = waiting === undefined ? name : `(${waiting}) ${name}`;
  }, [page, waiting]);
}
