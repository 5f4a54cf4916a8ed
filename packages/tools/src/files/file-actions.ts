import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { isInstance, type Json } from 'assize/internal/base';
import { hashText } from 'assize/internal/canon';
import {
  type CallContext,
  type CompensationResult,
  DidNothing,
  NoAnswer,
  type ReconcileResult,
} from 'assize/internal/effects';
import { type Disk, type FileContents, isSame, numberOf, type PathContents } from './disk.ts';
import type { Entry, Journal, Trace } from './journal.ts';
import {
  type Change,
  changesOf,
  hashOf,
  isFolder,
  type Operation,
  permissionsOf,
  resultOf,
} from './operations.ts';
import { OWN, type Root } from './root.ts';

/**
 * Executes operations, reconciles them after a crash, and compensates them. The effect is one step,
 * a rename or a removal. All preparations are reversible, and the journal records the operation
 * first.
 */
export class FileActions {
  readonly #root: Root;
  readonly #disk: Disk;
  readonly #journal: Journal;
  readonly #bytesMax: number;
  /** Operations in flight, by key. A late call ends before its outcome is reported. */
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(root: Root, disk: Disk, journal: Journal, bytesMax: number) {
    this.#root = root;
    this.#disk = disk;
    this.#journal = journal;
    this.#bytesMax = bytesMax;
  }

  /**
   * Executes an operation.
   * @throws DidNothing if no file was changed; after any other error, call `reconcile`
   */
  act(operation: Operation, call: CallContext): Promise<Json> {
    const turn = () => this.#nothingDone(() => this.#turnAt(operation.path, call));
    return this.#inTurn(operation.path, call, () => this.#act(operation, call), turn);
  }

  /**
   * Whether an operation was done, by the journal and the files.
   * @throws Error if the outcome is unknown
   */
  reconcile({ path }: Operation, call: CallContext): Promise<ReconcileResult> {
    const { key, signal } = call;
    return this.#inTurn(path, call, async () => {
      const entry = await this.#journal.read(path, key);
      if (entry !== undefined && (await this.#wasDone(entry, signal)))
        return { happened: true, result: entry.result };
      if (entry?.state !== 'undone') await this.#clean(path, key, entry);
      return { happened: false };
    });
  }

  /** Restores the earlier content, if the files are still as the operation left them. */
  undo({ path }: Operation, call: CallContext): Promise<CompensationResult> {
    return this.#inTurn(path, call, () => this.#undo(path, call.key));
  }

  async #act(operation: Operation, call: CallContext): Promise<Json> {
    const { key, signal } = call;
    const { path } = operation;
    // The root's parent has no files of these tools, so no staged file can exist there.
    if (path === this.#root.path) throw isFolder(path);
    const known = await this.#journal.read(path, key);
    if (known !== undefined && (await this.#wasDone(known, signal))) return known.result;
    const entry = await this.#nothingDone(async () => {
      checkTime(path, signal);
      await this.#clean(path, key, known);
      checkTime(path, signal);
      const changes = await changesOf(operation, (at) => this.#disk.look(at), this.#bytesMax);
      return this.#prepare(changes, call);
    });
    if (signal.aborted) {
      await this.#clean(path, key, entry);
      throw tooLate(path);
    }
    await this.#do(entry);
    await this.#keepDone(entry, signal);
    return entry.result;
  }

  /** Converts every error before the effect into `DidNothing`, after removing the staged files. */
  async #nothingDone<T>(made: () => Promise<T>): Promise<T> {
    try {
      return await made();
    } catch (error) {
      // Another process in progress there has an unknown effect.
      if (isInstance(error, DidNothing) || isInstance(error, NoAnswer)) throw error;
      throw new DidNothing((error as Error).message, { cause: error });
    }
  }

