/** A page of the console, as the navigation and the command palette list it. */
export interface Page {
  readonly path: string;
  readonly name: string;
  readonly about: string;
  /** Not in the navigation: reached from the palette, and from other pages. */
  readonly isRare?: true;
}

export const PAGES: readonly Page[] = [
  { path: '/inbox', name: 'Inbox', about: 'Proposals that wait for a decision' },
  { path: '/activity', name: 'Activity', about: 'Entries of all trajectories: who, when and why' },
  {
    path: '/timeline',
    name: 'Timeline',
    about: 'Entries of a trajectory, and its state at any point',
  },
  { path: '/what-if', name: 'What-if', about: 'Recorded proposals under other rules' },
  {
    path: '/effects',
    name: 'Effects',
    about: 'Tool calls: what is permanent, compensated or in doubt',
  },
  { path: '/memory', name: 'Memory', about: 'Beliefs in both times, and why each won' },
  { path: '/agents', name: 'Agents', about: 'Writs, budgets, delegations, halts, and people' },
  { path: '/audit', name: 'Audit', about: 'Checkpoints, verification and export of the ledger' },
  {
    path: '/incidents',
    name: 'Incidents',
    about: 'Blast radius of a bad key, tool or entry, and the response',
    isRare: true,
  },
];
