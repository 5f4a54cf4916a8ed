import type { Scalar } from '../rule.ts';
import { isLetThrough, type MiningRun } from '../run.ts';
import { placesOf } from '../scalars.ts';

/** The values of one place of the arguments of a tool. */
export interface Observed {
  readonly tool: string;
  readonly path: string;
  readonly of: 'value' | 'length';
  /** The values of each run that has some, in the order of runs. */
  readonly byRun: readonly (readonly Scalar[])[];
}

/** The values of committed calls, by tool and place. */
export function observed(runs: readonly MiningRun[]): readonly Observed[] {
  const found = new Map<
    string,
    Omit<Observed, 'byRun'> & { readonly byRun: Map<number, Scalar[]> }
  >();
  for (const [index, { calls }] of runs.entries()) {
    for (const call of calls) {
      if (!isLetThrough(call)) continue;
      for (const { path, of, value } of placesOf(call.args)) {
        const key = `${of} ${call.tool}\n${path}`;
        let one = found.get(key);
        if (one === undefined) {
          one = { tool: call.tool, path, of, byRun: new Map() };
          found.set(key, one);
        }
        const values = one.byRun.get(index);
        if (values === undefined) one.byRun.set(index, [value]);
        else values.push(value);
      }
    }
  }
  return [...found.values()].map(({ byRun, ...place }) => ({
    ...place,
    byRun: [...byRun.values()],
  }));
}
