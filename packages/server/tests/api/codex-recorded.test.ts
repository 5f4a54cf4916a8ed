/** Every recorded event of Codex, sent to servers with different rules. */
import { expect, test } from 'vitest';
import {
  answeredBy,
  played as playedOf,
  type RecordedProgram,
  recordedOf,
} from '../support/agents/recorded.ts';

const CODEX: RecordedProgram = {
  program: 'codex',
  order: [
    ...[
      'SessionStart',
      'UserPromptSubmit',
      'SubagentStart',
      'PreToolUse',
      'PermissionRequest',
      'PostToolUse',
    ],
    ...['SubagentStop', 'Stop', 'SessionEnd'],
  ],
  questions: ['PreToolUse', 'PermissionRequest'],
  permissionIn: (event, answer) => {
    if (event === 'PermissionRequest') return answer.hookSpecificOutput?.decision.behavior;
    const { hookEventName, permissionDecision, permissionDecisionReason, ...more } =
      answer.hookSpecificOutput;
    // Codex takes an unknown member or an empty reason for no answer, and the call would run.
    const isRead =
      hookEventName === event && permissionDecisionReason !== '' && Object.keys(more).length === 0;
    return isRead && Object.keys(answer).length === 1 ? permissionDecision : undefined;
  },
  subjectOf: (name) => name.replace(/^(pre-tool-use|post-tool-use|permission-request)-/, ''),
};
const RECORDED = recordedOf(CODEX);
const played = (text: string) => playedOf(CODEX, text);

test('every recorded event of Codex has its place, and all are there', () => {
  const { order } = CODEX;
  expect(RECORDED.filter(({ input }) => !order.includes(input.hook_event_name))).toEqual([]);
  expect(
    order.filter((event) => !RECORDED.some(({ input }) => input.hook_event_name === event)),
  ).toEqual([]);
  expect(RECORDED.length).toBeGreaterThanOrEqual(22);
});

test('rules that deny all refuse every recorded question of Codex', async () => {
  const run = await played(
    '{ id: none, default: deny, unknown: deny, rules: [{ id: none, deny: "*" }] }',
  );
  expect(answeredBy(run, 'deny')).toEqual(Object.keys(run.permissions));
  expect(run.outcomes).toEqual({});
});

test('rules that allow reading let exactly the reading calls through', async () => {
  const run = await played(
    '{ id: reading, default: deny, unknown: deny, rules: [{ id: look, allow: "*", class: read }] }',
  );
  expect(answeredBy(run, 'allow')).toEqual([
    'pre-tool-use-bash-elsewhere',
    ...['pre-tool-use-create-goal', 'pre-tool-use-spawn-agent', 'pre-tool-use-view-image'],
  ]);
  expect(run.permissions).toMatchObject({ 'permission-request-bash': 'deny' });
  expect(answeredBy(run, undefined)).toEqual([]);
  expect(run.outcomes).toEqual({
    ...{ 'bash-elsewhere.call_c1': 'done', 'create-goal.call_c2': 'done' },
    ...{ 'spawn-agent.call_c3': 'done', 'view-image.call_c3': 'open' },
  });
});

test('rules that allow all leave unknown tools of Codex to a person', async () => {
  const run = await played('{ id: all, default: allow, tools: { notes/add: { class: read } } }');
  // The request is about the call that was let through, and is left to the person.
  expect(answeredBy(run, undefined)).toEqual(['permission-request-bash']);
  expect(answeredBy(run, 'deny')).toEqual(['pre-tool-use-mcp']);
  expect(run.outcomes).toEqual({
    'apply-patch.call_c1': 'done',
    'bash-elsewhere.call_c1': 'done',
    'bash-in-subagent.call_s1': 'done',
    'bash-patch.call_c1': 'open',
    'bash.call_c1': 'done',
    ...{ 'create-goal.call_c2': 'done', 'spawn-agent.call_c3': 'done' },
    'view-image.call_c3': 'open',
  });
});

test('rules can name an MCP server whose origin Codex does not say', async () => {
  const rules = (rule: string) =>
    `{ id: notes, default: deny, tools: { 'unknown:notes/add': { class: read } }, rules: [{ id: add, allow: ${rule} }] }`;
  expect(answeredBy(await played(rules('notes/add')), 'allow')).toEqual([]);
  expect(answeredBy(await played(rules("'unknown:notes/add'")), 'allow')).toEqual([
    'pre-tool-use-mcp',
  ]);
});
