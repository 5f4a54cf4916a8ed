import {
  agentWrit,
  callerTrajectory,
  hash,
  instant,
  json,
  name,
  type Operation,
  ServerError,
} from '@assize/command/operation';
import { segment } from 'assize/internal/authority';
import { type PendingPayload, Replayer } from 'assize/internal/ledger';
import { Trajectory } from 'assize/internal/runtime';
import { z } from 'zod';
import {
  callDigest,
  filesOf,
  type GatewayState,
  isAlwaysDenied,
  pinnedTools,
  waitingCalls,
} from '#gateway';
import { type GateService, operation } from './service.ts';

const pinForm = z
  .strictObject({
    tool: z.string(),
    hash,
    at: instant,
    class: z.enum(['read', 'reversible', 'irreversible']),
    idempotent: z.boolean(),
    callable: z
      .boolean()
      .describe('whether the grant covers the tool, and no rule denies its every call'),
  })
  .meta({
    id: 'PinnedTool',
    description: 'A tool of a server, with the hash of its approved definition.',
  });

const waitingForm = z
  .strictObject({
    call: z.string(),
    tool: z.string(),
    digest: hash.describe('of the canonical arguments'),
    phase: z.enum(['pending', 'approved', 'begun']),
    at: instant,
    approval: hash.optional(),
    definition: hash.optional().describe('of the tool, as the call was judged with it'),
  })
  .meta({
    id: 'WaitingCall',
    description: 'A call with `once` that waits for a decision, can start, or has no outcome.',
  });

const filesForm = z
  .strictObject({
    tool: z.string(),
    places: z.array(z.string()).describe('paths of rules that deny or ask'),
    spec: z.record(z.string(), json).optional().describe('the tool in the rules'),
  })
  .meta({
    id: 'ToolFiles',
    description: 'What a gateway needs to look up which files a call reaches on its machine.',
  });

const get = operation({
  id: 'servers.get',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/servers/{server}',
  summary:
    'What an agent may do with the tools of a server: its pinned tools, and its calls without an outcome.',
  kinds: ['agent'],
  params: z.strictObject({ trajectory: name, server: name }),
  query: z.strictObject({ agent: name.describe('the agent of the role') }),
  answer: z.strictObject({
    tools: z.array(pinForm),
    lists: z
      .strictObject({ resources: z.boolean(), prompts: z.boolean() })
      .describe('whether the agent may read any resource, and any prompt'),
    calls: z.array(waitingForm),
    files: z.array(filesForm),
  }),
  run: async (request) => {
    const { path, query, caller, service } = request;
    const { server } = path;
    const { agent } = query;
    const trajectory = await callerTrajectory(request, path.trajectory);
    if (trajectory.domain.name !== 'gateway')
      throw new ServerError(
        'not_found',
        `The domain of ${trajectory.id} is not gateway, so it has no servers.`,
      );
    const writ = await agentWrit(request, trajectory.id, 'call');
    await service.gateways.ready(trajectory);
    const covers = (tool: string): boolean => {
      const scopes = [`role:agent:${segment(agent)}`, `tool:${segment(server)}:${segment(tool)}`];
      return Trajectory.covers(trajectory, writ, { action: 'call', scopes });
    };
    const now = service.clock.now();
    const { result } = await Trajectory.readMemory(
      trajectory,
      await service.assize.erasures(),
      ({ world }) => {
        const state = world.state as unknown as GatewayState;
        const isOpen = (tool: string): boolean =>
          covers(tool) && !isAlwaysDenied(state, { server, tool, agent, now });
        return {
          pins: pinnedTools(state, server, { agent, now }),
          lists: { resources: isOpen('resources.read'), prompts: isOpen('prompts.get') },
          calls: waitingCalls(state, { server, agent, now }),
          files: filesOf(state, server, agent),
        };
      },
    );
    const tools = result.pins.map(({ denied, ...pin }) => ({
      ...pin,
      callable: !denied && covers(pin.tool),
    }));
    const isCovered = new Map<string, boolean>();
    const mayKnow = (tool: string): boolean => {
      const known = isCovered.get(tool) ?? covers(tool);
      isCovered.set(tool, known);
      return known;
    };
    const waiting: z.input<typeof waitingForm>[] = result.calls.flatMap(({ id, ...row }) =>
      mayKnow(row.tool) ? [{ call: id, ...row }] : [],
    );
    const { values } = new Replayer(service.store);
    for (const { id, payload } of trajectory.approvals.pending()) {
      const asked = await askedCall(payload, values);
      if (asked === undefined || asked.server !== server || asked.agent !== agent) continue;
      if (Trajectory.writOf(trajectory, payload.proposal.writ_id)?.writ.subject !== caller.name)
        continue;
      const { server: _, agent: __, ...call } = asked;
      waiting.push({ ...call, phase: 'pending', at: payload.at, approval: id });
    }
    const files = result.files.filter(({ tool }) => mayKnow(tool)) as z.input<typeof filesForm>[];
    return { body: { tools, lists: result.lists, calls: waiting, files } };
  },
});

/** The call of a pending proposal that must start. Undefined for any other, and if erased. */
async function askedCall(payload: PendingPayload, values: Replayer['values']) {
  const { action } = payload.proposal;
  if (action.name !== 'call' || action.role.name !== 'agent') return undefined;
  const read = await values.read(payload, action.args);
  if (!('value' in read)) return undefined;
  const { id, server, tool, args, once, definition, parts, reaches } = read.value as {
    readonly [member in
      | 'id'
      | 'server'
      | 'tool'
      | 'args'
      | 'once'
      | 'definition'
      | 'parts'
      | 'reaches']?: never;
  };
  if (once !== true || id === undefined) return undefined;
  const agent = action.role.params['agent'];
  return {
    ...{ call: id as string, server, agent, tool: tool as unknown as string },
    digest: callDigest({ args: args ?? {}, parts, reaches }),
    ...(definition !== undefined && { definition: definition as string }),
  };
}

export const servers: readonly Operation<GateService>[] = [get];
