import { isAssizeError, isInstance, type Json, thrownText } from '#base';
import { copyJson } from '#canon';
import {
  type Claim,
  claimTexts,
  DidNothing,
  EffectError,
  isPivot,
  type LoggedEffect,
  ownFailure,
  type PlannedCalls,
  type Tool,
} from '#effects';
import { PayloadBlobs } from '../../records/payload-blobs.ts';
import { positionedSalts } from '../../records/salts.ts';
import { toolObservation } from '../../records/tool-authority.ts';
import { answerOf } from '../limits/answer-size.ts';
import { isPromise, withSignal } from '../limits/time-limit.ts';
import { isBuffered, type PreparedCall } from '../log/call-record.ts';
import { type Costs, costOf, costsOf } from '../log/undo-budget.ts';
import {
  type AdmittedCall,
  cancelAdmission,
  checkAffords,
  checkPivot,
  useOf,
} from './admission.ts';
import type { Attempt } from './attempt.ts';
import type { Branch } from './branch.ts';
import type { BranchWrite, Look } from './claims.ts';

/**
 * The strategy that makes an admitted call of a tool: in a branch, with an input and claims, as the
 * call with that ordinal. The tool and the body receive their own copies. Changes to these copies
 * affect neither records, calls nor compensation.
 */
export type CallStrategy = (
  branch: Branch,
  tool: Tool,
  input: Json,
  claims: readonly Claim[],
  ordinal: number,
) => Promise<unknown>;

export function callStrategyFor({ class: kind, spec }: Tool): CallStrategy {
  if (kind === undefined) return spec.readsStaged === undefined ? read : readStaged;
  if (!isBuffered(kind)) return act;
  return spec.batch?.stage === undefined ? plan : stage;
}

async function read(
  branch: Branch,
  tool: Tool,
  input: Json,
  claims: readonly Claim[],
  ordinal: number,
): Promise<Json> {
  const { attempt } = branch;
  const { isOptimistic, signal } = attempt.context;
  const at = branch.pathOf(ordinal);
  let look: Look | undefined;
  try {
    attempt.claims.requireNoConflict(tool, claims, branch.place);
    branch.charge(costOf(tool, input));
    if (!isOptimistic)
      await attempt.claims.acquire(() => attempt.checkNames(tool, input, claims), claims);
    branch.requireOpen();
    const { plans } = branch;
    const call = () => ({ key: attempt.keys.keyOf(at, 0), signal, epoch: attempt.epoch });
    const execute = () => tool.spec.execute(copyJson(input) as never, call(), plans);
    look = attempt.claims.beginRead(tool, claims, branch.place);
    const value = await branch.optimisticReads.read(tool, claims, execute, look);
    branch.observeRead(tool, ordinal, input, value);
    return copyJson(value);
  } catch (error) {
    if (isOptimistic) attempt.claims.untouch(claims);
    throw error;
  } finally {
    look?.over();
    if (!isOptimistic) attempt.claims.readIsOver(claims);
  }
}

/**
 * Reads through the writes that this transaction or branch has staged. Without staged writes, reads
 * as other transactions do.
 */
async function readStaged(
  branch: Branch,
  tool: Tool,
  input: Json,
  claims: readonly Claim[],
  ordinal: number,
): Promise<Json> {
  const { attempt } = branch;
  const { at, part } = tool.spec.readsStaged!;
  const holding = attempt.stagedWrites.find(at);
  const { signal } = attempt.context;
  if (holding === undefined) return read(branch, tool, input, claims, ordinal);
  try {
    attempt.claims.requireNoConflict(tool, claims, branch.place);
    branch.charge(costOf(tool, input));
    await enterAtOnce(branch, tool, input, claims);
    const key = attempt.keys.keyOf(branch.pathOf(ordinal), 0);
    const call = { part, input: copyJson(input), call: { key, signal, epoch: attempt.epoch } };
    const told = await inStaged(tool, signal, () => holding.read(branch.stagedAt(at), call));
    const value = answerOf(tool.name, told);
    branch.observeRead(tool, ordinal, input, value);
    return copyJson(value);
  } finally {
    cancelAdmission(branch, tool, claims);
  }
}

