import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from './cases.ts';

/**
 * The effect of a call. `git`: in the repository of this machine. `tests`: it runs the own programs
 * of the project.
 */
export type Expected = 'reads' | 'edits' | 'tests' | 'git' | 'network' | 'bookkeeping';

/** A call of a developer's day. */
export type Everyday = Case & { readonly expect: Expected };

/**
 * Calls that coding agents make all day, written after the habits seen in public transcripts:
 * session logs of coding agents, trajectories of benchmarks of repairs, and reports of issues.
 */
export function everydayCalls(): readonly Everyday[] {
  return readFileSync(join(import.meta.dirname, 'calls/everyday.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { expect, tool, input } = JSON.parse(line) as Case['call'] & { expect: Expected };
      return { family: expect, expect, everyday: true, call: { tool, input } };
    });
}
