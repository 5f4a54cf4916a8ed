import { lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import type { Json } from '#base';
import {
  type Call,
  DidNothing,
  declareTool,
  type Reconciled,
  type Scopes,
  type Tool,
  type ToolSpec,
  whyOf,
} from '#effects';
import { scopeOf } from '../files/root.ts';
import {
  callback,
  invalidTool,
  readOptions,
  requireMembers,
  SAID_OF_ACTS,
  type SaidOfActs,
  zodSchema,
} from '../options.ts';
import { argument, envWith, leading, membersOf, problemOfScript } from './given.ts';
import { type Command, type Ended, runCommand } from './run-command.ts';
import { Snapshots } from './snapshot.ts';

export interface ShellToolSpec<Schema extends z.ZodType = z.ZodType>
  extends SaidOfActs<Schema>,
    Pick<ToolSpec<Schema>, 'compensate' | 'reconcile'> {
  /** Default: no input. */
  readonly input?: Schema;
  /**
   * The program and its arguments, with `{member}` for a text or number of the input, which stays within its argument. An argument that
   * begins with a member is refused where it would begin with `-` (`mayBeOptions`). As one text:
   * a script for `/bin/sh`, where texts and numbers of the input are variables (`"$member"`) and never part of the text. Such a member
   * begins with a lower-case letter, as nothing does that the shell itself goes by (`PATH`, `LD_PRELOAD`), is nothing that programs go by
   * (`http_proxy` and whatever else ends so, `npm_config_registry`), and is none that `env` has: what is named otherwise is refused, with the declaration or, where its schema is open, with the call.
   */
  readonly command: readonly string[] | string;
  /**
   * Members at the beginning of an argument that may be an option of the program, as `-n` or `-rf`: what they are is then for the schema of
   * the input to say. By default none.
   */
  readonly mayBeOptions?: readonly string[];
  /** As it is; with `snapshotOf` by default reversible, externalised and queryable. */
  readonly class?: ToolSpec['class'];
  /** Where it runs; by default the folder of `snapshotOf`, or the root of the file system. */
  readonly cwd?: string;
  /** All that it has for an environment. By default `PATH` of the system's own folders and `LANG=C.UTF-8`. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * The variable that takes the key of the effect, which is the same whenever the same effect is called again: upper-case letters, digits
   * and `_`, and none that `env` has. By default the command is not given it. A keyed sink is given it, as what is called again under
   * its key must not be done again, and only the command can see to that.
   */
  readonly keyVariable?: string;
  /** Bytes of each output that are kept. Default 64 KiB. */
  readonly outputMax?: number;
  /**
   * The only folder that it changes: copied before, and put back to undo it. The absolute path of one that is there. All of it is among what
   * the tool writes, whatever `writes` says, by its real path (`fs:FOLDER/**`): where two transactions worked in
   * it at once, neither could be undone.
   */
  readonly snapshotOf?: string;
}

const FOLDER = 'the absolute path of a folder that has one around it';
const OPTIONS = z.strictObject({
  ...SAID_OF_ACTS,
  input: zodSchema.optional(),
  class: z.unknown().optional(),
  compensate: callback.optional(),
  reconcile: callback.optional(),
  command: z.custom(isCommand, 'a list of texts, the program first, or one text that is a script'),
  mayBeOptions: z.array(z.string()).optional(),
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
  keyVariable: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]*$/, 'the name of a variable in upper-case letters, digits and _')
    .optional(),
  outputMax: z.int().min(0).optional(),
  snapshotOf: z
    .string()
    .refine((path) => resolve(path) === path && path !== '/', FOLDER)
    .optional(),
});

const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' };
const OUTPUT_MAX = 64 * 1024;
const BY_SNAPSHOT = { reversibility: 'reversible', delivery: 'externalised', sink: 'queryable' } as const;

/**
 * A command as a tool. It answers `{ code, stdout, stderr, isCut }`: that a command says no is an answer. Only with `snapshotOf`, where
 * what it did can be put back at once, is it `DidNothing`.
 *
 * @throws EffectError `invalid_tool`, naming the tool and what of its declaration is wrong
 */
