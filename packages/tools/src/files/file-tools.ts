import { join } from 'node:path';
import { arg, checkArgument, isInstance, type Json } from 'assize/internal/base';
import { DEFAULT_LIMITS } from 'assize/internal/canon';
import {
  type CallContext,
  type Delivery,
  DidNothing,
  declareTool,
  EffectError,
  type PlannedCalls,
  type Tool,
  type ToolSpec,
} from 'assize/internal/effects';
import { z } from 'zod';
import { callback, readOptions } from '../options.ts';
import { type Disk, diskAt, type PathContents } from './disk.ts';
import { FileActions } from './file-actions.ts';
import { Journal } from './journal.ts';
import { hashOf, type Operation, resultOf, textOf } from './operations.ts';
import { canBe, canonical, NAME_BYTES_MAX, type Root, rootAt, scopeOf } from './root.ts';
import { Places, View } from './view.ts';

export interface FileToolsOptions {
  /**
   * The absolute folder of the tools. They read and write only inside it. The folder gets a
   * subfolder `.assize`.
   */
  readonly root: string;
  /** Prefix of the tools' names, for tools of several roots. Default `files`. */
  readonly name?: string;
  /**
   * `buffered`: no file changes before the commit, and reads see the planned changes.
   * `externalised`: each call executes immediately, visible to other programs, and is compensated
   * if the transaction aborts. Default `buffered`.
   */
  readonly delivery?: Delivery;
  /**
   * Maximum number of bytes of a file that is edited, moved, deleted, or stored for a compensation.
   * Default 64 MiB. Arguments and results of one call have at most 1 MiB as JSON in every case. A
   * larger file can't be read or written in one call.
   */
  readonly bytesMax?: number;
  /**
   * Whether the tools' results (contents, names, hashes) are stored by salted hash and can be
   * erased. Their arguments always are.
   */
  readonly sensitive?: boolean;
  /**
   * Mitigates a file that could not be restored, because another program changed it. Same as in any
   * tool, with the residue `{ path, why, … }`.
   */
  readonly mitigate?: ToolSpec['mitigate'];
  /** Wraps the file system: for tests, and for other programs that hold files. */
  readonly disk?: (disk: Disk) => Disk;
}

const OPTIONS = z.strictObject({
  root: z.string(),
  name: z.string().optional(),
  delivery: z.enum(['buffered', 'externalised']).optional(),
  bytesMax: z.int().positive().optional(),
  sensitive: z.boolean().optional(),
  mitigate: callback.optional(),
  disk: callback.optional(),
});

const NAME = 'files';
const BYTES_MAX = 64 * 1024 * 1024;
/** Maximum number of bytes of a journal entry, independent of file sizes. */
const ENTRY_MAX = 1024 * 1024;
/**
 * Maximum number of names, and of their bytes, in one listing. With the folder's path, such a
 * result can be stored.
 */
const NAMES_MAX = 10_000;
const LISTING_MAX = DEFAULT_LIMITS.bytesMax - 64 * 1024;

/**
 * Tools on the files of a folder: `files.write`, `files.edit`, `files.delete`, `files.move`,
 * `files.read`, `files.list`. Paths are relative to the folder, or absolute within it. The real
 * path is recorded and claimed.
 *
 * @throws EffectError `invalid_tool` for an unusable root, and for a misspelled option
 */
export function fileTools(options: FileToolsOptions): readonly Tool[] {
  const read = readOptions(OPTIONS, options, NAME) as FileToolsOptions;
  const {
    name = NAME,
    delivery = 'buffered',
    bytesMax = BYTES_MAX,
    disk: around = (disk: Disk) => disk,
  } = read;
  const root = rootAt(read.root);
  const disk = around(diskAt(root, bytesMax));
  const journal = new Journal(root, around(diskAt(root, bytesMax + ENTRY_MAX)));
  const files = new Files(root, disk, journal, { ...read, bytesMax, name });
  return [...writers(files, delivery), ...readers(files)];
}

