import {
  type Authority,
  adjudicate,
  type Domain,
  type Ruling,
  World,
} from 'assize/internal/kernel';
import type { RetailState } from '../schema.ts';
import type { Call } from './data.ts';
import { copyOf } from './naive-world.ts';

const anything: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};

/** A separate world: kept changes leave the original state unchanged. */
export function worldOver(domain: Domain, state: RetailState): World {
  return new World(domain, { ...copyOf(state) });
}

/** The kernel's ruling on an agent's call, with every writ granted. */
export function ruled(world: World, { name, arguments: args }: Call, user = 'ann'): Ruling {
  const intent = { action: name, role: { name: 'agent', params: { user } }, args: args as never };
  return adjudicate(world, intent, anything, {
    at: '2024-05-15T20:00:00.000000Z',
    observations: [],
  });
}

/** The verdict, by the rule or in the tool's own words. */
export function inWords(ruling: Ruling): string {
  if (ruling.verdict === 'approved') return 'pass';
  if (ruling.verdict === 'escalated') return `escalate ${ruling.invariantId}`;
  if (ruling.reason === 'precondition_failed') return `tool_error ${ruling.detail}`;
  return ruling.reason === 'invariant_rejected' ? `reject ${ruling.invariantId}` : ruling.reason;
}
