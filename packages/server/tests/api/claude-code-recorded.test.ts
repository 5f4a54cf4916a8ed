/** Every recorded event of Claude Code, sent to servers with different rules. */
import { expect, test } from 'vitest';
import {
  answeredBy,
  played as playedOf,
  type RecordedProgram,
  recordedOf,
} from '../support/agents/recorded.ts';

const CLAUDE_CODE: RecordedProgram = {
  program: 'claude-code',
  order: [
    ...[
      'UserPromptSubmit',
      'UserPromptExpansion',
      'SubagentStart',
      'PreToolUse',
      'PreSkillShellCommand',
    ],
    ...['PermissionRequest', 'PermissionDenied', 'Elicitation', 'ConfigChange', 'CwdChanged'],
    ...['PostToolUse', 'PostToolUseFailure', 'PostToolBatch', 'SubagentStop', 'Stop', 'SessionEnd'],
  ],
  questions: [
    'PreToolUse',
    'PreSkillShellCommand',
    'PermissionRequest',
    'Elicitation',
    'ConfigChange',
  ],
  // Without the name of the event, Claude Code reads no answer.
  permissionIn: (event, answer) => {
    if (event === 'ConfigChange') return answer.decision;
    const said = answer.hookSpecificOutput;
    if (said?.hookEventName !== event) return undefined;
    if (event === 'PermissionRequest') return said.decision.behavior;
    return event === 'Elicitation' ? said.action : said.permissionDecision;
  },
  subjectOf: (name) =>
    name.endsWith('-by-claude')
      ? 'skill'
      : name
          .replace(/^(pre-tool-use|post-tool-use-failure|post-tool-use|post-tool-batch)-/, '')
          .replace('-create', ''),
};
const RECORDED = recordedOf(CLAUDE_CODE);
const played = (text: string) => playedOf(CLAUDE_CODE, text);

test('every recorded event has its place, and every kind of question is there', () => {
  const { order } = CLAUDE_CODE;
  expect(RECORDED.filter(({ input }) => !order.includes(input.hook_event_name))).toEqual([]);
  expect(
    order.filter((event) => !RECORDED.some(({ input }) => input.hook_event_name === event)),
  ).toEqual([]);
  expect(RECORDED.length).toBeGreaterThanOrEqual(70);
});

test('rules that deny all refuse every recorded question', async () => {
  const run = await played(
    '{ id: none, default: deny, unknown: deny, rules: [{ id: none, deny: "*" }] }',
  );
  expect(answeredBy(run, 'deny', 'block', 'decline')).toEqual(Object.keys(run.permissions));
  expect(run.outcomes).toEqual({});
});

/** The outcomes of the reading calls, as the recorded events of their ends tell them. */
const READING = {
  'agent.toolu_a1': 'done',
  'bash-background.toolu_t21': 'done',
  'bash-in-subagent.toolu_s1': 'done',
  'bash.toolu_t8': 'failed',
  'monitor.toolu_t3': 'done',
  'pre-skill-shell-command-bash-by-user.33333333-3333-4333-8333-333333333333:inner:preamble-1':
    'done',
  'read-notebook.toolu_t16': 'done',
  'read.toolu_t1': 'done',
  'skill.toolu_m2': 'done',
  'skill.toolu_m2:preamble-0': 'done',
  'tool-search.toolu_t15': 'done',
  'web-fetch.toolu_t13': 'failed',
  'web-search.toolu_t19': 'failed',
};

test('rules that allow reading let exactly the reading calls through', async () => {
  const run = await played(
    '{ id: reading, default: deny, unknown: deny, rules: [{ id: look, allow: "*", class: read }] }',
  );
  const questions = [
    ...['agent', 'bash', 'bash-background', 'bash-in-subagent', 'monitor', 'read'],
    ...['read-notebook', 'skill', 'tool-search', 'web-fetch', 'web-search'],
  ];
  expect(answeredBy(run, 'allow')).toEqual([
    ...questions.map((name) => `pre-tool-use-${name}`),
    ...['pre-skill-shell-command-bash-by-claude', 'pre-skill-shell-command-bash-by-user'],
  ]);
  expect(answeredBy(run, undefined)).toEqual([]);
  expect(run.outcomes).toEqual(READING);
});

test('rules that allow all leave unknown tools to a person', async () => {
  const run = await played('{ id: all, default: allow, tools: { notes/add: { class: read } } }');
  const held = ['mcp-plugin', 'mcp-project'];
  expect(answeredBy(run, 'deny').filter((name) => name.startsWith('pre-'))).toEqual(
    held.map((name) => `pre-tool-use-${name}`),
  );
  const changes = [
    'edit.toolu_t3',
    'notebook-edit.toolu_t17',
    'write.toolu_t2',
    'write-in-subagent.toolu_s2',
  ];
  const done = [...changes, 'mcp-local.toolu_m1', 'mcp-user.toolu_m1'];
  expect(run.outcomes).toEqual({
    ...READING,
    ...Object.fromEntries(done.map((id) => [id, 'done'])),
    ...{ 'cron.toolu_t5': 'open', 'enter-worktree.toolu_t4': 'failed' },
  });
});
