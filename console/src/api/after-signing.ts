import type { QueryClient } from '@tanstack/react-query';

/** The key of the last checkpoint. */
export const CHECKPOINT = ['log', 'checkpoint'] as const;

/** Loads the last checkpoint again, and the proof of each entry. */
export async function afterSigning(queries: QueryClient): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: CHECKPOINT }),
    queries.invalidateQueries({ queryKey: ['proof'] }),
  ]);
}
