import { dirname, join } from 'node:path';
import { z } from 'zod';
import { type Call, DidNothing, declareTool, EffectError, type Planned, type Tool } from '#effects';
import { type Disk, diskAt } from '../files/disk.ts';
import { answered, MODE, operationOf } from '../files/file-tools.ts';
import { isFolder } from '../files/operations.ts';
import { canonical, OWN, type Root, rootAt, scopeOf } from '../files/root.ts';
import { View } from '../files/view.ts';
import { invalidTool, readOptions } from '../options.ts';
import { type Ended, runCommand } from '../shell/run-command.ts';
import { Answers } from './answers.ts';
import { Copies, type Copy } from './copies.ts';
import { type Contents, contentsOf, differences, type FileChange, hashOfContents } from './differences.ts';

export interface BranchFoldersOptions {
  /** The folder that branches have copies of: the root of file tools in the same runtime. */
  readonly root: string;
  /** How these file tools are named; tools of this begin so too. Default `files`. */
  readonly name?: string;
  /** Names of files and folders, wherever they stand, that are not copied and not taken over: `.git`, `node_modules`. */
  readonly leaveOut?: readonly string[];
  /** All that commands have for an environment. By default `PATH` of the system's own folders and `LANG=C.UTF-8`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Bytes of each output of a command that are kept. Default 64 KiB. */
  readonly outputMax?: number;
  /** What its tools answer (output of commands, hashes) is kept by salted hash, and may be erased. What they are given always is. */
  readonly sensitive?: boolean;
}

/** Of a transaction, what branches of folders use. */
export interface Branching {
  call(tool: string, input: unknown): Promise<any>;
  speculate<T>(
    branches: readonly ((tx: any) => Promise<T> | T)[],
    choose: (tried: readonly Outcome<T>[]) => Promise<number | undefined> | number | undefined,
  ): Promise<T>;
}

/** What came of a branch, as `Transaction.speculate` says it. */
export type Outcome<T> =
  | { readonly failed: false; readonly value: T }
  | { readonly failed: true; readonly error: unknown };

/** What a branch comes to: what its body returned, and the files that it has changed. */
export interface Branched<T> {
  readonly value: T;
  readonly changes: readonly FileChange[];
}

/** The body of a branch: its own transaction, and its own copy of the folder. */
export type BranchBody<Tx, T> = (tx: Tx, folder: BranchFolder) => Promise<T> | T;

export type ChooseBranch<T> = (
  tried: readonly Outcome<Branched<T>>[],
) => Promise<number | undefined> | number | undefined;

