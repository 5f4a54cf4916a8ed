import type { EntryRow } from '#ledger';

/** The same period and trajectories as a report's. */
export interface NaiveScope {
  readonly since?: string;
  readonly until?: string;
  readonly trajectories?: readonly string[];
}

/** The counts of a report, found by looking at every row for every question. */
export interface NaiveEvidence {
  /** The ids of the entries of each figure, in the order of the log. One may be there twice. */
  readonly figures: Readonly<Record<string, readonly string[]>>;
  readonly deciders: Readonly<Record<string, number>>;
  readonly domains: readonly string[];
  readonly waiting: readonly string[];
  readonly halted: readonly string[];
  readonly times: readonly number[];
}

/**
 * `rows`: all entries in the order of the log. `holdersOf`: the holders of a writ and of the writs
 * above it.
 */
export function naiveEvidence(
  rows: readonly EntryRow[],
  { since = '', until = '~', trajectories }: NaiveScope,
  holdersOf: (writ: string) => readonly string[],
): NaiveEvidence {
  const all = rows.map(({ id, payload }) => ({ id, ...JSON.parse(payload) }));
  const before = all.filter(
    (one) => one.at < until && (trajectories?.includes(one.trajectory_id) ?? true),
  );
  const during = before.filter((one) => one.at >= since);
  const ids = (test: (one: any) => unknown): string[] => during.filter(test).map(({ id }) => id);
  const times = (list: (one: any) => readonly unknown[]): string[] =>
    during.flatMap((one) => list(one).map(() => one.id));
  const commit = (action: string) => (one: any) =>
    one.kind === 'commit' && one.action.name === action;
  const argsOf = (one: any): any => one.action.args;
  const isOwn = (one: any): boolean => argsOf(one).from === undefined;
  const settled = (one: any): any[] =>
    commit('assize.settle')(one) ? argsOf(one).settled.flatMap((each: any) => each.effects) : [];
  const isEffect = (one: any): boolean => ['in_doubt', 'unresolved'].includes(one.reason);
  const domainOf = (one: any): any =>
    before
      .filter((each) => each.trajectory_id === one.trajectory_id && each.seq <= one.seq)
      .map((each) => each.domain ?? (commit('assize.upgrade')(each) ? argsOf(each).to : undefined))
      .findLast((domain) => domain !== undefined);
  const resolved = (id: string): any => before.find((one) => one.resolves === id);
  const original = (one: any): any =>
    one.resolves === undefined ? one : original(all.find(({ id }) => id === one.resolves));
  const isDecision = (one: any): boolean =>
    one.resolves !== undefined && one.action?.name !== 'assize.settle';
  const approverOf = (one: any): any => {
    if (!isDecision(one) || one.kind === 'rejection') return undefined;
    return one.kind === 'commit' ? one.counselor : one.approved_by?.at(-1);
  };
  const approvals = during.filter((one) => approverOf(one) !== undefined);
  const overriders = [
    ...approvals.map((one) => [one, approverOf(one)]),
    ...during
      .filter((one) => commit('assize.upgrade')(one) && one.counselor)
      .map((one) => [one, one.counselor]),
  ].filter(([, counselor]) => counselor.override === true);
  const overrides = (test: (reason: string) => boolean): string[] =>
    during.flatMap(({ id }) =>
      overriders.filter(([one, { reason = '' }]) => one.id === id && test(reason)).map(() => id),
    );
  const requestersOf = (one: any): readonly string[] =>
    holdersOf(all.find(({ id }) => id === one.resolves).proposal.writ_id);
  const refusals = during.filter(
    (one) => one.kind === 'rejection' && one.resolves !== undefined && one.counselor,
  );
  const deciders: Record<string, number> = {};
  for (const name of [
    ...approvals.map((one) => approverOf(one)),
    ...refusals.map((one) => one.counselor),
  ].map(({ principal }) => principal))
    deciders[name] = (deciders[name] ?? 0) + 1;
  const mayBePerson = (name: string): boolean =>
    !['agent:', 'assize:', 'model:', 'service:'].some((start) =>
      name.toLowerCase().startsWith(start),
    );
  const isByPerson = (one: any): boolean =>
    mayBePerson((approverOf(one) ?? one.counselor).principal);
  const isStop = (one: any): boolean => commit('assize.halt')(one) && isOwn(one);
  const figures: Record<string, readonly string[]> = {
    entries: ids(() => true),
    signed: ids((one) => one.signature !== undefined),
    unsigned: ids((one) => one.signature === undefined),
    roots: ids((one) => one.kind === 'root'),
    branches: ids((one) => one.kind === 'branch'),
    commits: ids((one) => one.kind === 'commit'),
    policy_judged: ids((one) => one.policy !== undefined),
    approvals: approvals.map(({ id }) => id),
    'people:approvals': approvals.filter(isByPerson).map(({ id }) => id),
    'people:refusals': refusals.filter(isByPerson).map(({ id }) => id),
    'people:amendments': ids(
      (one) => isDecision(one) && one.amended !== undefined && isByPerson(one),
    ),
    'people:several': ids(
      (one) =>
        one.kind === 'commit' &&
        isDecision(one) &&
        [...(one.approved_by ?? []), one.counselor].filter(({ principal }) =>
          mayBePerson(principal),
        ).length > 1,
    ),
    'people:halts': ids(
      (one) => isStop(one) && argsOf(one).does === 'halt' && mayBePerson(argsOf(one).principal),
    ),
    'people:resumes': ids(
      (one) => isStop(one) && argsOf(one).does === 'resume' && mayBePerson(argsOf(one).principal),
    ),
    'programs:decisions': during
      .filter((one) => (approvals.includes(one) || refusals.includes(one)) && !isByPerson(one))
      .map(({ id }) => id),
    'programs:halts': ids((one) => isStop(one) && !mayBePerson(argsOf(one).principal)),
    amendments: ids((one) => isDecision(one) && one.amended !== undefined),
    approved_by_several: ids(
      (one) => one.kind === 'commit' && isDecision(one) && (one.approved_by ?? []).length > 0,
    ),
    overrides_with_reason: overrides((reason) => reason.trim() !== ''),
    overrides_without_reason: overrides((reason) => reason.trim() === ''),
    self_approvals: approvals
      .filter((one) => requestersOf(one).includes(approverOf(one).principal))
      .map(({ id }) => id),
    halts: ids((one) => commit('assize.halt')(one) && isOwn(one) && argsOf(one).does === 'halt'),
    resumes: ids(
      (one) => commit('assize.halt')(one) && isOwn(one) && argsOf(one).does === 'resume',
    ),
    revocations: ids((one) => commit('assize.revoke')(one) && isOwn(one)),
    delegations: ids((one) => one.kind === 'delegation' && one.concludes === undefined),
    key_changes: ids((one) => one.kind === 'key_change'),
    upgrades: ids(commit('assize.upgrade')),
    rule_changes: ids((one) => commit('configure')(one) && domainOf(one).name === 'gateway'),
    pinned_tools: ids((one) => commit('pin')(one) && domainOf(one).name === 'gateway'),
    with_effects: ids((one) => one.kind === 'commit' && one.delta.effects.length > 0),
    undone: times((one) => settled(one).filter(({ outcome }) => outcome === 'undone')),
    accepted: times((one) => settled(one).filter(({ outcome }) => outcome === 'accepted')),
    in_doubt: ids((one) => one.kind === 'pending_approval' && isEffect(one)),
    operator_decisions: times((one) => [
      ...settled(one).filter(({ by }) => by !== undefined),
      ...(commit('assize.settle')(one) && argsOf(one).decided !== undefined ? [1] : []),
    ]),
    with_facts: ids((one) => one.kind === 'commit' && one.delta.beliefs.length > 0),
    erasures: ids(commit('assize.erase')),
  };
  for (const one of during) {
    const name =
      one.kind === 'rejection'
        ? `refused:${one.reason}`
        : one.kind === 'pending_approval' && !isEffect(one) && one.resolves === undefined
          ? `escalated:${one.reason}`
          : undefined;
    if (name !== undefined) figures[name] = [...(figures[name] ?? []), one.id];
  }
  return {
    figures,
    deciders,
    domains: [
      ...new Set(
        during.map((one) => domainOf(one)).map(({ name, version }) => `${name}@${version}`),
      ),
    ].sort(),
    waiting: before
      .filter((one) => one.kind === 'pending_approval' && !resolved(one.id))
      .map(({ id }) => id),
    halted: [...new Set(before.map((one) => one.trajectory_id as string))].filter((name) => {
      const last = before.findLast(
        (one) => one.trajectory_id === name && commit('assize.halt')(one),
      );
      return last !== undefined && (argsOf(last).does === 'halt' || argsOf(last).remains === true);
    }),
    times: [...approvals.filter(({ kind }) => kind === 'commit'), ...refusals]
      .map(
        (one) =>
          Date.parse(one.at) -
          Date.parse(original(before.find(({ id }) => id === one.resolves)).at),
      )
      .sort((one, other) => one - other),
  };
}
