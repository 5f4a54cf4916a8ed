/** A page of the console, as the navigation and the command palette list it. */
export interface Page {
  readonly path: string;
  readonly name: string;
  readonly about: string;
  /** Not in the navigation: reached from the palette, and from other pages. */
  readonly isRare?: true;
  /** The kinds of people that can use it. Default: all. */
  readonly kinds?: readonly string[];
}

export const PAGES: readonly Page[] = [
  { path: '/needs', name: 'Needs you', about: 'All that waits for you, and what ends soon' },
  { path: '/inbox', name: 'Inbox', about: 'Proposals that wait for a decision' },
  { path: '/activity', name: 'Activity', about: 'Entries of all worlds: who, when and why' },
  {
    path: '/timeline',
    name: 'Timeline',
    about: 'Entries of a world, and its state at any point',
    isRare: true,
  },
  {
    path: '/effects',
    name: 'Effects',
    about: 'Tool calls: what is permanent, compensated or in doubt',
  },
  { path: '/agents', name: 'Agents', about: 'Agents, their worlds, budgets and halts, and people' },
  { path: '/memory', name: 'Memory', about: 'Beliefs in both times, and why each won' },
  {
    path: '/incidents',
    name: 'Incidents',
    about: 'Blast radius of a bad key, tool or entry, and the response',
    kinds: ['auditor', 'admin'],
  },
  {
    path: '/rules',
    name: 'Rules',
    about: 'What the rules in front of agents asked and refused, or would have',
    isRare: true,
  },
  { path: '/audit', name: 'Audit', about: 'Checkpoints, verification and export of the ledger' },
  {
    path: '/what-if',
    name: 'Lab',
    about: 'What-if: recorded proposals under other rules, simulations, and rules that runs obey',
  },
];

/** The pages that a person can use. */
export function pagesFor(kinds: readonly string[]): readonly Page[] {
  return PAGES.filter((page) => page.kinds?.some((kind) => kinds.includes(kind)) ?? true);
}
