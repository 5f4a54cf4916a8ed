import { documentForm, name, type Operation } from '@assize/command/operation';
import { z } from 'zod';
import { CLAUDE_CODE_HOOKS, CODEX_HOOKS, handleEvent } from '#hooks';
import { CallerWorld } from './caller-world.ts';
import { type GateService, operation } from './service.ts';

const WAIT_SECONDS = 20;
const WAIT_SECONDS_MAX = 50;

/** An event about a file has its text before and after the call, and their difference. */
const BODY_BYTES = 16 * 1_048_576;
/** The results of tools are in the events. */
const BODY_NAMES = 65_536;

const waitQuery = z.strictObject({
  wait: z.coerce
    .number()
    .int()
    .min(0)
    .max(WAIT_SECONDS_MAX)
    .optional()
    .describe('seconds in which a person can decide before the answer; default 20'),
  sandbox: z
    .string()
    .max(100)
    .optional()
    .describe(
      'the digest of the rules that the sandbox of the program follows; while these are in force, parts of its commands have `sandboxed`',
    ),
});

const claudeCodeQuery = waitQuery.extend({
  pending: z
    .enum(['deny', 'defer'])
    .optional()
    .describe(
      'the answer while nothing is decided; `defer` stops a run without a terminal until it is resumed',
    ),
  confirm: z
    .enum(['never', 'irreversible', 'changes', 'always'])
    .optional()
    .describe('calls that the person at the terminal confirms too; default: never'),
});

const hookBody = z
  .looseObject({ hook_event_name: z.string().min(1).max(100) })
  .meta({ id: 'HookEvent', description: 'An event, as the agent program sends it to its hooks.' });

/** All that the operations of hooks share. */
const HOOK = {
  method: 'post',
  kinds: ['agent'],
  params: z.strictObject({ trajectory: name }),
  body: hookBody,
  bodyBytes: BODY_BYTES,
  bodyNames: BODY_NAMES,
  answer: documentForm,
  errors: ['halted', 'too_many_pending', 'conflict'],
} as const;

const claudeCode = operation({
  ...HOOK,
  id: 'hooks.claude_code',
  path: '/v1/trajectories/{trajectory}/hooks/claude-code',
  summary:
    'Answer an event of the hooks of Claude Code: rule on a call before it is made, or record its outcome.',
  query: claudeCodeQuery,
  run: async (request) => {
    const { path, query, body, origin } = request;
    const world = await CallerWorld.open(request, path.trajectory);
    const answer = await handleEvent(CLAUDE_CODE_HOOKS, world, body, {
      waitMs: (query.wait ?? WAIT_SECONDS) * 1_000,
      pending: query.pending ?? 'deny',
      confirm: query.confirm ?? 'never',
      sandbox: query.sandbox,
      inboxUrl: `${origin}/inbox`,
    });
    return { body: answer as Record<string, unknown> };
  },
});

const codex = operation({
  ...HOOK,
  id: 'hooks.codex',
  path: '/v1/trajectories/{trajectory}/hooks/codex',
  summary:
    'Answer an event of the hooks of Codex: rule on a call before it is made, or record its outcome.',
  query: waitQuery,
  run: async (request) => {
    const { path, query, body, origin } = request;
    const world = await CallerWorld.open(request, path.trajectory);
    const waitMs = (query.wait ?? WAIT_SECONDS) * 1_000;
    const options = { waitMs, sandbox: query.sandbox, inboxUrl: `${origin}/inbox` };
    return {
      body: (await handleEvent(CODEX_HOOKS, world, body, options)) as Record<string, unknown>,
    };
  },
});

export const hooks: readonly Operation<GateService>[] = [claudeCode, codex];
