import type { ProposedCall } from '../domain/call.ts';
import { declaredCalls, NO_CALLS } from './calls.ts';
import { candidateOf } from './candidate.ts';
import { type CompileOptions, compile } from './compile.ts';
import type { Authority, Intent } from './compiled.ts';
import type { Inputs } from './inputs.ts';
import type { World } from './world.ts';

/**
 * The calls that an action declares on the current state. None if the proposal would be refused.
 * The state is unchanged.
 */
export function plannedCalls(
  world: World,
  intent: Intent,
  authority: Authority,
  inputs: Inputs,
  options: CompileOptions = {},
): readonly ProposedCall[] {
  const compiled = compile(world.domain, intent, authority, options);
  if ('reason' in compiled) return NO_CALLS.declared;
  const candidate = candidateOf(world, compiled, inputs);
  if ('reason' in candidate) return NO_CALLS.declared;
  const calls = declaredCalls(world.domain, compiled, candidate.draft.state, inputs);
  world.rollback(candidate.draft);
  return 'reason' in calls ? NO_CALLS.declared : calls;
}
