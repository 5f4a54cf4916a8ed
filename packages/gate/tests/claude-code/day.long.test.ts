/** A day of work with the real Claude Code, whose model follows a script of more than 60 calls. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { claudeProgram } from '../../../../tests/support/claude-code/program.ts';
import {
  askedIn,
  beginShop,
  CONFIG,
  DAY,
  enforce,
  resetShop,
  type ShopPlace,
} from '../support/agents/day.ts';
import { turnsOf } from '../support/claude-code/day-script.ts';
import { type MessagesApi, startMessagesApi } from '../support/claude-code/messages-api.ts';
import { type ClaudeRun, runClaude } from '../support/claude-code/run-claude.ts';

const PAGE = 'claude-code.md';
const URL = 'http://127.0.0.1:4517';

let place: ShopPlace;
let api: MessagesApi;

beforeEach(async () => {
  place = await beginShop({}, { name: 'claude', program: claudeProgram() as string });
  const { home, project } = place;
  const trusted = { projects: { [project]: { hasTrustDialogAccepted: true } } };
  writeFileSync(join(home, '.claude.json'), JSON.stringify(trusted));
  api = await startMessagesApi({ 'work a day': turnsOf(DAY, project) });
});
afterEach(async () => {
  await place.guide.end();
  await api.close();
});

const worked = (): Promise<ClaudeRun> =>
  runClaude(place, { api: api.url, prompt: 'work a day', timeoutMs: 500_000 });

describe.skipIf(claudeProgram() === undefined)(
  'Claude Code (absent without npm ci --prefix peers)',
  () => {
    test('a day in the sandbox has two questions at most, and nothing is pushed', async () => {
      const { guide, pushed } = place;
      guide.sh(`cd shop && assize init claude-code --sandbox --yes --url ${URL}`);
      await guide.beginWith(PAGE);
      await enforce(place, PAGE);
      const before = pushed();
      const { told, result } = await worked();
      expect(result).toMatchObject({ is_error: false, num_turns: DAY.length + 1 });
      expect(told).toHaveLength(DAY.length);
      const asked = askedIn(place);
      expect(asked.length, asked.join('\n')).toBeLessThan(3);
      expect(pushed()).toBe(before);
    });

    test('a day is observed, its rules mined, and the next day held to them', async () => {
      const { guide, project, pushed } = place;
      guide.sh(`cd shop && assize init claude-code --yes --url ${URL}`);
      await guide.beginWith(PAGE);
      const before = pushed();
      const first = await worked();
      expect(first.result).toMatchObject({ is_error: false, num_turns: DAY.length + 1 });
      expect(askedIn(place)).toEqual([]);
      expect(pushed()).not.toBe(before);

      const mine = (more: string): string =>
        guide.sh(`assize lab mine --kind allow --min-support 1 ${CONFIG} ${more}`);
      const { candidates } = JSON.parse(mine('--json'));
      const proposed = candidates.map(({ statement }: { statement: string }) => statement);
      expect(proposed.sort()).toEqual([
        expect.stringMatching(/^shell\/node: .*\["--test", test\/discount\.test\.js\]/),
        expect.stringMatching(/^shell\/npm: .*\/argv, is: \[run, lint\]/),
        expect.stringMatching(/^shell\/npm: .*\/argv, is: \[test\]/),
      ]);
      const ids = candidates.map(({ id }: { id: string }) => `--accept ${id}`);
      mine(`${ids.join(' ')} --write ~/.assize/assize.yaml`);
      await guide.beginWith(PAGE);
      await enforce(place, PAGE);

      resetShop(project);
      expect(pushed()).toBe(before);
      const { told, result } = await worked();
      expect(result).toMatchObject({ is_error: false, num_turns: DAY.length + 1 });
      expect(told).toHaveLength(DAY.length);
      expect(askedIn(place)).toEqual([
        expect.stringMatching(/^ask default: .*`git push origin main`/),
      ]);
      expect(pushed()).toBe(before);
    });
  },
);
