import type { Instant } from '#ledger';
import { type GatheredProposal, isForFailure } from '../records/intent.ts';
import type { Ruling } from '../records/ruling.ts';
import { SaltSource } from '../records/salts.ts';
import { wholeRuling } from '../transactions/commit/await-outcome.ts';
import { DeclaredCalls } from '../transactions/commit/declared-calls.ts';
import { type Planned, type RulingStep, untilCommitted } from '../writer/until-committed.ts';
import { callsNow, declaresCalls } from './calls-now.ts';
import type { ProposalPorts } from './ports.ts';
import type { Precondition } from './precondition.ts';
import { rule } from './rule.ts';
import { previousRuling } from './rulings-by-key.ts';

/** The parts of an attempt that its proposal does not have. */
interface RulingTerms {
  readonly key: string | undefined;
  readonly precondition: Precondition | undefined;
  /** The actions whose last commit made no call, though they can declare some. */
  readonly silent: Set<string>;
}

/**
 * The ruling on a proposal, once its entry is durable. A repeated key gets its earlier ruling.
 *
 * Calls that the action declares are planned on the current state, and again if the state of the
 * ruling declares others. So they are planned also if another process upgrades to a version whose
 * action declares calls. Planning applies the action once more. If the last commit of the action
 * made no call, none is expected first.
 */
export async function untilRuled(
  ports: ProposalPorts,
  gathered: GatheredProposal,
  { key, precondition, silent }: RulingTerms,
): Promise<Ruling> {
  const { writer, effects, expiries } = ports;
  const { action } = gathered.intent;
  const salts = new SaltSource(writer.context.random);
  let assertedAt: Instant | undefined;
  let declared: DeclaredCalls | undefined;
  let isSilent = silent.has(action);
  // The body of a transaction has made its calls. A transaction is open also if another process has
  // upgraded to a version whose action declares no calls.
  const mayDeclare = (): boolean =>
    declared !== undefined ||
    (gathered.commitPlan === undefined && declaresCalls(writer.parts.domain, action));

  const plan = async (): Promise<Planned<Ruling>> => {
    while (writer.busy !== undefined) await writer.busy;
    if (writer.stale) await writer.ready();
    const { parts } = writer;
    const before = await previousRuling(writer, gathered, key);
    if (before !== undefined) {
      // The pending proposal may have been resolved in another process.
      if (before.ruling === 'escalated' && (await writer.isBehind(parts))) return undefined;
      // A repetition gets the outcomes of its calls, also while one in doubt blocks new calls.
      return {
        answer: await wholeRuling(before, writer.context.store, mayDeclare() ? effects : undefined),
      };
    }
    if (writer.stale) return undefined;
    if (gathered.invalidObservationName !== undefined) throw gathered.invalidObservationName;
    if (mayDeclare() && !isSilent) {
      const isRepeated = gathered.keyHash !== undefined;
      declared ??= new DeclaredCalls(writer, effects, {
        ...gathered,
        isRepeated,
        isForFailure: isForFailure(key),
      });
      await declared.open(callsNow(writer, gathered));
    }
    await precondition?.load();
    await expiries.recordSomeExpired();
    return step;
  };

  // From here to the append nothing awaits.
  const step: RulingStep<Ruling> = () => {
    const { busy } = writer;
    if (busy !== undefined) return { needs: () => busy };
    if (precondition?.isOutdated || expiries.hasExpiredFreeze()) return undefined;
    const commitPlan = declared?.commitPlan;
    const calling = commitPlan === undefined ? gathered : { ...gathered, commitPlan };
    const ruled = rule(ports, calling, { precondition, assertedAt, salts });
    if (ruled === undefined) isSilent = false;
    if (ruled === undefined || !('needs' in ruled)) return ruled;
    return {
      needs: async () => {
        const said = await ruled.needs();
        assertedAt ??= said;
      },
    };
  };

  // Expired proposals must be recorded first.
  const readsNothing = (): boolean =>
    gathered.keyHash === undefined &&
    precondition === undefined &&
    (isSilent || !mayDeclare()) &&
    (writer.busy !== undefined || !expiries.hasExpired());
  let ruling: Ruling;
  try {
    ruling = await untilCommitted(writer, () => (readsNothing() ? step : plan()));
  } catch (error) {
    throw declared === undefined ? error : await declared.abort(error);
  }
  if (declared === undefined) return ruling;
  if (ruling.ruling === 'committed') {
    if (declared.commitPlan === undefined) silent.add(action);
    else silent.delete(action);
  }
  return wholeRuling(await declared.finish(ruling), writer.context.store, effects);
}
