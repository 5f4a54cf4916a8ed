import { setImmediate as othersGoOn } from 'node:timers/promises';
import type { Tool } from 'assize/internal/effects';
import { type Baseline, BaselineTools, isRead, runBranches } from './baseline.ts';

/** A write that was tried, and is confirmed or cancelled. */
interface Tried {
  readonly name: string;
  readonly input: unknown;
  /** Of every confirmation of this write: a participant makes the write of a key once. */
  readonly key: string;
}

/**
 * Try, confirm, cancel: a participant a scope reserves what the transaction declares to write. A
 * scope that another transaction has reserved cancels the transaction, and it tries again. Writes
 * are tentative until they are confirmed, each under one key. Reads reserve nothing.
 */
export function tcc(tools: readonly Tool[]): Baseline {
  const called = new BaselineTools(tools);
  const reserved = new Set<string>();
  let begun = 0;
  return {
    transact: async ({ writes }, branches, choose) => {
      while (writes.some((scope) => reserved.has(scope))) {
        begun++;
        await othersGoOn();
      }
      begun++;
      for (const scope of writes) reserved.add(scope);
      try {
        const tried = branches.map((): Tried[] => []);
        const chosen = await runBranches(
          branches,
          (branch) => async (name, input) => {
            if (isRead(called.named(name))) return (await called.done(name, input)).result;
            tried[branch]!.push({ name, input, key: called.newKey() });
            return undefined;
          },
          choose,
        );
        // To cancel is to forget: nothing was made yet.
        if ('error' in chosen) throw chosen.error;
        for (const { name, input, key } of tried[chosen.index]!)
          await called.done(name, input, key);
      } finally {
        for (const scope of writes) reserved.delete(scope);
      }
    },
    get begun() {
      return begun;
    },
    get retries() {
      return called.retries;
    },
  };
}
