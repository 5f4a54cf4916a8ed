/** The settings of an organisation, in the folder that Claude Code reads them from. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { linesIn, startRuling } from '../../../../tests/support/agents/ruling.ts';
import { claudeProgram } from '../../../../tests/support/claude-code/program.ts';
import { managedSettings } from '../../src/commands/init/claude-code/hooks.ts';
import { runProgram } from '../support/agents/run-program.ts';
import { startMessagesApi } from '../support/claude-code/messages-api.ts';
import { append, ruledStage } from '../support/claude-code/ruled.ts';

const main = join(import.meta.dirname, '../../../cli/src/main.ts');
const hasBubblewrap = spawnSync('bwrap', ['--dev-bind', '/', '/', 'true']).status === 0;

describe.skipIf(claudeProgram() === undefined)(
  'Claude Code (absent without npm ci --prefix peers)',
  () => {
    test.skipIf(!hasBubblewrap)('managed hooks hold (absent without bubblewrap)', async () => {
      const stage = ruledStage();
      const { server, agentToken, story } = await startRuling(stage);
      const api = await startMessagesApi({
        work: [[append('toolu_1', 'a'), append('toolu_2', 'b', 'closed')]],
        later: [[append('toolu_3', 'c')]],
      });
      onTestFinished(() => api.close());
      const terms = { trajectory: 'calls', wait: 0, pending: 'deny', confirm: 'never' } as const;
      const settings = managedSettings({ ...terms, url: server.url });
      stage.write('managed/managed-settings.json', settings);
      stage.write('bin/assize', `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, 0o755);
      stage.write('project/.claude/settings.json', {
        ...{ disableAllHooks: true, allowedHttpHookUrls: [] },
        permissions: { allow: ['Bash(echo *)'] },
      });
      /** Runs a program on a machine whose folder of managed settings is that of the stage. */
      const run = (program: string, args: readonly string[], input = '') =>
        runProgram(
          'bwrap',
          [
            ...['--dev-bind', '/', '/', '--tmpfs', '/etc'],
            ...['/etc/passwd', '/etc/hosts'].flatMap((path) => ['--ro-bind', path, path]),
            ...['--ro-bind', join(stage.folder, 'managed'), '/etc/claude-code'],
            program,
            ...args,
          ],
          {
            cwd: stage.project,
            input,
            timeoutMs: 60_000,
            env: {
              PATH: `${join(stage.folder, 'bin')}:${process.env['PATH']}`,
              HOME: stage.home,
              NO_COLOR: '1',
              ASSIZE_TOKEN: agentToken,
              ...{ ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'dummy' },
              ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
            },
          },
        );
      const claude = claudeProgram() as string;
      const check = (): ReturnType<typeof run> =>
        run(join(stage.folder, 'bin/assize'), [
          'init',
          'claude-code',
          '--check',
          '--claude',
          claude,
        ]);

      expect(await check()).toMatchObject({
        code: 0,
        out: expect.stringContaining('are complete'),
      });
      expect(await run(claude, ['-p'], 'work')).toMatchObject({ code: 0 });
      expect(await story()).toEqual({
        lines: { open: ['a'] },
        calls: { toolu_1: 'done' },
        valid: true,
      });
      const gone = managedSettings({ ...terms, url: 'http://127.0.0.1:9' });
      stage.write('managed/managed-settings.json', gone);
      await run(claude, ['-p'], 'later');
      expect(linesIn(stage)).toEqual({ open: ['a'] });
      expect(await check()).toMatchObject({
        code: 1,
        out: expect.stringContaining('No server answers'),
      });
    });

    test('the command prints the settings of an organisation', async () => {
      const stage = ruledStage();
      const printed = await runProgram(
        process.execPath,
        [
          main,
          'init',
          'claude-code',
          '--managed',
          '--url',
          'https://assize.example',
          '--wait',
          '5',
        ],
        { cwd: stage.project, env: { PATH: '/usr/bin', HOME: stage.home }, timeoutMs: 30_000 },
      );
      const terms = { trajectory: 'calls', wait: 5, pending: 'deny', confirm: 'never' } as const;
      expect(JSON.parse(printed.out)).toEqual(
        JSON.parse(JSON.stringify(managedSettings({ ...terms, url: 'https://assize.example' }))),
      );
      expect(printed.out).toContain('assize hook claude-code --url https://assize.example ');
      expect(printed.out).not.toContain(stage.folder);
    });
  },
);
