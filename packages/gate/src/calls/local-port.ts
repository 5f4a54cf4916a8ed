import { checkArgument, isAssizeError } from 'assize/internal/base';
import { type Hash, isEffectPending } from 'assize/internal/ledger';
import { Trajectory } from 'assize/internal/runtime';
import type { AskedCall } from './asked-call.ts';
import {
  type CallPort,
  PERSONS_DECISION,
  type PersonsDecision,
  type ShownCall,
} from './call-port.ts';
import { closeCall, type Outcome, REPORTED_BYTES_MAX } from './close-call.ts';
import {
  type DecideOptions,
  type Decision,
  decideCall,
  type Judgement,
  judgeCall,
} from './decide-call.ts';
import type { LocalWorld } from './local-world.ts';
import { outcomeOf } from './outcome-of.ts';
import { attend, fail, leave } from './sessions.ts';
import { type SessionUndo, undoCalls } from './undo-calls.ts';

/** Judges and records calls in this process, in a store that other processes may use too. */
export class LocalPort implements CallPort {
  readonly #world: LocalWorld;
  readonly #end: () => Promise<void>;
  readonly #attended: Set<string> = new Set();

  constructor(world: LocalWorld, end: () => Promise<void>) {
    this.#world = world;
    this.#end = end;
  }

  async ask(call: AskedCall, options: DecideOptions): Promise<Decision> {
    await this.#attend(call.session);
    return decideCall(this.#world, call, options);
  }

  async judge(call: AskedCall, options: DecideOptions): Promise<Judgement> {
    await this.#attend(call.session);
    return judgeCall(this.#world, call, options);
  }

  async report(call: string, outcome: Outcome): Promise<boolean> {
    return closeCall(this.#world, call, outcome, { bytesMax: REPORTED_BYTES_MAX });
  }

  async outcomeOf(call: string): Promise<Outcome | undefined> {
    await Trajectory.catchUp(this.#world.trajectory);
    return outcomeOf(this.#world, call);
  }

  async shown(approval: Hash): Promise<ShownCall | undefined> {
    const found = await this.#world.trajectory.approvals.statusOf(approval);
    if (found.status !== 'pending' || isEffectPending(found.payload)) return undefined;
    const { digest, detail } = found.payload;
    return { digest, detail };
  }

  async decide(approval: Hash, persons: PersonsDecision): Promise<void> {
    checkArgument(PERSONS_DECISION, persons, 'decision');
    const { decision, by, method, digest, reason, args } = persons;
    const { approvals } = this.#world.trajectory;
    const input = { principal: by, method, digest, ...(reason !== undefined && { reason }) };
    try {
      if (decision === 'approve')
        await approvals.approve(approval, { ...input, ...(await this.#amended(approval, args)) });
      else await approvals.reject(approval, { reason: 'rejected', ...input });
    } catch (error) {
      // Another decision came first, and counts.
      if (!isAssizeError(error, 'not_pending')) throw error;
    }
  }

  /** The arguments of the pending proposal, with other ones for the tool. */
  async #amended(
    approval: Hash,
    args: PersonsDecision['args'],
  ): Promise<{ readonly args?: never }> {
    if (args === undefined) return {};
    const found = await this.#world.trajectory.approvals.statusOf(approval);
    if (found.status !== 'pending' || isEffectPending(found.payload)) return {};
    const asked = await this.#world.valueOf(found.payload, found.payload.proposal.action.args);
    return { args: { ...(asked as object), args } as never };
  }

  async fail(session: string): Promise<void> {
    await Trajectory.catchUp(this.#world.trajectory);
    await fail(this.#world, session);
  }

  async undoCalls(session: string): Promise<SessionUndo> {
    await Trajectory.catchUp(this.#world.trajectory);
    return undoCalls(this.#world, session);
  }

  async end(session: string): Promise<void> {
    this.#attended.delete(session);
    await leave(this.#world, session);
  }

  pageOf(): undefined {
    return undefined;
  }

  close(): Promise<void> {
    return this.#end();
  }

  async #attend(session: string | undefined): Promise<void> {
    if (session === undefined || this.#attended.has(session)) return;
    await attend(this.#world, { id: session });
    this.#attended.add(session);
  }
}