  /** Makes everything that must exist before the effect. */
  async #prepare(changes: readonly Change[], { key, epoch, signal }: CallContext): Promise<Entry> {
    const [{ path, before, after }] = changes as [Change];
    const to = changes[1]?.path ?? null;
    const entry: Entry = {
      format: 1,
      key,
      attempt: randomUUID(),
      epoch: epoch ?? null,
      state: 'making',
      does: to !== null ? 'move' : after === undefined ? 'delete' : 'replace',
      path,
      to,
      before: before === undefined ? null : noteOf(before),
      after: after === undefined ? null : traceOf(after),
      made: await this.#missingAbove(to ?? path),
      result: resultOf(changes),
    };
    checkTime(path, signal);
    if (epoch !== undefined) await this.#journal.deleteBefore(path, epoch);
    try {
      return await this.#stage(entry, before, after, signal);
    } catch (error) {
      // Uses the journal's entry: if the write of the state `ready` was not made durable, the entry
      // may still have that state.
      const written = await this.#journal.read(path, key);
      await this.#clean(path, key, written?.attempt === entry.attempt ? written : entry);
      throw error;
    }
  }

  async #stage(
    entry: Entry,
    before: Change['before'],
    after: Change['after'],
    signal: AbortSignal,
  ): Promise<Entry> {
    const { path, key, made, does } = entry;
    checkTime(path, signal);
    if (made.length > 0) await this.#journal.write(entry);
    for (const folder of made) {
      // The operation may have a thousand changes.
      checkTime(path, signal);
      await this.#makeFolder(folder);
    }
    checkTime(path, signal);
    if (does === 'replace') {
      await this.#disk.write(stagedAt(path, key), after!.bytes, after!.mode, before?.owner);
      await this.#disk.sync(dirname(path));
    }
    checkTime(path, signal);
    if (does !== 'move' && before !== undefined) await this.#journal.keep(path, key, before.bytes);
    const ready: Entry = { ...entry, state: 'ready' };
    checkTime(path, signal);
    await this.#journal.write(ready);
    return ready;
  }

  async #do(entry: Entry): Promise<void> {
    const { does, path, to, key } = entry;
    try {
      if (does === 'replace') await this.#disk.rename(stagedAt(path, key), path);
      else if (does === 'delete') await this.#disk.remove(path);
      else await this.#disk.rename(path, to!);
    } catch (error) {
      if (await this.#hasHappened(entry)) throw error;
      await this.#clean(path, key, entry);
      throw new DidNothing((error as Error).message, { cause: error });
    }
  }

  /**
   * Whether an operation was done. From then on, later operations at its paths do not change the
   * answer.
   * @throws Error if the outcome is unknown
   */
  async #wasDone(entry: Entry, signal: AbortSignal): Promise<boolean> {
    const wasDone = await this.#hasHappened(entry);
    if (wasDone) await this.#keepDone(entry, signal);
    return wasDone;
  }

  /**
   * Makes the outcome durable. The files at its paths are evidence only until the next operation
   * there, such as the next call of its transaction.
   * @throws Error if the call is too late to record it: the new owner may have compensated the
   * effect
   */
  async #keepDone(entry: Entry, signal: AbortSignal): Promise<void> {
    await this.#syncAll(entry);
    if (entry.state !== 'ready') return;
    if (signal.aborted) throw new Error(`The change of ${entry.path} was not recorded in time.`);
    await this.#journal.write({ ...entry, state: 'done' });
  }

  /** @throws Error if the outcome is unknown */
  async #hasHappened(entry: Entry): Promise<boolean> {
    const happened = await this.#evidence(entry);
    if (happened !== undefined) return happened;
    throw new Error(
      `The outcome for ${entry.path} is unknown: another program changed the path too.`,
    );
  }

  /**
   * Whether an operation was done, by the journal, or else by the files at its paths. Undefined if
   * neither decides. Inode numbers are reused, so a matching number is not enough: the contents
   * must match too.
   */
  async #evidence({
    state,
    does,
    path,
    to,
    key,
    before,
    after,
  }: Entry): Promise<boolean | undefined> {
    if (state === 'done' || state === 'undoing') return true;
    if (state !== 'ready') return false;
    if (does === 'replace' && (await this.#disk.idOf(stagedAt(path, key))) !== undefined)
      return false;
    const id = await this.#disk.idOf(path);
    const isThere = before === null ? id === undefined : id !== undefined && isSame(id, before.id!);
    // Another process may have removed the staged file, so its absence proves nothing. The new
    // content itself must be found.
    if (isThere) return (await this.#stands(path, before)) ? false : undefined;
    if (does === 'replace') return (await this.#stands(path, after)) || undefined;
    if (does === 'delete') return id === undefined || undefined;
    return (await this.#hasMoved(to!, before!)) || undefined;
  }

  /**
   * Does not compare the whole identity: a system without birth times reports the time of the move.
   */
  async #hasMoved(to: string, before: Trace): Promise<boolean> {
    const id = await this.#disk.idOf(to);
    return (
      id !== undefined && numberOf(id) === numberOf(before.id!) && (await this.#stands(to, before))
    );
  }

  /** A file too large to be read was not written by these tools. */
  async #stands(path: string, trace: Trace | null): Promise<boolean> {
    try {
      return isAs(await this.#disk.look(path), trace);
    } catch (error) {
      if (isInstance(error, DidNothing)) return false;
      throw error;
    }
  }

  async #undo(path: string, key: string): Promise<CompensationResult> {
    const entry = await this.#journal.read(path, key);
    if (entry === undefined) return partly(path, 'no record of the operation exists', {});
    if (entry.state === 'undone') return { undone: 'all' };
    if (
      entry.state === 'making' ||
      (entry.does === 'replace' && (await this.#evidence(entry)) === false)
    ) {
      await this.#clean(path, key, entry);
      return { undone: 'all' };
    }
    // From here on a crash leaves a state between before and after. A second compensation finishes
    // it.
    await this.#journal.write({ ...entry, state: 'undoing' });
    const left =
      entry.does === 'move' ? await this.#undoMove(entry) : await this.#undoChange(entry);
    if (left !== undefined) return left;
    await this.#removeMade(entry);
    await this.#syncAll(entry);
    await this.#journal.write({ ...entry, state: 'undone' });
    await this.#journal.deleteKept(path, key);
    return { undone: 'all' };
  }

  /** The residue of one change. Undefined if the path is as before. */
  async #undoChange({ path, key, before, after }: Entry): Promise<CompensationResult | undefined> {
    const now = await this.#disk.look(path);
    if (isPutBack(now, before)) return undefined;
    if (!isAs(now, after))
      return partly(path, 'another program changed it since', {
        found: describe(now),
        left: after,
      });
    if (before === null) {
      await this.#disk.remove(path);
      return undefined;
    }
    const bytes = await this.#journal.kept(path, key);
    if (bytes === undefined)
      return partly(path, 'the earlier content is no longer stored', { before });
    const again = restoringAt(path, key);
    await this.#makeAbove(path);
    await this.#writeAgain(again, bytes, before);
    await this.#disk.rename(again, path);
    return undefined;
  }

  /** Restores setuid-like bits only if the owner is the same as before. */
  async #writeAgain(path: string, bytes: Buffer, before: Trace): Promise<void> {
    const mode = permissionsOf(before.mode);
    await this.#disk.remove(path);
    await this.#disk.write(path, bytes, mode, before.owner);
    if (mode === before.mode || modeFor(await this.#disk.look(path), before) === mode) return;
    await this.#disk.remove(path);
    await this.#disk.write(path, bytes, before.mode, before.owner);
  }

  async #undoMove({ path, to, before }: Entry): Promise<CompensationResult | undefined> {
    const [source, target] = [await this.#disk.look(path), await this.#disk.look(to!)];
    if (isAs(source, before) && target.is === 'absent') return undefined;
    if (source.is !== 'absent' || !isAs(target, before)) {
      const found = { [path]: describe(source), [to!]: describe(target) };
      return partly(path, 'another program changed it, or its new path, since', {
        found,
        left: before,
      });
    }
    await this.#makeAbove(path);
    await this.#disk.rename(to!, path);
    return undefined;
  }

  async #makeAbove(path: string): Promise<void> {
    for (const folder of await this.#missingAbove(path)) await this.#makeFolder(folder);
  }

  /**
   * Makes a folder and its name durable, because a file that moves there may exist nowhere else.
   */
  async #makeFolder(folder: string): Promise<void> {
    await this.#disk.makeFolder(folder);
    await this.#disk.sync(dirname(folder));
  }

  /**
   * Removes the staged files of an operation that was not done, unless the journal's entry belongs
   * to another attempt by now.
   */
  async #clean(path: string, key: string, entry: Entry | undefined): Promise<void> {
    if (!(await this.#isLast(path, key, entry))) return;
    // The journal first records that the operation was not done. Without that record, the outcome
    // could be in doubt after the staged files are gone.
    if (entry?.state === 'ready') await this.#journal.write({ ...entry, state: 'making' });
    await this.#disk.remove(stagedAt(path, key));
    if (entry !== undefined) await this.#removeMade(entry);
    // Checked again: a process that was paused may resume after a new owner has done the operation.
    if (await this.#isLast(path, key, entry)) await this.#journal.delete(path, key);
  }

  /** Whether no other attempt has written an entry since. */
  async #isLast(path: string, key: string, entry: Entry | undefined): Promise<boolean> {
    const now = await this.#journal.read(path, key);
    return now === undefined || (entry !== undefined && now.attempt === entry.attempt);
  }

  async #removeMade({ made }: Entry): Promise<void> {
    for (const folder of made.toReversed()) await this.#disk.removeFolder(folder);
  }

  async #syncAll({ path, to, made }: Entry): Promise<void> {
    const folders = new Set([path, to ?? path, ...made].map((each) => dirname(each)));
    for (const folder of folders) await this.#disk.sync(folder);
  }

  /** Folders that must be created for a file, the outermost first. */
  async #missingAbove(path: string): Promise<string[]> {
    const missing: string[] = [];
    for (let above = dirname(path); above !== this.#root.path; above = dirname(above)) {
      if ((await this.#disk.idOf(above)) !== undefined) break;
      missing.unshift(above);
    }
    return missing;
  }

  #turnAt(path: string, { signal }: CallContext): Promise<Disposable | undefined> {
    return this.#journal.lockPath(path, signal);
  }

  /**
   * Runs operations of one key in sequence in this process, and operations at one path in sequence
   * across all processes.
   */
  async #inTurn<T>(
    path: string,
    call: CallContext,
    step: () => Promise<T>,
    turn: () => Promise<Disposable | undefined> = () => this.#turnAt(path, call),
  ): Promise<T> {
    const { key } = call;
    const alone = async (): Promise<T> => {
      using _turn = await turn();
      return await step();
    };
    const done = (this.#underWay.get(key) ?? Promise.resolve()).then(alone, alone);
    this.#underWay.set(key, done);
    try {
      return await done;
    } finally {
      if (this.#underWay.get(key) === done) this.#underWay.delete(key);
    }
  }
}

/**
 * Runs before each step that leaves a file: a process that took over a late call may have left
 * files there too.
 */
function checkTime(path: string, signal: AbortSignal): void {
  if (signal.aborted) throw tooLate(path);
}

function tooLate(path: string): DidNothing {
  return new DidNothing(`the time to change ${path} was over`);
}

function stagedAt(path: string, key: string): string {
  return besides(path, key, 'staged');
}

function restoringAt(path: string, key: string): string {
  return besides(path, key, 'restoring');
}

/**
 * A name in the same folder, so the file is renamed and never copied. The name is short for every
 * file name.
 */
function besides(path: string, key: string, what: string): string {
  return join(dirname(path), `${OWN}-${hashText(`${key}/${basename(path)}`).slice(0, 32)}.${what}`);
}

function traceOf({ bytes, mode }: { readonly bytes: Buffer; readonly mode: number }): Trace {
  return { hash: hashOf(bytes), mode };
}

function noteOf(file: FileContents): Trace {
  return {
    ...traceOf(file),
    id: file.id,
    ...(file.owner === undefined ? {} : { owner: file.owner }),
  };
}

/** Whether a path is as it was, or as it was restored. */
function isPutBack(seen: PathContents, before: Trace | null): boolean {
  if (before === null || isAs(seen, before)) return isAs(seen, before);
  return isAs(seen, { ...before, mode: modeFor(seen, before) });
}

/** The mode of a restored file, by its current owner. */
function modeFor(seen: PathContents, { mode, owner }: Trace): number {
  return seen.is === 'file' && seen.owner !== undefined && seen.owner === owner
    ? mode
    : permissionsOf(mode);
}

function isAs(seen: PathContents, trace: Trace | null): boolean {
  if (trace === null) return seen.is === 'absent';
  return seen.is === 'file' && seen.mode === trace.mode && hashOf(seen.bytes) === trace.hash;
}

function describe(seen: PathContents): Json {
  return seen.is === 'file' ? { is: 'file', ...traceOf(seen) } : { is: seen.is };
}

function partly(path: string, why: string, more: object): CompensationResult {
  return { undone: 'partly', residue: { path, why, ...more } as Json };
}
