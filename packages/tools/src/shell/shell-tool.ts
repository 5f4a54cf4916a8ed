import { lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isInstance, type Json } from 'assize/internal/base';
import {
  type CallContext,
  DidNothing,
  declareTool,
  type ReconcileResult,
  type Scopes,
  type Tool,
  type ToolSpec,
  whyOf,
} from 'assize/internal/effects';
import { z } from 'zod';
import { scopeOf } from '../files/root.ts';
import {
  ACTING_OPTIONS,
  type ActingToolOptions,
  callback,
  invalidTool,
  readOptions,
  requireMembers,
  zodSchema,
} from '../options.ts';
import { argument, envWith, leading, membersOf, problemOfScript } from './command-arguments.ts';
import { type Command, type CommandResult, runCommand } from './run-command.ts';
import { Snapshots } from './snapshot.ts';

export interface ShellToolSpec<Schema extends z.ZodType = z.ZodType>
  extends ActingToolOptions<Schema>,
    Pick<ToolSpec<Schema>, 'compensate' | 'reconcile'> {
  /** Default: no input. */
  readonly input?: Schema;
  /**
   * The program and its arguments, with `{member}` for a string or number of the input. The value
   * stays within its argument. An argument that starts with a field is refused if its value starts
   * with `-` (`mayBeOptions`). A single string is a script for `/bin/sh`. Strings and numbers of
   * the input are its variables (`"$member"`), and never part of its text. Such a field starts with
   * a lower-case letter, unlike the shell's own variables (`PATH`, `LD_PRELOAD`). The name must not
   * be a setting of programs (`http_proxy` and similar, `npm_config_registry`) or a name in `env`.
   * Other names are refused with the declaration, or with the call if its schema is open.
   */
  readonly command: readonly string[] | string;
  /**
   * Fields at the start of an argument that may be an option of the program, such as `-n` or `-rf`.
   * The input's schema must restrict their values. Default: none.
   */
  readonly mayBeOptions?: readonly string[];
  /** The tool's class. Default with `snapshotOf`: reversible, externalised and queryable. */
  readonly class?: ToolSpec['class'];
  /** The working folder. Default: the folder of `snapshotOf`, or the root of the file system. */
  readonly cwd?: string;
  /** The complete environment. Default: `PATH` of the system's own folders and `LANG=C.UTF-8`. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * The variable for the key of the effect. The key is equal in every attempt of the same effect.
   * The name has upper-case letters, digits and `_`, and is not in `env`. By default the command
   * does not receive the key. A keyed sink requires the variable: only the command can prevent a
   * second effect under the same key.
   */
  readonly keyVariable?: string;
  /** Maximum number of stored bytes of each output. Default 64 KiB. */
  readonly outputMax?: number;
  /**
   * The only folder that the command changes. It is copied first and restored as compensation. The
   * absolute path of an existing folder. The tool's writes include the whole folder by its real
   * path (`fs:FOLDER/**`), regardless of `writes`. If two transactions worked in it concurrently,
   * neither could be compensated.
   */
  readonly snapshotOf?: string;
}

const FOLDER = 'the absolute path of a folder with a parent folder';
const OPTIONS = z.strictObject({
  ...ACTING_OPTIONS,
  input: zodSchema.optional(),
  class: z.unknown().optional(),
  compensate: callback.optional(),
  reconcile: callback.optional(),
  command: z.custom(
    isCommand,
    'a list of strings with the program first, or a script as one string',
  ),
  mayBeOptions: z.array(z.string()).optional(),
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
  keyVariable: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]*$/, 'a variable name of upper-case letters, digits and _')
    .optional(),
  outputMax: z.int().min(0).optional(),
  snapshotOf: z
    .string()
    .refine((path) => resolve(path) === path && path !== '/', FOLDER)
    .optional(),
});

const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' };
const OUTPUT_MAX = 64 * 1024;
const BY_SNAPSHOT = {
  reversibility: 'reversible',
  delivery: 'externalised',
  sink: 'queryable',
} as const;

