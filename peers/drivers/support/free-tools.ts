import { z } from 'zod';

/** The tools of every driver. The last three ask no person. */
export const TOOLS = ['pay', 'refund', 'note', 'get', 'set'] as const;

/** The arguments of the tools that ask no person. */
export const FREE_SCHEMAS = {
  note: z.object({ text: z.string() }),
  get: z.object({ item: z.string() }),
  set: z.object({ item: z.string(), to: z.string() }),
} as const;

/** Why a framework alone is not judged on runs that fail. */
export const NO_UNDO = 'it takes no call back';
