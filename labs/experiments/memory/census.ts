import { yieldToEventLoop } from '../tables/index.ts';
import type { Running } from './experiment.ts';

/**
 * Executes each cell `runs` times, serially. Returns the results of the runs, in the order of the
 * cells.
 */
export async function census<Cell, Made>(
  running: Running,
  cells: readonly Cell[],
  runs: number,
  once: (cell: Cell, run: number) => Promise<Made>,
): Promise<readonly (readonly Made[])[]> {
  const all: Made[][] = [];
  let done = 0;
  for (const cell of cells) {
    const made: Made[] = [];
    for (let run = 0; run < runs; run++) {
      await yieldToEventLoop(running);
      made.push(await once(cell, run));
      running.progress(++done, cells.length * runs);
    }
    all.push(made);
  }
  return all;
}

/** The part of them that are so, from 0 to 1. */
export function partThat<Made>(made: readonly Made[], isSo: (one: Made) => boolean): number {
  return made.filter(isSo).length / made.length;
}
