import {
  hash,
  instant,
  json,
  name,
  type Operation,
  observationsForm,
  READERS,
  rulingForm,
  ServerError,
} from '@assize/command/operation';
import type { Json } from 'assize/internal/base';
import { Trajectory } from 'assize/internal/runtime';
import { z } from 'zod';
import {
  type AskedCall,
  attend,
  closeCall,
  decideCall,
  fail,
  judgeCall,
  leave,
  type Observed,
  outcomeOf,
  REPORTED_BYTES_MAX,
  undoCalls,
  undoOf,
} from '#calls';
import { type GatewayState, openCalls } from '#gateway';
import { CallerWorld, gatewayTrajectory } from './caller-world.ts';
import { type GateService, operation } from './service.ts';
import { settled } from './settler.ts';

/** The most bytes of a report. Of a result that no entry can hold, the entry keeps the hash. */
const REPORT_BYTES = 5 * 1_048_576;
/** The most names of a report. A refused report would leave a call without its outcome. */
const REPORT_NAMES = 65_536;

const openForm = z
  .strictObject({
    call: z.string(),
    agent: z.string(),
    tool: z.string(),
    session: z.string().optional(),
    class: z.enum(['read', 'reversible', 'irreversible']),
    at: instant,
    digest: hash.describe('of the arguments, and of the parts if the call has any'),
    in_doubt: z
      .boolean()
      .describe(
        'whether its outcome is reported as unknown, or its agent has been silent too long',
      ),
    idempotent: z.boolean().describe('whether a second call would do no harm'),
  })
  .meta({
    id: 'OpenCall',
    description: 'A call that its agent may have made, and whose outcome is not known.',
  });

const decisionForm = z
  .discriminatedUnion('decision', [
    z.strictObject({
      decision: z.literal('allowed'),
      call: z.string(),
      class: z.enum(['read', 'reversible', 'irreversible']),
      args: z
        .record(z.string(), json)
        .optional()
        .describe('the arguments that a person has approved instead'),
    }),
    z.strictObject({ decision: z.literal('ready'), call: z.string() }),
    z.strictObject({
      decision: z.literal('denied'),
      reason: z.string(),
      ruling: rulingForm.optional().describe('absent where no ruling denies the call'),
      turn: z
        .enum(['waiting', 'restart', 'lost'])
        .optional()
        .describe('another run goes first; after `waiting`, ask about the same call again'),
    }),
    z.strictObject({
      decision: z.literal('pending'),
      approval: hash,
      reason: z.string(),
      ruling: rulingForm
        .optional()
        .describe('`frozen`: the approval is of another call, and that call blocks this one'),
    }),
    z.strictObject({
      decision: z.literal('begun'),
      call: z.string(),
      class: z
        .enum(['read', 'reversible', 'irreversible'])
        .optional()
        .describe('absent for a call of a past day'),
      outcome: z.enum(['done', 'failed', 'unknown']).optional(),
      reason: z.string(),
    }),
  ])
  .meta({
    id: 'CallDecision',
    description:
      '`allowed`: the call has started, and its agent makes it now, once. `ready`: it is let through, and has not started.',
  });

