import { z } from 'zod';
import { handleEvent } from '../hooks/claude-code/handle-event.ts';
import { GatewayDesk } from '../hooks/gateway-desk.ts';
import { documentForm, name } from './forms.ts';
import { type Operation, operation } from './operation.ts';

const WAIT_SECONDS_MAX = 50;

/** An event about a file has its text before and after the call, and their difference. */
const BODY_BYTES = 16 * 1_048_576;

const hookQuery = z.strictObject({
  wait: z.coerce
    .number()
    .int()
    .min(0)
    .max(WAIT_SECONDS_MAX)
    .optional()
    .describe('seconds in which a person can decide before the answer; default 20'),
  pending: z
    .enum(['deny', 'defer'])
    .optional()
    .describe('the answer while nothing is decided; `defer` stops a run without a terminal until it is resumed'),
  confirm: z
    .enum(['never', 'irreversible', 'changes', 'always'])
    .optional()
    .describe('calls that the person at the terminal confirms too; default: never'),
});

const claudeCode = operation({
  id: 'hooks.claude_code',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/hooks/claude-code',
  summary: 'Answer an event of the hooks of Claude Code: rule on a call before it is made, or record its outcome.',
  kinds: ['agent'],
  params: z.strictObject({ trajectory: name }),
  query: hookQuery,
  body: z
    .looseObject({ hook_event_name: z.string().min(1).max(100) })
    .meta({ id: 'HookEvent', description: 'An event, as the agent program sends it to its hooks.' }),
  bodyBytes: BODY_BYTES,
  answer: documentForm,
  errors: ['halted', 'too_many_pending', 'conflict'],
  run: async (request) => {
    const { path, query, body, origin } = request;
    const desk = await GatewayDesk.open(request, path.trajectory);
    const answer = await handleEvent(desk, body, {
      waitMs: (query.wait ?? 20) * 1_000,
      pending: query.pending ?? 'deny',
      confirm: query.confirm ?? 'never',
      inboxUrl: `${origin}/inbox`,
    });
    return { body: answer as Record<string, unknown> };
  },
});

export const hooks: readonly Operation[] = [claudeCode];