export function shellTool<Schema extends z.ZodType>(spec: ShellToolSpec<Schema>): Tool {
  const read = readOptions(OPTIONS, spec) as unknown as ShellToolSpec;
  const {
    command,
    mayBeOptions = [],
    cwd,
    env = ENV,
    keyVariable,
    outputMax,
    snapshotOf,
    input = z.strictObject({}),
    ...declared
  } = read;
  const problem = typeof command === 'string' ? problemOfScript(input, env) : undefined;
  if (problem !== undefined) throw invalidTool(read.name, problem);
  const begins = new Set(typeof command === 'string' ? [] : command.flatMap(leading));
  const stray = mayBeOptions.find((member) => !begins.has(member));
  if (stray !== undefined)
    throw invalidTool(
      read.name,
      `mayBeOptions are members that an argument of its command begins with, and ${JSON.stringify(stray)} begins none`,
    );
  requireKey(read);
  if (typeof command !== 'string') requireMembers(read.name, 'command', command.flatMap(membersOf), input);
  if (snapshotOf === undefined) {
    if (read.class === undefined)
      throw invalidTool(read.name, 'it has to have a class, or a snapshotOf that undoes it');
    const execute = async (given: unknown, call: Call) =>
      asJson(await runCommand(commandOf(read, given as Json, call.key), call.signal));
    return declareTool({ ...declared, input, execute } as ToolSpec);
  }
  const { class: sort = BY_SNAPSHOT, writes, compensate, reconcile, uncompensated } = read;
  if ([compensate, reconcile, uncompensated].some((each) => each !== undefined))
    throw invalidTool(
      read.name,
      'a snapshot undoes it and knows whether it was done, so it has no compensate, reconcile or uncompensated of its own',
    );
  if (read.parallel === true)
    throw invalidTool(
      read.name,
      'its folder is one for all branches, so it can’t be used in parallel; give them copies (BranchFolders)',
    );
  const folder = realFolder(read.name, snapshotOf);
  return declareTool({
    ...declared,
    input,
    class: sort,
    writes: withFolder(writes, folder),
    ...undoneBySnapshot({ ...read, snapshotOf: folder }, folder),
  } as ToolSpec);
}

/** @throws EffectError `invalid_tool` for a sink that is told to go by the key, and is not given it */
function requireKey({ name, class: sort, env = ENV, keyVariable }: ShellToolSpec): void {
  if (keyVariable !== undefined && Object.hasOwn(env, keyVariable))
    throw invalidTool(name, `its env has ${keyVariable}, which is its keyVariable; give one of them another name`);
  // What is no class at all is refused with the declaration.
  if ((sort as { readonly sink?: unknown } | null | undefined)?.sink === 'keyed' && keyVariable === undefined)
    throw invalidTool(
      name,
      'a keyed sink has to be given the key; name the variable that takes it (keyVariable), and let the command do nothing again under a key that it has seen',
    );
}

/** Its one path, by which everybody claims it. */
function realFolder(tool: string, given: string): string {
  try {
    const place = join(realpathSync(dirname(given)), basename(given));
    // A command may have taken it away, or left a link in its place: what is to be put back is the folder, and not what that leads to.
    const isThere = lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
    if (!isThere && Snapshots.keptOf(place)) return place;
    const path = realpathSync(given);
    if (statSync(path).isDirectory()) return path;
  } catch (error) {
    throw invalidTool(tool, `its folder ${given} can't be used (${(error as Error).message}); make it first`, error);
  }
  throw invalidTool(tool, `its folder ${given} is no folder; make it first`);
}

/** What a tool says that it writes, and all of its folder where it does not say that. */
function withFolder(writes: Scopes<any> = [], folder: string): Scopes<any> {
  const own = scopeOf({ path: folder, foldsCase: false, foldsForm: false }, folder);
  // Whoever claims a folder itself meets all who claim anything in it.
  const whole = (told: readonly string[]): readonly string[] =>
    !Array.isArray(told) || [own, `${own}/**`].some((scope) => told.includes(scope)) ? told : [...told, `${own}/**`];
  return typeof writes === 'function' ? (input) => whole(writes(input)) : whole(writes);
}

function undoneBySnapshot(
  spec: ShellToolSpec<any>,
  folder: string,
): Pick<ToolSpec, 'execute' | 'compensate' | 'reconcile'> {
  const snapshots = new Snapshots(folder);
  return {
    execute: async (given, call) => {
      await copying(folder, () => snapshots.makePlace());
      const copies = new Copying(folder, call.signal);
      const ended = snapshots.alone(call.signal, () => executed(spec, snapshots, given as Json, call, copies));
      return copies.unlessLate(ended);
    },
    compensate: (_input, _result, { key, signal }) => snapshots.alone(signal, () => snapshots.undo(key)),
    reconcile: (_input, { key, signal }) => snapshots.alone<Reconciled>(signal, () => snapshots.settle(key)),
  };
}