/**
 * A command as a tool. The result is `{ code, stdout, stderr, isCut }`: a non-zero code is a
 * result. Only with `snapshotOf`, when the folder can be restored immediately, is it `DidNothing`.
 *
 * @throws EffectError `invalid_tool`, naming the tool and the invalid part of its declaration
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
      `mayBeOptions must name fields at the start of an argument, but no argument starts with ${JSON.stringify(stray)}`,
    );
  requireKey(read);
  if (typeof command !== 'string')
    requireMembers(read.name, 'command', command.flatMap(membersOf), input);
  if (snapshotOf === undefined) {
    if (read.class === undefined)
      throw invalidTool(read.name, 'it needs a class, or a snapshotOf that reverts it');
    const execute = async (given: unknown, call: CallContext) =>
      asJson(await runCommand(commandOf(read, given as Json, call.key), call.signal));
    return declareTool({ ...declared, input, execute } as ToolSpec);
  }
  const { class: sort = BY_SNAPSHOT, writes, compensate, reconcile, uncompensated } = read;
  if ([compensate, reconcile, uncompensated].some((each) => each !== undefined))
    throw invalidTool(
      read.name,
      'its snapshot compensates and reconciles it. Remove compensate, reconcile and uncompensated',
    );
  if (read.parallel === true)
    throw invalidTool(
      read.name,
      'its folder is shared by all branches, so it cannot be parallel. Give branches copies with BranchFolders',
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

/** @throws EffectError `invalid_tool` for a keyed sink that does not receive the key */
function requireKey({ name, class: sort, env = ENV, keyVariable }: ShellToolSpec): void {
  if (keyVariable !== undefined && Object.hasOwn(env, keyVariable))
    throw invalidTool(name, `its env has ${keyVariable}, its keyVariable. Rename one of them`);
  // The declaration check refuses an invalid class.
  if (
    (sort as { readonly sink?: unknown } | null | undefined)?.sink === 'keyed' &&
    keyVariable === undefined
  )
    throw invalidTool(
      name,
      'a keyed sink must receive the key. Set keyVariable, and let the command ignore a key that it has seen',
    );
}

/** The canonical path, under which every transaction claims the folder. */
function realFolder(tool: string, given: string): string {
  try {
    const place = join(realpathSync(dirname(given)), basename(given));
    // A command may have removed the folder, or replaced it by a link. The folder itself is
    // restored, and not the link's target.
    const isThere = lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
    if (!isThere && Snapshots.keptOf(place)) return place;
    const path = realpathSync(given);
    if (statSync(path).isDirectory()) return path;
  } catch (error) {
    throw invalidTool(
      tool,
      `its folder ${given} cannot be used (${(error as Error).message}). Create it first`,
      error,
    );
  }
  throw invalidTool(tool, `${given} is not a folder. Create it first`);
}

/** The declared writes of a tool, plus the whole folder if it is not declared. */
function withFolder(writes: Scopes<any> = [], folder: string): Scopes<any> {
  const own = scopeOf({ path: folder, foldsCase: false, foldsForm: false }, folder);
  // A claim of the folder itself overlaps all claims inside it.
  const whole = (told: readonly string[]): readonly string[] =>
    !Array.isArray(told) || [own, `${own}/**`].some((scope) => told.includes(scope))
      ? told
      : [...told, `${own}/**`];
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
      const ended = snapshots.exclusively(call.signal, () =>
        executed(spec, snapshots, given as Json, call, copies),
      );
      return copies.unlessLate(ended);
    },
    compensate: (_input, _result, { key, signal }) =>
      snapshots.exclusively(signal, () => snapshots.undo(key)),
    reconcile: (_input, { key, signal }) =>
      snapshots.exclusively<ReconcileResult>(signal, () => snapshots.settle(key)),
  };
}

/**
 * One step of copying the folder.
 * @throws DidNothing if the step fails, because no command has started yet
 */
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

