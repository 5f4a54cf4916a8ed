import { isAssizeError } from '#base';
import type { Instant } from '#ledger';
import { type GatheredProposal, isForFailure } from '../records/intent.ts';
import type { Ruling } from '../records/ruling.ts';
import { SaltSource } from '../records/salts.ts';
import { wholeRuling } from '../transactions/body/await-outcome.ts';
import { proposeCalls } from '../transactions/body/declared-calls.ts';
import { COMMIT_ATTEMPTS_MAX } from '../writer/prepared.ts';
import { type Planned, type RulingStep, untilCommitted } from '../writer/until-committed.ts';
import type { Writer } from '../writer/writer.ts';
import { callsNow, declaresCalls, NO_CALLS } from './decide/calls-now.ts';
import type { Precondition } from './decide/precondition.ts';
import type { ProposalPorts, RulingPorts } from './decide/proposal-ports.ts';
import { rule } from './rule.ts';
import { previousRuling } from './rulings-by-key.ts';

/** The actions of a trajectory whose last commit made no call, though they can declare some. */
const SILENT: WeakMap<Writer, Set<string>> = new WeakMap();

/**
 * The ruling on an action and the calls that it declares. The calls are planned on the current
 * state, and again if the state of the ruling declares others. So they are planned also if another
 * process upgrades to a version whose action declares calls.
 *
 * Planning applies the action once more. If its last commit made no call, none is expected first.
 */
export async function untilCallsRuled(
  ports: ProposalPorts,
  gathered: GatheredProposal,
  key: string | undefined,
  precondition: Precondition | undefined,
): Promise<Ruling> {
  const { writer, effects } = ports;
  const { action } = gathered.intent;
  const silent = silentIn(writer);
  for (let tries = 0; tries < COMMIT_ATTEMPTS_MAX; tries++) {
    if (writer.stale) await writer.ready();
    const isDeclaring = declaresCalls(writer.parts.domain, action);
    // A repetition gets the outcomes of its calls, also while one in doubt blocks new calls.
    const before = isDeclaring ? await previousRuling(writer, gathered, key) : undefined;
    if (before !== undefined && before.ruling !== 'escalated')
      return wholeRuling(before, writer.context.store, effects);
    const isPlanned = isDeclaring && !(tries === 0 && silent.has(action));
    const calls = isPlanned ? callsNow(writer, gathered) : NO_CALLS;
    let isCalled = false;
    try {
      const ruling =
        calls.length === 0
          ? await untilRuled(ports, gathered, key, precondition)
          : await proposeCalls(writer, effects, { ...gathered, isForFailure: isForFailure(key) }, calls, (plan) => {
              isCalled = true;
              const commitPlan = { ...plan, isProposed: true };
              return untilRuled(ports, { ...gathered, commitPlan }, key, precondition);
            });
      if (isPlanned && ruling.ruling === 'committed') note(silent, action, calls.length === 0);
      return isDeclaring ? await wholeRuling(ruling, writer.context.store, effects) : ruling;
    } catch (error) {
      if (!isAssizeError(error, 'stale') || !(isCalled || calls.length === 0)) throw error;
    }
  }
  throw await writer.conflictError();
}

function silentIn(writer: Writer): Set<string> {
  const known = SILENT.get(writer);
  if (known !== undefined) return known;
  const made = new Set<string>();
  SILENT.set(writer, made);
  return made;
}

function note(silent: Set<string>, action: string, isSilent: boolean): void {
  if (isSilent) silent.add(action);
  else silent.delete(action);
}

/** The ruling on a proposal, once its entry is durable. A repeated key gets its earlier ruling. */
export function untilRuled(
  ports: RulingPorts,
  gathered: GatheredProposal,
  key: string | undefined,
  precondition: Precondition | undefined,
): Promise<Ruling> {
  const { writer, expiries } = ports;
  const salts = new SaltSource(writer.context.random);
  let assertedAt: Instant | undefined;
  const step: RulingStep<Ruling> = () => {
    const { busy } = writer;
    if (busy !== undefined) return { needs: () => busy };
    if (precondition?.isOutdated || expiries.hasExpiredFreeze()) return undefined;
    const ruled = rule(ports, gathered, { precondition, assertedAt, salts });
    if (!('needs' in ruled)) return ruled;
    return {
      needs: async () => {
        const said = await ruled.needs();
        assertedAt ??= said;
      },
    };
  };
  const plan = async (): Promise<Planned<Ruling>> => {
    while (writer.busy !== undefined) await writer.busy;
    if (writer.stale) await writer.ready();
    const { parts } = writer;
    const before = await previousRuling(writer, gathered, key);
    if (before !== undefined) {
      // The pending proposal may have been resolved in another process.
      const isStale = before.ruling === 'escalated' && (await writer.isBehind(parts));
      return isStale ? undefined : { answer: await wholeRuling(before, writer.context.store, undefined) };
    }
    if (writer.stale) return undefined;
    if (gathered.invalidObservationName !== undefined) throw gathered.invalidObservationName;
    await precondition?.load();
    await expiries.recordSomeExpired();
    return step;
  };
  const readsNothing = gathered.keyHash === undefined && precondition === undefined;
  // Expired proposals must be recorded first.
  const hasExpired = (): boolean => writer.busy === undefined && expiries.hasExpired();
  return untilCommitted(writer, () => (readsNothing && !hasExpired() ? step : plan()));
}
