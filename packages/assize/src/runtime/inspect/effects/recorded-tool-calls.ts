import type { Json } from '#base';
import {
  type EffectPayload,
  type EffectPhase,
  type KnownEffect,
  readTransaction,
  type TransactionState,
} from '#effects';
import type { EffectStore, Hash, LedgerStore } from '#ledger';
import { loggedTransactions } from '../../transactions/coordination/read-all.ts';
import { readSalted } from '../../transactions/settle/quarantine.ts';

/** A call of a tool as the effect log has it. */
export interface RecordedToolCall {
  readonly tool: string;
  readonly input: Json;
  /** The commit of the call. Undefined if the transaction was never committed. */
  readonly entry?: Hash;
  /**
   * `answered`: the tool gave this answer. `did_nothing`: the tool was called and certainly did
   * nothing. `unknown`: the tool was not called, or the log has no answer that can be read.
   */
  readonly outcome: 'answered' | 'did_nothing' | 'unknown';
  readonly answer?: Json;
}

/** The parts of a store that have calls with their texts. */
export type RecordedCallStore = Pick<EffectStore, 'listEffects'> & Pick<LedgerStore, 'blob'>;

/**
 * Every call of one trajectory in the effect log, oldest first. The log is only read. A call whose
 * input was erased is left out.
 *
 * @throws EffectError `log_damaged`
 */
export async function recordedToolCalls(
  store: RecordedCallStore,
  trajectoryId: string,
): Promise<RecordedToolCall[]> {
  const found: RecordedToolCall[][] = [];
  for await (const logged of loggedTransactions(store, trajectoryId)) {
    const { effects, state, entry } = readTransaction(logged);
    const calls: RecordedToolCall[] = [];
    for (const [n, effect] of effects.entries()) {
      const payload = (await readSalted((hash) => store.blob(hash), effect.payload)) as
        | EffectPayload
        | undefined;
      if (payload === undefined) continue;
      const { tool, input } = payload;
      const outcome = await outcomeOf(effect, hasFailed(state, n), store);
      calls.push({ tool, input, ...(entry !== undefined && { entry }), ...outcome });
    }
    found.push(calls);
  }
  return found.reverse().flat();
}

/** Phases in which an effect with a known failure has not happened, and is not called again. */
const ENDED: ReadonlySet<EffectPhase> = new Set(['dropped', 'undone', 'unresolved', 'accepted']);

/** Whether the call certainly did nothing: it failed for good, alone or with its transaction. */
function hasFailed({ effects, failing }: TransactionState, n: number): boolean {
  const { phase, failures } = effects[n]!;
  return failing?.n === n || (failures > 0 && ENDED.has(phase));
}

async function outcomeOf(
  { result }: KnownEffect,
  failed: boolean,
  store: RecordedCallStore,
): Promise<Pick<RecordedToolCall, 'outcome' | 'answer'>> {
  if (result === undefined) return { outcome: failed ? 'did_nothing' : 'unknown' };
  const answer = await readSalted((hash) => store.blob(hash), result);
  return answer === undefined ? { outcome: 'unknown' } : { outcome: 'answered', answer };
}
