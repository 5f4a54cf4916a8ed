import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { gateway, readRules } from '#domains/gateway';
import type { Domain } from '#kernel';
import { start, type TestServer } from '../server/serving.ts';
import type { AgentStage } from './stage.ts';

/** Lines for the lists of a rules file. */
export interface MoreRules {
  readonly tools?: string;
  readonly rules?: string;
}

/** Files in `open` may be written, those in `held` need a person, and those in `closed` stay. */
export const rulesFor = (project: string, { tools = '', rules = '' }: MoreRules = {}): string => `
id: live
${tools === '' ? '' : `tools:\n${tools}`}
rules:
  - { id: look, allow: '*', class: read }
  - { id: open, allow: [files/write, files/edit, shell/write], path: ${project}/open }
  - { id: held, ask: shell/write, path: ${project}/held, because: A person looks first. }
  - { id: closed, deny: shell/write, path: ${project}/closed, because: It stays closed. }
${rules}`;

export const RULED_PRINCIPALS = {
  'agent:coder': {
    kinds: ['agent'],
    grants: [{ trajectories: ['calls'], actions: ['call', 'begin', 'report', 'session'] }],
  },
  'human:grace': { kinds: ['counselor'] },
  'admin:ann': { kinds: ['admin', 'auditor'] },
} as const;

/** The lines in the files, the outcomes of the recorded calls, and whether the ledger verifies. */
export interface Story {
  readonly lines: Record<string, string[]>;
  /** By the id of the tool use. A call that was only let through has the outcome `to begin`. */
  readonly calls: Record<string, string>;
  readonly valid: boolean;
}

/** A server in this process that rules on the calls of an agent program. */
export interface RulingServer {
  readonly server: TestServer;
  readonly agentToken: string;
  /** Decides the only open question. Fails if there is none. */
  decide(decision: 'approve' | 'reject'): Promise<void>;
  state(): Promise<any>;
  story(): Promise<Story>;
}

/** A server with the world `calls` under a rules file. */
export function startWithRules(text: string): Promise<TestServer> {
  const { rules } = readRules(text);
  return start({
    config: { worlds: { calls: { domain: 'gateway' } }, tools: [] },
    principals: RULED_PRINCIPALS as never,
    domains: [gateway({ rules }) as unknown as Domain],
    rules,
  });
}

export async function startRuling(stage: AgentStage, more?: MoreRules): Promise<RulingServer> {
  const server = await startWithRules(rulesFor(stage.project, more));
  const agentToken = await server.tokenFor('agent:coder');
  const grace = await server.tokenFor('human:grace');
  const ann = await server.tokenFor('admin:ann');
  const ok = async (method: string, path: string, token: string, body?: object): Promise<any> => {
    const answered = await server.ask(method, path, { token, ...(body !== undefined && { body }) });
    if (answered.status >= 300) throw new Error(answered.text);
    return answered.body;
  };
  const state = async () => (await ok('GET', '/v1/trajectories/calls/state', grace)).state;
  return {
    ...{ server, agentToken, state },
    decide: async (decision) => {
      const { approvals } = await ok('GET', '/v1/approvals', grace);
      if (approvals.length !== 1) throw new Error(`${approvals.length} questions are open`);
      const [{ id, digest }] = approvals;
      const body = { reason: 'looked at', ...(decision === 'approve' && { digest }) };
      await ok('POST', `/v1/approvals/${id}/${decision}`, grace, body);
    },
    story: async () => ({
      lines: linesIn(stage),
      calls: outcomesOf(await state()),
      valid: (await ok('POST', '/v1/verify', ann, {})).valid,
    }),
  };
}

/** The lines that commands added to the files of a stage, by folder. */
export function linesIn({ project }: AgentStage): Record<string, string[]> {
  const found = ['open', 'held', 'closed'].map((folder) => {
    const file = join(project, folder, 'sink.txt');
    return [folder, existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []] as const;
  });
  return Object.fromEntries(found.filter(([, lines]) => lines.length > 0));
}

/** A stage with the folders of the rules. It is removed after the test. */
export function withFolders(stage: AgentStage): AgentStage {
  for (const folder of ['open', 'held', 'closed']) stage.write(`project/${folder}/readme`, folder);
  onTestFinished(() => stage.remove());
  return stage;
}

/** The outcomes by the id of the tool use that started each call. */
export function outcomesOf({
  calls,
}: {
  readonly calls: Record<string, any>;
}): Record<string, string> {
  const tail = (id: string) => id.slice(id.indexOf('.') + 1);
  return Object.fromEntries(
    Object.entries(calls).map(([id, { begunAs, begunAt, outcome }]) => [
      tail(begunAs ?? id),
      outcome ?? (begunAt === undefined ? 'to begin' : 'open'),
    ]),
  );
}
