import { type EntryDocument, payloadOf } from './entry-query.ts';
import type { Observation, RoleRef } from './payload.ts';

/** The proposal of an entry, with the places of its values in the payload. */
export interface Asked {
  readonly action: string;
  readonly role: RoleRef;
  readonly args: unknown;
  readonly argsAt: string;
  readonly observations: readonly Observation[];
  readonly observationsAt: string;
}

/** Undefined for an entry without a proposal. */
export function askedOf(entry: EntryDocument): Asked | undefined {
  const commit = payloadOf(entry, 'commit');
  if (commit !== undefined)
    return {
      ...{
        action: commit.action.name,
        role: commit.action.role,
        args: commit.action.args,
        argsAt: '/action/args',
      },
      ...{ observations: commit.observations, observationsAt: '/observations' },
    };
  const proposal = payloadOf(entry, 'pending_approval')?.proposal;
  if (proposal !== undefined)
    return {
      ...{ action: proposal.action.name, role: proposal.action.role, args: proposal.action.args },
      ...{ argsAt: '/proposal/action/args', observations: proposal.observations },
      observationsAt: '/proposal/observations',
    };
  const intent = payloadOf(entry, 'rejection')?.intent;
  if (intent === undefined) return undefined;
  return {
    ...{ action: intent.action, role: intent.role, args: intent.args, argsAt: '/intent/args' },
    ...{ observations: intent.observations, observationsAt: '/intent/observations' },
  };
}
