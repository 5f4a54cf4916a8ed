import type { Json } from 'assize/internal/base';
import { contentHash } from 'assize/internal/canon';
import { z } from 'zod';
import { callId } from '../name-forms.ts';
import { isInDoubt } from '../open-calls.ts';
import type { GatewayState } from '../schema.ts';
import { touch } from './call.ts';

export const reportArgs: z.ZodObject<{
  call: z.ZodString;
  outcome: z.ZodEnum<{ done: 'done'; failed: 'failed'; unknown: 'unknown' }>;
  result: z.ZodOptional<z.ZodUnknown>;
}> = z.strictObject({
  call: callId,
  outcome: z.enum(['done', 'failed', 'unknown']),
  /** The result, or a part of it. The entry keeps it, and the state its hash. */
  result: z.unknown().optional(),
});

/** Closes an open call. `unknown` puts it in doubt, and a later report can still settle it. */
export function applyReport(
  state: GatewayState,
  { call, outcome, result }: z.infer<typeof reportArgs>,
  { agent, at }: { readonly agent: string | undefined; readonly at: string },
): void {
  const row = state.calls[call];
  if (row === undefined) throw new Error(`there is no call ${call}`);
  if (agent !== undefined && row.agent !== agent)
    throw new Error(`the call ${call} is that of another agent`);
  if (row.run !== 'caller')
    throw new Error(`Assize makes the call ${call} and records its outcome itself`);
  if (row.outcome !== undefined && row.outcome !== 'unknown')
    throw new Error(`the call ${call} is closed: ${row.outcome}`);
  if (agent === undefined && outcome !== 'unknown' && !isInDoubt(row, at))
    throw new Error(
      `the call ${call} may be in progress; settle it when its agent has been silent for ten minutes`,
    );
  if (row.once === true && row.begunAt === undefined && outcome === 'done')
    throw new Error(`the call ${call} has not started`);
  row.outcome = outcome;
  row.closedAt = at;
  if (outcome !== 'unknown') delete state.open[call];
  if (result !== undefined) row.result = contentHash(result as Json);
  if (outcome === 'done') touch(state, row, at);
  const undone = row.undoes === undefined ? undefined : state.calls[row.undoes];
  // A failed undoing can be tried again.
  if (outcome === 'failed' && undone?.undoneBy === call) delete undone.undoneBy;
}
