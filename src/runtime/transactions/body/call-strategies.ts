import { type Json, thrownOf } from '#base';
import { copyJson } from '#canon';
import {
  type Claim,
  claimTexts,
  DidNothing,
  EffectError,
  isPivot,
  type LoggedEffect,
  type Planned,
  type Tool,
} from '#effects';
import { Kept, saltsAt } from '../../records/payload-blobs.ts';
import { answerOf } from '../limits/answer-size.ts';
import { inTime, isPromise } from '../limits/time-limit.ts';
import { isHeld, type Prepared } from '../log/call-record.ts';
import { type Costs, costOf, costsOf } from '../log/undo-budget.ts';
import { checkAffords, letGo } from './admission.ts';
import type { Attempt } from './attempt.ts';
import type { Branch } from './branch.ts';
import type { BranchAct, Look } from './claims.ts';

/**
 * How a call is made when it may be: in which branch, of which tool, with what, touching what, and as which call of the body. A tool gets
 * copies of its own, and so does the body: what they make of them changes nothing of what is recorded, called, or undone.
 */
export type Way = (
  branch: Branch,
  tool: Tool,
  input: Json,
  claims: readonly Claim[],
  ordinal: number,
) => Promise<unknown>;

export function wayOf({ class: kind, spec }: Tool): Way {
  if (kind === undefined) return spec.sees === undefined ? read : readHeld;
  if (!isHeld(kind)) return act;
  return spec.together?.hold === undefined ? plan : hold;
}

async function read(branch: Branch, tool: Tool, input: Json, claims: readonly Claim[], ordinal: number): Promise<Json> {
  const { attempt } = branch;
  const { isOptimistic, signal } = attempt.asking;
  const at = branch.placeOf(ordinal);
  let look: Look | undefined;
  try {
    attempt.claims.checkApart(tool, claims, branch.place);
    branch.charge(costOf(tool, input));
    if (!isOptimistic) await attempt.claims.enter(() => attempt.checkNames(tool, input, claims), claims);
    branch.checkGoesOn();
    const { plans } = branch;
    const call = () => ({ key: attempt.keys.of(at, 0), signal, epoch: attempt.epoch });
    const execute = () => tool.spec.execute(copyJson(input) as never, call(), plans);
    look = attempt.claims.lookAt(tool, claims, branch.place);
    const value = await branch.guesses.read(tool, claims, execute, look);
    branch.observe(tool, ordinal, value);
    return copyJson(value);
  } catch (error) {
    if (isOptimistic) attempt.claims.untouch(claims);
    throw error;
  } finally {
    look?.over();
    if (!isOptimistic) attempt.claims.readIsOver(claims);
  }
}

