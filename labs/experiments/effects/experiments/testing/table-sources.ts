import { expect } from 'vitest';
import { plotter, type Table } from '../../../tables/index.ts';

/**
 * The sources of each experiment's tables: tables and appendices of the Atomix paper, and its
 * sections for results without a table.
 */
export const SOURCES: Readonly<Record<string, readonly string[]>> = {
  speculation: ['RQ2', 'Table 3'],
  mock: ['Table 4'],
  scaled: ['Table 5'],
  branches: ['Table 6'],
  recovery: ['A.6'],
  ablation: ['Table 7'],
  sanity: ['Table 8'],
  contention: ['Table 9'],
  baselines: ['Baselines (§6.5)'],
  gate: ['Table 10', 'Gate'],
  rates: ['Table 11'],
  retries: ['Table 12'],
  overhead: ['A.10'],
  tasks: ['Table 1', 'Table 2', '§6.2'],
  'model-runs': ['§6.2'],
  aliasing: ['Aliases (§4.3)'],
  compensation: ['Compensations (§5)'],
  correlated: ['Correlated faults (A.2)'],
  annotations: ['Annotation errors (§3.4)'],
  'crash-windows': ['Crash windows (§3.3)'],
  'crash-windows-postgres': ['Crash windows (§3.3)'],
};

/** Every table says where it is from, and none of those is missing that the experiment is for. */
export function expectSources(name: string, tables: readonly Table[]): void {
  expect([name, [...new Set(tables.map(({ source }) => source))]]).toEqual([name, SOURCES[name]]);
}

/** At least one of them has a plot, and all that have one can be drawn. */
export async function expectDrawn(tables: readonly Table[]): Promise<void> {
  const draw = await plotter();
  const drawn = tables.filter(({ plot }) => plot !== undefined);
  expect(drawn).not.toEqual([]);
  for (const table of drawn) expect(draw(table)).toContain(table.title.slice(0, 20));
}
