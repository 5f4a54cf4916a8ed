import { fstatSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Agent } from './agent-answer.ts';
import { answerEvent, type HookOptions } from './answer-event.ts';

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
  const options = optionsIn(agent as Agent, rest);
  const end =
    typeof options === 'string'
      ? ({ code: 2, out: '', err: `${options} Run assize init ${agent} again.\n` } as const)
      : await answerEvent(standardInput, options);
  const [isOut] = await Promise.all([
    written(process.stdout, end.out),
    written(process.stderr, end.err),
  ]);
  // A refusal that did not arrive would let the call through.
  return isOut ? end.code : 2;
}

/** The options of a line, or the text of its fault. */
function optionsIn(agent: Agent, args: readonly string[]): HookOptions | string {
  const names = ['url', 'token-file', 'rules', 'trajectory', 'wait', 'sandbox'];
  const terms = ['sandbox-digest', ...(agent === 'codex' ? [] : ['pending', 'confirm'])];
  const options = [...names, ...terms].map((name) => [name, { type: 'string' } as const]);
  let values: { readonly [name: string]: string };
  try {
    ({ values } = parseArgs({ args: [...args], options: Object.fromEntries(options) }) as never);
  } catch (error) {
    return `assize hook ${agent}: ${String(error)}.`;
  }
  const { url, trajectory, wait } = { ...DEFAULTS, ...values };
  const { 'token-file': tokenFile, rules, sandbox } = values;
  if (agent === 'codex' && tokenFile === undefined) return 'assize hook codex has no --token-file.';
  if (!/^\d{1,2}$/.test(wait) || Number(wait) > WAIT_SECONDS_MAX)
    return `assize hook ${agent} takes a --wait of 0 to ${WAIT_SECONDS_MAX} seconds.`;
  const given = Object.entries(values)
    .filter(([name]) => terms.includes(name))
    .map(([name, value]) => [name.replace('-digest', ''), value]);
  return {
    ...{ agent, url, trajectory, wait: Number(wait), tokenFile, rules, sandbox },
    terms: Object.fromEntries(given),
  };
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