/**
 * A path of a root as its scope. With `below`, the scope covers all items of that folder:
 * `fs:/repo/src/**`.
 *
 * @throws EffectError `invalid_tool` for an unusable root, `bad_input` for a path outside of it
 */
export function fileScope(root: string, path: string, below: boolean = false): string {
  checkArgument(arg.text, path, 'path');
  const at = rootAt(root);
  const found = canonical(at, path);
  if ('problem' in found)
    throw new EffectError(
      'bad_input',
      `${JSON.stringify(path)} is not a path in this folder: ${found.problem}.`,
    );
  return scopeOf(at, found.path) + (below ? '/**' : '');
}

/** The state that tools of one root share. */
class Files {
  readonly root: Root;
  readonly disk: Disk;
  readonly bytesMax: number;
  readonly name: string;
  readonly sensitive: boolean;
  readonly mitigate: ToolSpec['mitigate'];
  readonly acts: FileActions;

  constructor(
    root: Root,
    disk: Disk,
    journal: Journal,
    {
      bytesMax,
      name,
      sensitive = false,
      mitigate,
    }: FileToolsOptions & { bytesMax: number; name: string },
  ) {
    this.root = root;
    this.disk = disk;
    this.bytesMax = bytesMax;
    this.name = name;
    this.sensitive = sensitive;
    this.mitigate = mitigate;
    this.acts = new FileActions(root, disk, journal, bytesMax);
  }

  /** The items at these paths, and below them, after all planned changes. */
  async viewOf(paths: readonly string[], planned: PlannedCalls): Promise<View> {
    const view = new View(this.root, this.disk, this.bytesMax);
    for (const { tool, input } of this.#concerning(paths, planned))
      await view.plan(operationOf(this.name, tool, input)!);
    return view;
  }

  /**
   * The planned calls that these paths may depend on. Without this filter, each call would inspect
   * the files of all earlier calls.
   */
  #concerning(paths: readonly string[], planned: PlannedCalls): PlannedCalls {
    const places = new Places(this.root, paths);
    // Iterates from the last call, because a found call may itself depend on earlier calls.
    const found = planned.toReversed().filter(({ tool, input }) => {
      const its = pathsOf(this.name, tool, input);
      if (!its.some((path) => places.meets(path))) return false;
      for (const path of its) places.add(path);
      return true;
    });
    return found.reverse();
  }

  /** A path of the root, in its recorded form. */
  path(last: 'followed' | 'itself' = 'followed') {
    return z
      .string()
      .max(4096)
      .transform((given, context) => {
        const found = canonical(this.root, given, last);
        if ('path' in found && canBe(this.root, found.path)) return found.path;
        const problem =
          'problem' in found
            ? found.problem
            : `a name in it is longer than ${NAME_BYTES_MAX} bytes`;
        context.addIssue({ code: 'custom', message: `${JSON.stringify(given)}: ${problem}` });
        return z.NEVER;
      });
  }
}

const HASH = z.string().regex(/^[0-9a-f]{64}$/, 'a SHA-256, in lower-case hex');
/**
 * These tools can't read a file that its owner can't read, so they could neither reconcile nor
 * compensate it.
 */
export const MODE = z
  .int()
  .min(0)
  .max(0o777)
  .refine((mode) => (mode & 0o400) !== 0, 'the mode must let the owner read (0o400)');
const ENCODING = z.enum(['utf8', 'base64']);
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

type WriteInput = {
  readonly path: string;
  readonly content: string;
  readonly encoding?: 'utf8' | 'base64';
  readonly mode?: number;
  readonly ifHash?: string | null;
};

/** The operation of an input, by the last word of its tool's name. */
const OPERATIONS: Readonly<Record<string, (input: never) => Operation>> = {
  write: ({ content, encoding = 'utf8', ...rest }: WriteInput) => ({
    do: 'write',
    bytes: Buffer.from(content, encoding),
    ...rest,
  }),
  edit: (input: Omit<Operation & { do: 'edit' }, 'do'>) => ({ do: 'edit', ...input }),
  delete: (input: Omit<Operation & { do: 'delete' }, 'do'>) => ({ do: 'delete', ...input }),
  move: ({ from, ...rest }: { from: string; to: string; ifHash?: string }) => ({
    do: 'move',
    path: from,
    ...rest,
  }),
};