/** The period of the copy, in which no command has started yet. */
class Copying {
  readonly #folder: string;
  readonly #signal: AbortSignal;
  #isUnderWay = false;

  constructor(folder: string, signal: AbortSignal) {
    this.#folder = folder;
    this.#signal = signal;
  }

  /** @throws DidNothing if the copy fails */
  async during(copy: () => Promise<void>): Promise<void> {
    this.#isUnderWay = true;
    try {
      await copying(this.#folder, copy);
    } finally {
      this.#isUnderWay = false;
    }
  }

  /**
   * The result of the run.
   * @throws DidNothing on abort during a copy; the copy then ends on its own
   */
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

  /** Not permanent: other transactions may have used most of the time. */
  #late(): DidNothing {
    return new DidNothing(
      `${this.#folder} could not be copied in time. Raise effects.callTimeoutMs, or name a smaller folder in snapshotOf`,
      { why: 'not_copied' },
    );
  }
}

async function executed(
  spec: ShellToolSpec<any>,
  snapshots: Snapshots,
  given: Json,
  call: CallContext,
  copies: Copying,
): Promise<Json> {
  const { key, epoch, signal } = call;
  const found = await snapshots.settle(key);
  if (found.happened) return found.result;
  const command = commandOf(spec, given, key);
  await copies.during(async () => {
    try {
      await snapshots.take(key, epoch, signal);
      // The call was aborted, and another transaction may own its scopes by now.
      signal.throwIfAborted();
    } catch (error) {
      await snapshots.delete(key);
      throw error;
    }
  });
  let result: CommandResult;
  try {
    result = await runCommand({ ...command, onStart: (pid) => snapshots.began(key, pid) }, signal);
  } catch (error) {
    await snapshots.revert(key);
    if (isInstance(error, DidNothing)) throw error;
    throw new DidNothing(
      `${(error as Error).message.replace(/\.$/, '')}; its changes were reverted`,
      {
        cause: error,
        why: whyOf(error),
      },
    );
  }
  if (result.code !== 0) {
    await snapshots.revert(key);
    throw new DidNothing(
      `it ended with ${result.code}, and its changes were reverted${lastOf(result.stderr)}`,
      {
        final: true,
        cause: outputOf(result),
        why: `exit_${result.code}`,
      },
    );
  }
  await snapshots.ended(key, asJson(result));
  return asJson(result);
}

/** @throws DidNothing for an input that the command can't receive */
function commandOf(spec: ShellToolSpec<any>, given: Json, key: string): Command {
  const {
    command,
    mayBeOptions,
    cwd = spec.snapshotOf ?? '/',
    outputMax = OUTPUT_MAX,
    keyVariable,
  } = spec;
  const env = {
    ...(spec.env ?? ENV),
    ...(keyVariable === undefined ? {} : { [keyVariable]: key }),
  };
  if (typeof command === 'string')
    return { argv: ['/bin/sh', '-c', command], cwd, env: envWith(env, given), outputMax };
  return { argv: command.map((part) => argument(part, given, mayBeOptions)), cwd, env, outputMax };
}

function asJson({ code, stdout, stderr, isCut }: CommandResult): Json {
  return { code, stdout, stderr, isCut };
}

function isCommand(value: unknown): boolean {
  if (!Array.isArray(value)) return typeof value === 'string' && value !== '';
  return value.length > 0 && value.every((each) => typeof each === 'string');
}

/** The reason for a failure is usually at the end of a program's output. */
function lastOf(stderr: string): string {
  const text = stderr.trim();
  return text === '' ? '' : `: ${text.slice(-500).toWellFormed()}`;
}

/** The stored outputs, for the caller: many programs write the reason of a failure to stdout. */
function outputOf({ stdout, stderr }: CommandResult): Error | undefined {
  const text = [stderr, stdout].filter((each) => each.trim() !== '').join('\n');
  return text === '' ? undefined : new Error(text);
}
