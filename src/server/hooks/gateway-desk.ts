import type { Json } from '#base';
import type { GatewayState } from '#domains/gateway';
import { type Ruling, Trajectory, type WritChain } from '#runtime';
import type { Waiting } from '../await-decision.ts';
import { ServerError } from '../errors.ts';
import { agentWrit } from '../principals/agent-writ.ts';
import { proposeOnce } from '../propose-once.ts';
import { callerTrajectory } from '../reach.ts';

/** The actions of an agent in the gateway domain. */
type AgentAction = 'call' | 'begin' | 'report' | 'session';

/** The world of tool calls for one agent: its proposals, in its role, under its grant. */
export class GatewayDesk {
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
   * @throws ServerError `no_such_value`, `rules_refused`
   */
  static async open(request: Waiting, trajectoryId: string): Promise<GatewayDesk> {
    const trajectory = await callerTrajectory(request, trajectoryId);
    if (trajectory.domain.name !== 'gateway')
      throw new ServerError(
        'no_such_value',
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

  /** @throws ServerError `forbidden`, the errors of `Trajectory.propose` */
  async propose(action: AgentAction, args: object, more: ProposeOptions = {}): Promise<Ruling> {
    const { key, observations } = more;
    const { request, trajectory, agent } = this;
    const ruling = await proposeOnce(request, trajectory, {
      action,
      role: { name: 'agent', params: { agent } },
      args: args as Json,
      writ: await this.writ(action),
      principal: request.caller.name,
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

export interface ProposeOptions {
  /** The idempotency key. Default: each proposal is another one. */
  readonly key?: string;
  readonly observations?: readonly Observed[];
}

/** Where and how a call was asked for. */
export interface Observed {
  readonly name: string;
  readonly value: Json;
}
