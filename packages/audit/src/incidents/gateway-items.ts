import {
  type CallRow,
  type GatewayState,
  isToBegin,
  undoCallOf,
} from '@assize/gate/internal/gateway';
import type { Json } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';
import {
  type CommitPayload,
  type Entry,
  type Hash,
  type LedgerStore,
  readRow,
  ValueReader,
} from 'assize/internal/ledger';
import { type BlastRadius, gatewayCall } from '#blast';
import type { RemainingItem } from '#incident-domain';
import { type AffectedTrajectories, trajectoriesOf } from './affected-trajectories.ts';

/** A call that an affected entry let through. */
interface LetThrough {
  readonly entry: Hash;
  readonly tool: string;
  readonly args: Json;
  /** As recorded, before its end. */
  readonly row: CallRow;
}

/** The calls of one trajectory of the gateway. */
interface RecordedCalls {
  readonly affected: ReadonlyMap<string, LetThrough>;
  /** The last report on each call. */
  readonly reports: ReadonlyMap<string, { readonly outcome: string; readonly result?: Json }>;
  readonly begun: ReadonlySet<string>;
  /** The calls that take a call back, by its id. */
  readonly undoings: ReadonlyMap<string, readonly string[]>;
}

const PAGE = 500;

/**
 * The calls of the gateway that affected entries let through and that were made, each with the call
 * that takes it back, by the rules in force. Calls that only read, that were never made, or that
 * are taken back are left out.
 */
export async function gatewayItems(
  store: LedgerStore,
  radius: BlastRadius,
  trajectories: AffectedTrajectories,
): Promise<readonly RemainingItem[]> {
  const affected = new Set(
    radius.entries.filter(({ action }) => action === 'call').map(({ id }) => id),
  );
  const items: RemainingItem[] = [];
  for (const trajectory of trajectoriesOf(radius)) {
    const { chain, fold } = await trajectories.replayed(trajectory);
    if (chain.domain?.name !== 'gateway') continue;
    const calls = await recordedCalls(store, trajectory, affected);
    const state = fold.state as unknown as GatewayState;
    for (const [id, call] of calls.affected)
      items.push(...callItem(id, call, calls, state, trajectory));
  }
  return items;
}

function callItem(
  id: string,
  { entry, tool, args, row }: LetThrough,
  { reports, begun, undoings }: RecordedCalls,
  state: GatewayState,
  trajectory: string,
): RemainingItem[] {
  const isUndone =
    undoings.get(id)?.some((undoing) => reports.get(undoing)?.outcome === 'done') ?? false;
  // Assize makes a call of a registered tool itself: the effects of its commit have its outcome.
  if (row.class === 'read' || row.run === 'assize' || isUndone) return [];
  const report = reports.get(id);
  if (report?.outcome === 'failed') return [];
  const isMade = report?.outcome === 'done';
  if (!isMade && isToBegin(row) && !begun.has(id)) return [];
  const what = `the call ${id} of ${tool} in ${trajectory}`;
  if (!isMade)
    return [
      {
        ...{ what, entry, why: 'its agent may have made it, and reported no outcome' },
        advice: 'look whether it took effect, and settle it: assize effects calls settle',
      },
    ];
  const undo = undoCallOf(state, { tool, args, result: report.result ?? null });
  if (typeof undo === 'string')
    return [
      {
        what,
        entry,
        why: `it was made (${row.class}): ${undo}`,
        advice: 'repair its consequences by hand',
      },
    ];
  const by = shortened(`${undo.server}/${undo.tool} ${canonicalize(undo.args)}`);
  return [
    {
      ...{
        what,
        entry,
        why: `it was made (${row.class}), and only a call of the tool takes it back`,
      },
      advice: `make the call ${by}: assize mcp --undo ${id}`,
    },
  ];
}

/** The characters of a call that an item of a plan quotes. */
const CALL_SHOWN_MAX = 3_000;

function shortened(text: string): string {
  return text.length <= CALL_SHOWN_MAX ? text : `${text.slice(0, CALL_SHOWN_MAX).toWellFormed()}…`;
}

async function recordedCalls(
  store: LedgerStore,
  trajectory: string,
  affected: ReadonlySet<Hash>,
): Promise<RecordedCalls> {
  const values = new ValueReader(store);
  const calls = new Map<string, LetThrough>();
  const reports = new Map<string, { readonly outcome: string; readonly result?: Json }>();
  const begun = new Set<string>();
  const undoings = new Map<string, string[]>();
  for (let from = 0; ; from += PAGE) {
    const rows = await store.entries(trajectory, { from, limit: PAGE });
    for (const row of rows) {
      const entry = readRow(row);
      if (entry.payload.kind !== 'commit') continue;
      const { name, args: stored } = entry.payload.action;
      if (name !== 'call' && name !== 'report' && name !== 'begin') continue;
      const args = ((await values.value(entry, stored)) ?? {}) as { readonly [key: string]: Json };
      if (name === 'begin') begun.add(String(args['call']));
      else if (name === 'report') reports.set(String(args['call']), reportIn(args));
      else {
        const found = await gatewayCall(entry as Entry<CommitPayload>, values);
        if (found === undefined) continue;
        const [id, callRow] = [found.id, found.row as CallRow];
        if (callRow.undoes !== undefined)
          undoings.set(callRow.undoes, [...(undoings.get(callRow.undoes) ?? []), id]);
        if (affected.has(entry.id))
          calls.set(id, {
            entry: entry.id,
            tool: callRow.tool,
            args: args['args'] ?? {},
            row: callRow,
          });
      }
    }
    if (rows.length < PAGE) return { affected: calls, reports, begun, undoings };
  }
}

function reportIn({ outcome, result }: { readonly [key: string]: Json }) {
  return { outcome: String(outcome), ...(result !== undefined && { result }) };
}
