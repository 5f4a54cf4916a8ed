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
  { path: '/timeline', name: 'Timeline', about: 'Entries of a trajectory, and its state at any point', key: 't' },
  { path: '/effects', name: 'Effects', about: 'Tool calls: what is permanent, compensated or in doubt', key: 'e' },
  { path: '/agents', name: 'Agents', about: 'Writs, budgets, delegations, halts, and people', key: 'a' },
];
