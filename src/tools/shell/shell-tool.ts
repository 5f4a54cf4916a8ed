import { resolve } from 'node:path';
import { z } from 'zod';
import { form, type Json, requireForm } from '#canon';
import { type Call, DidNothing, declareTool, EffectError, type Reconciled, type Tool, type ToolSpec } from '#effects';
import { type Ended, runCommand } from './run-command.ts';
import { Snapshots } from './snapshot.ts';

export interface ShellToolSpec<Schema extends z.ZodType = z.ZodType>
  extends Pick<
    ToolSpec<Schema>,
    | 'name'
    | 'description'
    | 'reads'
    | 'writes'
    | 'compensate'
    | 'reconcile'
    | 'uncompensated'
    | 'cost'
    | 'undoCost'
    | 'channel'
  > {
  /** Default: no input. */
  readonly input?: Schema;
  /**
   * The program and its arguments, with `{member}` for a text or number of the input, which stays within its argument. As one text:
   * a script for `/bin/sh`, where members of the input are variables (`"$member"`) and never part of the text.
   */
  readonly command: readonly string[] | string;
  /** As it is; with `snapshotOf` by default reversible, externalised and queryable. */
  readonly class?: ToolSpec['class'];
  /** Where it runs; by default the folder of `snapshotOf`, or the root of the file system. */
  readonly cwd?: string;
  /** All that it has for an environment. By default `PATH` of the system's own folders and `LANG=C.UTF-8`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Bytes of each output that are kept. Default 64 KiB. */
  readonly outputMax?: number;
  /** The only folder that it changes: copied before, and put back to undo it. An absolute path. */
  readonly snapshotOf?: string;
}

const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' };
const OUTPUT_MAX = 64 * 1024;
const BY_SNAPSHOT = { reversibility: 'reversible', delivery: 'externalised', sink: 'queryable' } as const;

/**
 * A command as a tool. It answers `{ code, stdout, stderr, isCut }`: that a command says no is an answer. Only with `snapshotOf`, where
 * what it did can be put back at once, is it `DidNothing`.
 *
 * @throws EffectError `invalid_tool`; ArgumentError `bad_argument`
 */
export function shellTool<Schema extends z.ZodType>(spec: ShellToolSpec<Schema>): Tool {
  requireForm(form.members({ name: form.text }), spec, 'spec');
  checkSpec(spec);
  const { name, description, input = z.strictObject({}), reads, writes, cost, undoCost, snapshotOf } = spec;
  const { compensate, reconcile, uncompensated, channel } = spec;
  const shared = {
    name,
    input,
    ...(description === undefined ? {} : { description }),
    ...(reads === undefined ? {} : { reads }),
    ...(writes === undefined ? {} : { writes }),
    ...(cost === undefined ? {} : { cost }),
    ...(undoCost === undefined ? {} : { undoCost }),
    ...(channel === undefined ? {} : { channel }),
  };
  if (snapshotOf !== undefined)
    return declareTool({
      ...shared,
      class: spec.class ?? BY_SNAPSHOT,
      ...undoneBySnapshot(spec, snapshotOf),
    } as ToolSpec);
  return declareTool({
    ...shared,
    class: spec.class!,
    execute: async (given: Json, call: Call) => asJson(await run(spec, given, call)),
    ...(compensate === undefined ? {} : { compensate }),
    ...(reconcile === undefined ? {} : { reconcile }),
    ...(uncompensated === undefined ? {} : { uncompensated }),
  } as ToolSpec);
}

function undoneBySnapshot(
  spec: ShellToolSpec<any>,
  folder: string,
): Pick<ToolSpec, 'execute' | 'compensate' | 'reconcile'> {
  const turns = new Turns();
  return {
    execute: (given, call) => turns.take(call.key, async () => executed(spec, folder, given as Json, call)),
    compensate: (_input, _result, { key }) => turns.take(key, async () => (await Snapshots.of(folder)).undo(key)),
    reconcile: (_input, { key }) => turns.take<Reconciled>(key, async () => (await Snapshots.of(folder)).settle(key)),
  };
}

