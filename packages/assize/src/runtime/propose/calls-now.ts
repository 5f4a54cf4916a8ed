import { type Domain, type InputCall, type ProposedCall, plannedCalls } from '#kernel';
import type { GatheredProposal } from '../records/intent.ts';
import { frozenFor } from '../writer/freeze/freeze.ts';
import type { Writer } from '../writer/writer.ts';

export const NO_CALLS: readonly InputCall[] = [];

export function declaresCalls({ actions }: Domain, action: string): boolean {
  return Object.hasOwn(actions, action) && actions[action]?.calls !== undefined;
}

/** The calls that the action declares on the current state. None if the proposal is refused. */
export function callsNow(writer: Writer, gathered: GatheredProposal): readonly ProposedCall[] {
  const { intent, observed, writ, principal } = gathered;
  const { world, chain, domain } = writer.parts;
  if (!declaresCalls(domain, intent.action)) return NO_CALLS;
  if (frozenFor(chain, domain, intent, writer.now()) !== undefined) return NO_CALLS;
  const plan = (): readonly ProposedCall[] => {
    const at = writer.now();
    return plannedCalls(world, intent, writer.authority(writ, principal, at), {
      at,
      observations: observed,
    });
  };
  return writer.runRuling(plan);
}
