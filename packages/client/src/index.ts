/**
 * A typed client of the HTTP API.
 *
 * - It needs `fetch` alone, so it runs in browsers and in Node.
 * - A proposal is sent again under its key, so a lost answer makes no second proposal.
 * - A stream of events has each entry once, also after a lost connection.
 */
export { AssizeClient, type ClientOptions } from './client.ts';
export type { EntryEvent, Following } from './events.ts';
export type { components, operations, paths } from './openapi.d.ts';
export type { ApprovalDecision, Proposal, Ruling, Sending } from './operations.ts';
export { AssizeProblem, type Problem } from './problem.ts';