async function plan(
  branch: Branch,
  tool: Tool,
  input: Json,
  claims: readonly Claim[],
  ordinal: number,
): Promise<unknown> {
  const { attempt } = branch;
  const { checksDuplicates, isOptimistic, signal } = attempt.context;
  let look: Look | undefined;
  try {
    attempt.claims.requireNothingUnresolved(tool, claims);
    const at = branch.pathOf(ordinal);
    const { keys } = attempt;
    const key = keys.keyOf(
      at,
      checksDuplicates ? await keys.freeGeneration(at) : keys.nextGeneration(at),
    );
    const costs = costsOf(tool, input);
    const prepared = prepare(attempt, { tool, input, claims }, key, costs, { branch });
    // The looks of its plan are reads like any other: older transactions precede them.
    const reads = claims.filter(({ access }) => access === 'read');
    const { plan: planOf } = tool.spec;
    const plans: PlannedCalls = planOf === undefined ? [] : branch.plans;
    const isGuess = isOptimistic && reads.length > 0;
    if (!isGuess && reads.length > 0)
      await attempt.claims.acquire(() => attempt.checkNames(tool, input, claims), reads);
    if (planOf !== undefined && reads.length > 0)
      look = attempt.claims.beginRead(tool, reads, branch.place);
    branch.charge(costs.cost);
    // A plan that never answers must not block the next call in order or the end of the
    // transaction.
    const planning = (): unknown =>
      inPlan(tool, signal, () => planOf?.(copyJson(input) as never, plans));
    const planned = isGuess ? branch.optimisticReads.read(tool, reads, planning, look) : planning();
    const answer = answerOf(tool.name, isPromise(planned) ? await planned : planned);
    look?.check();
    branch.plan(prepared, { tool, input, claims });
    if (isPivot(tool.class!)) branch.pivot = tool;
    return isGuess ? copyJson(answer) : answer;
  } catch (error) {
    attempt.claims.untouch(claims);
    throw error;
  } finally {
    look?.over();
  }
}

/**
 * Plans a call that the action declares. The writ and the policy rule on it together with the
 * proposal, so a refusal is recorded.
 * @throws EffectError `no_counselor`, `second_pivot`, `too_much`, `scope_exceeded`,
 * `resource_in_doubt`
 */
export function planDeclared(
  branch: Branch,
  tool: Tool,
  input: Json,
  claims: readonly Claim[],
): void {
  const { attempt } = branch;
  checkPivot(branch, tool);
  attempt.claims.check(tool, claims);
  attempt.claims.requireNothingUnresolved(tool, claims);
  attempt.count(tool);
  attempt.claims.touch(claims);
  const at = branch.pathOf(branch.nextCall());
  const key = attempt.keys.keyOf(at, attempt.keys.nextGeneration(at));
  const costs = costsOf(tool, input);
  branch.charge(costs.cost);
  branch.uses.push(useOf(tool, input, claims));
  const isDeclared = true;
  branch.plan(prepare(attempt, { tool, input, claims }, key, costs, { isDeclared }), {
    tool,
    input,
    claims,
    isDeclared,
  });
  if (isPivot(tool.class!)) branch.pivot = tool;
}

/**
 * Stages the write, invisible to others until the commit. Older transactions have already acted
 * there, so the answer is the one that will hold at commit.
 */
async function stage(
  branch: Branch,
  tool: Tool,
  input: Json,
  claims: readonly Claim[],
  ordinal: number,
): Promise<Json> {
  const { attempt } = branch;
  const { signal, checksDuplicates } = attempt.context;
  const together = tool.spec.batch!;
  try {
    await enterAtOnce(branch, tool, input, claims);
    // Staged writes also see effects that executed immediately. No such effect runs concurrently,
    // because this call holds the turn.
    attempt.claims.requireNoConflict(tool, claims, branch.place);
    const costs = costsOf(tool, input);
    branch.charge(costs.cost);
    const at = branch.pathOf(ordinal);
    const { keys } = attempt;
    const key = keys.keyOf(
      at,
      checksDuplicates ? await keys.freeGeneration(at) : keys.nextGeneration(at),
    );
    const call = {
      part: together.part,
      input: copyJson(input),
      call: { key, signal, epoch: attempt.epoch },
    };
    const made = () =>
      attempt.stagedWrites.at(together).execute(branch.stagedAt(together.at), call);
    const told = answerOf(tool.name, await inStaged(tool, signal, made));
    branch.plan(prepare(attempt, { tool, input, claims }, key, costs, { branch, told }), {
      tool,
      input,
      claims,
    });
    branch.stage(together.at, { part: together.part, input, key, reported: told });
    branch.observe(tool, ordinal, told);
    return copyJson(told);
  } catch (error) {
    attempt.claims.untouch(claims);
    throw error;
  }
}

/** The call is only planned, so it did nothing. Errors with a code stay as they are. */
function inPlan({ name }: Tool, signal: AbortSignal, make: () => unknown): unknown {
  const failed = (thrown: unknown): never => {
    const error = ownFailure(thrown);
    if (signal.aborted || isAssizeError(error)) throw error;
    throw new EffectError(
      'tool_failed',
      `The plan of ${name} failed: ${thrownText(error).replace(/\.$/, '')}.`,
      {
        evidence: { tool: name },
        cause: error,
        retryable: isInstance(error, DidNothing) && !error.isFinal,
      },
    );
  };
  try {
    const planned = withSignal(signal, make);
    return isPromise(planned) ? planned.catch(failed) : planned;
  } catch (thrown) {
    return failed(thrown);
  }
}

/** Only this transaction has seen the failed staged write, so the write counts as not executed. */
async function inStaged(
  { name }: Tool,
  signal: AbortSignal,
  make: () => Promise<unknown>,
): Promise<unknown> {
  try {
    return await withSignal(signal, make);
  } catch (thrown) {
    const error = ownFailure(thrown);
    if (error instanceof EffectError || signal.aborted) throw error;
    const why = error instanceof Error ? error.message.replace(/\.$/, '') : 'its sink refused it';
    const retryable = !(error instanceof DidNothing && error.isFinal);
    throw new EffectError('tool_failed', `${name} did nothing: ${why}.`, {
      evidence: { tool: name },
      cause: error,
      retryable,
    });
  }
}

