/** docs/guide/codex.md, followed with the real program and a model that follows a script. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codexProgram } from '../../../../tests/support/codex/program.ts';
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
import { type ResponsesApi, startResponsesApi } from '../support/codex/responses-api.ts';
import { exec } from '../support/codex/ruled.ts';
import { scriptedConfig } from '../support/codex/run-codex.ts';

const PAGE = 'codex.md';

let api: ResponsesApi;
let place: AgentGuide;
let config: string;
let before: string;

beforeEach(async () => {
  api = await startResponsesApi({
    [OBSERVED_PROMPT]: [[exec('call_0', OBSERVED_COMMAND)]],
    [PROMPT]: [[exec('call_1', COMMAND)]],
  });
  place = await beginAgentGuide(
    { SCRIPTED_KEY: 'dummy' },
    { name: 'codex', program: codexProgram() as string },
  );
  const { guide, home } = place;
  mkdirSync(join(home, '.codex'));
  config = join(home, '.codex/config.toml');
  before = scriptedConfig(api.url, guide.folder);
  writeFileSync(config, before);
});
afterEach(async () => {
  await place.guide.end();
  await api.close();
});

describe.skipIf(codexProgram() === undefined)(
  'Codex (absent without npm ci --prefix peers)',
  () => {
    test('the guide: installed, observed, enforced, held, approved, taken out', async () => {
      const { guide, home } = place;
      guide.sh(blockOf(PAGE, 'sh init'));
      expect(statSync(join(home, '.assize/codex.token')).mode & 0o777).toBe(0o600);
      expect(readFileSync(config, 'utf8').startsWith(before)).toBe(true);
      await guide.beginWith(PAGE);
      expect(guide.sh(blockOf(PAGE, 'sh check'))).toContain('the server answers');
      await observeAndEnforce(place, PAGE);
      await holdAndApprove(place, PAGE, 'codex');
      expect(guide.sh('assize init codex --undo --yes')).toContain('its token is revoked');
      expect(readFileSync(config, 'utf8')).toBe(before);
    });
  },
);
