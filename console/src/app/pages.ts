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
  { path: '/what-if', name: 'What-if', about: 'Recorded proposals under other rules', key: 'w' },
  { path: '/audit', name: 'Audit', about: 'Checkpoints, verification and export of the ledger', key: 'a' },
];
