/** A page of the console, as the navigation and the command palette list it. */
export interface Page {
  readonly path: string;
  readonly name: string;
  readonly about: string;
  /** Goes to the page after the key g. */
  readonly key: string;
}

export const PAGES: readonly Page[] = [
  { path: '/inbox', name: 'Inbox', about: 'Proposals that wait for a decision', key: 'i' },
  { path: '/memory', name: 'Memory', about: 'Beliefs in both times, and why each won', key: 'm' },
];
