import {
  type AuthorisedRequest,
  agentWrit,
  awaitDecision,
  callerTrajectory,
  proposeOnce,
  ServerError,
  type Waiting,
} from '@assize/command/operation';
import type { WritChain } from 'assize/host';
import type { Json } from 'assize/internal/base';
import type { Instant } from 'assize/internal/canon';
import { type EntryRow, type Hash, Replayer, type Stored } from 'assize/internal/ledger';
import { type FinalRuling, type Ruling, Trajectory } from 'assize/internal/runtime';
import type { AgentAction, CallWorld, EntryPlace, ProposeOptions } from '#calls';
import type { GatewayState } from '#gateway';
import type { GateService } from './service.ts';

/**
 * The trajectory of a request about tool calls, with the entries of other processes read.
 *
 * @throws ServerError `not_found` for a trajectory of another domain
 */
export async function gatewayTrajectory(
  request: AuthorisedRequest,
  trajectoryId: string,
): Promise<Trajectory> {
  const trajectory = await callerTrajectory(request, trajectoryId);
  if (trajectory.domain.name !== 'gateway')
    throw new ServerError(
      'not_found',
      `The domain of ${trajectory.id} is not gateway, so it has no calls.`,
    );
  await Trajectory.catchUp(trajectory);
  return trajectory;
}

/** A request about a call. It may wait for a person. */
type Asking = Waiting & { readonly service: GateService };

/** The world of tool calls for one agent: its proposals, in its role, under its grant. */
export class CallerWorld implements CallWorld {
  readonly request: Asking;
  readonly trajectory: Trajectory;
  readonly agent: string;

  private constructor(request: Asking, trajectory: Trajectory) {
    this.request = request;
    this.trajectory = trajectory;
    this.agent = request.caller.name.replace(/^agent:/, '');
  }

  /**
   * Opens the world, with the rules of the server in force and the entries of other processes read.
   *
   * @throws ServerError `not_found`, `bad_rules`
   */
  static async open(request: Asking, trajectoryId: string): Promise<CallerWorld> {
    const trajectory = await callerTrajectory(request, trajectoryId);
    if (trajectory.domain.name !== 'gateway')
      throw new ServerError(
        'not_found',
        `The trajectory ${trajectoryId} is not of the domain gateway. Name a world of that domain.`,
        { evidence: { trajectory_id: trajectoryId } },
      );
    await request.service.gateways.ready(trajectory);
    await Trajectory.catchUp(trajectory);
    return new CallerWorld(request, trajectory);
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
    return awaitDecision(this.request, this.trajectory, {
      pending,
      until,
      writ: await this.writ('call'),
    });
  }

  entries(from: number, limit: number): Promise<readonly EntryRow[]> {
    return this.request.service.store.entries(this.trajectory.id, { from, limit });
  }

  async valueOf(entry: EntryPlace, stored: Stored): Promise<Json | undefined> {
    const read = await new Replayer(this.request.service.store).values.read(entry, stored);
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