/** A part of copying the folder. @throws DidNothing where it fails, as no command has been begun then */
async function copying(folder: string, part: () => Promise<void>): Promise<void> {
  try {
    await part();
  } catch (error) {
    throw new DidNothing(`${folder} could not be copied: ${(error as Error).message}`, {
      cause: error,
      why: 'not_copied',
    });
  }
}

/** The time in which nothing was done yet, as the folder is being copied. */
class Copying {
  readonly #folder: string;
  readonly #signal: AbortSignal;
  #isUnderWay = false;

  constructor(folder: string, signal: AbortSignal) {
    this.#folder = folder;
    this.#signal = signal;
  }

  /** @throws DidNothing where it fails */
  async during(copy: () => Promise<void>): Promise<void> {
    this.#isUnderWay = true;
    try {
      await copying(this.#folder, copy);
    } finally {
      this.#isUnderWay = false;
    }
  }

  /** What it comes to. @throws DidNothing as soon as nobody waits any more, where that is during a copy, which ends by itself then */
  async unlessLate<T>(ended: Promise<T>): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const tell = (): void => {
      if (this.#isUnderWay) reject(this.#late());
    };
    this.#signal.addEventListener('abort', tell);
    try {
      return await Promise.race([late, ended]);
    } finally {
      this.#signal.removeEventListener('abort', tell);
    }
  }

  /** Not for good: others who were at work there may have had the most of its time. */
  #late(): DidNothing {
    return new DidNothing(
      `${this.#folder} could not be copied in time; give calls longer (callMs), or name a smaller folder in snapshotOf`,
      { why: 'not_copied' },
    );
  }
}

async function executed(
  spec: ShellToolSpec<any>,
  snapshots: Snapshots,
  given: Json,
  call: Call,
  copies: Copying,
): Promise<Json> {
  const { key, epoch, signal } = call;
  const found = await snapshots.settle(key);
  if (found.happened) return found.result;
  const command = commandOf(spec, given, key);
  await copies.during(async () => {
    try {
      await snapshots.take(key, epoch, signal);
      // Nobody waits any more, and what it touches may be somebody else's by now.
      signal.throwIfAborted();
    } catch (error) {
      await snapshots.forget(key);
      throw error;
    }
  });
  let result: Ended;
  try {
    result = await runCommand({ ...command, onStart: (pid) => snapshots.began(key, pid) }, signal);
  } catch (error) {
    await snapshots.revert(key);
    if (error instanceof DidNothing) throw error;
    throw new DidNothing(`${(error as Error).message.replace(/\.$/, '')}; what it did was put back`, {
      cause: error,
      why: whyOf(error),
    });
  }
  if (result.code !== 0) {
    await snapshots.revert(key);
    throw new DidNothing(`it ended with ${result.code}, and what it did was put back${lastOf(result.stderr)}`, {
      final: true,
      cause: outputOf(result),
      why: `exit_${result.code}`,
    });
  }
  await snapshots.ended(key, asJson(result));
  return asJson(result);
}

/** @throws DidNothing for an input that its command can't be given */
function commandOf(spec: ShellToolSpec<any>, given: Json, key: string): Command {
  const { command, mayBeOptions, cwd = spec.snapshotOf ?? '/', outputMax = OUTPUT_MAX, keyVariable } = spec;
  const env = { ...(spec.env ?? ENV), ...(keyVariable === undefined ? {} : { [keyVariable]: key }) };
  if (typeof command === 'string')
    return { argv: ['/bin/sh', '-c', command], cwd, env: envWith(env, given), outputMax };
  return { argv: command.map((part) => argument(part, given, mayBeOptions)), cwd, env, outputMax };
}

function asJson({ code, stdout, stderr, isCut }: Ended): Json {
  return { code, stdout, stderr, isCut };
}

function isCommand(value: unknown): boolean {
  if (!Array.isArray(value)) return typeof value === 'string' && value !== '';
  return value.length > 0 && value.every((each) => typeof each === 'string');
}

/** Why it failed stands at the end of what a program has written, as a rule. */
function lastOf(stderr: string): string {
  const text = stderr.trim();
  return text === '' ? '' : `: ${text.slice(-500).toWellFormed()}`;
}

/** All that is kept of its outputs, for whoever has called: many a program says on stdout why it failed. */
function outputOf({ stdout, stderr }: Ended): Error | undefined {
  const text = [stderr, stdout].filter((each) => each.trim() !== '').join('\n');
  return text === '' ? undefined : new Error(text);
}