/**
 * The file operation of a planned call of the named tools. Undefined for a call that changes no
 * file there.
 */
export function operationOf(name: string, tool: string, input: Json): Operation | undefined {
  return tool.startsWith(`${name}.`)
    ? OPERATIONS[tool.slice(name.length + 1)]?.(input as never)
    : undefined;
}

/** The paths that a planned call of the named tools changes. Empty for other calls. */
function pathsOf(name: string, tool: string, input: Json): readonly string[] {
  if (!tool.startsWith(`${name}.`) || !Object.hasOwn(OPERATIONS, tool.slice(name.length + 1)))
    return [];
  const { path, from, to } = input as { readonly [member: string]: string | undefined };
  return [path, from, to].filter((each) => each !== undefined);
}

function writers(files: Files, delivery: Delivery): Tool[] {
  return [
    declareTool(
      writer(files, delivery, 'write', {
        description: 'Creates a file, or replaces its whole content. Creates missing folders.',
        input: z
          .strictObject({
            path: files.path(),
            content: z.string(),
            encoding: ENCODING.optional(),
            mode: MODE.optional(),
            ifHash: HASH.nullable()
              .optional()
              .describe('only if the file has this hash; null: only if the file does not exist'),
          })
          .refine(
            ({ content, encoding }) => encoding !== 'base64' || BASE64.test(content),
            'its content is not base64',
          ),
        // Without a condition the call reads no file, so it waits for no other transaction before
        // the commit.
        reads: (input) => (input.ifHash === undefined ? [] : [input.path]),
        writes: ({ path }) => [path],
      }),
    ),
    declareTool(
      writer(files, delivery, 'edit', {
        description:
          'Replaces text in a file. Each old text must occur exactly once, unless all is set.',
        input: z.strictObject({
          path: files.path(),
          edits: z
            .array(
              z.strictObject({
                old: z.string().min(1),
                new: z.string(),
                all: z.boolean().optional(),
              }),
            )
            .min(1),
          ifHash: HASH.optional(),
        }),
        reads: ({ path }) => [path],
        writes: ({ path }) => [path],
      }),
    ),
    declareTool(
      writer(files, delivery, 'delete', {
        description: 'Deletes a file.',
        input: z.strictObject({ path: files.path('itself'), ifHash: HASH.optional() }),
        reads: ({ path }) => [path],
        writes: ({ path }) => [path],
      }),
    ),
    declareTool(
      writer(files, delivery, 'move', {
        description: 'Moves a file to a path that does not exist yet.',
        input: z
          .strictObject({
            from: files.path('itself'),
            to: files.path('itself'),
            ifHash: HASH.optional(),
          })
          .refine(({ from, to }) => from !== to, 'from and to are the same path'),
        reads: ({ from, to }) => [from, to],
        writes: ({ from, to }) => [from, to],
      }),
    ),
  ];
}

interface Writer {
  readonly description: string;
  readonly input: z.ZodType;
  readonly reads: (input: any) => readonly string[];
  readonly writes: (input: any) => readonly string[];
}

function writer(
  files: Files,
  delivery: Delivery,
  verb: string,
  { reads, writes, ...rest }: Writer,
): ToolSpec {
  const { root, acts, sensitive, mitigate } = files;
  const operation = OPERATIONS[verb]! as (input: unknown) => Operation;
  const scopes = (paths: readonly string[]): string[] => paths.map((path) => scopeOf(root, path));
  return {
    name: `${files.name}.${verb}`,
    class: { reversibility: 'reversible', delivery, sink: 'queryable' },
    sensitive,
    ...(mitigate === undefined ? {} : { mitigate }),
    ...rest,
    reads: (input) => scopes(reads(input)),
    writes: (input) => scopes(writes(input)),
    plan: (input, planned) =>
      answered(`${files.name}.${verb}`, async () => {
        const view = await files.viewOf(
          pathsOf(files.name, `${files.name}.${verb}`, input as Json),
          planned,
        );
        return resultOf(await view.plan(operation(input)));
      }),
    execute: (input, call) => acts.act(operation(input), call),
    compensate: (input, _result, call) => acts.undo(operation(input), call),
    reconcile: (input, call) => acts.reconcile(operation(input), call),
  };
}