/** Reads with what this transaction, or this branch of it, holds there; where it holds nothing, as others do. */
async function readHeld(
  branch: Branch,
  tool: Tool,
  input: Json,
  claims: readonly Claim[],
  ordinal: number,
): Promise<Json> {
  const { attempt } = branch;
  const { at, part } = tool.spec.sees!;
  const holding = attempt.holdings.known(at);
  const { signal } = attempt.asking;
  if (holding === undefined) return read(branch, tool, input, claims, ordinal);
  try {
    attempt.claims.checkApart(tool, claims, branch.place);
    branch.charge(costOf(tool, input));
    await enterAtOnce(branch, tool, input, claims);
    const key = attempt.keys.of(branch.placeOf(ordinal), 0);
    const call = { part, input, call: { key, signal, epoch: attempt.epoch } };
    const told = await inHolding(tool, signal, () => holding.read(branch.heldAt(at), call));
    const value = answerOf(tool.name, told);
    branch.observe(tool, ordinal, value);
    return copyJson(value);
  } finally {
    letGo(branch, tool, claims);
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
  const { isCareful, isOptimistic, signal } = attempt.asking;
  let look: Look | undefined;
  try {
    attempt.claims.checkLeft(tool, claims);
    const at = branch.placeOf(ordinal);
    const { keys } = attempt;
    const key = keys.of(at, isCareful ? await keys.freeGeneration(at) : keys.nextGeneration(at));
    const costs = costsOf(tool, input);
    const prepared = prepare(attempt, tool, input, claims, key, costs, { branch });
    // What its plan looks at is a read like any other: what is older comes first.
    const reads = claims.filter(({ access }) => access === 'read');
    const { plan: planOf } = tool.spec;
    const plans: Planned = planOf === undefined ? [] : branch.plans;
    const isGuess = isOptimistic && reads.length > 0;
    if (!isGuess && reads.length > 0) await attempt.claims.enter(() => attempt.checkNames(tool, input, claims), reads);
    if (planOf !== undefined && reads.length > 0) look = attempt.claims.lookAt(tool, reads, branch.place);
    branch.charge(costs.cost);
    // What never answers holds nobody up: whoever comes next in turn, or waits for the end of it all.
    const planning = (): unknown => planOf?.(copyJson(input) as never, plans);
    const planned = isGuess ? branch.guesses.read(tool, reads, planning, look) : inTime(signal, planning);
    const answer = isPromise(planned) ? await planned : planned;
    look?.check();
    branch.plan(prepared, { tool, input, claims });
    if (isPivot(tool.class!)) branch.pivot = tool;
    return isGuess ? copyJson(answer as Json) : (answer ?? null);
  } catch (error) {
    attempt.claims.untouch(claims);
    throw error;
  } finally {
    look?.over();
  }
}

/** Does it where nobody else sees it until the commit. Who is older has acted there before: it is told what will be so then. */
async function hold(branch: Branch, tool: Tool, input: Json, claims: readonly Claim[], ordinal: number): Promise<Json> {
  const { attempt } = branch;
  const { signal, isCareful } = attempt.asking;
  const together = tool.spec.together!;
  try {
    await enterAtOnce(branch, tool, input, claims);
    // Here too somebody sees what was done at once. Nothing acts at once meanwhile, as this has its turn.
    attempt.claims.checkApart(tool, claims, branch.place);
    const costs = costsOf(tool, input);
    branch.charge(costs.cost);
    const at = branch.placeOf(ordinal);
    const { keys } = attempt;
    const key = keys.of(at, isCareful ? await keys.freeGeneration(at) : keys.nextGeneration(at));
    const call = { part: together.part, input: copyJson(input), call: { key, signal, epoch: attempt.epoch } };
    const made = () => attempt.holdings.at(together).execute(branch.heldAt(together.at), call);
    const told = answerOf(tool.name, await inHolding(tool, signal, made));
    branch.plan(prepare(attempt, tool, input, claims, key, costs, { branch, told }), { tool, input, claims });
    branch.holds(together.at, { part: together.part, input, key, told });
    branch.observe(tool, ordinal, told);
    return copyJson(told);
  } catch (error) {
    attempt.claims.untouch(claims);
    throw error;
  }
}

/** Nobody but this transaction has seen anything of what has failed there: so it was not. */
async function inHolding({ name }: Tool, signal: AbortSignal, make: () => Promise<unknown>): Promise<unknown> {
  try {
    return await inTime(signal, make);
  } catch (thrown) {
    const error = thrownOf(thrown);
    if (error instanceof EffectError || signal.aborted) throw error;
    const why = error instanceof Error ? error.message.replace(/\.$/, '') : 'its place refused it';
    const retryable = !(error instanceof DidNothing && error.isFinal);
    throw new EffectError('tool_failed', `${name} was not done: ${why}.`, {
      evidence: { tool: name },
      cause: error,
      retryable,
    });
  }
}

async function enterAtOnce(branch: Branch, tool: Tool, input: Json, claims: readonly Claim[]): Promise<void> {
  const { attempt } = branch;
  branch.checkGoesOn();
  if (attempt.run === undefined) throw noEpoch(tool.name);
  await attempt.claims.enter(() => attempt.checkNames(tool, input, claims), claims);
  branch.checkGoesOn();
}

async function act(branch: Branch, tool: Tool, input: Json, claims: readonly Claim[], ordinal: number): Promise<Json> {
  const { attempt } = branch;
  const { run } = attempt;
  let noted: BranchAct;
  try {
    branch.checkGoesOn();
    if (run === undefined) throw noEpoch(tool.name);
    await attempt.claims.enter(() => attempt.checkNames(tool, input, claims), claims);
    await branch.guesses.checkAt(claims);
    branch.checkGoesOn();
    noted = attempt.claims.actAt(tool, claims, branch.place);
  } catch (error) {
    attempt.claims.untouch(claims);
    throw error;
  }
  try {
    const at = branch.placeOf(ordinal);
    const generation = await attempt.keys.takeGeneration(at);
    const costs = costsOf(tool, input);
    const prepared = prepare(attempt, tool, input, claims, attempt.keys.of(at, generation), costs, { branch });
    const writBlobs = checkAffords(branch, tool, input, claims, prepared, costs);
    branch.charge(costs.cost);
    const begun = (n: number): void => {
      noted.n = n;
      branch.begun.push(n);
    };
    const made = attempt.whileActing(() => run.call({ ...prepared, blobs: [...prepared.blobs, ...writBlobs] }, begun));
    const { n, result, refusal } = await made.catch(async (error: unknown) => {
      // What failed was given way to as well. Where something answers otherwise since, the gate says so.
      if (!attempt.holdings.areNone) await attempt.heldAgain(branch).catch(() => undefined);
      throw error;
    });
    branch.acted.push({ n, tool, input, claims, costs, answer: result, next: attempt.keys.of(at, generation + 1) });
    if (!attempt.holdings.areNone) await attempt.heldAgain(branch);
    if (result === undefined) throw refusal;
    branch.observe(tool, ordinal, result);
    return copyJson(result);
  } catch (error) {
    if (noted.n === undefined || run.isGone(noted.n)) attempt.claims.notActed(noted);
    throw error;
  }
}

/**
 * What acted at once and is to stay, as it would be called again, in the order of the calls. Nothing rests on an answer that was too long for
 * the body: that call is held, like any that was planned.
 */
export function again({ attempt, acted }: Branch): Prepared[] {
  const inOrder = acted.toSorted((one, other) => one.n - other.n);
  return inOrder.map(({ tool, input, claims, costs, answer, next }) =>
    prepare(attempt, tool, input, claims, next, costs, answer === undefined ? {} : { answer }),
  );
}

function prepare(
  { held, asking }: Attempt,
  tool: Tool,
  input: Json,
  claims: readonly Claim[],
  key: string,
  { cost, ...undoing }: Costs,
  { answer, branch, told }: { readonly answer?: Json; readonly branch?: Branch; readonly told?: Json } = {},
): Prepared {
  const kept = new Kept(saltsAt(held.ports.random, key));
  const { name } = tool;
  const sort = tool.class!;
  const { isAgain, name: transaction } = asking;
  // Members in canonical order, which are written fastest.
  const made = {
    ...(answer === undefined ? {} : { answer }),
    claims: claimTexts(claims),
    class: sort,
    cost,
    input,
    ...(told === undefined ? {} : { told }),
    tool: name,
  };
  const payload = kept.made((isAgain ? { ...made, transaction } : made) as never);
  const called = branch?.id;
  const named = { class: sort, key, payload, tool: name, ...undoing };
  const effect: LoggedEffect = called === undefined ? named : { branch: called, ...named };
  return told === undefined ? { effect, input, blobs: kept.blobs } : { effect, input, blobs: kept.blobs, told };
}

function noEpoch(tool: string): EffectError {
  return new EffectError(
    'no_epoch',
    `${tool} acts at once, and the transaction has its epoch only at its gate; give it the epoch 'early'.`,
    { evidence: { tool } },
  );
}
