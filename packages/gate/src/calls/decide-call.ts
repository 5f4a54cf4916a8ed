import { setTimeout as pause } from 'node:timers/promises';
import { isAssizeError } from 'assize/internal/base';
import { addMicros, type Instant } from 'assize/internal/canon';
import { type Hash, isEffectPending, type PendingPayload, readRow } from 'assize/internal/ledger';
import { type FinalRuling, type Ruling, Trajectory } from 'assize/internal/runtime';
import { traced } from 'assize/internal/traces';
import { callAnswer, type RulingDocument, rulingView } from 'assize/internal/views';
import {
  type CallRow,
  callDigest,
  canBegin,
  type GatewayState,
  isToBegin,
  type NoTurn,
  openRows,
  rulesInForce,
  turnOf,
} from '#gateway';
import { type AskedCall, type CallContent, hasHiddenMember, keyOf } from './asked-call.ts';
import { beginKey, hasBegun, newAttempt, observed } from './attempt.ts';
import type { CallWorld, Observed } from './call-world.ts';
import { pastCall } from './past-call.ts';
import { withReaches } from './reaching.ts';
import { hasFailed } from './sessions.ts';
import { askStep } from './steps.ts';

/** The answer to a call that an agent is about to make. */
export type Decision =
  /**
   * The call has started: its agent may make it, once. `args`: a person has approved them instead.
   */
  | {
      readonly kind: 'allowed';
      readonly call: string;
      readonly class: CallRow['class'];
      readonly args?: AskedCall['args'];
    }
  /**
   * `ruling`: the whole document, where a ruling denies the call. `turn`: why another run of the
   * agents goes first; after `waiting`, the same call can be asked about again.
   */
  | {
      readonly kind: 'denied';
      readonly reason: string;
      readonly ruling?: RulingDocument;
      readonly turn?: NoTurn['kind'];
    }
  /** A person has to decide first: about this call, or, if `ruling` is `frozen`, about another. */
  | {
      readonly kind: 'pending';
      readonly approval: Hash;
      readonly reason: string;
      readonly ruling?: RulingDocument;
    }
  /** The call had started before, and is not made again. Without an outcome it is in doubt. */
  | {
      readonly kind: 'begun';
      readonly call: string;
      /** Absent for a call of a past day. */
      readonly class?: CallRow['class'];
      readonly outcome?: CallRow['outcome'];
      readonly reason: string;
    };

/** The judgement of a call that has not started yet. */
export type Judgement =
  /** It is let through, and its agent asks again when it makes it. */
  | { readonly kind: 'ready'; readonly call: string }
  | Exclude<Decision, { readonly kind: 'allowed' }>;

export interface DecideOptions {
  /** How long to wait for a person. */
  readonly waitMs: number;
  readonly observations?: readonly Observed[];
  /**
   * An earlier question that counts for this call: one about the same content, for agents that ask
   * again under another id (default), or only one with the same id.
   */
  readonly match?: 'content' | 'id';
  /**
   * Whether a call counts only if it was asked about before, under its id. Another one is denied,
   * and no person is asked about it.
   */
  readonly isKnown?: boolean;
  /**
   * A random text: the same attempt gets the same `allowed` again, if the answer was lost on its
   * way. Default: another one each time.
   */
  readonly attempt?: string;
}

/**
 * Decides about a call: by the rules, by an earlier approval of exactly this call that was not used
 * yet, or by a person who answers in time. An allowed call is recorded as started before the
 * answer, so no second question gets the same permission.
 *
 * @throws the errors of `Trajectory.propose` and of `CallWorld.decision`
 */
export function decideCall(
  world: CallWorld,
  call: AskedCall,
  options: DecideOptions,
): Promise<Decision> {
  return traced(
    () => askStep(world, call, 'ask'),
    async () => {
      const asked = await withReaches(world, call);
      const found = await judged(world, asked, options);
      return found.kind === 'ready' ? begin(world, asked, found, options) : found;
    },
  );
}

/**
 * The same for a call that its agent does not make yet: it is judged and asked about, and does not
 * start. `decideCall` starts it later, under the same id, as a separate attempt.
 *
 * @throws the errors of `decideCall`
 */
