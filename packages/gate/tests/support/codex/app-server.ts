import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { AgentStage } from '../../../../../tests/support/agents/stage.ts';
import { codexProgram } from '../../../../../tests/support/codex/program.ts';

/**
 * Runs one turn of `codex app-server`, whose client is asked for permissions and grants them.
 * Trusts the hooks first. Returns the methods that the client was asked.
 */
export async function runTurn(
  { project, home }: AgentStage,
  text: string,
): Promise<readonly string[]> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, SCRIPTED_KEY: 'dummy' };
  const session = async (
    first: (folder: string) => object,
    step: Step,
  ): Promise<readonly string[]> => {
    const child = spawn(codexProgram() ?? '', ['app-server'], {
      cwd: project,
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const send = (message: object) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const asked: string[] = [];
    const client = {
      clientInfo: { name: 'test', version: '1' },
      capabilities: { experimentalApi: true },
    };
    send({ id: 1, method: 'initialize', params: client });
    for await (const line of createInterface({ input: child.stdout })) {
      const message = JSON.parse(line);
      if (message.id === 1 && message.method === undefined) {
        send({ method: 'initialized' });
        send({ id: 2, ...first(project) });
      } else if (message.id !== undefined && message.method !== undefined) {
        asked.push(message.method);
        send({ id: message.id, result: { decision: 'accept' } });
      } else {
        const next = step(message);
        if (next === 'end') break;
        if (next !== undefined) send(next);
      }
    }
    child.kill();
    return asked;
  };
  await session(
    (folder) => ({ method: 'hooks/list', params: { cwds: [folder] } }),
    ({ id, result }) => {
      if (id !== 2) return undefined;
      const trust = result.data[0].hooks.map(
        ({ key, currentHash }: any) =>
          `\n[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "${currentHash}"\n`,
      );
      appendFileSync(join(home, '.codex/config.toml'), trust.join(''));
      return 'end';
    },
  );
  return session(
    (cwd) => ({
      method: 'thread/start',
      params: { cwd, approvalPolicy: 'on-request', sandbox: 'read-only' },
    }),
    ({ id, method, result }) => {
      if (method === 'turn/completed') return 'end';
      if (id !== 2) return undefined;
      return {
        id: 3,
        method: 'turn/start',
        params: { threadId: result.thread.id, input: [{ type: 'text', text }] },
      };
    },
  );
}

type Step = (message: any) => object | 'end' | undefined;
