import type { LogEvent } from './events.ts';

/** Whether a new entry can change the data of a query. Undefined data: not loaded yet. */
export type ChangedBy = (event: LogEvent, data: unknown) => boolean;

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: {
      /** Of a query whose key begins with `log`. Absent: every new entry changes it. */
      readonly changedBy?: ChangedBy;
      /** The data after an entry that `changedBy` does not name, or the same data. */
      readonly next?: (data: unknown, event: LogEvent) => unknown;
    };
  }
}

/** For data of one trajectory. */
export function entriesOf(trajectory: string): { readonly changedBy: ChangedBy } {
  return { changedBy: (event) => event.trajectory_id === trajectory };
}

/** The world that records stops and pauses of agents. */
export const AGENTS = 'assize:agents';

/** For proposals that wait: new and decided ones, halts, revocations, upgrades and erasures. */
export const decisions: { readonly changedBy: ChangedBy } = { changedBy: isAboutDecisions };

function isAboutDecisions({ kind, resolves, action, trajectory_id }: LogEvent): boolean {
  if (trajectory_id === AGENTS) return true;
  if (resolves !== undefined || action?.startsWith('assize.') === true) return true;
  // A final answer voids what waits.
  return kind === 'pending_approval' || kind === 'delegation';
}

/** For one proposal that waits or waited. A decision is final. */
export const oneDecision: { readonly changedBy: ChangedBy } = {
  changedBy: (event, data) => {
    const known = data as
      | { readonly status: string; readonly approval?: { readonly trajectory_id: string } }
      | undefined;
    if (known !== undefined && known.status !== 'pending') return false;
    const trajectory = known?.approval?.trajectory_id ?? event.trajectory_id;
    return [trajectory, AGENTS].includes(event.trajectory_id) && isAboutDecisions(event);
  },
};

/** For an entry. Only an erasure changes it. One that is not found may be the next one. */
export const erasures: { readonly changedBy: ChangedBy } = {
  changedBy: ({ action }, data) => data === undefined || action === 'assize.erase',
};

/** For what agents did: proposals, and stops of agents. Not: new trajectories, keys, answers. */
export const proposals: { readonly changedBy: ChangedBy } = {
  changedBy: ({ kind, action }) => action !== undefined && kind !== 'delegation',
};

/** For lists of trajectories, and what ties them to each other. */
export const beginnings: { readonly changedBy: ChangedBy } = {
  changedBy: ({ kind }) => kind === 'root' || kind === 'branch' || kind === 'delegation',
};

/** For facts. A settlement of a contradiction decides a proposal. */
export const statements: { readonly changedBy: ChangedBy } = {
  changedBy: ({ beliefs = 0, action }) => beliefs > 0 || action === 'assize.erase',
};

/** For tool calls: commits start them, and the runtime and people settle them. */
export const calls: { readonly changedBy: ChangedBy } = {
  changedBy: ({ calls, kind, ruling, resolves, action }) =>
    calls !== undefined ||
    resolves !== undefined ||
    action?.startsWith('assize.') === true ||
    kind === 'pending_approval' ||
    ruling === 'rejected',
};
