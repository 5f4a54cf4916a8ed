import type { ListedWrit } from './agents-query.ts';

/** A writ with the writs that narrow it. */
export interface WritNode {
  readonly listed: ListedWrit;
  readonly children: readonly WritNode[];
}

/**
 * The trees of writs by their parents. A writ whose parent the trajectory does not know is a root.
 * The writs of admins for halts and revocations come last.
 */
export function writTrees(listed: readonly ListedWrit[]): readonly WritNode[] {
  const known = new Set(listed.map(({ id }) => id));
  const below = Map.groupBy(listed, ({ writ }) =>
    writ.parent !== null && known.has(writ.parent) ? writ.parent : undefined,
  );
  const nodesBelow = (parent: string | undefined): readonly WritNode[] =>
    (below.get(parent) ?? []).map((one) => ({ listed: one, children: nodesBelow(one.id) }));
  const roots = nodesBelow(undefined);
  return [...roots.filter((root) => !isOffice(root)), ...roots.filter(isOffice)];
}

function isOffice({ listed: { writ } }: WritNode): boolean {
  const { actions = [] } = writ;
  return actions.length > 0 && actions.every((action) => action.startsWith('assize.'));
}

/** All writs below one. */
export function writsBelow({ children }: WritNode): readonly ListedWrit[] {
  return children.flatMap((child) => [child.listed, ...writsBelow(child)]);
}
