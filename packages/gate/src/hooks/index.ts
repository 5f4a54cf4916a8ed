/**
 * The hooks of coding agents: their events, the calls in them with the parts of shell commands, and
 * the answers.
 *
 * Never: lets a call pass that it cannot read.
 */

export { permission } from './answers.ts';
export { neverMet } from './calls/never-met.ts';
export { CLAUDE_CODE_HOOKS } from './claude-code/hooks.ts';
export { CODEX_HOOKS } from './codex/hooks.ts';
export { handleEvent } from './handle-event.ts';
export { keptPlaces } from './later/kept-places.ts';
export { type ObservedCall, observedCall } from './observed-call.ts';
