import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chatModelOf } from '@assize/agents/internal/commands/chat-model.ts';
import { type ChatModel, ModelError } from '@assize/agents/models';
import { CliError, checked, readJson } from '@assize/command';
import { hashText } from 'assize/internal/canon';
import type { Command } from 'commander';
import { z } from 'zod';
import type { Model } from '../index.ts';

/** The options that name a model. A command takes one of them. */
export interface ModelCliOptions {
  readonly model?: string;
  readonly modelCommand?: string;
  readonly answers?: string;
}

/** A question to a model. An abort of the signal ends it with the reason of the signal. */
type Asking = (request: string, signal: AbortSignal) => Promise<string>;

/** A model with its version. The version is a part of each recorded question. */
export interface NamedModel {
  readonly model: Model;
  readonly modelVersion: string;
  /** A name for entries of a ledger. It has no part of a command: that may have a secret. */
  readonly name: string;
  /** Whether the answers come from a file, and need no record. */
  readonly isPrepared: boolean;
}

export function withModelOptions(command: Command): Command {
  return command
    .option(
      '--model <model>',
      'openai:NAME, openai:NAME@URL or anthropic:NAME; keys come from the environment',
    )
    .option(
      '--model-command <cmd>',
      'program that reads the request and prints the answer; recorded in the store',
    )
    .option(
      '--answers <file>',
      'recorded answers instead of a model: a JSON list of strings, in order',
    );
}

/**
 * The model that the options name. Undefined if they name none. After an abort of the signal no
 * question is asked, and the one in progress ends with the reason of the signal.
 *
 * @throws CliError `usage` for two of them
 */
export function modelOf(
  { model, modelCommand, answers }: ModelCliOptions,
  signal: AbortSignal,
): NamedModel | undefined {
  const until =
    (ask: Asking): Model =>
    async (request) => {
      signal.throwIfAborted();
      return ask(request, signal);
    };
  const given = [model, modelCommand, answers].filter((option) => option !== undefined);
  if (given.length > 1)
    throw new CliError('usage', 'Pass one of --model, --model-command and --answers.');
  if (model !== undefined) {
    const chat = chatModelOf(model, false);
    return { model: until(asking(chat)), modelVersion: chat.id, name: chat.id, isPrepared: false };
  }
  if (modelCommand !== undefined)
    return {
      ...{
        model: until(commandModel(modelCommand)),
        modelVersion: modelCommand,
        isPrepared: false,
      },
      name: `command:${hashText(modelCommand).slice(0, 12)}`,
    };
  if (answers === undefined) return undefined;
  return { model: recorded(answers), modelVersion: 'answers', name: 'answers', isPrepared: true };
}

/** One question to a chat model, without tools. */
function asking(chat: ChatModel): Asking {
  return async (request, signal) => {
    const messages = [{ from: 'user' as const, text: request }];
    const { text, stop } = await chat.ask({ system: '', messages, tools: [] }, signal);
    if (stop === 'length')
      throw new ModelError(
        'token_limit',
        `The model ${chat.id} stopped at its token limit. Use another model.`,
      );
    if (stop === 'filter')
      throw new ModelError(
        'content_filtered',
        `The model ${chat.id} declined to answer. Use another model.`,
      );
    return text;
  };
}

function recorded(file: string): Model {
  const answers = checked(readJson(file), z.array(z.string()), file).values();
  return () => {
    const { value, done } = answers.next();
    if (done)
      throw new CliError(
        'bad_input',
        `${file} has no further answer. Give it one answer for each question.`,
      );
    return value;
  };
}

/** Characters that a model's command may print. */
const OUTPUT_MAX = 10_000_000;

/**
 * A program of the user: the request on its standard input, the answer on its standard output. It
 * has a process group of its own. An abort or the end of this process ends the whole group.
 */
function commandModel(command: string): Asking {
  return async (request, signal) => {
    const child = spawn(command, {
      shell: true,
      detached: !isWindows,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const end = (): void => endAll(child, 'SIGTERM');
    const leaveNone = (): void => endAll(child, 'SIGKILL');
    signal.addEventListener('abort', end, { once: true });
    process.once('exit', leaveNone);
    let answer = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
      if (answer.length > OUTPUT_MAX) end();
    });
    // A model that does not read its question to the end may answer all the same.
    child.stdin.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') child.emit('error', error);
    });
    child.stdin.end(request);
    const closed = once(child, 'close').finally(() => {
      signal.removeEventListener('abort', end);
      process.off('exit', leaveNone);
    });
    const [code] = (await closed) as [number | null];
    signal.throwIfAborted();
    if (answer.length > OUTPUT_MAX)
      throw new CliError(
        'bad_input',
        `The model’s command printed more than ${OUTPUT_MAX} characters: ${command}. Make it print the answer alone.`,
      );
    if (code !== 0)
      throw new CliError(
        'bad_input',
        `The model’s command ended with ${code ?? 'a signal'}: ${command}. Run it alone to see why.`,
      );
    return answer;
  };
}

const isWindows = process.platform === 'win32';

/** Ends a program with the programs that it has started. */
function endAll(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (isWindows || child.pid === undefined) {
    child.kill(signal);
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    // The group has ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
