/** `assize init codex` with the real program: trust, checks, and the text of the person. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { linesIn } from '../../../../tests/support/agents/ruling.ts';
import type { AgentStage } from '../../../../tests/support/agents/stage.ts';
import { codexProgram } from '../../../../tests/support/codex/program.ts';
import { runProgram } from '../support/agents/run-program.ts';
import { type ResponsesApi, startResponsesApi } from '../support/codex/responses-api.ts';
import { append, hookedStage, toldOf } from '../support/codex/ruled.ts';
import { runCodex } from '../support/codex/run-codex.ts';

const main = join(import.meta.dirname, '../../../cli/src/main.ts');
const URL_OF_NONE = 'http://127.0.0.1:9';

interface Installing {
  readonly stage: AgentStage;
  readonly api: ResponsesApi;
  readonly file: string;
  init(
    ...args: readonly string[]
  ): Promise<{ readonly code: number | null; readonly said: string }>;
}

/** `rules`: the rules of the server. Default: the first rules, which observe. */
async function installing(config = '', rules?: string): Promise<Installing> {
  const api = await startResponsesApi({ work: [[append('call_1', 'a')]] });
  onTestFinished(() => api.close());
  const stage = hookedStage(api, config);
  mkdirSync(join(stage.home, '.assize'), { recursive: true });
  if (rules !== undefined) writeFileSync(join(stage.home, '.assize/assize.yaml'), rules);
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: stage.home,
    NO_COLOR: '1',
    SCRIPTED_KEY: 'dummy',
  };
  return {
    ...{ stage, api, file: join(stage.home, '.codex/config.toml') },
    init: async (...args) => {
      const line = [
        main,
        'init',
        'codex',
        '--codex',
        codexProgram() ?? '',
        '--url',
        URL_OF_NONE,
        ...args,
      ];
      const { code, out, err } = await runProgram(process.execPath, line, {
        cwd: stage.project,
        env,
        timeoutMs: 60_000,
      });
      return { code, said: out + err };
    },
  };
}

const read = (file: string): string => readFileSync(file, 'utf8');

describe.skipIf(codexProgram() === undefined)(
  'Codex (absent without npm ci --prefix peers)',
  () => {
    test('installed hooks are trusted, run without a flag, and are taken out', async () => {
      const { init, stage, api, file } = await installing(
        '# mine\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"',
        'id: held',
      );
      const before = read(file);
      expect(await init('--yes')).toMatchObject({ code: 0 });
      expect(await init('--yes')).toMatchObject({ code: 0 });
      const text = read(file);
      expect(text.match(/trusted_hash/g)).toHaveLength(8);
      expect(text).not.toContain(read(join(stage.home, '.assize/codex.token')).trim());
      await runCodex(stage, { prompt: 'work' });
      expect(toldOf(api, 'call_1')).toContain('No server answers');
      expect(linesIn(stage)).toEqual({});
      writeFileSync(file, text.replaceAll('timeout = 60', 'timeout=60'));
      expect(await init('--undo', '--yes')).toMatchObject({
        code: 2,
        said: expect.stringContaining('by hand'),
      });
      writeFileSync(file, text);
      expect(await init('--undo', '--yes')).toMatchObject({
        code: 0,
        said: expect.stringContaining('its token is revoked'),
      });
      expect(read(file)).toBe(before);
      expect(existsSync(join(stage.home, '.assize/codex.token'))).toBe(false);
      expect(await init('--undo', '--yes')).toMatchObject({ code: 2 });
    });

    test('nothing is written without an answer, and the change is shown', async () => {
      const { init, file } = await installing();
      const before = read(file);
      const { code, said } = await init();
      expect({ code, said }).toEqual({
        code: 2,
        said: expect.stringContaining('+ [[hooks.PreToolUse]]'),
      });
      expect(read(file)).toBe(before);
    });

    test('the check tells of hooks that Codex would not run', async () => {
      const { init, stage, api, file } = await installing();
      expect((await init('--check')).said).toContain('lacks the hooks of PreToolUse');
      await init('--yes');
      const good = read(file);
      const faultsOf = async (change: (text: string) => string): Promise<string> => {
        writeFileSync(file, change(good));
        const { code, said } = await init('--check');
        expect(code).toBe(1);
        return said;
      };
      const [fault, note] = (await faultsOf((text) => text)).split('\n');
      expect(fault).toBe(`No server answers at ${URL_OF_NONE}. Start it with assize serve.`);
      expect(note).toMatch(/^The rules are observing until \d{4}-\d\d-\d\d: /);
      expect(await faultsOf((text) => text.replace('timeout = 60', 'timeout = 61'))).toContain(
        'does not run the hook of PreToolUse, because it changed',
      );
      expect(await faultsOf((text) => text.replace('timeout = 60', 'timeout = 5'))).toContain(
        'needs a timeout of 60',
      );
      expect(
        await faultsOf((text) => text.replace('trusted_hash', 'enabled = false\ntrusted_hash')),
      ).toContain('switched off');
      expect(
        await faultsOf((text) =>
          text.replace('[analytics]', '[features]\nhooks = false\n\n[analytics]'),
        ),
      ).toContain('does not know the hook of PreToolUse');
      expect(
        await faultsOf((text) => text.replaceAll(URL_OF_NONE, 'http://127.0.0.1:10')),
      ).toContain('the hooks name the server');
      expect(await faultsOf((text) => text.replaceAll(main, '/missing/main.ts'))).toContain(
        '/missing/main.ts is gone',
      );
      // The change of an agent: from the next session on, Codex runs the command without a word.
      writeFileSync(file, good.replace('timeout = 60', 'timeout = 61'));
      await runCodex(stage, { prompt: 'work' });
      expect({ lines: linesIn(stage), told: toldOf(api, 'call_1') }).toMatchObject({
        lines: { open: ['a'] },
      });
    });

    test('hooks of a project are trusted in the configuration of the person', async () => {
      const { init, stage, api, file } = await installing('', 'id: held');
      const before = read(file);
      const own = join(stage.project, '.codex/config.toml');
      expect(await init('--project', '--yes')).toMatchObject({ code: 0 });
      expect(read(own)).toContain('[[hooks.PreToolUse]]');
      expect(read(file)).toContain(`trust in the hooks of ${own}`);
      await runCodex(stage, { prompt: 'work' });
      expect(toldOf(api, 'call_1')).toContain('No server answers');
      expect(await init('--project', '--undo', '--yes')).toMatchObject({ code: 0 });
      expect({ own: existsSync(own), person: read(file) }).toEqual({ own: false, person: before });
    });

    test('a project that Codex does not trust, and an older version, are refused', async () => {
      const { init, stage, file } = await installing();
      const before = read(file).replace('trust_level = "trusted"', 'trust_level = "untrusted"');
      writeFileSync(file, before);
      expect(await init('--project', '--yes')).toMatchObject({
        code: 2,
        said: expect.stringContaining('Codex does not take the hooks'),
      });
      expect(existsSync(join(stage.project, '.codex/config.toml'))).toBe(false);
      expect(read(file)).toBe(before);
      const old = stage.write('old', '#!/bin/sh\necho codex-cli 0.170.9\n', 0o755);
      expect(await init('--codex', old, '--yes')).toMatchObject({
        code: 2,
        said: expect.stringContaining('was not tried'),
      });
    });
  },
);
