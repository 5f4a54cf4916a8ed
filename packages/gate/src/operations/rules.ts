import { hash, instant, json, name, type Operation, READERS } from '@assize/command/operation';
import type { Instant } from 'assize/internal/canon';
import { Trajectory } from 'assize/internal/runtime';
import { z } from 'zod';
import { rulesReport, spanBefore } from '#calls';
import { type GatewayState, ruleLine, rulesInForce, rulesStatus } from '#gateway';
import { gatewayTrajectory } from './caller-world.ts';
import { type GateService, operation } from './service.ts';

const day = z.string().describe('a day in UTC, on which the rules hold or the trial is over');

const worldForm = z
  .strictObject({
    trajectory_id: z.string(),
    id: z.string(),
    digest: hash,
    observing: z
      .strictObject({
        until: day,
        agents: z.array(z.string()).optional().describe('absent: every agent'),
        rules: z.array(z.string()).optional().describe('absent: all but those that hold'),
      })
      .optional()
      .describe('absent: every rule holds'),
    trial: z.strictObject({ id: z.string(), digest: hash, until: day }).optional(),
    text: z.string().optional().describe('the rules as a rules file'),
  })
  .meta({ id: 'RulesInForce', description: 'The rules in force in a world of the gateway.' });

const list = operation({
  id: 'rules.list',
  method: 'get',
  path: '/v1/rules',
  summary:
    'The rules in force in the worlds of the gateway domain, and what of them only observes.',
  kinds: READERS,
  query: z.strictObject({
    trajectory: name.optional().describe('only this one, with the text of its rules'),
  }),
  answer: z.strictObject({ worlds: z.array(worldForm) }),
  run: async (request) => {
    const { query, service } = request;
    const now = service.clock.now();
    const worlds: z.input<typeof worldForm>[] = [];
    const { trajectory: only } = query;
    for (const id of only === undefined ? service.gateways.worlds : [only]) {
      const trajectory = await gatewayTrajectory(request, id);
      const status = Trajectory.readState(trajectory, (read) => {
        const state = read as unknown as GatewayState;
        const text = only === undefined ? {} : { text: service.gateways.fileTextOf(state) };
        return { ...rulesStatus(state, now), ...text };
      });
      worlds.push({ trajectory_id: id, ...status } as z.input<typeof worldForm>);
    }
    return { body: { worlds } };
  },
});

const counts = z.record(z.string(), z.number().int());

const exampleForm = z.strictObject({
  trajectory_id: z.string(),
  seq: z.number().int(),
  at: instant,
  call: z.string().optional().describe('absent for a refused call'),
  agent: z.string(),
  tool: z.string().optional(),
  args: json.optional(),
  why: z.string(),
});

const report = operation({
  id: 'rules.report',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/rules/report',
  summary: 'What rules asked and refused since a time, or would have, by rule, agent and tool.',
  kinds: READERS,
  params: z.strictObject({ trajectory: name }),
  query: z.strictObject({
    since: z
      .string()
      .regex(/^\d{1,4}[hd]$/, 'write a span such as 7d or 12h')
      .optional()
      .describe('a span such as `7d` or `12h`; default 7d'),
  }),
  answer: z.strictObject({
    since: instant,
    calls: z.number().int().describe('all calls that were judged'),
    tried: z.number().int().describe('those that a trial set judged too'),
    rules: z.array(
      z
        .strictObject({
          set: z
            .enum(['force', 'observed', 'trial'])
            .describe('`observed`: without observation; `trial`: by the trial set'),
          rule: z.string(),
          text: z.string().optional().describe('the rule as it is in force now'),
          ruling: z.enum(['ask', 'deny']),
          calls: z.number().int(),
          agents: counts,
          tools: counts,
          examples: z.array(exampleForm).describe('the newest first'),
        })
        .meta({ id: 'RuleCount' }),
    ),
    changes: z.array(
      z.strictObject({
        trajectory_id: z.string(),
        seq: z.number().int(),
        at: instant,
        digest: z.string(),
        promoted: z
          .strictObject({ by: z.string(), from: z.string(), report: z.string() })
          .optional()
          .describe('absent: the file was edited'),
      }),
    ),
    gaps: z
      .array(
        z.strictObject({
          trajectory_id: z.string(),
          seq: z.number().int(),
          at: instant,
          from: z.string(),
          to: z.string(),
          calls: z.number().int(),
          agents: counts,
        }),
      )
      .describe('calls that hooks let through, because they were only observed, without a server'),
  }),
  run: async (request) => {
    const { path, query, service } = request;
    const trajectory = await gatewayTrajectory(request, path.trajectory);
    const since = spanBefore(query.since ?? '7d', service.clock.now()) as Instant;
    const report = await rulesReport(service.store, [trajectory.id], since);
    const now = Trajectory.readState(trajectory, (state) =>
      rulesInForce(state as unknown as GatewayState),
    );
    const rules = report.rules.map((one) => {
      const text = one.set === 'trial' ? undefined : ruleLine(now, one.rule);
      return { ...one, ...(text !== undefined && { text }) };
    });
    return { body: { ...report, rules } as never };
  },
});

export const rules: readonly Operation<GateService>[] = [list, report];
