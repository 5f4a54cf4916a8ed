import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { CliError } from '@assize/command';
import { z } from 'zod';
import type { Table } from './config-text.ts';
import { isOwnCommand } from './hooks.ts';

const hookForm = z.object({
  key: z.string(),
  eventName: z.string(),
  command: z.string().nullish(),
  timeoutSec: z.number().nullish(),
  sourcePath: z.string().nullish(),
  enabled: z.boolean(),
  currentHash: z.string(),
  trustStatus: z.string(),
});

/** A hook of Assize, as Codex knows it. */
export type ListedHook = z.infer<typeof hookForm>;

const hooksForm = z.object({ data: z.array(z.object({ hooks: z.array(z.looseObject({})) })) });
const configForm = z.object({
  config: z.record(z.string(), z.unknown()),
  origins: z.record(z.string(), z.object({ name: z.object({ type: z.string() }) })),
});

const ANSWER_MS = 30_000;

/** The hooks of Assize that Codex finds in a folder. @throws CliError `usage` */
export async function listedHooks(program: string, folder: string): Promise<readonly ListedHook[]> {
  const question = { method: 'hooks/list', params: { cwds: [folder] } };
  const { data } = await asked(hooksForm, program, folder, question);
  return data
    .flatMap(({ hooks }) => hooks)
    .flatMap((hook) => hookForm.safeParse(hook).data ?? [])
    .filter(({ command }) => isOwnCommand(command));
}

/** Files whose mode of a sandbox does not count where a project has a profile. */
const BELOW_PROJECT = ['user', 'system'];

/** The configuration that Codex puts together from all its files. @throws CliError `usage` */
export async function wholeConfig(program: string, folder: string): Promise<Table> {
  const question = { method: 'config/read', params: { cwd: folder } };
  const { config, origins } = await asked(configForm, program, folder, question);
  const { sandbox_mode: _, ...others } = config;
  const isBelow = BELOW_PROJECT.includes(origins['sandbox_mode']?.name.type ?? '');
  return isBelow ? others : config;
}

interface Question {
  readonly method: string;
  readonly params: object;
}

async function asked<T>(
  form: z.ZodType<T>,
  program: string,
  folder: string,
  question: Question,
): Promise<T> {
  const child = spawn(program, ['app-server'], { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), ANSWER_MS);
  try {
    const { data } = form.safeParse(await answered(child, question));
    if (data !== undefined) return data;
    throw new CliError(
      'usage',
      `${program} app-server did not answer ${question.method}. Name the program with --codex PATH.`,
    );
  } finally {
    clearTimeout(timer);
    child.kill();
  }
}

/** The result of a question, or undefined if the program ends without one. */
async function answered(child: ChildProcess, question: Question): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) return undefined;
  const send = (message: object): void =>
    void stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  child.on('error', () => resolve(undefined));
  stdin.on('error', () => resolve(undefined));
  const lines = createInterface({ input: stdout });
  lines.on('close', () => resolve(undefined));
  lines.on('line', (text) => {
    const message = messageIn(text);
    if (message?.id === 1) {
      send({ method: 'initialized' });
      send({ id: 2, ...question });
    } else if (message?.id === 2) resolve(message.result);
  });
  const clientInfo = { name: 'assize', version: '1' };
  send({
    id: 1,
    method: 'initialize',
    params: { clientInfo, capabilities: { experimentalApi: true } },
  });
  return promise;
}

function messageIn(text: string): { readonly id?: unknown; readonly result?: unknown } | undefined {
  try {
    return JSON.parse(text) as { readonly id?: unknown };
  } catch {
    // A line of another kind.
    return undefined;
  }
}