async function enterAtOnce(
  branch: Branch,
  tool: Tool,
  input: Json,
  claims: readonly Claim[],
): Promise<void> {
  const { attempt } = branch;
  branch.requireOpen();
  if (attempt.run === undefined) throw noEpoch(tool.name);
  await attempt.claims.acquire(() => attempt.checkNames(tool, input, claims), claims);
  branch.requireOpen();
}

async function act(
  branch: Branch,
  tool: Tool,
  input: Json,
  claims: readonly Claim[],
  ordinal: number,
): Promise<Json> {
  const { attempt } = branch;
  const { run } = attempt;
  let noted: BranchWrite;
  try {
    branch.requireOpen();
    if (run === undefined) throw noEpoch(tool.name);
    await attempt.claims.acquire(() => attempt.checkNames(tool, input, claims), claims);
    await branch.optimisticReads.validateAt(claims);
    branch.requireOpen();
    noted = attempt.claims.beginWrite(tool, claims, branch.place);
  } catch (error) {
    attempt.claims.untouch(claims);
    throw error;
  }
  try {
    const at = branch.pathOf(ordinal);
    const generation = await attempt.keys.reserveGeneration(at);
    const costs = costsOf(tool, input);
    const observed = toolObservation(tool.name, branch.place, ordinal);
    const key = attempt.keys.keyOf(at, generation);
    const prepared = prepare(attempt, { tool, input, claims }, key, costs, { branch, observed });
    const writBlobs = checkAffords(branch, { tool, input, claims }, prepared, costs);
    branch.charge(costs.cost);
    const begun = (n: number): void => {
      noted.n = n;
      branch.started.push(n);
    };
    const made = attempt.pauseIdleTimer(() =>
      run.call({ ...prepared, blobs: [...prepared.blobs, ...writBlobs] }, begun),
    );
    const { n, result, refusal } = await made.catch(async (error: unknown) => {
      // Effects that failed also made staged writes yield. If a repeated write answers differently,
      // the gate reports it.
      if (!attempt.stagedWrites.isEmpty) await attempt.replayStaged(branch).catch(() => undefined);
      throw error;
    });
    branch.executed.push({
      n,
      tool,
      input,
      claims,
      costs,
      answer: result,
      next: attempt.keys.keyOf(at, generation + 1),
    });
    if (!attempt.stagedWrites.isEmpty) await attempt.replayStaged(branch);
    if (result === undefined) throw refusal;
    branch.observe(tool, ordinal, result);
    return copyJson(result);
  } catch (error) {
    if (noted.n === undefined || run.isGone(noted.n)) attempt.claims.cancelWrite(noted);
    throw error;
  }
}

/**
 * The calls that executed immediately and will stay, as they would be repeated, in call order. A
 * call with an answer too long for the body is buffered like any planned call, because nothing
 * depends on its answer.
 */
export function callsToRepeat({ attempt, executed }: Branch): PreparedCall[] {
  const inOrder = executed.toSorted((one, other) => one.n - other.n);
  return inOrder.map(({ tool, input, claims, costs, answer, next }) =>
    prepare(attempt, { tool, input, claims }, next, costs, answer === undefined ? {} : { answer }),
  );
}

/** The parts of a call that only some calls have. */
interface PreparedParts {
  readonly answer?: Json;
  readonly branch?: Branch;
  readonly told?: Json;
  readonly isDeclared?: boolean;
  /** The name of the observation with the answer. */
  readonly observed?: string;
}

function prepare(
  { engine, context }: Attempt,
  { tool, input, claims }: AdmittedCall,
  key: string,
  { cost, ...undoing }: Costs,
  { answer, branch, told, isDeclared, observed }: PreparedParts = {},
): PreparedCall {
  const kept = new PayloadBlobs(positionedSalts(engine.ports.random, key));
  const { name } = tool;
  const sort = tool.class!;
  const { isRepeated, name: transaction } = context;
  // Fields in canonical order: it serialises fastest.
  const made = {
    ...(answer === undefined ? {} : { answer }),
    claims: claimTexts(claims),
    class: sort,
    cost,
    ...(isDeclared === true && { declared: true }),
    input,
    ...(observed === undefined ? {} : { observed }),
    ...(told === undefined ? {} : { told }),
    tool: name,
  };
  const payload = kept.storeSalted((isRepeated ? { ...made, transaction } : made) as never);
  const called = branch?.id;
  const named = { class: sort, key, payload, tool: name, ...undoing };
  const effect: LoggedEffect = called === undefined ? named : { branch: called, ...named };
  return told === undefined
    ? { effect, input, blobs: kept.blobs }
    : { effect, input, blobs: kept.blobs, reported: told };
}

function noEpoch(tool: string): EffectError {
  return new EffectError(
    'no_epoch',
    `${tool} executes immediately, but the transaction gets its epoch only at the gate. Set epoch: 'early'.`,
    { evidence: { tool } },
  );
}
