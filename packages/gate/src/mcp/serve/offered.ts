/** An operation of the API that is fit for a model. */
export interface Offered {
  /** The operation's id in the table. */
  readonly id: string;
  readonly title: string;
  /** When to use it. The tool's description is the operation's summary, and then this. */
  readonly use: string;
  /** Members of the answer that repeat others, and are left out. */
  readonly without?: readonly string[];
  /** The page of the console about the answer. `{name}` is an argument. */
  readonly page?: `/${string}`;
  /** It records facts. Repeated with the same arguments it changes nothing. */
  readonly records?: true;
}

/**
 * The operations that a client of `assize mcp --serve` may call. All but `chat.remember` only read.
 */
export const OFFERED: readonly Offered[] = [
  {
    id: 'principals.me',
    title: 'My name and kinds',
    use: 'The person or agent whose token this server uses.',
  },
  {
    id: 'trajectories.list',
    title: 'List trajectories',
    use: 'Begin here: the other tools need a trajectory_id. A trajectory is one ledger of rulings about one world.',
  },
  {
    id: 'trajectories.get',
    title: 'Show a trajectory',
    use: 'Also how many proposals wait, and `memory_spaces` for the memory tools.',
  },
  {
    id: 'trajectories.outline',
    title: 'Look into the state of the world',
    use: 'Begin without `pointer`, then go down by JSON pointer, for example /orders/b1. With `at` it is the world as it was.',
    page: '/timeline/{trajectory}',
  },
  {
    id: 'trajectories.slice',
    title: 'Show the part of the state that a role sees',
    use: 'For an agent: agents do not see the whole state.',
  },
  {
    id: 'entries.list',
    title: 'List entries of the ledger',
    use: 'For recent entries pass `before` with a large number. `ruling: rejected` finds refusals, each with its reason.',
    page: '/timeline/{trajectory}',
  },
  {
    id: 'entries.get',
    title: 'Show an entry',
    use: 'Explains a ruling: the proposal, the result of each rule, the approvals, the changes, the effects.',
    without: ['text'],
  },
  {
    id: 'entries.proof',
    title: 'Prove an entry',
    use: 'For an auditor. It needs a checkpoint that covers the entry.',
  },
  {
    id: 'entries.diff',
    title: 'Compare two states',
    use: '`from` and `to` are entries: ids, or TRAJECTORY@SEQ. They may be of different branches.',
  },
  {
    id: 'entries.dependents',
    title: 'List what rests on an entry',
    use: 'Finds the actions that used a fact which turned out to be wrong.',
  },
  {
    id: 'branches.list',
    title: 'List branches',
    use: 'What-if copies of a trajectory.',
  },
  {
    id: 'delegations.list',
    title: 'List delegations',
    use: 'Tasks that agents passed on to other agents, and their answers.',
  },
  {
    id: 'writs.list',
    title: 'List the writs of agents',
    use: 'What each agent may do, how much of its budget is left, and whether its writ is revoked.',
    page: '/agents/{trajectory}',
  },
  {
    id: 'approvals.list',
    title: 'List the inbox',
    use: 'The inbox: what waits for a person. `mine: true` for what this principal may decide.',
    page: '/inbox',
  },
  {
    id: 'approvals.get',
    title: 'Show an item of the inbox',
    use: 'The exact call, its changes, its rule, its `digest`, and whether it still waits.',
    page: '/inbox/{approval}',
  },
  {
    id: 'approvals.judge',
    title: 'Foresee an approval',
    use: 'Says what an item of the inbox would do.',
  },
  {
    id: 'proposals.judge',
    title: 'Foresee a proposal',
    use: 'Answers "would this be allowed, and by which rule", also at an earlier entry.',
  },
  {
    id: 'domains.list',
    title: 'List domains with their rules',
    use: 'The actions, their argument schemas, the invariants and the approvers.',
  },
  {
    id: 'domains.get',
    title: 'Show a domain with its rules',
    use: 'The text of the invariants that `invariant_id` names in rulings.',
  },
  {
    id: 'effects.list',
    title: 'List tool transactions',
    use: '`needs_human: true` for calls that may or may not have happened.',
    page: '/effects',
  },
  {
    id: 'effects.get',
    title: 'Show a tool transaction',
    use: 'Explains a call that failed or is in doubt.',
    page: '/effects/{epoch}',
  },
  {
    id: 'memory.keys',
    title: 'List what the memory knows about',
    use: 'Begin here for memory. Spaces are `memory_spaces` of the trajectory.',
  },
  {
    id: 'memory.recall',
    title: 'Recall facts as of a time',
    use: 'What did we believe on a day: set `system`. What is true of a day, as known now: set `valid`. A day such as 2026-05-03 is its start (UTC); its end is 2026-05-03T23:59:59Z.',
    without: ['observation'],
  },
  {
    id: 'chat.recall',
    title: 'Recall what is known for a question',
    use: 'For a chat: pass the question as the person asked it, and `user` or `spaces`. Without a question it lists all facts.',
    without: ['observations', 'context', 'tokens'],
  },
  {
    id: 'chat.remember',
    title: 'Remember messages',
    use: 'For an agent. Pass the messages of the person word for word, and `user`. Pass `facts` if the server has no model.',
    records: true,
  },
  {
    id: 'memory.history',
    title: 'Show the history of facts',
    use: 'Every version with both of its times, and the claims that lost. Narrow it with `subject` and `predicate`.',
  },
  {
    id: 'memory.explain',
    title: 'Explain a fact',
    use: 'Why it is believed: its sources, the contradictions, and how they were settled.',
  },
  {
    id: 'log.verify',
    title: 'Verify the ledger',
    use: 'Recomputes everything, so it takes long for a long ledger. Name the trajectories if one is enough.',
  },
  {
    id: 'checkpoints.latest',
    title: 'Show the last checkpoint',
    use: 'Until when the log is signed, and by which witnesses.',
  },
];
