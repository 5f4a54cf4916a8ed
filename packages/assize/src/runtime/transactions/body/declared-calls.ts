import type { Claim } from '#effects';
import type { ProposedCall } from '#kernel';
import type { GatheredProposal } from '../../records/intent.ts';
import { randomHex } from '../../records/random-hex.ts';
import type { Ruling } from '../../records/ruling.ts';
import type { CommitPlan } from '../../records/tool-authority.ts';
import type { Writer } from '../../writer/writer.ts';
import { type TransactionEngines, throwAfterTurn } from '../engine/engines.ts';
import { TimeLimit } from '../limits/time-limit.ts';
import { notHeldError } from './abort-reasons.ts';
import { openTransaction, startTransaction } from './opened-transaction.ts';
import { resolvedCalls } from './resolved-calls.ts';
import { requireTools } from './run-transaction.ts';
import { type RuledTransaction, RunningTransaction } from './stages.ts';
import { DEADLINE_MS } from './transaction-options.ts';

/** The parts of a proposal that its calls need. */
interface CallingProposal extends Pick<GatheredProposal, 'writ' | 'principal' | 'intent' | 'keyHash'> {
  /** Whether a counselor commits it. Its effects are found by their ids, as with a key. */
  readonly isApproved?: boolean;
  /**
   * Whether a failed transaction waits for the ruling. The proposal then cannot wait for that
   * transaction, and its calls are made when the failed transaction has ended.
   */
  readonly isForFailure?: boolean;
}

/**
 * Proposes an action together with the calls that it declares: a transaction without a body. No
 * call is made before the commit, so an attempt that does not commit leaves nothing to compensate.
 * After the commit each call is made according to the class of its tool, also after a crash.
 *
 * `rule`: rules on the proposal with the planned calls.
 *
 * @throws RuntimeError `bad_argument`; EffectError `unknown_tool`, `bad_input`, `no_counselor`,
 * `second_pivot`, `resource_in_doubt`, `stale` if the calls must be planned again, `deadline`; the
 * errors of `rule`
 */
export async function proposeCalls(
  writer: Writer,
  engines: TransactionEngines | undefined,
  gathered: CallingProposal,
  calls: readonly ProposedCall[],
  rule: (plan: CommitPlan) => Promise<Ruling>,
): Promise<Ruling> {
  const effects = requireTools(engines);
  const turn = effects.inFlight.waitTurn();
  if (turn !== undefined) await turn;
  const limit = new TimeLimit(DEADLINE_MS, undefined);
  try {
    return await effects.track(limit, () => attempted(writer, effects, { ...gathered, calls }, limit, rule));
  } catch (error) {
    return throwAfterTurn(error);
  }
}

async function attempted(
  writer: Writer,
  effects: TransactionEngines,
  { calls, ...gathered }: CallingProposal & { readonly calls: readonly ProposedCall[] },
  limit: TimeLimit,
  rule: (plan: CommitPlan) => Promise<Ruling>,
): Promise<Ruling> {
  const engine = await limit.run(() => effects.engine(limit, limit.signal), notHeldError);
  const resolved = await resolvedCalls(engine, calls, limit.signal);
  const { writ, principal, intent, keyHash, isApproved = false, isForFailure = false } = gathered;
  const opened = openTransaction(
    writer,
    engine,
    { writ, principal },
    {
      claims: distinct(resolved.flatMap(({ claims }) => claims)),
      named: undefined,
      // The commit and the calls are one write, so an attempt without a commit has used no key.
      name: randomHex(writer.context.random, 16),
      isRepeated: keyHash !== undefined || isApproved,
      checksDuplicates: false,
      isOptimistic: false,
      claimed: [],
      limit,
    },
  );
  const started = await startTransaction(opened, opened.claims);
  const running = new RunningTransaction(opened, started);
  let ruled: RuledTransaction<undefined>;
  try {
    const ended = running.planDeclared(resolved, intent);
    const { domain } = writer.parts;
    const planned = isForFailure ? ended.planUngated(started, domain) : await ended.plan(started, domain);
    ruled = await planned.rule(rule);
  } catch (thrown) {
    return await running.abort(effects, thrown);
  } finally {
    limit.end();
  }
  const { ruling, effects: status, calls: made, failure } = await ruled.finish();
  if (ruling.ruling !== 'committed' || made === undefined) return ruling;
  return { ...ruling, effects: status, calls: made, ...(failure === undefined ? {} : { failure }) };
}

function distinct(claims: readonly Claim[]): Claim[] {
  return [...new Map(claims.map((claim) => [`${claim.access} ${claim.scope.text}`, claim])).values()];
}
