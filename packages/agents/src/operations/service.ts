import { operationsOf, type Service } from '@assize/command/operation';
import type { Simulations } from './configured-simulations.ts';

/** The parts of a server that the operations of agents use. */
export interface AgentsService extends Service {
  readonly simulations: Simulations;
}

export const operation = operationsOf<AgentsService>();
