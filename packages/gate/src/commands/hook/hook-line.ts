import { fstatSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { guardClaudeCode } from './claude-code.ts';
import { answerCodex, type CodexHookOptions, type HookEnd } from './codex.ts';

export const DEFAULTS = { url: 'http://127.0.0.1:4517', trajectory: 'calls', wait: '20' } as const;
export const WAIT_SECONDS_MAX = 50;

/** Whether the line is the command of a hook, and no question about it. */
export function isHookLine([command, agent, ...rest]: readonly string[]): boolean {
  return (
    command === 'hook' &&
    (agent === 'codex' || agent === 'claude-code') &&
    !rest.some((word) => word === '--help' || word === '-h')
  );
}

/** Runs a command of `assize hook` without the rest of the program. Returns the exit code. */
export async function runHookLine(args: readonly string[]): Promise<number> {
  const [, agent, ...rest] = args;
  const end = await (agent === 'codex' ? endOfCodex(rest) : endOfClaudeCode(rest));
  const [isOut] = await Promise.all([
    written(process.stdout, end.out),
    written(process.stderr, end.err),
  ]);
  // A refusal that did not arrive would let the call through.
  return isOut ? end.code : 2;
}

async function endOfClaudeCode(args: readonly string[]): Promise<HookEnd> {
  const [option, url, second, sandbox, ...more] = args;
  const isSandboxed = second === '--sandbox' && sandbox !== undefined;
  const isKnown = (second === undefined || isSandboxed) && more.length === 0;
  if (option === '--url' && url !== undefined && isKnown)
    return guardClaudeCode(standardInput, url, sandbox);
  const err =
    'assize hook claude-code takes --url and an address. Run assize init claude-code again.\n';
  return { code: 2, out: '', err };
}

async function endOfCodex(args: readonly string[]): Promise<HookEnd> {
  const options = optionsIn(args);
  if (typeof options === 'string')
    return { code: 2, out: '', err: `${options} Run assize init codex again.\n` };
  return answerCodex(standardInput, options);
}

/** The options of a line, or the text of its fault. */
function optionsIn(args: readonly string[]): CodexHookOptions | string {
  const string = { type: 'string' } as const;
  const options = { url: string, 'token-file': string, trajectory: string, wait: string };
  let values: { readonly [name in keyof typeof options]?: string };
  try {
    ({ values } = parseArgs({ args: [...args], options }));
  } catch (error) {
    return `assize hook codex: ${String(error)}.`;
  }
  const { url, trajectory, wait, 'token-file': tokenFile } = { ...DEFAULTS, ...values };
  if (tokenFile === undefined) return 'assize hook codex has no --token-file.';
  if (!/^\d{1,2}$/.test(wait) || Number(wait) > WAIT_SECONDS_MAX)
    return `assize hook codex takes a --wait of 0 to ${WAIT_SECONDS_MAX} seconds.`;
  return { url, trajectory, wait: Number(wait), tokenFile };
}

async function standardInput(): Promise<string> {
  fstatSync(0);
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(piece as Buffer);
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
}

/** Whether the stream took the text. */
function written(stream: NodeJS.WriteStream, text: string): Promise<boolean> {
  if (text === '') return Promise.resolve(true);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  stream.once('error', () => resolve(false));
  stream.write(text, (error) => resolve(!error));
  return promise;
}
