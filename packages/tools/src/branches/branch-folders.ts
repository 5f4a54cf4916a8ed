import { dirname, join } from 'node:path';
import { isInstance } from 'assize/internal/base';
import {
  type CallContext,
  DidNothing,
  declareTool,
  EffectError,
  type PlannedCalls,
  type Tool,
} from 'assize/internal/effects';
import { z } from 'zod';
import { type Disk, diskAt } from '../files/disk.ts';
import { answered, MODE, operationOf } from '../files/file-tools.ts';
import { isFolder } from '../files/operations.ts';
import { canonical, OWN, type Root, rootAt, scopeOf } from '../files/root.ts';
import { View } from '../files/view.ts';
import { invalidTool, readOptions } from '../options.ts';
import { type CommandResult, runCommand } from '../shell/run-command.ts';
import { AnswerCache } from './answers.ts';
import { Copies, type Copy } from './copies.ts';
import {
  type Contents,
  contentsOf,
  differences,
  type FileChange,
  hashOfContents,
} from './differences.ts';

export interface BranchFoldersOptions {
  /** The folder that branches copy: the root of file tools in the same runtime. */
  readonly root: string;
  /** Name of those file tools, and prefix of these tools' names. Default `files`. */
  readonly name?: string;
  /**
   * Names of files and folders, at any depth, that are neither copied nor merged back: `.git`,
   * `node_modules`.
   */
  readonly exclude?: readonly string[];
  /**
   * The complete environment of commands. Default: `PATH` of the system's own folders and
   * `LANG=C.UTF-8`.
   */
  readonly env?: Readonly<Record<string, string>>;
  /** Maximum number of stored bytes of each command output. Default 64 KiB. */
  readonly outputMax?: number;
  /**
   * Whether the tools' results (command output, hashes) are stored by salted hash and can be
   * erased. Their arguments always are.
   */
  readonly sensitive?: boolean;
}

/** The part of a transaction that folder branches use. */
export interface BranchingTransaction {
  call(tool: string, input: unknown): Promise<any>;
  speculate<T>(
    branches: readonly ((tx: any) => Promise<T> | T)[],
    choose: (
      tried: readonly BranchOutcome<T>[],
    ) => Promise<number | undefined> | number | undefined,
  ): Promise<T>;
}

/** The result of a branch, as `Transaction.speculate` reports it. */
export type BranchOutcome<T> =
  | { readonly failed: false; readonly value: T }
  | { readonly failed: true; readonly error: unknown };

/** The result of a branch: the value of its body, and the files that it changed. */
export interface BranchFolderResult<T> {
  readonly value: T;
  readonly changes: readonly FileChange[];
}

/** The body of a branch. It receives its own transaction and its own copy of the folder. */
export type BranchBody<Tx, T> = (tx: Tx, folder: BranchFolder) => Promise<T> | T;

export type ChooseBranch<T> = (
  tried: readonly BranchOutcome<BranchFolderResult<T>>[],
) => Promise<number | undefined> | number | undefined;

const OPTIONS = z.strictObject({
  root: z.string(),
  name: z.string().optional(),
  exclude: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  outputMax: z.int().min(0).optional(),
  sensitive: z.boolean().optional(),
});

const NAME = 'files';
const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' };
const OUTPUT_MAX = 64 * 1024;
const BYTES_MAX = 64 * 1024 * 1024;
const COPIES_MAX = 64;

/**
 * Transaction branches that each work in their own copy of a folder (Atomix §4.3). The tools are
 * `files.copy` (it only reads the folder) and `files.run` (it changes only a copy). Both tools need
 * a writ.
 */
export class BranchFolders {
  /** The tools to pass to the runtime, next to the file tools of the root. */
  readonly tools: readonly Tool[];
  readonly #name: string;
  readonly #root: Root;
  readonly #copies: Copies;
  readonly #answers = new AnswerCache();
  readonly #run: Pick<BranchFoldersOptions, 'env' | 'outputMax'>;
  /** Number of copy requests. */
  #asked = 0;

