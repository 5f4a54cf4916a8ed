/**
 * The operations of the HTTP API that belong to the gate: tool calls, hooks of coding agents, tools
 * of servers, and standing approvals.
 */

export { NewestRules } from '#calls';
export { calls } from './calls.ts';
export { GatewayWorlds } from './gateway-worlds.ts';
export { hooks } from './hooks.ts';
export { rules } from './rules.ts';
export { servers } from './servers.ts';
export type { GateService } from './service.ts';
export { standing } from './standing.ts';
