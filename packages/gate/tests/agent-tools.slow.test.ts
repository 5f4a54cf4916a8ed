/** The tools of the installed Claude Code and Codex, and the classes that Assize ships for them. */
import { describe, expect, test } from 'vitest';
import { claudeProgram } from '../../../tests/support/claude-code/program.ts';
import { codexProgram } from '../../../tests/support/codex/program.ts';
import {
  CLAUDE_CODE_START,
  CODEX_START,
  offeredTools,
  toolNotes,
} from '../src/commands/init/agents/offered-tools.ts';
import { TOOLS, unknownAgentTools, WITH_PARTS } from '../src/gateway/judge/agent-tools.ts';
import { contentOf as ofClaudeCode } from '../src/hooks/claude-code/call-of.ts';
import { contentOf as ofCodex } from '../src/hooks/codex/call-of.ts';
import { use } from './support/claude-code/messages-api.ts';
import { ruledClaude } from './support/claude-code/ruled.ts';
import { callTool } from './support/codex/responses-api.ts';
import { ruledCodex } from './support/codex/ruled.ts';

const partsOf = async (server: string, tool_name: string) => {
  const contentOf = server === 'codex' ? ofCodex : ofClaudeCode;
  return (await contentOf({ session_id: 's', cwd: '/', tool_name, tool_input: {} }, false)).parts;
};

test('a tool has a class by its name, or parts that have one', async () => {
  for (const [server, classes] of Object.entries(TOOLS))
    for (const name of Object.values(classes).flat())
      expect([name, await partsOf(server, name)]).toEqual([name, undefined]);
  for (const [server, names] of Object.entries(WITH_PARTS))
    for (const name of names.filter((each) => each !== 'exec_command'))
      expect([name, await partsOf(server, name)]).toEqual([name, expect.any(Array)]);
});

test('a tool that the table does not have is named as unknown', () => {
  expect(unknownAgentTools('claude-code', ['Bash', 'ToolSearch', 'Novel'])).toEqual(['Novel']);
  expect(unknownAgentTools('codex', ['Bash', 'get_goal', 'Novel'])).toEqual(['Novel']);
});

describe.skipIf(claudeProgram() === undefined)(
  'Claude Code (absent without npm ci --prefix peers)',
  () => {
    test('each tool that the installed program offers is known', async () => {
      const program = claudeProgram() as string;
      expect(await offeredTools(program, CLAUDE_CODE_START)).toContain('Bash');
      expect(await toolNotes('claude-code', program, CLAUDE_CODE_START)).toEqual([]);
    });

    test('a call that only keeps notes is let through, and a message is held', async () => {
      const { run, story } = await ruledClaude({
        work: [
          [
            use('toolu_1', 'ToolSearch', { query: 'select:WebFetch', max_results: 1 }),
            use('toolu_2', 'ListAgents', {}),
            use('toolu_3', 'ReportFindings', { level: 'low', findings: [] }),
            use('toolu_4', 'CronList', {}),
            use('toolu_5', 'SendMessage', { to: 'main', summary: 'a', message: 'b' }),
          ],
        ],
      });
      const { told } = await run({ prompt: 'work' });
      const asked = told.filter(({ content }) => /a person has to/.test(JSON.stringify(content)));
      expect(asked.map(({ tool_use_id }) => tool_use_id)).toEqual(['toolu_5']);
      expect(Object.keys((await story()).calls).sort()).toEqual(
        expect.arrayContaining(['toolu_1', 'toolu_2']),
      );
    });
  },
);

describe.skipIf(codexProgram() === undefined)(
  'Codex (absent without npm ci --prefix peers)',
  () => {
    test('each tool that the installed program offers is known', async () => {
      const program = codexProgram() as string;
      expect(await offeredTools(program, CODEX_START)).toContain('exec_command');
      expect(await toolNotes('codex', program, CODEX_START)).toEqual([]);
    });

    test('a call that only keeps notes is let through', async () => {
      const calls = [
        callTool('call_1', 'create_goal', { objective: 'x' }),
        callTool('call_2', 'list_mcp_resources', {}),
        callTool('call_3', 'curr_time', {}, 'clock'),
        callTool('call_4', 'list_agents', {}, 'collaboration'),
      ];
      const { run, story, told } = await ruledCodex({ work: calls.map((call) => [call]) });
      await run({ args: ['--dangerously-bypass-hook-trust', '-c', 'model="gpt-6.2-sol"'] });
      expect(calls.map(({ call_id }) => told(call_id as string)).join('')).not.toContain('person');
      expect((await story()).calls).toEqual(
        Object.fromEntries(calls.map(({ call_id }) => [call_id, 'done'])),
      );
    });
  },
);
