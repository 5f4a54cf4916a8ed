import type { AgentAction, CallWorld, EntryPlace, ProposeOptions } from '@assize/gate/internal/calls';
import type { GatewayState } from '@assize/gate/internal/gateway';
import type { WritChain } from 'assize/host';
import type { Json } from 'assize/internal/base';
import type { Instant } from 'assize/internal/canon';
import type { EntryRow, Hash, Stored } from 'assize/internal/ledger';
import { type FinalRuling, type Ruling, Trajectory } from 'assize/internal/runtime';
import { awaitDecision, type Waiting } from '../await-decision.ts';
import { ServerError } from '../errors.ts';
import { agentWrit } from '../principals/agent-writ.ts';
import { proposeOnce } from '../propose-once.ts';
import { callerTrajectory, replayerOf } from '../reach.ts';

/** The world of tool calls for one agent: its proposals, in its role, under its grant. */
export class GatewayDesk implements CallWorld {
  readonly request: Waiting;
  readonly trajectory: Trajectory;
  readonly agent: string;

  private constructor(request: Waiting, trajectory: Trajectory) {
    this.request = request;
    this.trajectory = trajectory;
    this.agent = request.caller.name.replace(/^agent:/, '');
  }

  /**
   * Opens the world, with the rules of the server in force and the entries of other processes read.
   *
   * @throws ServerError `not_found`, `bad_rules`
   */
  static async open(request: Waiting, trajectoryId: string): Promise<GatewayDesk> {
    const trajectory = await callerTrajectory(request, trajectoryId);
    if (trajectory.domain.name !== 'gateway')
      throw new ServerError(
        'not_found',
        `The trajectory ${trajectoryId} is not of the domain gateway. Name a world of that domain.`,
        { evidence: { trajectory_id: trajectoryId } },
      );
    await request.service.gateways.ready(trajectory);
    await Trajectory.catchUp(trajectory);
    return new GatewayDesk(request, trajectory);
  }

  /** Reads the state. Nothing of it may leave `read`. */
  read<T>(read: (state: GatewayState) => T): T {
    return Trajectory.readState(this.trajectory, (state) => read(state as unknown as GatewayState));
  }

  get principal(): string {
    return this.request.caller.name;
  }

  get traceparent(): string | undefined {
    return this.request.traceparent;
  }

  now(): Instant {
    return this.request.service.clock.now();
  }

  async decision(pending: Hash, until: Instant): Promise<FinalRuling> {
    return awaitDecision(this.request, this.trajectory, { pending, until, writ: await this.writ('call') });
  }

  entries(from: number, limit: number): Promise<readonly EntryRow[]> {
    return this.request.service.store.entries(this.trajectory.id, { from, limit });
  }

  async valueOf(entry: EntryPlace, stored: Stored): Promise<Json | undefined> {
    const read = await replayerOf(this.request.service).values.read(entry, stored);
    return 'value' in read ? read.value : undefined;
  }

  /** @throws ServerError `forbidden`, the errors of `Trajectory.propose` */
  async propose(action: AgentAction, args: object, more: ProposeOptions = {}): Promise<Ruling> {
    const { key, observations } = more;
    const { request, trajectory, agent } = this;
    const ruling = await proposeOnce(request, trajectory, {
      action,
      role: { name: 'agent', params: { agent } },
      args: args as Json,
      writ: await this.writ(action),
      ...(key !== undefined && { idempotencyKey: key }),
      ...(observations !== undefined && { observations: observations as never }),
    });
    request.service.metrics.ruling(ruling.ruling);
    return ruling;
  }

  writ(action: AgentAction): Promise<WritChain> {
    const { request, trajectory } = this;
    return agentWrit(request, trajectory.id, action);
  }
}
