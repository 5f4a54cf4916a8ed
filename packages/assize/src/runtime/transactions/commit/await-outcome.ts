import { checkArgument, isAssizeError } from '#base';
import { instantOf } from '#canon';
import { type EffectPhase, isUnresolved, type KnownEffect, readTransaction } from '#effects';
import {
  type EffectStore,
  type EntryRow,
  type Hash,
  isHash,
  type LedgerStore,
  type Payload,
  readRow,
} from '#ledger';
import type { Clock, Pause } from '#oracle';
import { RuntimeError } from '../../errors.ts';
import type { EffectOutcome, EffectsStatus, Ruling } from '../../records/ruling.ts';
import { AWAIT_OPTIONS, type AwaitOptions, pollDelayMs } from '../../writer/await-options.ts';
import type { TransactionEngines } from '../engine/engines.ts';
import { readSalted } from '../settle/quarantine.ts';

/** The ports to read answers from. */
export interface OutcomePorts {
  readonly store: LedgerStore & EffectStore;
  readonly clock: Clock;
  readonly pause: Pause;
  /** Resolves when the log has everything that this process knows about ended transactions. */
  readonly recorded: () => Promise<void>;
}

/** Waits until no effect of a commit can advance without a human decision, in any process. */
export async function awaitOutcomes(
  commitId: Hash,
  options: AwaitOptions,
  { store, clock, pause, recorded }: OutcomePorts,
): Promise<EffectOutcome[]> {
  checkArgument(AWAIT_OPTIONS, options, 'options');
  const { signal } = options;
  const until = options.until === undefined ? undefined : instantOf(options.until);
  const ids = await effectsOfCommit(commitId, store);
  for (;;) {
    signal?.throwIfAborted();
    await recorded();
    const known = await Promise.all(ids.map((id) => knownEffect(id, store)));
    const goesOn = known.find(({ phase }) => !ENDED.has(phase) && !isUnresolved(phase));
    if (goesOn === undefined) return Promise.all(known.map((effect) => answerOf(effect, store)));
    const now = clock.now();
    if (until !== undefined && now >= until) throw stillDue(goesOn, until);
    await pause(...pollDelayMs(now, [until]), signal);
  }
}

/** The outcomes of a commit's effects now, without a wait for effects in progress. */
async function outcomesNow(
  commitId: Hash,
  store: LedgerStore & EffectStore,
): Promise<{ readonly effects: EffectsStatus; readonly calls: readonly EffectOutcome[] }> {
  const known = await Promise.all(
    (await effectsOfCommit(commitId, store)).map((id) => knownEffect(id, store)),
  );
  const calls = await Promise.all(known.map((effect) => answerOf(effect, store)));
  const phases = known.map(({ phase }) => phase);
  if (phases.some(isUnresolved)) return { effects: 'needs_human', calls };
  if (!phases.every((phase) => ENDED.has(phase))) return { effects: 'waiting', calls };
  return {
    effects: phases.some((phase) => phase === 'undone' || phase === 'dropped')
      ? 'failed'
      : 'settled',
    calls,
  };
}

/**
 * A ruling with what its entry alone does not have: the request that it belongs to, and the
 * outcomes of its calls now. Without outcomes if the effect log of this store lacks the calls: they
 * are in another store, or those of an unnamed transaction.
 */
export async function wholeRuling<Ruled extends Ruling>(
  ruling: Ruled,
  store: LedgerStore & Partial<EffectStore>,
  effects: Pick<TransactionEngines, 'recorded'> | undefined,
): Promise<Ruled> {
  if (ruling.ruling === 'frozen') return ruling;
  const { payload } = readRow(ruling.entry);
  const request = await requestOf(payload, store);
  const whole = request === undefined ? ruling : { ...ruling, request };
  if (payload.kind !== 'commit' || payload.delta.effects.length === 0) return whole;
  if (
    (ruling.ruling === 'committed' && ruling.calls !== undefined) ||
    store.effectsOf === undefined
  )
    return whole;
  await effects?.recorded();
  try {
    return {
      ...whole,
      ...(await outcomesNow(ruling.entry.id, store as LedgerStore & EffectStore)),
    };
  } catch (error) {
    if (isAssizeError(error, 'not_found')) return whole;
    throw error;
  }
}

/** The id under which the proposal that an entry resolves was first pending. */
export async function requestOf(
  payload: Payload,
  store: Pick<LedgerStore, 'resolve'>,
): Promise<Hash | undefined> {
  let request: Hash | undefined;
  for (let last: Payload | undefined = payload; last !== undefined && 'resolves' in last; ) {
    if (last.resolves === undefined) break;
    request = last.resolves;
    const row: EntryRow | undefined = await store.resolve(request);
    last = row && readRow(row).payload;
  }
  return request;
}

const ENDED: ReadonlySet<EffectPhase> = new Set(['applied', 'undone', 'dropped', 'accepted']);

interface Known
  extends Pick<KnownEffect, 'tool' | 'key' | 'result' | 'isTooLong' | 'isUnreadable'> {
  readonly phase: EffectPhase;
}

async function effectsOfCommit(commitId: Hash, store: LedgerStore): Promise<Hash[]> {
  const row = isHash(commitId) ? await store.resolve(commitId) : undefined;
  const payload = row === undefined ? undefined : readRow(row).payload;
  if (payload?.kind === 'commit') return payload.delta.effects.map(({ id }) => id);
  const what = row === undefined ? 'the entry does not exist' : `it is a ${row.kind} entry`;
  throw new RuntimeError(
    'not_found',
    `${isHash(commitId) ? commitId : `A value of type ${typeof commitId}`} is not a commit: ${what}. Pass the id of a commit with effects.`,
  );
}

async function knownEffect(id: Hash, store: EffectStore): Promise<Known> {
  const place = await store.effectKey(id);
  const logged = place && (await store.effectsOf(place.epoch));
  if (place === undefined || logged === undefined)
    throw new RuntimeError(
      'not_found',
      `The effect log of this store has no effect ${id}. The effect belongs to another store, or to an unnamed transaction without approval.`,
    );
  const { effects, state } = readTransaction(logged);
  return { ...effects[place.n]!, phase: state.effects[place.n]!.phase };
}

async function answerOf(
  { key: id, tool, phase, result, isTooLong, isUnreadable }: Known,
  store: LedgerStore,
): Promise<EffectOutcome> {
  if (isTooLong === true) return { id, tool, phase, isTooLong };
  if (isUnreadable === true) return { id, tool, phase, isUnreadable };
  if (result === undefined) return { id, tool, phase };
  const answer = await readSalted((hash) => store.blob(hash), result);
  return { id, tool, phase, answer: answer ?? { $erased: result.$blob } };
}

function stillDue({ tool, key, phase }: Known, until: string): RuntimeError {
  return new RuntimeError(
    'still_pending',
    `The effect of ${tool} was still ${phase} at ${until}. Wait again or ask later.`,
    {
      evidence: { id: key, phase, until },
      retryable: true,
    },
  );
}
