import type { Tool } from 'assize/internal/effects';
import { Semaphore } from 'assize/internal/runtime/transactions/limits/semaphore.ts';
import {
  type Baseline,
  type BaselineClaims,
  BaselineTools,
  type DoneCall,
  runBranches,
} from './baseline.ts';

/**
 * Strict two-phase locking: one exclusive lock a scope, taken in the order of names before the
 * body, released after it. Calls act immediately. After an error the answered calls are
 * compensated.
 */
export function locking(tools: readonly Tool[]): Baseline {
  const called = new BaselineTools(tools);
  const locks = new Map<string, Semaphore>();
  const lockOf = (scope: string): Semaphore => {
    const lock = locks.get(scope) ?? new Semaphore(1);
    locks.set(scope, lock);
    return lock;
  };
  const holding = <T>([scope, ...rest]: readonly string[], work: () => Promise<T>): Promise<T> =>
    scope === undefined ? work() : lockOf(scope).run(() => holding(rest, work));
  let begun = 0;
  return {
    transact: (claims, branches, choose) =>
      holding(scopesOf(claims), async () => {
        begun++;
        const done = branches.map((): DoneCall[] => []);
        const chosen = await runBranches(
          branches,
          (branch) => async (name, input) => {
            const call = await called.done(name, input);
            done[branch]!.push(call);
            return call.result;
          },
          choose,
        );
        for (const [branch, calls] of done.entries())
          if (branch !== chosen.index || 'error' in chosen) await called.undo(calls);
        if ('error' in chosen) throw chosen.error;
      }),
    get begun() {
      return begun;
    },
    get retries() {
      return called.retries;
    },
  };
}

function scopesOf({ reads = [], writes }: BaselineClaims): string[] {
  return [...new Set([...reads, ...writes])].sort();
}
