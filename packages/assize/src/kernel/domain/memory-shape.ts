import { z } from 'zod';

/** Names and objects are stored in writs' scopes, in entries and in indexes. */
export const NAME_MAX = 512;

export const DESCRIPTION_MAX = 2_000;

export const strategy = z.enum(['lww', 'lww-valid', 'evi', 'await', 'rule']);

/** The built-in action that only records statements, in domains that declare a memory. */
export const BELIEVE_ACTION = 'assize.believe';

/** The form of a domain's memory declaration. */
export const MEMORY_SPEC = z.strictObject({
  predicates: z.record(
    z.string().min(1).max(NAME_MAX),
    z.strictObject({
      cardinality: z.enum(['single-valued', 'multi-valued']),
      strategy,
      remainder: z.enum(['keep', 'drop']).optional(),
      channel: z.string().optional(),
      description: z.string().min(1).max(DESCRIPTION_MAX).optional(),
    }),
  ),
});