const ask = operation({
  id: 'calls.ask',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/calls',
  summary:
    'Ask whether a tool call may be made. An allowed call starts, and no other attempt is allowed.',
  kinds: ['agent'],
  params: z.strictObject({ trajectory: name }),
  query: z.strictObject({
    wait: z.coerce
      .number()
      .int()
      .min(0)
      .max(50)
      .optional()
      .describe('seconds to wait for a person; default 0; for longer, ask again with the same id'),
  }),
  body: z
    .strictObject({
      id: z.string().describe('the id of the call: a repetition is the same call'),
      session: z.string().optional().describe('the run of the agent'),
      server: z.string(),
      tool: z.string(),
      args: z.record(z.string(), json),
      observations: observationsForm.optional().describe('where and how the call was asked for'),
      later: z
        .literal(true)
        .optional()
        .describe('judge the call, and do not begin it; ask again to make it'),
      attempt: z
        .string()
        .regex(/^[0-9a-f]{32}$/, 'write 32 random hex digits in lower case')
        .optional()
        .describe(
          '32 random hex digits, new for each question: the same ones get the same `allowed` again after a lost answer',
        ),
      undoes: z.string().optional().describe('the done call that this one takes back'),
      known: z.literal(true).optional().describe('deny a call that was not asked about before'),
    })
    .meta({ id: 'AskedCall' }),
  refusesHidden: true,
  isRouted: true,
  answer: decisionForm,
  errors: ['halted', 'too_many_pending', 'conflict'],
  run: async (request) => {
    const { path, query, body } = request;
    const world = await CallerWorld.open(request, path.trajectory);
    const { session, observations, later, known, attempt = request.attempt, ...call } = body;
    if (session !== undefined) await attend(world, { id: session });
    const asked = { ...call, ...(session !== undefined && { session }) } as AskedCall;
    const options = {
      waitMs: (query.wait ?? 0) * 1_000,
      match: 'id',
      observations: (observations ?? []) as Observed[],
      isKnown: known === true,
    } as const;
    const { kind, ...more } = await (later === true
      ? judgeCall(world, asked, options)
      : decideCall(world, asked, { ...options, ...(attempt !== undefined && { attempt }) }));
    return { body: { decision: kind, ...more } as z.input<typeof decisionForm> };
  },
});

const report = operation({
  id: 'calls.report',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/calls/{call}/report',
  summary: 'Record the outcome of a call that the agent made. One that is closed stays as it is.',
  kinds: ['agent'],
  params: z.strictObject({ trajectory: name, call: name }),
  body: z
    .strictObject({
      outcome: z.enum(['done', 'failed', 'unknown']),
      result: json
        .optional()
        .describe('of a result above 1,040,000 bytes or 4,096 names, the ledger keeps the hash'),
    })
    .meta({ id: 'ReportedOutcome' }),
  bodyBytes: REPORT_BYTES,
  bodyNames: REPORT_NAMES,
  isRouted: true,
  answer: z.strictObject({
    recorded: z.boolean().describe('whether the outcome was recorded now'),
  }),
  errors: ['halted'],
  run: async (request) => {
    const { path, body } = request;
    const world = await CallerWorld.open(request, path.trajectory);
    const { outcome, result } = body;
    const given = { outcome, ...(result !== undefined && { result: result as Json }) };
    return {
      body: {
        recorded: await closeCall(world, path.call, given, { bytesMax: REPORTED_BYTES_MAX }),
      },
    };
  },
});

const outcome = operation({
  id: 'calls.outcome',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/calls/{call}/outcome',
  summary: 'The outcome of a call of the agent, however old, with the result that it reported.',
  kinds: ['agent'],
  params: z.strictObject({ trajectory: name, call: name }),
  answer: z.strictObject({
    outcome: z
      .enum(['done', 'failed', 'unknown'])
      .optional()
      .describe('absent while it is not known'),
    result: json.optional(),
  }),
  run: async (request) => {
    const world = await CallerWorld.open(request, request.path.trajectory);
    return { body: { ...(await outcomeOf(world, request.path.call)) } };
  },
});

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
    const calls = Trajectory.readState(trajectory, (state) =>
      openCalls(state as unknown as GatewayState, now),
    );
    const wanted = calls.filter(({ agent }) => query.agent === undefined || agent === query.agent);
    return {
      body: {
        calls: wanted.map(({ id, inDoubt, ...call }) => ({ call: id, ...call, in_doubt: inDoubt })),
      },
    };
  },
});

