/** The operations of the HTTP API that belong to agents: durable runs, chat memory, simulations. */

export { chat } from './chat.ts';
export { Simulations } from './configured-simulations.ts';
export { runs } from './runs.ts';
export type { AgentsService } from './service.ts';
export { simulations } from './simulations.ts';
