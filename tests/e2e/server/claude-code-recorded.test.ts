/** Every recorded event of Claude Code, sent to servers with different rules. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { gateway, readRules } from '#domains/gateway';
import type { Domain } from '#kernel';
import { RULED_PRINCIPALS } from '../../support/agents/ruling.ts';
import { start } from '../../support/server/serving.ts';

interface Recorded {
  readonly name: string;
  readonly input: { readonly hook_event_name: string; readonly [member: string]: unknown };
}

/** The order of the events in a run. */
const ORDER = [
  ...['UserPromptSubmit', 'UserPromptExpansion', 'SubagentStart', 'PreToolUse', 'PreSkillShellCommand'],
  ...['PermissionRequest', 'PermissionDenied', 'Elicitation', 'ConfigChange', 'CwdChanged'],
  ...['PostToolUse', 'PostToolUseFailure', 'PostToolBatch', 'SubagentStop', 'Stop', 'SessionEnd'],
];

const folder = join(import.meta.dirname, '../../support/claude-code/recorded');
const RECORDED: readonly Recorded[] = globSync(join(folder, '*.json'))
  .map((path) => ({ name: basename(path, '.json'), input: JSON.parse(readFileSync(path, 'utf8')) }))
  .sort((a, b) => placeOf(a) - placeOf(b) || (a.name < b.name ? -1 : 1));

function placeOf({ input }: Recorded): number {
  return ORDER.indexOf(input.hook_event_name);
}

/** The answer to an event as Claude Code reads it: without the name of the event, it is none. */
function permissionIn(event: string, answer: any): string | undefined {
  if (event === 'ConfigChange') return answer.decision;
  const said = answer.hookSpecificOutput;
  if (said?.hookEventName !== event) return undefined;
  if (event === 'PermissionRequest') return said.decision.behavior;
  return event === 'Elicitation' ? said.action : said.permissionDecision;
}

interface Played {
  /** By the name of each recorded question. `undefined`: no opinion. */
  readonly permissions: Readonly<Record<string, string | undefined>>;
  /** By the id of the call. */
  readonly outcomes: Readonly<Record<string, string>>;
}

const QUESTIONS = ['PreToolUse', 'PreSkillShellCommand', 'PermissionRequest', 'Elicitation', 'ConfigChange'];

/**
 * Sends all events. The identifiers of the runs are the same in all files, so the events with the
 * same subject, such as `write-create`, are a session of their own.
 */
async function played(text: string): Promise<Played> {
  const { rules } = readRules(text);
  const server = await start({
    config: { worlds: { calls: { domain: 'gateway' } }, tools: [] },
    principals: RULED_PRINCIPALS as never,
    domains: [gateway({ rules }) as unknown as Domain],
    rules,
  });
  const token = await server.tokenFor('agent:coder');
  const path = '/v1/trajectories/calls/hooks/claude-code?wait=0';
  const permissions: Record<string, string | undefined> = {};
  for (const { name, input } of RECORDED) {
    const body = { ...input, session_id: subjectOf(name) };
    const answered = await server.ask('POST', path, { token, body });
    expect({ name, status: answered.status }).toEqual({ name, status: 200 });
    if (QUESTIONS.includes(input.hook_event_name))
      permissions[name] = permissionIn(input.hook_event_name, answered.body);
    else expect({ name, body: answered.body }).toEqual({ name, body: {} });
  }
  const auditor = await server.tokenFor('admin:ann');
  const { state } = (await server.ask('GET', '/v1/trajectories/calls/state', { token: auditor })).body;
  const rows = Object.entries<any>(state.calls);
  return { permissions, outcomes: Object.fromEntries(rows.map(([id, { outcome = 'open' }]) => [id, outcome])) };
}

function subjectOf(name: string): string {
  if (name.endsWith('-by-claude')) return 'skill';
  return name
    .replace(/^(pre-tool-use|post-tool-use-failure|post-tool-use|post-tool-batch)-/, '')
    .replace('-create', '');
}

/** The names of the questions with one of these answers. */
function answeredBy({ permissions }: Played, ...wanted: readonly (string | undefined)[]): string[] {
  return Object.keys(permissions).filter((name) => wanted.includes(permissions[name]));
}

test('every recorded event has its place, and every kind of question is there', () => {
  expect(RECORDED.filter((each) => placeOf(each) < 0)).toEqual([]);
  expect(ORDER.filter((event) => !RECORDED.some(({ input }) => input.hook_event_name === event))).toEqual([]);
  expect(RECORDED.length).toBeGreaterThanOrEqual(70);
});

test('rules that deny all refuse every recorded question', async () => {
  const run = await played('{ id: none, default: deny, unknown: deny, rules: [{ id: none, deny: "*" }] }');
  expect(answeredBy(run, 'deny', 'block', 'decline')).toEqual(Object.keys(run.permissions));
  expect(run.outcomes).toEqual({});
});

/** The outcomes of the reading calls, which the recorded events of their ends tell. */
const READING = {
  'bash-background.toolu_t21': 'done',
  'bash-in-subagent.toolu_s1': 'done',
  'bash.toolu_t8': 'failed',
  'monitor.toolu_t3': 'done',
  'pre-skill-shell-command-bash-by-user.33333333-3333-4333-8333-333333333333:inner:preamble-1': 'done',
  'read-notebook.toolu_t16': 'done',
  'read.toolu_t1': 'done',
  'skill.toolu_m2:preamble-0': 'done',
  'web-fetch.toolu_t13': 'failed',
  'web-search.toolu_t19': 'failed',
};

test('rules that allow reading let exactly the reading calls through', async () => {
  const run = await played(
    '{ id: reading, default: deny, unknown: deny, rules: [{ id: look, allow: "*", class: read }] }',
  );
  const questions = ['bash', 'bash-background', 'bash-in-subagent', 'monitor', 'read', 'read-notebook'];
  expect(answeredBy(run, 'allow')).toEqual([
    ...[...questions, 'web-fetch', 'web-search'].map((name) => `pre-tool-use-${name}`),
    ...['pre-skill-shell-command-bash-by-claude', 'pre-skill-shell-command-bash-by-user'],
  ]);
  expect(answeredBy(run, undefined)).toEqual([]);
  expect(run.outcomes).toEqual(READING);
});

test('rules that allow all leave unknown tools to a person', async () => {
  const run = await played('{ id: all, default: allow, tools: { notes/add: { class: read } } }');
  const held = ['agent', 'cron-create', 'enter-worktree', 'mcp-plugin', 'mcp-project', 'skill', 'tool-search'];
  expect(answeredBy(run, 'deny').filter((name) => name.startsWith('pre-'))).toEqual(
    held.map((name) => `pre-tool-use-${name}`),
  );
  const changes = ['edit.toolu_t3', 'notebook-edit.toolu_t17', 'write.toolu_t2', 'write-in-subagent.toolu_s2'];
  const done = [...changes, 'mcp-local.toolu_m1', 'mcp-user.toolu_m1'];
  expect(run.outcomes).toEqual({ ...READING, ...Object.fromEntries(done.map((id) => [id, 'done'])) });
});