export function judgeCall(
  world: CallWorld,
  call: AskedCall,
  options: Omit<DecideOptions, 'match' | 'attempt'>,
): Promise<Judgement> {
  return traced(
    () => askStep(world, call, 'judge'),
    async () => {
      const asked = await withReaches(world, call);
      const found = await judged(world, asked, { ...options, match: 'id', isLater: true });
      return (found.kind === 'ready' ? { kind: 'ready', call: found.call } : found) as Judgement;
    },
  );
}

interface JudgeOptions extends DecideOptions {
  /** Whether a call that the rules let through starts later. */
  readonly isLater?: boolean;
}

/** A call that was let through, and can start. */
interface Ready extends Pick<CallRow, 'class'> {
  readonly kind: 'ready';
  readonly call: string;
  readonly args: AskedCall['args'];
  readonly isAmended: boolean;
}

async function judged(
  world: CallWorld,
  call: AskedCall,
  options: JudgeOptions,
): Promise<Decision | Ready> {
  const { match = 'content', isKnown = false, attempt } = options;
  if (hasHiddenMember(call.args) || hasHiddenMember(call.parts))
    return {
      kind: 'denied',
      reason: `the arguments of the call ${call.id} have a member named __proto__`,
    };
  if (call.session !== undefined && call.undoes === undefined && hasFailed(world, call.session))
    return {
      kind: 'denied',
      reason: `the run ${call.session} has failed and is taken back; start it again under another name`,
      turn: 'restart',
    };
  const now = world.now();
  const found = world.read((state) => earlier(state, { agent: world.agent, call, now, match }));
  if (found !== undefined)
    return 'kind' in found ? found : ready(world, call, { id: found.id, match, attempt });
  if (isKnown && (await world.trajectory.rulingOf(keyOf(call), world.principal)) === undefined)
    return { kind: 'denied', reason: `the call ${call.id} was not asked for before` };
  const until = addMicros(now, options.waitMs * 1_000);
  for (;;) {
    const open = match === 'content' ? await waitingFor(world, call) : undefined;
    const asked = open ?? (await ask(world, call, options));
    if ('kind' in asked) return asked;
    const { id, waitsFor, detail, frozen } = asked;
    const ended = await waited(world, waitsFor, until);
    if (ended !== undefined && id === undefined) continue;
    // An approval of several makes another question about the same call.
    const ruling =
      ended ??
      frozen ??
      (await world.trajectory.rulingOf(keyOf({ id: id ?? call.id }), world.principal));
    if (ruling === undefined) return { kind: 'pending', approval: waitsFor, reason: detail };
    return decided(world, call, ruling, { id: id ?? call.id, match, attempt });
  }
}

/** A question that a person has to answer first. */
interface Waiting {
  readonly waitsFor: Hash;
  readonly detail: string;
  /** The call of the question. Absent: the question of another call holds this one up. */
  readonly id?: string;
  /** The ruling on a call that another question holds up. */
  readonly frozen?: Ruling;
}

interface Asking extends Required<Pick<DecideOptions, 'match'>> {
  readonly agent: string;
  readonly call: AskedCall;
  readonly now: Instant;
}

/** A call with the same id, or one of the same content that can start. */
function earlier(
  state: GatewayState,
  { agent, call, now, match }: Asking,
): { readonly id: string } | Decision | undefined {
  const { calls } = state;
  const isSame = contentMatcher(agent, call);
  const own = Object.hasOwn(calls, call.id) ? calls[call.id] : undefined;
  if (own !== undefined)
    return match === 'id' || isSame(own) ? { id: call.id } : otherContent(call.id);
  if (match === 'id') return undefined;
  const ready = openRows(state).find(([, row]) => canBegin(state, row, now) && isSame(row));
  return ready && { id: ready[0] };
}

function otherContent(id: string): Decision {
  return {
    kind: 'denied',
    reason: `the call ${id} was asked for as another call, or with other arguments`,
  };
}

/** Under a fixed id, no second question can be asked. */
function lapsed(id: string): Decision {
  const why =
    'it was let through more than a day ago, or under other rules or another definition, and was not made';
  return {
    kind: 'denied',
    reason: `the call ${id} has lapsed: ${why}; propose it again under another id`,
  };
}

