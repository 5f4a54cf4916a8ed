import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type MoreRules,
  type RulingServer,
  startRuling,
  withFolders,
} from '../../../../../tests/support/agents/ruling.ts';
import type { AgentStage } from '../../../../../tests/support/agents/stage.ts';
import { hooksText } from '../../../src/commands/init/codex/hooks.ts';
import {
  type CodexScript,
  callTool,
  type OutputItem,
  type ResponsesApi,
  startResponsesApi,
} from './responses-api.ts';
import {
  type CodexOptions,
  type CodexRun,
  codexStage,
  runCodex,
  UNTRUSTED_HOOKS,
} from './run-codex.ts';

const main = join(import.meta.dirname, '../../../../cli/src/main.ts');

/** A call of a command that adds a line to the file of a folder: one line for each time it runs. */
export const append = (id: string, line: string, folder = 'open'): OutputItem =>
  exec(id, `echo ${line} >> ${folder}/sink.txt`);

export const exec = (id: string, cmd: string): OutputItem => callTool(id, 'exec_command', { cmd });

/** The hooks in a configuration, as the command line writes them. */
export interface HookAddress {
  readonly url: string;
  readonly token: string;
  readonly wait?: number;
  /** The program of the hook. Default: the command `assize` of these sources. */
  readonly program?: readonly string[];
  /** More of the configuration: first keys of the whole file, then tables. */
  readonly more?: string;
}

/** A project with the hooks of a server. */
export function hookedStage(api: ResponsesApi, config = ''): AgentStage {
  return withFolders(codexStage(api.url, config));
}

/** Rewrites the configuration with these hooks. */
export function writeHooks(
  stage: AgentStage,
  api: ResponsesApi,
  { url, token, wait = 0, program = [process.execPath, main], more = '' }: HookAddress,
): void {
  const tokenFile = stage.write('home/token', token, 0o600);
  const hooks = hooksText({ program, url, trajectory: 'calls', tokenFile, wait });
  codexStage(api.url, `${more}\n${hooks}`, stage);
}

/** Codex in a project whose calls a server in this process rules on. */
export interface RuledCodex extends RulingServer {
  readonly stage: AgentStage;
  readonly api: ResponsesApi;
  run(options: Partial<CodexOptions>): Promise<CodexRun>;
  hooks(address?: Partial<HookAddress>): void;
  /** The output of a call in the last request to the model. */
  told(id: string): string;
}

export async function ruledCodex(
  script: CodexScript,
  {
    wait = 0,
    more = {},
    config = '',
  }: { readonly wait?: number; readonly more?: MoreRules; readonly config?: string } = {},
): Promise<RuledCodex> {
  const api = await startResponsesApi(script);
  onTestFinished(() => api.close());
  const stage = hookedStage(api);
  const ruling = await startRuling(stage, more);
  const { server, agentToken } = ruling;
  const hooks: RuledCodex['hooks'] = (address = {}) =>
    writeHooks(stage, api, { url: server.url, token: agentToken, wait, more: config, ...address });
  hooks();
  return {
    ...{ ...ruling, stage, api, hooks },
    run: (options) => runCodex(stage, { prompt: 'work', args: [UNTRUSTED_HOOKS], ...options }),
    told: (id) => toldOf(api, id),
  };
}

/** The last output of a call, as the model was given it. */
export function toldOf({ requests }: ResponsesApi, id: string): string {
  const found = requests
    .flatMap(({ input }) => input)
    .findLast(({ type, call_id }) => type.endsWith('_output') && call_id === id);
  return JSON.stringify(found?.output ?? null);
}
