import type { Approval } from '../../api/queries.ts';
import { byAmount } from './common-sum.ts';
import { namedAction } from './gated-call-of.ts';

/** One place in the arguments, with the value there as JSON. Undefined: the place is absent. */
export interface Place {
  /** `to/address`: the names on the way. Empty for arguments that are not an object. */
  readonly name: string;
  readonly value: string | undefined;
}

/** One proposal among others: its values at the places that differ, in the order of the columns. */
export interface DifferingRow {
  readonly approval: Approval;
  readonly cells: readonly {
    readonly value: string | undefined;
    /** Whether no other proposal has the value, although others share theirs. */
    readonly isAlone: boolean;
  }[];
}

/** The difference between proposals: equal values once, and a row for each proposal. */
export interface Differing {
  readonly equal: readonly Place[];
  /** The names of the places that differ, in UTF-16 order. */
  readonly columns: readonly string[];
  /** The largest amount first, and then the rows with values that no other has. */
  readonly rows: readonly DifferingRow[];
}

/** Compares the arguments of proposals. */
export function whatDiffers(approvals: readonly Approval[]): Differing {
  const given = approvals.map((approval) => leavesOf(namedAction(approval.action).args));
  const names = [...new Set(given.flatMap((leaves) => [...leaves.keys()]))].sort();
  const isEqual = (name: string) =>
    given.every((leaves) => leaves.get(name) === given[0]?.get(name));
  const columns = names.filter((name) => !isEqual(name));
  const counts = columns.map((name) => countsOf(given.map((leaves) => leaves.get(name))));
  const rows = approvals.map((approval, n) => ({
    approval,
    cells: columns.map((name, column) => {
      const value = given[n]?.get(name);
      const count = counts[column] as ReadonlyMap<string | undefined, number>;
      return { value, isAlone: count.get(value) === 1 && count.size < approvals.length };
    }),
  }));
  const aloneIn = ({ cells }: DifferingRow): number =>
    cells.filter(({ isAlone }) => isAlone).length;
  return {
    equal: names.filter(isEqual).map((name) => ({ name, value: given[0]?.get(name) })),
    columns,
    rows: rows.toSorted(
      (a, b) => byAmount(a.approval.card, b.approval.card) || aloneIn(b) - aloneIn(a),
    ),
  };
}

/** The values of the arguments that are not objects, by their names. A list counts as one value. */
function leavesOf(args: unknown, path = ''): Map<string, string> {
  if (args === undefined) return new Map();
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    return new Map([[path, JSON.stringify(args)]]);
  const entries = Object.entries(args);
  if (entries.length === 0) return new Map([[path, '{}']]);
  return new Map(
    entries.flatMap(([name, value]) => [
      ...leavesOf(value, path === '' ? name : `${path}/${name}`),
    ]),
  );
}

function countsOf(
  values: readonly (string | undefined)[],
): ReadonlyMap<string | undefined, number> {
  const counts = new Map<string | undefined, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
