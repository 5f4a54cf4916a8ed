/** A day of work with the real Codex, whose model follows a script of more than 60 calls. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codexProgram } from '../../../../tests/support/codex/program.ts';
import { askedIn, beginShop, DAY, enforce, type ShopPlace } from '../support/agents/day.ts';
import { turnsOf } from '../support/codex/day-script.ts';
import { type ResponsesApi, startResponsesApi } from '../support/codex/responses-api.ts';
import { toldOf } from '../support/codex/ruled.ts';
import { profileConfig, runCodex, WITH_PATCHES } from '../support/codex/run-codex.ts';

const PAGE = 'codex.md';
const URL = 'http://127.0.0.1:4517';
const CALLS = turnsOf(DAY);

let place: ShopPlace;
let api: ResponsesApi;

beforeEach(async () => {
  api = await startResponsesApi({ 'work a day': CALLS });
  place = await beginShop(
    { SCRIPTED_KEY: 'dummy' },
    { name: 'codex', program: codexProgram() as string },
  );
  const { home, project } = place;
  mkdirSync(join(home, '.codex'));
  writeFileSync(join(home, '.codex/config.toml'), profileConfig(api.url, project));
});
afterEach(async () => {
  await place.guide.end();
  await api.close();
});

describe.skipIf(codexProgram() === undefined)(
  'Codex (absent without npm ci --prefix peers)',
  () => {
    test('a day in the sandbox has two questions at most, and nothing is pushed', async () => {
      const { guide, pushed } = place;
      guide.sh(`cd shop && assize init codex --project --sandbox --yes --url ${URL}`);
      await guide.beginWith(PAGE);
      await enforce(place, PAGE);
      const before = pushed();
      const env = guide.environment as Record<string, string>;
      const args = ['-m', WITH_PATCHES];
      await runCodex(place, { prompt: 'work a day', env, args, timeoutMs: 500_000 });
      const said = CALLS.map(([call]) => toldOf(api, String(call?.call_id)));
      expect(said.filter((text) => /^null$|fatal:/.test(text))).toEqual([]);
      expect(CALLS.length).toBeGreaterThan(59);
      const asked = askedIn(place);
      expect(asked.length, asked.join('\n')).toBeLessThan(3);
      expect(pushed()).toBe(before);
      expect(guide.sh('cd shop && git show main:src/discount.js')).toContain('Math.round');
    });
  },
);
