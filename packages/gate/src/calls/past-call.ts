import type { Json } from 'assize/internal/base';
import { addMicros } from 'assize/internal/canon';
import { type CommitPayload, type EntryRow, readRow } from 'assize/internal/ledger';
import { BEGIN_HOURS } from '#gateway';
import { argsUnder } from './args-under.ts';
import { keyOf } from './asked-call.ts';
import type { CallWorld } from './call-world.ts';
import { type Outcome, reportKey } from './close-call.ts';

/** A call that was let through, and that the state no longer has: as the ledger tells it. */
export interface PastCall {
  /** Whether its agent may have made it. Otherwise it never started, and has lapsed. */
  readonly mayBeMade: boolean;
  /** The outcome that the agent has reported, with its result, or that a person has settled. */
  readonly outcome?: Outcome;
}

/** How many entries one read returns. */
const PAGE = 500;
const HOUR_MICROS = 3_600_000_000;

/**
 * The end of a past call, from the ledger. A report of the agent has a key. A settlement has none,
 * so the entries after the call are searched for it.
 */
export async function pastCall(world: CallWorld, call: string): Promise<PastCall> {
  const reported = await reportedOutcome(world, call);
  if (reported !== undefined) return { mayBeMade: true, outcome: reported };
  const ruling = await world.trajectory.rulingOf(keyOf({ id: call }), world.principal);
  if (ruling?.ruling !== 'committed') return { mayBeMade: true };
  return searched(world, call, ruling.entry);
}

/** The outcome that the agent has reported, with its result. */
export async function reportedOutcome(
  world: CallWorld,
  call: string,
): Promise<Outcome | undefined> {
  for (const outcome of ['done', 'failed'] as const) {
    const args = await argsUnder(world, reportKey(call, outcome));
    if (args !== undefined) return withResult(outcome, args['result']);
  }
  return undefined;
}

async function searched(world: CallWorld, call: string, asked: EntryRow): Promise<PastCall> {
  const first = readRow(asked).payload as CommitPayload;
  // A call of the source of a branch: its later entries are elsewhere.
  if (first.trajectory_id !== world.trajectory.id) return { mayBeMade: true };
  let mayBeMade = await isBegunAtOnce(world, first);
  const until = addMicros(first.at, BEGIN_HOURS * HOUR_MICROS);
  for (let from = first.seq + 1; ; from += PAGE) {
    const rows = await world.entries(from, PAGE);
    for (const row of rows) {
      const { payload } = readRow(row);
      if (!mayBeMade && payload.at > until) return { mayBeMade };
      if (payload.kind !== 'commit' || !ACTIONS.has(payload.action.name)) continue;
      const args = (await world.valueOf(payload, payload.action.args)) as CallArgs | undefined;
      // An erased beginning may be that of this call.
      if (payload.action.name === 'begin') mayBeMade ||= args === undefined || args.call === call;
      else if (args?.call === call && args.outcome !== 'unknown')
        return { mayBeMade, outcome: outcomeIn(payload, args) };
    }
    if (rows.length < PAGE) return { mayBeMade };
  }
}

/** The actions that tell about an earlier call. */
const ACTIONS: ReadonlySet<string> = new Set(['begin', 'report']);

interface CallArgs {
  readonly call: string;
  readonly outcome: Outcome['outcome'];
  readonly result?: Json;
}

/** Whether a call started with its own commit: no person was asked, and it was not judged ahead. */
async function isBegunAtOnce(world: CallWorld, payload: CommitPayload): Promise<boolean> {
  if (payload.resolves !== undefined) return false;
  const args = (await world.valueOf(payload, payload.action.args)) as
    | { readonly later?: true }
    | undefined;
  return args?.later !== true;
}

/** A person who has settled a call has recorded evidence, and no result. */
function outcomeIn({ action }: CommitPayload, { outcome, result }: CallArgs): Outcome {
  return action.role.name === 'agent' ? withResult(outcome, result) : { outcome };
}

function withResult(outcome: Outcome['outcome'], result: Json | undefined): Outcome {
  return { outcome, ...(result !== undefined && { result }) };
}