/** `asked`: the id of the call that finds the other one started, by its content or its own id. */
function begunBefore(
  call: string,
  { class: toolClass, outcome }: Pick<CallRow, 'class' | 'outcome'>,
  { id: asked }: Pick<AskedCall, 'id'>,
): Decision {
  const told =
    asked === call
      ? 'a call is made once'
      : 'its approval was for one call; make this call again, and a person is asked about it';
  const reason = `the call ${call} was let through already, and ${told}; its outcome: ${outcome ?? 'not known'}`;
  return {
    kind: 'begun',
    call,
    class: toolClass,
    ...(outcome !== undefined && { outcome }),
    reason,
  };
}

/** The digest of the call is made for the first row that needs it: most calls are new. */
function contentMatcher(agent: string, call: AskedCall): (row: CallRow) => boolean {
  const key = `${call.server}/${call.tool}`;
  let digest: string | undefined;
  return (row) => {
    if (row.agent !== agent || row.tool !== key || row.once !== true) return false;
    digest ??= digestOf(call);
    return row.digest === digest;
  };
}

/** The hash by which rows of calls name their content. */
export function digestOf(
  call: Pick<CallContent, 'args' | 'parts' | 'reaches' | 'project'>,
): string {
  return callDigest(call as Parameters<typeof callDigest>[0]);
}

/** The open question about a call of the same content. Asking again makes no second question. */
async function waitingFor(world: CallWorld, call: AskedCall): Promise<Waiting | undefined> {
  for (const { id, payload } of world.trajectory.approvals.pending()) {
    const asked = await askedIn(world, payload);
    if (asked === undefined || !isSameCall(asked, call)) continue;
    // Under its own id a call is asked about once.
    if (asked.id === call.id || (await isOfRulesInForce(world, payload)))
      return { id: asked.id, waitsFor: id, detail: payload.detail };
  }
  return undefined;
}

/** Whether a question is one of the rules in force. A call of an earlier one is judged again. */
async function isOfRulesInForce(world: CallWorld, payload: PendingPayload): Promise<boolean> {
  const patches = await world.valueOf(payload, payload.proposal.delta.state);
  const rows = (patches ?? []) as readonly { readonly value?: Partial<CallRow> | null }[];
  const judgedBy = rows.map(({ value }) => value?.rules).find((rules) => rules !== undefined);
  return judgedBy === undefined || world.read(({ rules }) => rules.digest === judgedBy);
}

/** The call of this agent that a question is about. Undefined for another question. */
async function askedIn(world: CallWorld, payload: PendingPayload): Promise<AskedCall | undefined> {
  if (isEffectPending(payload) || payload.proposal.action.name !== 'call') return undefined;
  const { role, args: given } = payload.proposal.action;
  if (role.params['agent'] !== world.agent) return undefined;
  const value = (await world.valueOf(payload, given)) as unknown as
    | (AskedCall & { once?: boolean })
    | undefined;
  return value?.once === true ? value : undefined;
}

function isSameCall(asked: CallContent, call: CallContent): boolean {
  return (
    asked.server === call.server && asked.tool === call.tool && digestOf(asked) === digestOf(call)
  );
}

async function ask(
  world: CallWorld,
  call: AskedCall,
  { observations = [], match = 'content', isLater = false, attempt }: JudgeOptions,
): Promise<Waiting | Decision | Ready> {
  const { id, session, server, tool, args, parts, undoes, reaches, project } = call;
  const wanted = {
    ...{ id, server, tool, args, once: true },
    ...(session === undefined ? {} : { session }),
    ...(parts === undefined ? {} : { parts }),
    ...(undoes === undefined ? {} : { undoes }),
    ...(reaches !== undefined && { reaches }),
    ...(project !== undefined && { project }),
    ...(isLater && { later: true }),
    ...(world.read((state) => rulesInForce(state).turns !== undefined) && { waits: true }),
  };
  const mark = observed(attempt ?? newAttempt());
  const { ruling, isRepeated } = await proposed(world, wanted, [...observations, mark]);
  if (isRepeated && !(await isAbout(world, ruling, call))) return otherContent(id);
  const answer = callAnswer(rulingView(ruling));
  if (answer.kind === 'pending') {
    const about = ruling.ruling === 'frozen' ? { frozen: ruling } : { id };
    return { ...about, waitsFor: answer.approval, detail: answer.reason };
  }
  const asked = { id, match, attempt };
  if (isRepeated || isLater || answer.kind === 'denied') return decided(world, call, ruling, asked);
  const row = world.read(({ calls }) => {
    const found = Object.hasOwn(calls, id) ? calls[id] : undefined;
    return found && { of: found.class, isOpen: found.outcome === undefined && !isToBegin(found) };
  });
  // A repeated attempt may find its call closed, or of a past day. Another run may have the turn.
  if (row?.isOpen !== true) return ready(world, call, asked);
  return { kind: 'allowed', call: id, class: row.of };
}

