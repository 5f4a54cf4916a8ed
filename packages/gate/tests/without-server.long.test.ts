/**
 * Claude Code and Codex with installed hooks while no server answers: a call that the rules only
 * observe goes on, and is recorded later. One that they enforce is refused.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { claudeProgram } from '../../../tests/support/claude-code/program.ts';
import { codexProgram } from '../../../tests/support/codex/program.ts';
import { startServer } from '../../../tests/support/process/listening-server.ts';
import { type AgentGuide, beginAgentGuide, begun } from './support/agents/followed-guide.ts';
import { startMessagesApi, use } from './support/claude-code/messages-api.ts';
import { startResponsesApi } from './support/codex/responses-api.ts';
import { exec } from './support/codex/ruled.ts';
import { scriptedConfig } from './support/codex/run-codex.ts';

/**
 * Keyed by the prompt, a text that no other agent has: commands that the first rules only
 * observe, and one that they enforce.
 */
const COMMANDS = {
  'step-up': 'mkdir before',
  'step-down': 'mkdir down',
  'step-slow': 'mkdir slow',
  'step-foreign': 'mkdir foreign',
  'step-killed': 'mkdir killed',
  'step-secrets': 'cat .env > copied',
  'step-enforced': 'mkdir enforced',
};
type Prompt = keyof typeof COMMANDS;
const PROMPTS = Object.entries(COMMANDS);

interface Agent {
  readonly api: { readonly url: string; close(): Promise<void> };
  readonly place: AgentGuide;
  readonly line: (prompt: string) => string;
}

async function claudeCode(): Promise<Agent> {
  const script = PROMPTS.map(([prompt, command], n) => [
    prompt,
    [[use(`toolu_${n}`, 'Bash', { command })]],
  ]);
  const api = await startMessagesApi(Object.fromEntries(script));
  const env: Record<string, string> = {
    ...{ ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'dummy' },
    ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
  };
  const place = await beginAgentGuide(env, { name: 'claude', program: claudeProgram() as string });
  const trusted = { projects: { [place.guide.folder]: { hasTrustDialogAccepted: true } } };
  writeFileSync(join(place.home, '.claude.json'), JSON.stringify(trusted));
  return { api, place, line: (prompt) => `claude -p '${prompt}'` };
}

async function codex(): Promise<Agent> {
  const script = PROMPTS.map(([prompt, command], n) => [prompt, [[exec(`call_${n}`, command)]]]);
  const api = await startResponsesApi(Object.fromEntries(script));
  const place = await beginAgentGuide(
    { SCRIPTED_KEY: 'dummy' },
    { name: 'codex', program: codexProgram() as string },
  );
  mkdirSync(join(place.home, '.codex'));
  const config = scriptedConfig(api.url, place.guide.folder);
  writeFileSync(join(place.home, '.codex/config.toml'), config);
  return { api, place, line: (prompt) => `codex exec --skip-git-repo-check '${prompt}'` };
}

const AGENTS = [
  { agent: 'claude-code', name: 'Claude Code', program: claudeProgram, begin: claudeCode },
  { agent: 'codex', name: 'Codex', program: codexProgram, begin: codex },
] as const;

describe.each(AGENTS)('$name (absent without npm ci --prefix peers)', (about) => {
  const isAbsent = about.program() === undefined;
  let given: Agent;

  beforeEach(async () => {
    if (!isAbsent) given = await about.begin();
  });
  afterEach(async () => {
    if (isAbsent) return;
    await given.place.guide.end();
    await given.api.close();
  });

  test.skipIf(isAbsent)('down, slow, foreign and killed in the middle', async () => {
    const { guide, home } = given.place;
    const { agent } = about;
    const config = join(home, '.assize/assize.config.json');
    const made = (name: string): boolean => existsSync(join(guide.folder, name));
    const say = (prompt: Prompt): Promise<string> => begun(guide, `${given.line(prompt)} || true`);
    writeFileSync(join(guide.folder, '.env'), 'KEY=1');
    guide.sh(`assize init ${agent} --yes --wait 1 --url http://127.0.0.1:4517`);
    const { port } = new URL(guide.url);
    const serve = () => startServer(guide.folder, ['--config', config, '--port', port]);
    const report = () =>
      JSON.parse(guide.sh(`assize rules report --json --config ${config}`)) as any;

    let server = await serve();
    await say('step-up');
    await server.end('SIGKILL');
    await say('step-down');
    await say('step-secrets');
    expect([made('before'), made('down'), made('copied')]).toEqual([true, true, false]);

    server = await serve();
    expect(report().gaps).toMatchObject([{ calls: 1, agents: { [agent]: 1 } }]);
    server.process.kill('SIGSTOP');
    await say('step-slow');
    server.process.kill('SIGCONT');
    await server.end('SIGKILL');
    expect(made('slow')).toBe(true);

    for (const [prompt, answer] of [
      ['step-foreign', (response: any) => response.end('{}')],
      ['step-killed', (response: any) => response.socket.destroy()],
    ] as const) {
      const other = createServer((request, response) =>
        request.resume().on('end', () => answer(response)),
      ).listen(Number(port), '127.0.0.1');
      await say(prompt);
      other.closeAllConnections();
      await new Promise((closed) => other.close(closed));
    }
    expect([made('foreign'), made('killed')]).toEqual([true, true]);

    server = await serve();
    expect(report().gaps).toMatchObject([{ calls: 3 }, { calls: 1 }]);
    expect(guide.sh(`assize log calls --config ${config}`)).toContain('gap');
    expect(guide.sh(`assize verify --config ${config}`)).toContain('valid');
    guide.sh(`assize rules promote --config ${config} --as "human:$(id -un)"`);
    await server.end('SIGKILL');
    await say('step-enforced');
    expect(made('enforced')).toBe(false);
  });
});
