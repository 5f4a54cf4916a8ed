import { instantToMillis } from 'assize/internal/canon';
import { z } from 'zod';
import { windowOf } from '../judge/figures.ts';
import { takeTurn } from '../judge/turns.ts';
import { callId } from '../name-forms.ts';
import { isToBegin } from '../open-calls.ts';
import type { CallRow, GatewayState } from '../schema.ts';
import { HOUR_MS } from './call.ts';

/** How long after its ruling a call can start. */
export const BEGIN_HOURS = 24;

export const beginArgs: z.ZodObject<{
  call: z.ZodString;
  digest: z.ZodString;
  as: z.ZodOptional<z.ZodString>;
}> = z.strictObject({
  call: callId,
  /** Of the call that the caller is about to make, as in `callDigest`. */
  digest: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'write the hash that callDigest returns: 64 hex digits in lower case'),
  /** The caller's id of this attempt, if it is another one. */
  as: callId.optional(),
});

/**
 * Starts a call that was let through, as its caller is about to make it. A call starts once, with
 * the arguments that were approved, under the rules, the definition and the standing approval of
 * that time.
 */
export function applyBegin(
  state: GatewayState,
  { call, digest, as }: z.infer<typeof beginArgs>,
  { agent, at }: { readonly agent: string; readonly at: string },
): void {
  const row = state.calls[call];
  if (row === undefined) throw new Error(`there is no call ${call}`);
  if (row.agent !== agent) throw new Error(`the call ${call} is that of another agent`);
  if (row.once !== true) throw new Error(`the call ${call} needs no beginning`);
  if (row.digest !== digest)
    throw new Error(`the call ${call} was let through with other arguments; ask again with those`);
  if (row.begunAt !== undefined)
    throw new Error(`the call ${call} has already started, and a call is made once`);
  if (row.outcome !== undefined) throw new Error(`the call ${call} is closed: ${row.outcome}`);
  if (row.rules !== state.rules.digest)
    throw new Error(`the rules have changed since the call ${call} was let through; ask again`);
  if (isRedefined(state, row))
    throw new Error(
      `the definition of ${row.tool} has changed since the call ${call} was let through; ask again`,
    );
  if (hasLapsed(state, row, at))
    throw new Error(
      `the standing approval ${row.standing} that let the call ${call} through has ended; ask again`,
    );
  if (isStale(row, at))
    throw new Error(
      `the call ${call} was let through more than a day ago, or only observed on an earlier day; ask again`,
    );
  takeTurn(state, row, at);
  row.begunAt = at;
  if (as !== undefined) row.begunAs = as;
}

/** Whether a call was let through and can start now. */
export function canBegin(
  state: Pick<GatewayState, 'rules' | 'pins' | 'standing'>,
  row: CallRow,
  now: string,
): boolean {
  const isJudgedAnew =
    row.rules !== state.rules.digest || isRedefined(state, row) || hasLapsed(state, row, now);
  return isToBegin(row) && !isJudgedAnew && !isStale(row, now);
}

/** Whether the standing approval that let the call through was ended, or has expired. */
function hasLapsed(
  { standing }: Pick<GatewayState, 'standing'>,
  row: CallRow,
  now: string,
): boolean {
  if (row.standing === undefined) return false;
  const approval = standing[row.standing];
  if (approval?.approvedBy === undefined || now >= approval.expires) return true;
  // Another approval can have the id of an ended one, after a day.
  return approval.approvedAt !== undefined && approval.approvedAt > row.at;
}

/** Whether the pinned definition of the tool is another one than the call was judged with. */
function isRedefined({ pins }: Pick<GatewayState, 'pins'>, { tool, definition }: CallRow): boolean {
  const pin = pins[tool];
  return pin !== undefined && pin.hash !== definition;
}

/**
 * Whether a call can no longer start at a time. Observation ends with a day (UTC), and so does
 * what only observation let through.
 */
function isStale({ at: from, would }: CallRow, to: string): boolean {
  if (would !== undefined && windowOf('day', from) < windowOf('day', to)) return true;
  return instantToMillis(to) - instantToMillis(from) > BEGIN_HOURS * HOUR_MS;
}