const OPTIONS = z.strictObject({
  root: z.string(),
  name: z.string().optional(),
  leaveOut: z.array(z.string()).optional(),
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
 * Branches of transactions that each work in a copy of a folder (seed 003 §4.3). With `files.copy`, which only reads the folder, and
 * `files.run`, which changes nothing but a copy, as tools; both need a writ like any.
 */
export class BranchFolders {
  /** To be given to the runtime, beside the file tools of the root. */
  readonly tools: readonly Tool[];
  readonly #name: string;
  readonly #root: Root;
  readonly #copies: Copies;
  readonly #answers = new Answers();
  readonly #run: Pick<BranchFoldersOptions, 'env' | 'outputMax'>;
  /** How often copies were asked for. */
  #asked = 0;

  /** @throws EffectError `invalid_tool` for a root that can't be used, and for an option that is misspelled */
  constructor(options: BranchFoldersOptions) {
    const read = readOptions(OPTIONS, options, NAME);
    const { name = NAME, leaveOut = [], env = ENV, outputMax = OUTPUT_MAX, sensitive = false } = read;
    this.#name = name;
    this.#root = rootAt(read.root);
    if (this.#root.path === '/') throw invalidTool(name, 'its root has to be a folder that has one around it');
    this.#copies = new Copies(this.#root, leaveOut);
    this.#run = { env, outputMax };
    this.tools = [this.#copyTool(sensitive), this.#runTool(sensitive)];
  }

  /**
   * Tries several ways, each in a copy of the folder as the transaction sees it, and goes on with one: what that has changed is planned
   * as writes and deletions of the transaction, each on condition that the file is as it was copied. All copies are gone when this
   * returns; of one that can't be removed is told, where nothing else has failed. `choose` is told what each returned and changed.
   *
   * @throws EffectError as `Transaction.speculate` and `Transaction.call` do: `tool_failed` where the folder can't be copied, or
   * what was changed is more than files
   */
  async speculate<Tx extends Branching, T>(
    tx: Tx,
    branches: readonly BranchBody<Tx, T>[],
    choose: ChooseBranch<T>,
  ): Promise<T> {
    return this.#among(tx, undefined, branches, choose, ({ changes }, folder) => this.#takeOver(tx, folder, changes));
  }

  /**
   * Takes away what an earlier process left. Done by itself before the first copy is made, which what can't be taken away does not keep
   * from that.
   *
   * @throws EffectError `tool_failed` for what can't be taken away, when all else is
   */
  sweep(): Promise<void> {
    return worked(this.#name, () => this.#copies.sweep());
  }

  async #among<Tx extends Branching, T>(
    tx: Tx,
    of: Copy | undefined,
    branches: readonly BranchBody<Tx, T>[],
    choose: ChooseBranch<T>,
    take: (won: Branched<T>, folder: Copy) => Promise<void>,
  ): Promise<T> {
    const ids = branches.length === 0 ? [] : await this.#made(tx, branches.length, of);
    const copies = ids.map((id) => this.#copies.get(id, epochOf(id)));
    let won: Branched<T>;
    try {
      const before = copies[0] === undefined ? new Map() : await this.#contentsOf(copies[0]);
      const folderOf = new Map<Branched<T>, Copy>();
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

  async #made(tx: Branching, count: number, of: Copy | undefined): Promise<readonly string[]> {
    const nth = this.#asked++;
    const input = of === undefined ? { count, nth } : { count, nth, of: of.id };
    return ((await tx.call(`${this.#name}.copy`, input)) as { copies: string[] }).copies;
  }

  async #tried<Tx extends Branching, T>(
    tx: Tx,
    folder: Copy,
    before: Contents,
    body: BranchBody<Tx, T>,
  ): Promise<Branched<T>> {
    // The same in a branch: the one that is chosen takes the place of its copy.
    const within: Within = (inner, bodies, choose) =>
      this.#among(inner, folder, bodies, choose, (_, by) => worked(this.#name, () => this.#copies.replace(folder, by)));
    const value = await body(tx, new BranchFolder(within, tx, this.#name, folder));
    const after = await this.#contentsOf(folder);
    const changes = await worked(this.#name, async () => differences(before, after));
    return { value, changes };
  }

  /** All of it or nothing, also for a body that goes on when it can't be done: as a branch that nobody else stands beside. */
  #takeOver(tx: Branching, folder: Copy, changes: readonly FileChange[]): Promise<void> {
    const taken = async (branch: Branching): Promise<void> => {
      for (const change of changes) await this.#plan(branch, folder, change);
    };
    return tx.speculate([taken], ([tried]) => {
      if (tried?.failed) throw tried.error;
      return 0;
    });
  }

  async #plan(tx: Branching, { root }: Copy, { path, does, before }: FileChange): Promise<void> {
    const at = join(this.#root.path, path);
    if (does === 'delete') {
      await tx.call(`${this.#name}.delete`, { path: at, ifHash: before });
      return;
    }
    const { bytes, mode } = await worked(this.#name, async () => {
      const seen = await diskAt(root, BYTES_MAX).look(join(root.path, path));
      if (seen.is !== 'file') throw new DidNothing(`${path} was changed after its branch had ended`, { final: true });
      return seen;
    });
    try {
      await tx.call(`${this.#name}.write`, { path: at, ...contentOf(bytes), mode, ifHash: before });
    } catch (error) {
      if (!(error instanceof EffectError) || error.code !== 'bad_input') throw error;
      const what = `${path}, of ${bytes.length} bytes, can't be taken over: ${error.message}`;
      throw new EffectError('bad_input', what, { cause: error });
    }
  }

  #copyTool(sensitive: boolean): Tool {
    const name = `${this.#name}.copy`;
    return declareTool({
      name,
      description: 'Makes copies of the folder, for branches of the transaction to work in.',
      input: z.strictObject({ count: z.int().min(1).max(COPIES_MAX), of: z.string().optional(), nth: NTH }),
      class: 'read',
      sensitive,
      reads: ({ of }) => (of === undefined ? [`${scopeOf(this.#root, this.#root.path)}/**`] : []),
      execute: (input, call: Call, planned) => worked(this.#name, () => this.#copied(input, call, planned)),
    });
  }

  /** Asked again at the gate, it answers with the copies that it has made then, and with what it would copy now. */
  async #copied(input: CopyInput, call: Call, planned: Planned): Promise<Copied> {
    const { count, of } = input;
    const first = input.nth === undefined ? undefined : this.#answers.of<Copied>(call, input);
    if (first === undefined) {
      const copied = await this.#copy(count, of, call.epoch, planned);
      this.#answers.keep(call, input, copied);
      return copied;
    }
    // What is in another copy is its branch's alone.
    if (of !== undefined) return first;
    const { copies, ...now } = await this.#copy(1, of, call.epoch, planned);
    await this.#copies.remove(copies.map((id) => this.#copies.get(id, call.epoch)));
    return { ...now, copies: first.copies };
  }

  async #copy(count: number, of: string | undefined, epoch: number | undefined, planned: Planned): Promise<Copied> {
    const made: Copy[] = [];
    try {
      const source = of === undefined ? undefined : this.#copies.get(of, epoch);
      made.push(await this.#copies.make(epoch, source));
      if (source === undefined) await this.#apply(made[0]!.root, planned);
      // From the first, so that all are alike whoever writes to the folder meanwhile.
      while (made.length < count) made.push(await this.#copies.make(epoch, made[0]));
      const contents = await contentsOf(made[0]!, this.#copies);
      return { copies: made.map(({ id }) => id), files: contents.size, hash: hashOfContents(contents) };
    } catch (error) {
      await this.#copies.drop(made);
      throw error;
    }
  }

  /** What the transaction has planned for the folder is there in its copies, but for what is left out of them. */
  async #apply(copy: Root, planned: Planned): Promise<void> {
    const disk = diskAt(copy, BYTES_MAX);
    // Of the folder itself, as what is moved may come from where nothing is copied.
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
      description: 'Runs a command in the copy of a folder that a branch works in.',
      input: z.strictObject({ copy: z.string(), command: z.array(z.string()).min(1), nth: NTH }),
      // All that it changes is the copy, which is nobody else's.
      class: 'read',
      sensitive,
      execute: (input, call: Call) => answered(name, () => this.#ran(input, call)),
    });
  }

  /** Asked again at the gate, when its copy is gone, it answers what it did: by then `files.copy` has answered the same too. */
  async #ran(input: RunInput, call: Call): Promise<Ran> {
    const first = input.nth === undefined ? undefined : this.#answers.of<Ran>(call, input);
    if (first !== undefined) return first;
    const copy = this.#copies.get(input.copy, call.epoch);
    const { env = ENV, outputMax = OUTPUT_MAX } = this.#run;
    const onStart = (pid: number): Promise<void> => this.#copies.began(copy, pid);
    const command = { argv: input.command, cwd: copy.root.path, env, outputMax, onStart };
    const ran = { ...(await runCommand(command, call.signal)) };
    this.#answers.keep(call, input, ran);
    return ran;
  }
}

/** Tells the calls of one place apart, where a part of the transaction is begun anew; without it, none is known to be asked again. */
const NTH = z.int().min(0).optional();

type CopyInput = { readonly count: number; readonly of?: string | undefined; readonly nth?: number | undefined };
type Copied = { readonly copies: readonly string[]; readonly files: number; readonly hash: string };
type RunInput = { readonly copy: string; readonly command: readonly string[]; readonly nth?: number | undefined };
/** An `Ended`, as an answer. */
type Ran = { readonly [Member in keyof Ended]: Ended[Member] };

type Within = <Tx extends Branching, T>(
  tx: Tx,
  branches: readonly BranchBody<Tx, T>[],
  choose: ChooseBranch<T>,
) => Promise<T>;

/** The copy of a folder that one branch works in. Paths are relative to it. */
export class BranchFolder {
  readonly #within: Within;
  readonly #tx: Branching;
  readonly #name: string;
  readonly #copy: Copy;
  /** How many commands were run. */
  #ran = 0;
  /** How many files were begun beside those whose place they take. */
  #drafts = 0;

  constructor(within: Within, tx: Branching, name: string, copy: Copy) {
    this.#within = within;
    this.#tx = tx;
    this.#name = name;
    this.#copy = copy;
  }

  /** Where it stands, for programs that are told a folder. */
  get path(): string {
    return this.#copy.root.path;
  }

  /** Runs a program in it, with its arguments one by one. What it answers is an observation of the transaction. */
  run(command: readonly string[]): Promise<Ended> {
    return this.#tx.call(`${this.#name}.run`, { copy: this.#copy.id, command, nth: this.#ran++ });
  }

  /** Null where there is no file. @throws EffectError `bad_input` for a path that leads out, `tool_failed` for what can't be done there */
  async read(path: string): Promise<Buffer | null> {
    const at = this.#at(path);
    return worked(this.#name, async () => {
      const seen = await diskAt(this.#copy.root, BYTES_MAX).look(at);
      if (seen.is === 'absent') return null;
      if (seen.is === 'file') return seen.bytes;
      throw new DidNothing(`${path} is no file`, { final: true });
    });
  }

  /**
   * Writes a file, with the folders that it needs; what can't be written stays as it was.
   *
   * @throws EffectError `bad_input` for a path that leads out and a mode that is none, `tool_failed` for what can't be done there
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
        await put(disk, this.#copy.root, draft, bytes, mode ?? (seen.is === 'file' ? seen.mode : 0o644));
        await disk.rename(draft, at);
      } catch (error) {
        await disk.remove(draft).catch(() => undefined);
        throw error;
      }
    });
  }

  /** Whether there was one. @throws EffectError `bad_input` for a path that leads out, `tool_failed` for what can't be done there */
  async remove(path: string): Promise<boolean> {
    const at = this.#at(path);
    return worked(this.#name, () => diskAt(this.#copy.root, BYTES_MAX).remove(at));
  }

  /** Branches of this branch: the one that is chosen takes the place of this copy, and what it says of itself is theirs. */
  speculate<Tx extends Branching, T>(
    tx: Tx,
    branches: readonly BranchBody<Tx, T>[],
    choose: ChooseBranch<T>,
  ): Promise<T> {
    return this.#within(tx, branches, choose);
  }

  #at(path: string): string {
    const found = canonical(this.#copy.root, join(this.#copy.root.path, path));
    if ('path' in found) return found.path;
    throw new EffectError('bad_input', `${JSON.stringify(path)} is no path of it: ${found.problem}.`);
  }
}

/** As file tools take it, which are to do the same in the folder. */
function checkMode(mode: number | undefined): void {
  if (mode === undefined || MODE.safeParse(mode).success) return;
  const wanted = 'one up to 0o777 that lets its owner read (0o400)';
  throw new EffectError('bad_input', `${mode} is no mode that a file can be given: give ${wanted}.`);
}

/** Whatever the file system refuses in a copy is told as what a call met, since nothing but the copy was worked on. */
function worked<T>(name: string, made: () => Promise<T>): Promise<T> {
  return answered(`${name}.copy`, async () => {
    try {
      return await made();
    } catch (error) {
      if (error instanceof DidNothing) throw error;
      throw new DidNothing((error as Error).message, { final: true, cause: error });
    }
  });
}

async function put(disk: Disk, root: Root, path: string, bytes: Uint8Array, mode: number): Promise<void> {
  const missing: string[] = [];
  for (let above = dirname(path); above !== root.path; above = dirname(above)) {
    if ((await disk.idOf(above)) !== undefined) break;
    missing.unshift(above);
  }
  for (const folder of missing) await disk.makeFolder(folder);
  await disk.write(path, bytes, mode);
}

function contentOf(bytes: Buffer): { readonly content: string; readonly encoding: 'utf8' | 'base64' } {
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return { content: text, encoding: 'utf8' };
  return { content: bytes.toString('base64'), encoding: 'base64' };
}

function epochOf(id: string): number {
  return Number(id.slice(0, id.indexOf('-')));
}