/**
 * Proposes the call. Each attempt observes a mark of its own, so that a question of another attempt
 * under the same key never takes the permission of the first one.
 */
async function proposed(
  world: CallWorld,
  args: { readonly id: string },
  observations: readonly Observed[],
): Promise<{ readonly ruling: Ruling; readonly isRepeated: boolean }> {
  const key = keyOf(args);
  try {
    const ruling = await world.propose('call', args, { key, observations });
    return { ruling, isRepeated: false };
  } catch (error) {
    if (!isAssizeError(error, 'idempotency_conflict')) throw error;
    const ruling = await world.trajectory.rulingOf(key, world.principal);
    if (ruling === undefined) throw error;
    return { ruling, isRepeated: true };
  }
}

/**
 * Whether an earlier ruling is about a call with the same content. One that is erased is not. A
 * rejection has no arguments, and refuses any.
 */
async function isAbout(world: CallWorld, ruling: Ruling, call: AskedCall): Promise<boolean> {
  if (ruling.ruling === 'frozen' || ruling.ruling === 'rejected') return true;
  const { payload } = readRow(ruling.entry);
  const asked =
    payload.kind === 'commit'
      ? await world.valueOf(payload, (payload.amended ?? payload).action.args)
      : await askedIn(world, payload as PendingPayload);
  return asked !== undefined && isSameCall(asked as unknown as CallContent, call);
}

/** The decision about a question, or undefined if there is none in time. */
async function waited(
  world: CallWorld,
  pending: Hash,
  until: Instant,
): Promise<FinalRuling | undefined> {
  try {
    return await world.decision(pending, until);
  } catch (error) {
    if (isAssizeError(error, 'still_pending')) return undefined;
    throw error;
  }
}

/** A call that was asked about, and how earlier questions count for it. */
interface Ruled extends Required<Pick<DecideOptions, 'match'>> {
  readonly id: string;
  readonly attempt: string | undefined;
}

/** The answer to a ruling on the call `id` that a person or an earlier question caused. */
async function decided(
  world: CallWorld,
  call: AskedCall,
  ruling: Ruling,
  ruled: Ruled,
): Promise<Decision | Ready> {
  const answer = callAnswer(rulingView(ruling));
  return answer.kind === 'committed' ? ready(world, call, ruled) : answer;
}

/** A call that was let through, with the approved arguments, if it can start. */
async function ready(
  world: CallWorld,
  asked: AskedCall,
  { id: call, match, attempt }: Ruled,
): Promise<Decision | Ready> {
  const now = world.now();
  const row = world.read((state) => {
    const found = Object.hasOwn(state.calls, call) ? state.calls[call] : undefined;
    const before =
      found === undefined || isToBegin(found) ? undefined : begunBefore(call, found, asked);
    const isLapsed = found !== undefined && before === undefined && !canBegin(state, found, now);
    return (
      found && {
        ...{ agent: found.agent, tool: found.tool, class: found.class, digest: found.digest },
        ...{ outcome: found.outcome, waited: found.waited === true },
        before,
        isLapsed,
      }
    );
  });
  if (row === undefined) return ofPastDay(world, call);
  if (row.agent !== world.agent || row.tool !== `${asked.server}/${asked.tool}`)
    return otherContent(call);
  const isAmended = match === 'id' && row.digest !== digestOf(asked);
  const args = isAmended ? await amendmentOf(world, asked) : asked.args;
  if (args === undefined) return otherContent(call);
  const isOwn =
    row.before !== undefined &&
    row.outcome === undefined &&
    (await hasBegun(world, call, attempt, { waited: row.waited }));
  if (isOwn) return { kind: 'allowed', call, class: row.class, ...(isAmended && { args }) };
  if (row.before !== undefined) return row.before;
  if (row.isLapsed && match === 'id') return lapsed(call);
  return { kind: 'ready', call, class: row.class, args, isAmended };
}

