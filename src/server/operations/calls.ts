import { z } from 'zod';
import type { Json } from '#base';
import { type GatewayState, openCalls, undoCallOf } from '#domains/gateway';
import { readRow } from '#ledger';
import { Trajectory } from '#runtime';
import { ServerError } from '../errors.ts';
import { callerTrajectory, type Reaching, replayerOf } from '../reach.ts';
import { rulingDocument } from '../rulings.ts';
import type { Service } from '../service.ts';
import { hash, instant, json, name, rulingForm } from './forms.ts';
import { type Operation, operation, READERS } from './operation.ts';

const openForm = z
  .strictObject({
    call: z.string(),
    agent: z.string(),
    tool: z.string(),
    session: z.string().optional(),
    class: z.enum(['read', 'reversible', 'irreversible']),
    at: instant,
    digest: hash.describe('of the arguments, and of the parts if the call has any'),
    in_doubt: z.boolean().describe('whether its outcome is reported as unknown, or its agent has been silent too long'),
    idempotent: z.boolean().describe('whether a second call would do no harm'),
  })
  .meta({ id: 'OpenCall', description: 'A call that its agent may have made, and whose outcome is not known.' });

const open = operation({
  id: 'calls.open',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/calls/open',
  summary: 'The calls of agents without a known outcome, the oldest first.',
  kinds: READERS,
  params: z.strictObject({ trajectory: name }),
  query: z.strictObject({ agent: name.optional().describe('only calls of this agent') }),
  answer: z.strictObject({ calls: z.array(openForm) }),
  run: async (request) => {
    const { path, query, service } = request;
    const trajectory = await gatewayTrajectory(request, path.trajectory);
    const now = service.clock.now();
    const calls = Trajectory.readState(trajectory, (state) => openCalls(state as unknown as GatewayState, now));
    const wanted = calls.filter(({ agent }) => query.agent === undefined || agent === query.agent);
    return { body: { calls: wanted.map(({ id, inDoubt, ...call }) => ({ call: id, ...call, in_doubt: inDoubt })) } };
  },
});

const settle = operation({
  id: 'calls.settle',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/calls/{call}/settle',
  summary: 'Record what a person found out about a call without a known outcome. Nothing is called.',
  kinds: ['counselor', 'admin'],
  params: z.strictObject({ trajectory: name, call: name }),
  body: z
    .strictObject({
      outcome: z.enum(['done', 'failed']).describe('`failed`: the call was not made, or it had no effect'),
      evidence: z.string().min(1).max(4_096).describe('the finding that supports the outcome'),
    })
    .meta({ id: 'CallOutcome' }),
  answer: z.strictObject({ ruling: rulingForm }),
  errors: ['halted'],
  run: async (request) => {
    const { path, body, caller, service } = request;
    const { outcome, evidence } = body;
    const trajectory = await gatewayTrajectory(request, path.trajectory);
    const writ = service.offices.forServer(caller.name, 'report', trajectory.id, service.clock.now());
    const args = { call: path.call, outcome, result: { settled_by: caller.name, evidence } };
    const ruling = await trajectory.propose({
      action: 'report',
      role: 'admin',
      args,
      writ,
      principal: caller.name,
    } as never);
    service.metrics.ruling(ruling.ruling);
    return { body: { ruling: rulingDocument(ruling) } };
  },
});

/** @throws ServerError `no_such_value` for a trajectory of another domain */
async function gatewayTrajectory(request: Reaching, trajectoryId: string): Promise<Trajectory> {
  const trajectory = await callerTrajectory(request, trajectoryId);
  if (trajectory.domain.name !== 'gateway')
    throw new ServerError('no_such_value', `The domain of ${trajectory.id} is not gateway, so it has no calls.`);
  await Trajectory.catchUp(trajectory);
  return trajectory;
}

const undo = operation({
  id: 'calls.undo',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/calls/{call}/undo',
  summary: 'The call that takes a done call of the caller back, by the rules. Nothing is called.',
  kinds: ['agent'],
  params: z.strictObject({ trajectory: name, call: name }),
  answer: z.strictObject({ server: z.string(), tool: z.string(), args: json }),
  run: async (request) => {
    const { path, caller, service } = request;
    const trajectory = await callerTrajectory(request, path.trajectory);
    const called = await argsUnder(service, trajectory, path.call, caller.name);
    const reported = await argsUnder(service, trajectory, reportKey(path.call), caller.name);
    if (called === undefined || reported === undefined)
      throw new ServerError('no_such_value', `${caller.name} has made no call ${path.call} through a gateway there.`);
    const { server, tool, args } = called;
    const call = { tool: `${String(server)}/${String(tool)}`, args: args ?? {}, result: reported['result'] ?? null };
    const found = undoCallOf(trajectory.state() as unknown as GatewayState, call);
    if (typeof found !== 'string') return { body: found };
    throw new ServerError('no_such_value', `The call ${path.call} cannot be undone: ${found}.`);
  },
});

/** The key under which a gateway reports that a call is done. */
function reportKey(call: string): string {
  return `report-done-${call}`;
}

/** The arguments of the committed proposal of a principal with a key. */
async function argsUnder(
  service: Service,
  trajectory: Trajectory,
  key: string,
  principal: string,
): Promise<{ readonly [member: string]: Json } | undefined> {
  const ruling = await trajectory.rulingOf(key, principal);
  if (ruling?.ruling !== 'committed') return undefined;
  const { payload } = readRow(ruling.entry);
  if (payload.kind !== 'commit') return undefined;
  const read = await replayerOf(service).values.read(payload, payload.action.args);
  return 'value' in read ? (read.value as { readonly [member: string]: Json }) : undefined;
}

export const calls: readonly Operation[] = [open, settle, undo];
