import type { Json } from 'assize/internal/base';
import {
  type Entry,
  type EntryRow,
  type Hash,
  isEffectEntry,
  observationsOf,
  Replayer,
  ValueReader,
} from 'assize/internal/ledger';
import { type Clock, createOracle, type Oracle } from 'assize/internal/oracle';
import { type RecordedToolCall, RuntimeError, recordedToolCalls } from 'assize/internal/runtime';
import { AgentError } from '../errors.ts';
import type { RecordedEntry } from '../recorded-rows.ts';
import { entriesOf } from '../replay.ts';
import { ReplayStore } from '../replay-store.ts';
import { type RecordedTurn, readTurn } from '../turn.ts';
import type { CheckedOptions, SimulationSource } from './options.ts';
import type { RecordedCounsel } from './people.ts';
import { counselIn } from './recorded-counsel.ts';
import { type Step, stepOf } from './steps.ts';

/** The record of a production trajectory, up to the shared entry and after it. */
export interface Production {
  readonly source: SimulationSource;
  /** All entries, and the number of the first ones that the branches share. */
  readonly entries: readonly RecordedEntry[];
  readonly sharedEntries: number;
  /** All turns of its run, and the number of the first ones that the branches share. */
  readonly turns: readonly RecordedTurn[];
  readonly sharedTurns: number;
  /** By shared turn: the proposal that blocked that of the turn. No entry has it. */
  readonly frozenBy: ReadonlyMap<number, Hash>;
  /** The decisions about pending proposals, in order. */
  readonly counsel: readonly RecordedCounsel[];
  /** The calls that the record can answer: those after the shared entry, then those before. */
  readonly calls: readonly RecordedToolCall[];
  /** The calls after the shared entry. */
  readonly callsAfter: readonly RecordedToolCall[];
  /** The rulings after the shared entry. */
  readonly steps: readonly Step[];
  /** The state after the last entry. */
  readonly state: Json;
  /** Entries of other writers after the shared entry. No branch has them. */
  readonly leftOut: number;
}

/**
 * Reads the record. The outcomes of calls that directly follow the entry `at` are shared too.
 *
 * @throws RuntimeError `not_found`, `invalid_ledger`; AgentError `signer_needed`, `damaged`;
 * LedgerFault; OracleError `damaged`
 */
export async function readProduction(
  source: SimulationSource,
  options: CheckedOptions,
): Promise<Production> {
  const { store, trajectoryId } = source;
  const entries = await entriesOf(source);
  const last = entries[
    withOutcomes(entries, seqOf(entries, options.at ?? 0, trajectoryId))
  ] as RecordedEntry;
  const sharedEntries = last.entry.seq + 1;
  checkSigner(last.entry, options);
  const turns = await turnsOf(source);
  const places = new Map(entries.map(({ entry }) => [entry.id, entry.seq]));
  const found = turns.findIndex(
    ({ turn: { after } }) => (places.get(after) ?? 0) >= last.entry.seq,
  );
  const sharedTurns = found === -1 ? turns.length : found;
  const values = new ValueReader(store);
  const after = entries.slice(sharedEntries);
  const calls = await callsOf(source);
  const isShared = ({ entry }: RecordedToolCall): boolean =>
    entry !== undefined && (places.get(entry) ?? 0) < sharedEntries;
  const callsAfter = calls.filter((call) => !isShared(call));
  return {
    source,
    entries,
    sharedEntries,
    turns,
    sharedTurns,
    frozenBy: frozenIn(entries, turns.slice(0, sharedTurns), places),
    counsel: await counselIn(entries, sharedEntries, turns, values),
    calls: [...callsAfter, ...calls.filter(isShared)],
    callsAfter,
    steps: await stepsIn(after, values),
    state: await finalState(source, entries),
    leftOut: after.filter(isOfOthers).length,
  };
}

/** The rulings of entries, in order. @throws LedgerFault for a missing blob */
export async function stepsIn(
  entries: readonly RecordedEntry[],
  values: ValueReader,
): Promise<Step[]> {
  const steps = await Promise.all(entries.map(({ entry, turn }) => stepOf(entry, turn, values)));
  return steps.filter((step) => step !== undefined);
}

/** The seq of the entry that `at` names. @throws RuntimeError `not_found` */
function seqOf(
  entries: readonly RecordedEntry[],
  at: number | string,
  trajectoryId: string,
): number {
  const seq = typeof at === 'number' ? at : entries.findIndex(({ entry }) => entry.id === at);
  if (entries[seq] !== undefined) return seq;
  throw new RuntimeError(
    'not_found',
    `The trajectory ${trajectoryId} has no entry ${String(at)}. Pass a seq from 0 to ${entries.length - 1}, or the id of an entry.`,
  );
}