/** The answer to a call that was let through, and that the state no longer has. */
async function ofPastDay(world: CallWorld, call: string): Promise<Decision> {
  const { mayBeMade, outcome: found } = await pastCall(world, call);
  if (!mayBeMade && found === undefined) return lapsed(call);
  const { outcome } = found ?? {};
  const reason = `the call ${call} is of a past day; its outcome: ${outcome ?? 'not known'}; make a new one`;
  return { kind: 'begun', call, ...(outcome !== undefined && { outcome }), reason };
}

/** Begins a call that was let through. Of several attempts, one begins it. */
async function begin(
  world: CallWorld,
  asked: AskedCall,
  { call, class: of, args, isAmended }: Ready,
  { attempt, waitMs }: Pick<DecideOptions, 'attempt' | 'waitMs'>,
): Promise<Decision> {
  const noTurn = await untilTurn(world, call, waitMs);
  if (noTurn !== undefined) return denied(noTurn);
  const { id: as } = asked;
  const digest = digestOf({ ...asked, args });
  const key = attempt === undefined ? {} : { key: beginKey(call, attempt) };
  const ruling = await world.propose(
    'begin',
    { call, digest, ...(as === call ? {} : { as }) },
    key,
  );
  const answer = callAnswer(rulingView(ruling));
  if (answer.kind === 'committed')
    return { kind: 'allowed', call, class: of, ...(isAmended && { args }) };
  // Another process may have started it since the state was read.
  const begun = world.read(({ calls }) => {
    const found = Object.hasOwn(calls, call) ? calls[call] : undefined;
    return found?.begunAt === undefined ? undefined : begunBefore(call, found, asked);
  });
  if (begun !== undefined) return begun;
  const lost = noTurnOf(world, call);
  return lost === undefined ? answer : denied(lost);
}

function denied({ kind, of: { rule, why } }: NoTurn): Decision {
  return { kind: 'denied', reason: `[${rule}] ${why}`, turn: kind };
}

/** Waits until the runs have ended that hold the places of a call, at most `waitMs`. */
async function untilTurn(
  world: CallWorld,
  call: string,
  waitMs: number,
): Promise<NoTurn | undefined> {
  const until = addMicros(world.now(), waitMs * 1_000);
  for (;;) {
    const noTurn = noTurnOf(world, call);
    if (noTurn?.kind !== 'waiting') return noTurn;
    const isLate = world.now() >= until;
    if (!isLate) await pause(TURN_PAUSE_MS);
    // Another process may have ended the other run.
    await Trajectory.catchUp(world.trajectory);
    if (isLate) return noTurnOf(world, call);
  }
}

const TURN_PAUSE_MS = 50;

function noTurnOf(world: CallWorld, call: string): NoTurn | undefined {
  return world.read((state) => {
    const row = Object.hasOwn(state.calls, call) ? state.calls[call] : undefined;
    return row && turnOf(state, row, world.now());
  });
}

/** The arguments that a person approved in place of the asked ones. Undefined for another call. */
async function amendmentOf(
  world: CallWorld,
  asked: AskedCall,
): Promise<AskedCall['args'] | undefined> {
  const ruling = await world.trajectory.rulingOf(keyOf(asked), world.principal);
  if (ruling?.ruling !== 'committed' || !(await isAbout(world, ruling, asked))) return undefined;
  const { payload } = readRow(ruling.entry);
  if (payload.kind !== 'commit' || payload.amended === undefined) return undefined;
  const approved = (await world.valueOf(payload, payload.action.args)) as unknown as
    | AskedCall
    | undefined;
  const isSameTool = approved?.server === asked.server && approved.tool === asked.tool;
  return isSameTool ? approved.args : undefined;
}
