import { z } from 'zod';
import { type Domain, defineDomain, escalate, pass } from '#kernel';

/** The trajectory of a store that says which agents are stopped or paused. No agent acts there. */
export const AGENTS = 'assize:agents';

/** A counselor who may bring a stopped agent back. */
const RESTORER = 'restorer';

const RESUMED = 'It may act again, with a new token. Its old proposals can only be rejected.';

const agent = z.strictObject({
  is: z.enum(['stopped', 'paused', 'restored']),
  reason: z.string().min(1).max(4_096),
  /** The principal that stopped, paused or asked to restore it. */
  by: z.string().min(1).max(1_000),
  at: z.string(),
  approvedBy: z.string().optional(),
});
const state = z.strictObject({ agents: z.record(z.string(), agent) });
const args = agent.pick({ reason: true, by: true });

export type AgentsState = z.infer<typeof state>;

/**
 * The agents of a store that may not act. An agent is named by the parameter of the role. One
 * person stops, pauses, and ends a pause. A stopped agent comes back when another person approves.
 */
export function agentsDomain(): Domain<AgentsState> {
  // Few programs stop agents, and a domain takes 30 ms.
  made ??= defineDomain({
    name: 'agents',
    version: '1',
    state,
    initial: { agents: {} },
    processes: { stopping: { writes: ['/agents/{agent}'] } },
    roles: { keeper: { params: ['agent'], processes: ['stopping'] } },
    actions: {
      stop: {
        process: 'stopping',
        description: 'Stops an agent for good.',
        args,
        apply: ({ agents }, args, { role, at }) => {
          if (agents[role.agent]?.is === 'stopped')
            throw new Error(`${role.agent} is stopped already`);
          agents[role.agent] = { is: 'stopped', ...args, at };
        },
      },
      pause: {
        process: 'stopping',
        description: 'Holds all work of an agent until a person resumes it.',
        args,
        apply: ({ agents }, args, { role, at }) => {
          const { is = 'restored' } = agents[role.agent] ?? {};
          if (is !== 'restored') throw new Error(`${role.agent} is ${is} already`);
          agents[role.agent] = { is: 'paused', ...args, at };
        },
      },
      resume: {
        process: 'stopping',
        description: 'Ends a pause; or asks another person to bring a stopped agent back.',
        present: { title: 'Let an agent act again', confirm: RESUMED },
        args,
        apply: ({ agents }, args, { role, at }) => {
          const { is = 'restored' } = agents[role.agent] ?? {};
          if (is === 'restored') throw new Error(`${role.agent} is neither stopped nor paused`);
          if (is === 'paused') delete agents[role.agent];
          else agents[role.agent] = { is: 'restored', ...args, at };
        },
        // The approver decides about the agent that another person asked for.
        widens: () => 'a comeback is of the agent that was asked for',
      },
    },
    invariants: ({ each }) => [
      each(
        'RESTORED_BY_TWO',
        '/agents/*',
        {
          channel: RESTORER,
          final: true,
          onApprove: ({ agents }, { counselor, keys: [name = ''] }) => {
            const restored = agents[name];
            if (restored !== undefined) restored.approvedBy ??= counselor;
          },
        },
        ({ is, by, reason, approvedBy }) =>
          is !== 'restored' || approvedBy !== undefined
            ? pass
            : escalate(`${by} asks to bring it back: ${reason}`),
      ),
    ],
    // A server lets only its counselors decide, whatever their names are.
    counselors: { [RESTORER]: (principal) => !principal.startsWith('agent:') },
    freeze: 'footprint',
  }) as unknown as Domain<AgentsState>;
  return made;
}

let made: Domain<AgentsState> | undefined;