async function executed(spec: ShellToolSpec<any>, folder: string, given: Json, call: Call): Promise<Json> {
  const { key, epoch, signal } = call;
  const snapshots = await Snapshots.of(folder);
  const found = await snapshots.settle(key);
  if (found.happened) return found.result;
  try {
    await snapshots.take(key, epoch);
  } catch (error) {
    await snapshots.forget(key);
    throw new DidNothing(`${folder} could not be copied: ${(error as Error).message}`, { cause: error });
  }
  let result: Ended;
  try {
    result = await run(spec, given, { key, signal }, (pid) => snapshots.began(key, pid));
  } catch (error) {
    await snapshots.settle(key);
    if (error instanceof DidNothing) throw error;
    throw new DidNothing(`${(error as Error).message.replace(/\.$/, '')}; what it did was put back`, { cause: error });
  }
  if (result.code !== 0) {
    await snapshots.settle(key);
    throw new DidNothing(`it ended with ${result.code}, and what it did was put back: ${result.stderr.slice(0, 500)}`, {
      final: true,
    });
  }
  await snapshots.ended(key, asJson(result));
  return asJson(result);
}

function run(
  spec: ShellToolSpec<any>,
  given: Json,
  call: Call,
  onStart?: (pid: number) => Promise<void>,
): Promise<Ended> {
  const { command, cwd = spec.snapshotOf ?? '/', env = ENV, outputMax = OUTPUT_MAX } = spec;
  const isScript = typeof command === 'string';
  return runCommand(
    {
      argv: isScript ? ['/bin/sh', '-c', command] : command.map((part) => filled(part, given)),
      cwd,
      env: isScript ? { ...env, ...variables(given) } : env,
      outputMax,
      ...(onStart === undefined ? {} : { onStart }),
    },
    call.signal,
  );
}

const MEMBER = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

function filled(part: string, given: Json): string {
  return part.replaceAll(MEMBER, (_, member: string) => {
    const value = (given as Record<string, unknown> | null)?.[member];
    if (typeof value !== 'string' && typeof value !== 'number')
      throw new DidNothing(`its command needs ${member}, a text or a number`, { final: true });
    return checked(String(value));
  });
}

/** Names that a shell takes for variables, and that are no settings of the shell itself. */
const VARIABLE = /^[a-z][a-z0-9_]*$/i;

function variables(given: Json): Record<string, string> {
  const members = Object.entries((given ?? {}) as Record<string, unknown>);
  return Object.fromEntries(
    members.flatMap(([name, value]) =>
      VARIABLE.test(name) && (typeof value === 'string' || typeof value === 'number')
        ? [[name, checked(String(value))]]
        : [],
    ),
  );
}

function checked(text: string): string {
  if (text.includes('\0')) throw new DidNothing('an argument has a character that none can have, NUL', { final: true });
  return text;
}

function asJson({ code, stdout, stderr, isCut }: Ended): Json {
  return { code, stdout, stderr, isCut };
}

function checkSpec({
  name,
  command,
  snapshotOf,
  compensate,
  reconcile,
  env,
  outputMax = OUTPUT_MAX,
  cwd,
  ...rest
}: ShellToolSpec<any>): void {
  const problem = (): string | undefined => {
    if (typeof command === 'string' ? command === '' : !isTexts(command) || command.length === 0)
      return 'its command is a list of texts, the program first, or one text that is a script';
    if (!(Number.isSafeInteger(outputMax) && outputMax >= 0)) return 'outputMax is a whole number of bytes';
    if (env !== undefined && !(typeof env === 'object' && env !== null && isTexts(Object.values(env))))
      return 'its env is an object of texts';
    if (cwd !== undefined && typeof cwd !== 'string') return 'its cwd is a path';
    if (snapshotOf === undefined)
      return rest.class === undefined ? 'it has to have a class, or a snapshotOf that undoes it' : undefined;
    if (typeof snapshotOf !== 'string' || resolve(snapshotOf) !== snapshotOf || snapshotOf === '/')
      return 'snapshotOf is the absolute path of a folder that has one around it';
    if (compensate !== undefined || reconcile !== undefined)
      return 'a snapshot undoes it and knows whether it was done, so it can have no compensate or reconcile of its own';
    return undefined;
  };
  const found = problem();
  if (found !== undefined)
    throw new EffectError('invalid_tool', `The tool ${name} can't be used: ${found}.`, { evidence: { tool: name } });
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/** Calls of one key, one after the other: nobody is told what became of a call that still goes on. */
class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(key: string, step: () => Promise<T>): Promise<T> {
    const done = (this.#last.get(key) ?? Promise.resolve()).then(step, step);
    this.#last.set(key, done);
    try {
      return await done;
    } finally {
      if (this.#last.get(key) === done) this.#last.delete(key);
    }
  }
}
