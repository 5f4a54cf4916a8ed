import { randomBytes } from 'node:crypto';
import { isAssizeError } from '#base';
import { addMicros, type Instant } from '#canon';
import { type CallRow, callDigest, canBegin, type GatewayState, isToBegin, openRows } from '#domains/gateway';
import { type Hash, isEffectPending } from '#ledger';
import type { FinalRuling, Ruling } from '#runtime';
import { awaitDecision } from '../await-decision.ts';
import { replayerOf } from '../reach.ts';
import type { AskedCall } from './asked-call.ts';
import type { GatewayDesk, Observed } from './gateway-desk.ts';

/** The answer to a call that an agent program is about to make. */
export type Decision =
  /** The call is begun: its program may make it, once. */
  | { readonly kind: 'allowed'; readonly call: string; readonly class: CallRow['class'] }
  | { readonly kind: 'denied'; readonly reason: string }
  /** A person has to decide first. */
  | { readonly kind: 'pending'; readonly approval: Hash; readonly reason: string };

export interface DecideOptions {
  /** How long to wait for a person. */
  readonly waitMs: number;
  readonly observations?: readonly Observed[];
}

/**
 * Decides about a call: by the rules, by an earlier approval of exactly this call that was not used
 * yet, or by a person who answers in time. An allowed call is recorded as begun before the answer,
 * so no second question gets the same permission.
 *
 * @throws the errors of `Trajectory.propose` and of `awaitDecision`
 */
export async function decideCall(desk: GatewayDesk, call: AskedCall, options: DecideOptions): Promise<Decision> {
  const now = desk.request.service.clock.now();
  const found = desk.read((state) => earlier(state, desk.agent, call, now));
  if (found !== undefined && 'refused' in found) return { kind: 'denied', reason: found.refused };
  if (found !== undefined) return begin(desk, call, found.id);
  const until = addMicros(now, options.waitMs * 1_000);
  for (;;) {
    const asked = (await waitingFor(desk, call)) ?? (await ask(desk, call, options));
    if ('kind' in asked) return asked;
    const ruling = await waited(desk, asked.waitsFor, until);
    if (ruling === undefined) return { kind: 'pending', approval: asked.waitsFor, reason: asked.detail };
    if (asked.id !== undefined) return decided(desk, call, asked.id, ruling);
  }
}

/** A question that a person has to answer first. */
interface Waiting {
  readonly waitsFor: Hash;
  readonly detail: string;
  /** The call of the question. Absent: the question is another one, which holds the call up. */
  readonly id?: string;
}

/** A call with the same id, or one of the same content that can be begun. */
function earlier(
  state: GatewayState,
  agent: string,
  call: AskedCall,
  now: Instant,
): { readonly id: string } | { readonly refused: string } | undefined {
  const { calls } = state;
  const isSame = contentMatcher(agent, call);
  const own = Object.hasOwn(calls, call.id) ? calls[call.id] : undefined;
  if (own !== undefined && !isSame(own)) return { refused: `the call ${call.id} was asked for with other arguments` };
  if (own !== undefined) return isToBegin(own) ? { id: call.id } : { refused: usedText(call.id, own) };
  const ready = openRows(state).find(([, row]) => canBegin(state, row, now) && isSame(row));
  return ready && { id: ready[0] };
}

function usedText(id: string, { outcome }: CallRow): string {
  return `the call ${id} was let through already, and a call is made once; its outcome: ${outcome ?? 'not known'}`;
}

function contentMatcher(agent: string, call: AskedCall): (row: CallRow) => boolean {
  const { server, tool } = call;
  const digest = digestOf(call);
  const key = `${server}/${tool}`;
  return (row) => row.agent === agent && row.tool === key && row.digest === digest && row.once === true;
}

/** The hash by which rows of calls name their content. */
export function digestOf(call: Pick<AskedCall, 'args' | 'parts'>): string {
  return callDigest(call as Parameters<typeof callDigest>[0]);
}

