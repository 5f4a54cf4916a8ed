import type { Tool } from 'assize/internal/effects';
import { Semaphore } from 'assize/internal/runtime/transactions/limits/semaphore.ts';
import { type Baseline, BaselineTools, type DoneCall, isRead, runBranches } from './baseline.ts';

/** A write that waits for the commit. */
interface Held {
  readonly name: string;
  readonly input: unknown;
}

/**
 * Optimistic concurrency control with serial validation: the body reads immediately and holds its
 * writes. One commit at a time validates the versions of what was read, and then makes the writes.
 * If a version is another one, the body starts over.
 */
export function occ(tools: readonly Tool[]): Baseline {
  const called = new BaselineTools(tools);
  const versions = new Map<string, number>();
  const versionOf = (scope: string): number => versions.get(scope) ?? 0;
  const commits = new Semaphore(1);
  let begun = 0;
  return {
    transact: async (_claims, branches, choose) => {
      for (;;) {
        begun++;
        const read = new Map<string, number>();
        const held = branches.map((): Held[] => []);
        const chosen = await runBranches(
          branches,
          (branch) => async (name, input) => {
            const tool = called.named(name);
            if (!isRead(tool)) {
              held[branch]!.push({ name, input });
              return undefined;
            }
            for (const scope of scopesOf(tool, input))
              if (!read.has(scope)) read.set(scope, versionOf(scope));
            return (await called.done(name, input)).result;
          },
          choose,
        );
        if ('error' in chosen) throw chosen.error;
        const isValid = await commits.run(async () => {
          if ([...read].some(([scope, version]) => versionOf(scope) !== version)) return false;
          await write(held[chosen.index]!);
          return true;
        });
        if (isValid) return;
      }
    },
    get begun() {
      return begun;
    },
    get retries() {
      return called.retries;
    },
  };

  async function write(held: readonly Held[]): Promise<void> {
    const done: DoneCall[] = [];
    try {
      for (const { name, input } of held) done.push(await called.done(name, input));
    } catch (error) {
      await called.undo(done);
      throw error;
    } finally {
      for (const { name, input } of held)
        for (const scope of scopesOf(called.named(name), input))
          versions.set(scope, versionOf(scope) + 1);
    }
  }
}

function scopesOf(tool: Tool, input: unknown): string[] {
  return tool.claims(tool.parse(input)).map(({ scope }) => scope.text);
}