/**
 * A frozen proposal leaves no entry, and its turn does not name the proposal that blocked it. The
 * oldest one that was open then is taken for it.
 */
function frozenIn(
  entries: readonly RecordedEntry[],
  turns: readonly RecordedTurn[],
  places: ReadonlyMap<Hash, number>,
): ReadonlyMap<number, Hash> {
  const made = new Set(entries.map(({ turn }) => turn));
  const frozen = new Map<number, Hash>();
  for (const { turn, number } of turns) {
    if (!('does' in turn) || turn.does !== 'propose' || made.has(number)) continue;
    const [by] = openAt(entries.slice(0, (places.get(turn.after) ?? 0) + 1));
    if (by !== undefined) frozen.set(number, by);
  }
  return frozen;
}

/** The pending proposals that are open after these entries, oldest first. */
function openAt(entries: readonly RecordedEntry[]): Hash[] {
  const open = new Set<Hash>();
  for (const { entry } of entries) {
    if ('resolves' in entry.payload && entry.payload.resolves !== undefined)
      open.delete(entry.payload.resolves);
    if (entry.kind === 'pending_approval') open.add(entry.id);
  }
  return [...open];
}

/** @throws AgentError `signer_needed` */
function checkSigner({ payload, seq }: Entry, { signer }: CheckedOptions): void {
  const key = payload.signature?.key;
  if (key === signer?.publicKey) return;
  const what =
    key === undefined ? 'is not signed; pass no signer' : `is signed with ${key}; pass that signer`;
  throw new AgentError(
    'signer_needed',
    `A branch is signed with the key of its record, and seq ${seq} ${what}.`,
    {
      evidence: { seq, ...(key !== undefined && { key }) },
    },
  );
}

const NO_CLOCK: Clock = {
  now: () => {
    throw new Error('A record has no clock.');
  },
};

async function turnsOf({ oracleStore, trajectoryId }: SimulationSource): Promise<RecordedTurn[]> {
  const log = { oracleGet: (key: string) => oracleStore.oracleGet(key), oraclePut: NO_CLOCK.now };
  const oracle: Oracle = createOracle({ store: log as never, clock: NO_CLOCK, mode: 'replay' });
  const turns: RecordedTurn[] = [];
  for (;;) {
    const turn = await readTurn(oracle, trajectoryId, turns.length);
    if (turn === undefined) return turns;
    turns.push(turn);
  }
}

async function callsOf({ store, trajectoryId }: SimulationSource): Promise<RecordedToolCall[]> {
  const { listEffects } = store;
  if (listEffects === undefined) return [];
  const log = { listEffects: listEffects.bind(store), blob: (hash: Hash) => store.blob(hash) };
  return recordedToolCalls(log, trajectoryId);
}

async function finalState(
  source: SimulationSource,
  entries: readonly RecordedEntry[],
): Promise<Json> {
  const { store, trajectoryId } = source;
  const copy = new ReplayStore(store, trajectoryId);
  await copy.commit({ entries: await rowsOf(source, entries.length), blobs: [] });
  const { id } = (entries.at(-1) as RecordedEntry).entry;
  return (await new Replayer(copy).stateAt(trajectoryId, id)).state as Json;
}

const PAGE = 1_000;

/** The first rows of the trajectory. */
export async function rowsOf(
  { store, trajectoryId }: SimulationSource,
  length: number,
): Promise<EntryRow[]> {
  const rows: EntryRow[] = [];
  while (rows.length < length)
    rows.push(
      ...(await store.entries(trajectoryId, {
        from: rows.length,
        limit: Math.min(PAGE, length - rows.length),
      })),
    );
  return rows;
}

/** The last of the directly following entries that are outcomes of calls, or the same entry. */
function withOutcomes(entries: readonly RecordedEntry[], seq: number): number {
  let last = seq;
  for (
    let next = entries[last + 1];
    next !== undefined && isOfCalls(next);
    next = entries[last + 1]
  )
    last++;
  return last;
}

/** Entries that neither a turn of the run, nor a decision, nor a call explains. */
function isOfOthers(recorded: RecordedEntry): boolean {
  const { payload } = recorded.entry;
  return (
    recorded.turn === undefined &&
    !isOfCalls(recorded) &&
    !('resolves' in payload && payload.resolves !== undefined)
  );
}

/** The observation of a failed call, under which the runtime proposes the action for it. */
const FAILURE = 'assize.failure';

/** The outcomes of calls, and the proposal that the runtime makes for a failed call. */
function isOfCalls({ entry: { payload } }: RecordedEntry): boolean {
  return isEffectEntry(payload) || observationsOf(payload).some(({ name }) => name === FAILURE);
}
