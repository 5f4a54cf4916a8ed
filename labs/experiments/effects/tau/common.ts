import { z } from 'zod';
import { calculated } from './calculator.ts';
import type { DeskTool } from './desk.ts';

/**
 * Tools that both benchmarks offer next to their databases. A transfer to a human cannot be
 * reverted.
 */
export const COMMON: { readonly [name: string]: DeskTool } = {
  calculate: {
    input: z.strictObject({ expression: z.string() }),
    sort: 'look',
    serve: (_, { expression }) => calculated(expression),
  },
  think: { input: z.strictObject({ thought: z.string() }), sort: 'look', serve: () => '' },
  transfer_to_human_agents: {
    input: z.strictObject({ summary: z.string() }),
    sort: 'final',
    writes: () => ['people'],
    serve: () => 'Transfer successful',
  },
};
