import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { CliError } from '@assize/command';
import { z } from 'zod';
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

const answerForm = z.object({
  id: z.literal(2),
  result: z.object({ data: z.array(z.object({ hooks: z.array(z.looseObject({})) })) }),
});

const ANSWER_MS = 30_000;

/**
 * The hooks of Assize that Codex finds in a folder.
 *
 * @throws CliError `usage` if Codex does not answer
 */
export async function listedHooks(program: string, folder: string): Promise<readonly ListedHook[]> {
  const child = spawn(program, ['app-server'], { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), ANSWER_MS);
  try {
    const answer = answerForm.safeParse(await answered(child, folder));
    if (!answer.success) throw unanswered(program);
    return answer.data.result.data
      .flatMap(({ hooks }) => hooks)
      .flatMap((hook) => hookForm.safeParse(hook).data ?? [])
      .filter(({ command }) => isOwnCommand(command));
  } finally {
    clearTimeout(timer);
    child.kill();
  }
}

/** The answer to `hooks/list`, or undefined if the program ends without one. */
async function answered(child: ChildProcess, folder: string): Promise<unknown> {
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
      send({ id: 2, method: 'hooks/list', params: { cwds: [folder] } });
    } else if (message?.id === 2) resolve(message);
  });
  const clientInfo = { name: 'assize', version: '1' };
  send({
    id: 1,
    method: 'initialize',
    params: { clientInfo, capabilities: { experimentalApi: true } },
  });
  return promise;
}

function messageIn(text: string): { readonly id?: unknown } | undefined {
  try {
    return JSON.parse(text) as { readonly id?: unknown };
  } catch {
    // A line of another kind.
    return undefined;
  }
}

function unanswered(program: string): CliError {
  return new CliError(
    'usage',
    `${program} app-server did not list its hooks. Name the program with --codex PATH.`,
  );
}
