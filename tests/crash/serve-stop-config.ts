import { type AssizeConfig, defineConfig } from '#config';
import { COUNSELORS, countersWith, toolsAt, WORLDS } from './serve-orders.ts';

/** The configuration of `assize serve` with the world of counters, whose sinks are at that port. */
export function configAt(sinkPort: string): AssizeConfig {
  const tools = toolsAt(sinkPort);
  return defineConfig({
    domains: [countersWith(tools)],
    tools,
    worlds: Object.fromEntries(WORLDS.map((world) => [world, { domain: 'counters' }])),
    principals: {
      'agent:a0': { kinds: ['agent'], grants: [{ actions: ['**'], requireApproval: ['ask'] }] },
      ...Object.fromEntries(COUNSELORS.map((name) => [name, { kinds: ['counselor' as const] }])),
    },
  });
}