function readers(files: Files): Tool[] {
  const { root, sensitive } = files;
  const name = (verb: string): string => `${files.name}.${verb}`;
  return [
    declareTool({
      name: name('read'),
      description:
        'Reads a file and its hash, for conditional changes. Returns null if the file does not exist.',
      input: z.strictObject({ path: files.path(), encoding: ENCODING.optional() }),
      class: 'read',
      sensitive,
      reads: ({ path }) => [scopeOf(root, path)],
      execute: ({ path, encoding = 'utf8' }, _: CallContext, planned) =>
        answered(name('read'), async () => {
          const seen = await (await files.viewOf([path], planned)).look(path);
          return seen.is === 'absent' ? null : contentOf(path, seen, encoding);
        }),
    }),
    declareTool({
      name: name('list'),
      description: 'Lists a folder by name; with recursive, also its subfolders.',
      input: z.strictObject({
        path: files.path().default(root.path),
        recursive: z.boolean().optional(),
      }),
      class: 'read',
      sensitive,
      reads: ({ path, recursive = false }) => [scopeOf(root, path) + (recursive ? '/**' : '/*')],
      execute: ({ path, recursive = false }, _: CallContext, planned) =>
        answered(name('list'), async () =>
          list(await files.viewOf([path], planned), path, recursive),
        ),
    }),
  ];
}

function contentOf(path: string, seen: PathContents, encoding: 'utf8' | 'base64'): Json {
  if (seen.is !== 'file') throw new DidNothing(`${path} is not a file`, { final: true });
  const { bytes, mode } = seen;
  const content = encoding === 'utf8' ? textOf(path, bytes) : bytes.toString('base64');
  const read = { path, content, encoding, hash: hashOf(bytes), bytes: bytes.length, mode };
  // A size error at the point of storage would not name the file.
  if (Buffer.byteLength(JSON.stringify(read)) > DEFAULT_LIMITS.bytesMax)
    throw new DidNothing(
      `${path} has ${bytes.length} bytes, and an answer has at most ${DEFAULT_LIMITS.bytesMax} as JSON. Read a part of the file with another tool`,
      { final: true },
    );
  return read;
}

async function list(view: View, path: string, recursive: boolean): Promise<Json> {
  const top = await view.names(path);
  if (top === undefined) throw new DidNothing(`there is no folder ${path}`, { final: true });
  const found: { path: string; is: string }[] = [];
  // Reversed, so that the next item is last.
  const left = top.map((each) => ({ ...each, path: each.name })).reverse();
  let bytes = 0;
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const entry = { path: next.path, is: next.is };
    bytes += Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (found.length === NAMES_MAX || bytes > LISTING_MAX)
      return { path, entries: found, isCut: true };
    found.push(entry);
    if (!recursive || next.is !== 'folder') continue;
    const inside = (await view.names(join(path, next.path))) ?? [];
    for (const each of inside.toReversed())
      left.push({ ...each, path: `${next.path}/${each.name}` });
  }
  return { path, entries: found, isCut: false };
}

/** Reports a refusal before any call as a refusal by the call. */
export async function answered<T>(tool: string, made: () => Promise<T>): Promise<T> {
  try {
    return await made();
  } catch (error) {
    if (!isInstance(error, DidNothing)) throw error;
    throw new EffectError('tool_failed', `${tool} was not done: ${error.message}.`, {
      evidence: { tool },
      cause: error,
    });
  }
}
