import type { Json } from 'assize/internal/base';
import type { BegunCall, Tools } from '#calls';

/**
 * The tools of a framework by their names, as `Gate.inRun` and `Gate.takeBack` make calls of them.
 * Their results are dropped: the ledger keeps that the call was made.
 */
export function undoTools<T>(
  named: Iterable<readonly [name: string, tool: T]>,
  make: (tool: T, begun: BegunCall) => unknown,
): Tools {
  const made = [...named].map(([name, tool]) => [
    name,
    async (begun: BegunCall): Promise<Json> => {
      await make(tool, begun);
      return null;
    },
  ]);
  return Object.fromEntries(made) as Tools;
}
