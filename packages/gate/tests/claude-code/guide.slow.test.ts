/** docs/guide/claude-code.md, followed with the real program and a model that follows a script. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { claudeProgram } from '../../../../tests/support/claude-code/program.ts';
import { blockOf } from '../../../../tests/support/process/guide-files.ts';
import {
  type AgentGuide,
  beginAgentGuide,
  COMMAND,
  holdAndApprove,
  OBSERVED_COMMAND,
  OBSERVED_PROMPT,
  observeAndEnforce,
  PROMPT,
} from '../support/agents/followed-guide.ts';
import { type MessagesApi, startMessagesApi, use } from '../support/claude-code/messages-api.ts';

const PAGE = 'claude-code.md';

let api: MessagesApi;
let place: AgentGuide;

beforeEach(async () => {
  api = await startMessagesApi({
    [OBSERVED_PROMPT]: [[use('toolu_0', 'Bash', { command: OBSERVED_COMMAND })]],
    [PROMPT]: [[use('toolu_1', 'Bash', { command: COMMAND })]],
  });
  const env: Record<string, string> = {
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: 'dummy',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  };
  place = await beginAgentGuide(env, { name: 'claude', program: claudeProgram() as string });
  const { guide, home } = place;
  const trusted = { projects: { [guide.folder]: { hasTrustDialogAccepted: true } } };
  writeFileSync(join(home, '.claude.json'), JSON.stringify(trusted));
});
afterEach(async () => {
  await place.guide.end();
  await api.close();
});

describe.skipIf(claudeProgram() === undefined)(
  'Claude Code (absent without npm ci --prefix peers)',
  () => {
    test('the guide: installed, observed, enforced, held, approved, taken out', async () => {
      const { guide, home } = place;
      guide.sh(blockOf(PAGE, 'sh init'));
      const settings = join(guide.folder, '.claude/settings.local.json');
      const [token = ''] = readdirSync(join(home, '.assize')).filter((name) =>
        name.endsWith('.token'),
      );
      expect(statSync(join(home, '.assize', token)).mode & 0o777).toBe(0o600);
      expect(readFileSync(settings, 'utf8')).not.toContain('asz_');
      await guide.beginWith(PAGE);
      expect(guide.sh('assize init claude-code --check --url http://127.0.0.1:4517')).toContain(
        'the server answers',
      );
      await observeAndEnforce(place, PAGE);
      expect(guide.sh(blockOf(PAGE, 'sh mine'))).toContain('1 run with');
      await holdAndApprove(place, PAGE, 'claude-code');
      expect(guide.sh('assize init claude-code --undo --yes')).toContain('its token is revoked');
      expect(existsSync(settings)).toBe(false);
    });
  },
);