/** The open question about a call of the same content. Asking again makes no second question. */
async function waitingFor({ request, trajectory, agent }: GatewayDesk, call: AskedCall): Promise<Waiting | undefined> {
  const { server, tool } = call;
  const digest = digestOf(call);
  const { values } = replayerOf(request.service);
  for (const { id, payload } of trajectory.approvals.pending()) {
    if (isEffectPending(payload) || payload.proposal.action.name !== 'call') continue;
    const { role, args: given } = payload.proposal.action;
    if (role.params['agent'] !== agent) continue;
    const read = await values.read(payload, given);
    if (!('value' in read)) continue;
    const asked = read.value as unknown as AskedCall & { readonly once?: boolean };
    if (asked.once !== true || asked.server !== server || asked.tool !== tool) continue;
    if (digestOf(asked) === digest) return { id: asked.id, waitsFor: id, detail: payload.detail };
  }
  return undefined;
}

async function ask(
  desk: GatewayDesk,
  call: AskedCall,
  { observations = [] }: DecideOptions,
): Promise<Waiting | Decision> {
  const { id, session, server, tool, args, parts } = call;
  const wanted = { id, session, server, tool, args, ...(parts === undefined ? {} : { parts }), once: true };
  const { ruling, isRepeated } = await proposed(desk, wanted, observations);
  if (ruling.ruling === 'escalated') return { id, waitsFor: ruling.pending, detail: ruling.detail };
  if (ruling.ruling === 'frozen') return { waitsFor: ruling.by, detail: ruling.detail };
  if (isRepeated || ruling.ruling === 'rejected') return decided(desk, call, id, ruling);
  return { kind: 'allowed', call: id, class: desk.read(({ calls }) => (calls[id] as CallRow).class) };
}

/**
 * Proposes the call. Each attempt has content of its own, so that a repeated question under the
 * same key never takes the permission of the first one.
 */
async function proposed(
  desk: GatewayDesk,
  args: { readonly id: string },
  observations: readonly Observed[],
): Promise<{ readonly ruling: Ruling; readonly isRepeated: boolean }> {
  const key = `call ${args.id}`;
  const attempt = { name: 'attempt', value: randomBytes(8).toString('hex') };
  try {
    const ruling = await desk.propose('call', args, { key, observations: [...observations, attempt] });
    return { ruling, isRepeated: false };
  } catch (error) {
    if (!isAssizeError(error, 'idempotency_conflict')) throw error;
    const ruling = await desk.trajectory.rulingOf(key, desk.request.caller.name);
    if (ruling === undefined) throw error;
    return { ruling, isRepeated: true };
  }
}

/** The decision about a question, or undefined if there is none in time. */
async function waited(desk: GatewayDesk, pending: Hash, until: Instant): Promise<FinalRuling | undefined> {
  const { request, trajectory } = desk;
  try {
    return await awaitDecision(request, trajectory, { pending, until, writ: await desk.writ('call') });
  } catch (error) {
    if (isAssizeError(error, 'still_pending')) return undefined;
    throw error;
  }
}

/** The answer to a decision about the call `id`, which a person or an earlier question caused. */
async function decided(desk: GatewayDesk, call: AskedCall, id: string, ruling: FinalRuling): Promise<Decision> {
  return ruling.ruling === 'rejected' ? { kind: 'denied', reason: ruling.detail } : begin(desk, call, id);
}

/** Begins a call that was let through. Of several attempts, one begins it. */
async function begin(desk: GatewayDesk, asked: AskedCall, call: string): Promise<Decision> {
  const { id: as } = asked;
  const row = desk.read(({ calls }) => {
    const found = Object.hasOwn(calls, call) ? calls[call] : undefined;
    return found && { class: found.class, isToBegin: isToBegin(found), used: usedText(call, found) };
  });
  if (row === undefined) return { kind: 'denied', reason: `the call ${call} is no longer recorded; ask again` };
  if (!row.isToBegin) return { kind: 'denied', reason: row.used };
  const ruling = await desk.propose('begin', { call, digest: digestOf(asked), ...(as === call ? {} : { as }) });
  return ruling.ruling === 'committed'
    ? { kind: 'allowed', call, class: row.class }
    : { kind: 'denied', reason: ruling.detail };
}
