import { operationsOf, type Service } from '@assize/command/operation';
import type { GatewayWorlds } from './gateway-worlds.ts';

/** The parts of a server that the operations of the gate use. */
export interface GateService extends Service {
  readonly gateways: GatewayWorlds;
}

export const operation = operationsOf<GateService>();