  /** @throws EffectError `invalid_tool` for an unusable root, and for a misspelled option */
  constructor(options: BranchFoldersOptions) {
    const read = readOptions(OPTIONS, options, NAME);
    const {
      name = NAME,
      exclude = [],
      env = ENV,
      outputMax = OUTPUT_MAX,
      sensitive = false,
    } = read;
    this.#name = name;
    this.#root = rootAt(read.root);
    if (this.#root.path === '/')
      throw invalidTool(name, 'its root must be a folder with a parent folder');
    this.#copies = new Copies(this.#root, exclude);
    this.#run = { env, outputMax };
    this.tools = [this.#copyTool(sensitive), this.#runTool(sensitive)];
  }

  /**
   * Runs several alternatives, each in a copy of the folder as the transaction sees it, and
   * continues with one. The changes of the chosen alternative become planned writes and deletions
   * of the transaction. Each requires that its file is as it was copied. All copies are removed
   * before the method returns. A copy that can't be removed is reported, unless another error is
   * thrown. `choose` receives the value and the changes of each alternative.
   *
   * @throws EffectError as `Transaction.speculate` and `Transaction.call` do: `tool_failed` if the
   * folder can't be copied, or if a change affects more than files
   */
  async speculate<Tx extends BranchingTransaction, T>(
    tx: Tx,
    branches: readonly BranchBody<Tx, T>[],
    choose: ChooseBranch<T>,
  ): Promise<T> {
    return this.#among(tx, undefined, branches, choose, ({ changes }, folder) =>
      this.#takeOver(tx, folder, changes),
    );
  }

  /**
   * Removes the copies that an earlier process left. Runs automatically before the first copy is
   * made, and a failed removal does not prevent that copy.
   *
   * @throws EffectError `tool_failed` for a copy that can't be removed, after all others are
   * removed
   */
  sweep(): Promise<void> {
    return worked(this.#name, () => this.#copies.sweep());
  }

  async #among<Tx extends BranchingTransaction, T>(
    tx: Tx,
    of: Copy | undefined,
    branches: readonly BranchBody<Tx, T>[],
    choose: ChooseBranch<T>,
    take: (won: BranchFolderResult<T>, folder: Copy) => Promise<void>,
  ): Promise<T> {
    const ids = branches.length === 0 ? [] : await this.#made(tx, branches.length, of);
    const copies = ids.map((id) => this.#copies.get(id, epochOf(id)));
    let won: BranchFolderResult<T>;
    try {
      const before = copies[0] === undefined ? new Map() : await this.#contentsOf(copies[0]);
      const folderOf = new Map<BranchFolderResult<T>, Copy>();
      const bodies = branches.map((body, i) => async (branch: Tx) => {
        const tried = await this.#tried(branch, copies[i]!, before, body);
        folderOf.set(tried, copies[i]!);
        return tried;
      });
      won = await tx.speculate(bodies, choose);
      await take(won, folderOf.get(won)!);
    } catch (error) {
      await this.#copies.drop(copies);
      throw error;
    }
    await worked(this.#name, () => this.#copies.remove(copies));
    return won.value;
  }

  #contentsOf(copy: Copy): Promise<Contents> {
    return worked(this.#name, () => contentsOf(copy, this.#copies));
  }

  async #made(
    tx: BranchingTransaction,
    count: number,
    of: Copy | undefined,
  ): Promise<readonly string[]> {
    const nth = this.#asked++;
    const input = of === undefined ? { count, nth } : { count, nth, of: of.id };
    return ((await tx.call(`${this.#name}.copy`, input)) as { copies: string[] }).copies;
  }

  async #tried<Tx extends BranchingTransaction, T>(
    tx: Tx,
    folder: Copy,
    before: Contents,
    body: BranchBody<Tx, T>,
  ): Promise<BranchFolderResult<T>> {
    // The same in a branch: the chosen copy replaces the branch's copy.
    const within: Within = (inner, bodies, choose) =>
      this.#among(inner, folder, bodies, choose, (_, by) =>
        worked(this.#name, () => this.#copies.replace(folder, by)),
      );
    const value = await body(tx, new BranchFolder(within, tx, this.#name, folder));
    const after = await this.#contentsOf(folder);
    const changes = await worked(this.#name, async () => differences(before, after));
    return { value, changes };
  }

  /**
   * Plans all changes or none, even if a body continues after the failure. The changes run as a
   * branch without alternatives.
   */
  #takeOver(tx: BranchingTransaction, folder: Copy, changes: readonly FileChange[]): Promise<void> {
    const taken = async (branch: BranchingTransaction): Promise<void> => {
      for (const change of changes) await this.#plan(branch, folder, change);
    };
    return tx.speculate([taken], ([tried]) => {
      if (tried?.failed) throw tried.error;
      return 0;
    });
  }

  async #plan(
    tx: BranchingTransaction,
    { root }: Copy,
    { path, does, before }: FileChange,
  ): Promise<void> {
    const at = join(this.#root.path, path);
    if (does === 'delete') {
      await tx.call(`${this.#name}.delete`, { path: at, ifHash: before });
      return;
    }
    const { bytes, mode } = await worked(this.#name, async () => {
      const seen = await diskAt(root, BYTES_MAX).look(join(root.path, path));
      if (seen.is !== 'file')
        throw new DidNothing(`${path} changed after its branch had ended`, { final: true });
      return seen;
    });
    try {
      await tx.call(`${this.#name}.write`, { path: at, ...contentOf(bytes), mode, ifHash: before });
    } catch (error) {
      if (!isInstance(error, EffectError) || error.code !== 'bad_input') throw error;
      const what = `${path} (${bytes.length} bytes) cannot be copied from the branch: ${error.message}`;
      throw new EffectError('bad_input', what, { cause: error });
    }
  }

  #copyTool(sensitive: boolean): Tool {
    const name = `${this.#name}.copy`;
    return declareTool({
      name,
      description: 'Copies the folder for the branches of the transaction.',
      input: z.strictObject({
        count: z.int().min(1).max(COPIES_MAX),
        of: z.string().optional(),
        nth: NTH,
      }),
      class: 'read',
      sensitive,
      reads: ({ of }) => (of === undefined ? [`${scopeOf(this.#root, this.#root.path)}/**`] : []),
      execute: (input, call: CallContext, planned) =>
        worked(this.#name, () => this.#copied(input, call, planned)),
    });
  }

  /**
   * When the gate repeats the call, it returns the copies of the first call and the hash of the
   * current folder.
   */
  async #copied(input: CopyInput, call: CallContext, planned: PlannedCalls): Promise<Copied> {
    const { count, of } = input;
    const first = input.nth === undefined ? undefined : this.#answers.get<Copied>(call, input);
    if (first === undefined) {
      const copied = await this.#copy(count, of, call.epoch, planned);
      this.#answers.set(call, input, copied);
      return copied;
    }
    // Only its branch changes the content of another copy.
    if (of !== undefined) return first;
    const { copies, ...now } = await this.#copy(1, of, call.epoch, planned);
    await this.#copies.remove(copies.map((id) => this.#copies.get(id, call.epoch)));
    return { ...now, copies: first.copies };
  }

  async #copy(
    count: number,
    of: string | undefined,
    epoch: number | undefined,
    planned: PlannedCalls,
  ): Promise<Copied> {
    const made: Copy[] = [];
    try {
      const source = of === undefined ? undefined : this.#copies.get(of, epoch);
      made.push(await this.#copies.make(epoch, source));
      if (source === undefined) await this.#apply(made[0]!.root, planned);
      // Made from the first copy, so all copies are equal even if the folder changes concurrently.
      while (made.length < count) made.push(await this.#copies.make(epoch, made[0]));
      const contents = await contentsOf(made[0]!, this.#copies);
      return {
        copies: made.map(({ id }) => id),
        files: contents.size,
        hash: hashOfContents(contents),
      };
    } catch (error) {
      await this.#copies.drop(made);
      throw error;
    }
  }

  /**
   * Applies the transaction's planned changes of the folder to a copy, except names that are left
   * out.
   */
  async #apply(copy: Root, planned: PlannedCalls): Promise<void> {
    const disk = diskAt(copy, BYTES_MAX);
    // The view of the folder itself, because a moved file can come from a path that is not copied.
    const view = new View(this.#root, diskAt(this.#root, BYTES_MAX), BYTES_MAX);
    for (const { tool, input } of planned) {
      const operation = operationOf(this.#name, tool, input);
      if (operation === undefined) continue;
      for (const { path, after } of await view.plan(operation)) {
        if (!this.#copies.hasPath(path)) continue;
        const moved = copy.path + path.slice(this.#root.path.length);
        await disk.remove(moved);
        if (after !== undefined) await put(disk, copy, moved, after.bytes, after.mode);
      }
    }
  }

  #runTool(sensitive: boolean): Tool {
    const name = `${this.#name}.run`;
    return declareTool({
      name,
      description: 'Runs a command in its branch copy of the folder.',
      input: z.strictObject({ copy: z.string(), command: z.array(z.string()).min(1), nth: NTH }),
      // The tool changes only the copy. No other transaction uses it.
      class: 'read',
      sensitive,
      execute: (input, call: CallContext) => answered(name, () => this.#ran(input, call)),
    });
  }

  /**
   * When the gate repeats the call, the copy is gone and the tool returns its earlier answer. By
   * then `files.copy` has returned its earlier answer too.
   */
  async #ran(input: RunInput, call: CallContext): Promise<Ran> {
    const first = input.nth === undefined ? undefined : this.#answers.get<Ran>(call, input);
    if (first !== undefined) return first;
    const copy = this.#copies.get(input.copy, call.epoch);
    const { env = ENV, outputMax = OUTPUT_MAX } = this.#run;
    const onStart = (pid: number): Promise<void> => this.#copies.began(copy, pid);
    const command = { argv: input.command, cwd: copy.root.path, env, outputMax, onStart };
    const ran = { ...(await runCommand(command, call.signal)) };
    this.#answers.set(call, input, ran);
    return ran;
  }
}

/**
 * Distinguishes the calls at one index when a part of the transaction restarts. Without it, no call
 * counts as repeated.
 */
const NTH = z.int().min(0).optional();

type CopyInput = {
  readonly count: number;
  readonly of?: string | undefined;
  readonly nth?: number | undefined;
};
type Copied = { readonly copies: readonly string[]; readonly files: number; readonly hash: string };
type RunInput = {
  readonly copy: string;
  readonly command: readonly string[];
  readonly nth?: number | undefined;
};
/** The JSON form of an `Ended`. */
type Ran = { readonly [Member in keyof CommandResult]: CommandResult[Member] };

type Within = <Tx extends BranchingTransaction, T>(
  tx: Tx,
  branches: readonly BranchBody<Tx, T>[],
  choose: ChooseBranch<T>,
) => Promise<T>;

/** The copy of a folder for one branch. Paths are relative to it. */
export class BranchFolder {
  readonly #within: Within;
  readonly #tx: BranchingTransaction;
  readonly #name: string;
  readonly #copy: Copy;
  /** Number of commands that were run. */
  #ran = 0;
  /** Number of draft files, written next to the files that they replace. */
  #drafts = 0;

  constructor(within: Within, tx: BranchingTransaction, name: string, copy: Copy) {
    this.#within = within;
    this.#tx = tx;
    this.#name = name;
    this.#copy = copy;
  }

  /** The copy's path, for programs that accept a folder. */
  get path(): string {
    return this.#copy.root.path;
  }

  /**
   * Runs a program in the copy, with its arguments one by one. The result is an observation of the
   * transaction.
   */
  run(command: readonly string[]): Promise<CommandResult> {
    return this.#tx.call(`${this.#name}.run`, { copy: this.#copy.id, command, nth: this.#ran++ });
  }

  /**
   * Reads a file. Returns null if the file does not exist.
   * @throws EffectError `bad_input` for a path outside of the copy, `tool_failed` if the file can't
   * be read
   */
  async read(path: string): Promise<Buffer | null> {
    const at = this.#at(path);
    return worked(this.#name, async () => {
      const seen = await diskAt(this.#copy.root, BYTES_MAX).look(at);
      if (seen.is === 'absent') return null;
      if (seen.is === 'file') return seen.bytes;
      throw new DidNothing(`${path} is not a file`, { final: true });
    });
  }

  /**
   * Writes a file, and creates its folders. If the write fails, the file is unchanged.
   *
   * @throws EffectError `bad_input` for a path outside of the copy and an invalid mode,
   * `tool_failed` if the file can't be written
   */
  async write(path: string, content: string | Uint8Array, mode?: number): Promise<void> {
    const at = this.#at(path);
    checkMode(mode);
    await worked(this.#name, async () => {
      const disk = diskAt(this.#copy.root, BYTES_MAX);
      const seen = await disk.look(at);
      if (seen.is === 'folder') throw isFolder(path);
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      const draft = join(dirname(at), `${OWN}-${this.#drafts++}.draft`);
      try {
        await put(
          disk,
          this.#copy.root,
          draft,
          bytes,
          mode ?? (seen.is === 'file' ? seen.mode : 0o644),
        );
        await disk.rename(draft, at);
      } catch (error) {
        await disk.remove(draft).catch(() => undefined);
        throw error;
      }
    });
  }

  /**
   * Removes a file, and returns whether it existed.
   * @throws EffectError `bad_input` for a path outside of the copy, `tool_failed` if the file can't
   * be removed
   */
  async remove(path: string): Promise<boolean> {
    const at = this.#at(path);
    return worked(this.#name, () => diskAt(this.#copy.root, BYTES_MAX).remove(at));
  }

  /**
   * Branches of this branch. The chosen copy replaces this copy, and its changes become changes of
   * this copy.
   */
  speculate<Tx extends BranchingTransaction, T>(
    tx: Tx,
    branches: readonly BranchBody<Tx, T>[],
    choose: ChooseBranch<T>,
  ): Promise<T> {
    return this.#within(tx, branches, choose);
  }

  #at(path: string): string {
    const found = canonical(this.#copy.root, join(this.#copy.root.path, path));
    if ('path' in found) return found.path;
    throw new EffectError(
      'bad_input',
      `${JSON.stringify(path)} is not a path in this folder: ${found.problem}.`,
    );
  }
}

/** Same check as in the file tools. They later apply the mode in the folder. */
function checkMode(mode: number | undefined): void {
  if (mode === undefined || MODE.safeParse(mode).success) return;
  const wanted = 'a mode up to 0o777 that lets the owner read (0o400)';
  throw new EffectError('bad_input', `${mode} is not a valid file mode. Pass ${wanted}.`);
}

/**
 * Converts file system errors in a copy to `tool_failed`, because the call changed only the copy.
 */
function worked<T>(name: string, made: () => Promise<T>): Promise<T> {
  return answered(`${name}.copy`, async () => {
    try {
      return await made();
    } catch (error) {
      if (isInstance(error, DidNothing)) throw error;
      throw new DidNothing((error as Error).message, { final: true, cause: error });
    }
  });
}

async function put(
  disk: Disk,
  root: Root,
  path: string,
  bytes: Uint8Array,
  mode: number,
): Promise<void> {
  const missing: string[] = [];
  for (let above = dirname(path); above !== root.path; above = dirname(above)) {
    if ((await disk.idOf(above)) !== undefined) break;
    missing.unshift(above);
  }
  for (const folder of missing) await disk.makeFolder(folder);
  await disk.write(path, bytes, mode);
}

function contentOf(bytes: Buffer): {
  readonly content: string;
  readonly encoding: 'utf8' | 'base64';
} {
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return { content: text, encoding: 'utf8' };
  return { content: bytes.toString('base64'), encoding: 'base64' };
}

function epochOf(id: string): number {
  return Number(id.slice(0, id.indexOf('-')));
}