const settle = operation({
  id: 'calls.settle',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/calls/{call}/settle',
  summary:
    'Record what a person found out about a call without a known outcome. Nothing is called.',
  kinds: ['counselor', 'admin'],
  params: z.strictObject({ trajectory: name, call: name }),
  body: z
    .strictObject({
      outcome: z
        .enum(['done', 'failed'])
        .describe('`failed`: the call was not made, or it had no effect'),
      evidence: z.string().min(1).max(4_096).describe('the finding that supports the outcome'),
    })
    .meta({ id: 'CallFinding' }),
  answer: z.strictObject({ ruling: rulingForm }),
  errors: ['halted', 'unauthorised_counselor'],
  run: async (request) => {
    const { path, body, caller } = request;
    const { outcome, evidence } = body;
    const trajectory = await gatewayTrajectory(request, path.trajectory);
    const { calls } = trajectory.state() as unknown as GatewayState;
    const result = { settled_by: caller.name, evidence };
    const ruling = await settled(request, trajectory, {
      ...{ action: 'report', args: { call: path.call, outcome, result } },
      agent: calls[path.call]?.agent,
    });
    return { body: { ruling } };
  },
});

const undo = operation({
  id: 'calls.undo',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/calls/{call}/undo',
  summary: 'The call that takes a done call of the caller back, by the rules. Nothing is called.',
  kinds: ['agent'],
  params: z.strictObject({ trajectory: name, call: name }),
  answer: z.strictObject({ server: z.string(), tool: z.string(), args: json }),
  run: async (request) => {
    const { path, caller } = request;
    const world = await CallerWorld.open(request, path.trajectory);
    const found = await undoOf(world, path.call);
    if (typeof found === 'object') return { body: found };
    throw new ServerError(
      'not_found',
      found === undefined
        ? `${caller.name} has made no call ${path.call} there.`
        : `The call ${path.call} cannot be undone: ${found}.`,
    );
  },
});

const undoSession = operation({
  id: 'calls.undo_session',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/sessions/{session}/undo',
  summary:
    'How the calls of a session of the caller are taken back, for the newest first. Nothing is called.',
  kinds: ['agent'],
  params: z.strictObject({ trajectory: name, session: name }),
  answer: z.strictObject({
    calls: z.array(
      z.strictObject({
        call: z.string().describe('the done call'),
        server: z.string(),
        tool: z.string(),
        args: json,
      }),
    ),
    left: z
      .array(z.strictObject({ call: z.string(), reason: z.string() }))
      .describe('calls that no rule can take back, and calls without a known outcome'),
  }),
  run: async (request) => {
    const world = await CallerWorld.open(request, request.path.trajectory);
    const { calls, left } = await undoCalls(world, request.path.session);
    return { body: { calls: [...calls], left: [...left] } };
  },
});

const failSession = operation({
  id: 'calls.fail_session',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/sessions/{session}/fail',
  summary:
    'Record that a session of the caller failed. Its later calls are refused, but for those that take back.',
  kinds: ['agent'],
  params: z.strictObject({ trajectory: name, session: name }),
  body: z.strictObject({}).meta({ id: 'FailedSession' }),
  isRouted: true,
  answer: z.strictObject({ failed: z.literal(true) }),
  errors: ['halted'],
  run: async (request) => {
    const world = await CallerWorld.open(request, request.path.trajectory);
    await fail(world, request.path.session);
    return { body: { failed: true as const } };
  },
});

const endSession = operation({
  id: 'calls.end_session',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/sessions/{session}/end',
  summary: 'End a session of the caller. The places that it held are free for other runs.',
  kinds: ['agent'],
  params: z.strictObject({ trajectory: name, session: name }),
  body: z.strictObject({}).meta({ id: 'EndedSession' }),
  isRouted: true,
  answer: z.strictObject({ ended: z.literal(true) }),
  errors: ['halted'],
  run: async (request) => {
    const world = await CallerWorld.open(request, request.path.trajectory);
    await leave(world, request.path.session);
    return { body: { ended: true as const } };
  },
});

export const calls: readonly Operation<GateService>[] = [
  ask,
  open,
  report,
  outcome,
  settle,
  undo,
  undoSession,
  failSession,
  endSession,
];
