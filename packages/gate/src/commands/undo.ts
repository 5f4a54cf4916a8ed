import { lstatSync, readFileSync, rmSync } from 'node:fs';
import {
  asksYes,
  CliError,
  canAsk,
  EXIT,
  inSession,
  line,
  replaceFile,
  type SharedOptions,
  unreadable,
  unwritable,
  withSharedOptions,
} from '@assize/command';
import { hashText } from 'assize/internal/canon';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';
import { fileChangesOf, type RecordedChange } from './file-changes.ts';

interface Options extends SharedOptions {
  readonly trajectory: string;
  readonly yes?: boolean;
}

/** A file that a session changed, with the text that it had before. */
interface Restored {
  readonly path: string;
  readonly before: string | null;
  readonly changes: number;
  /** Absent: the file is as the session left it. */
  readonly conflict?: string;
}

export function undo(program: Command): void {
  withSharedOptions(
    program
      .command('undo')
      .description('put files back that a session of a coding agent wrote or edited')
      .argument('<session>', 'id of the session, as its calls have it')
      .option('--trajectory <id>', 'the trajectory of the calls', 'calls')
      .option('--yes', 'write without a question'),
  )
    .addHelpText(
      'after',
      'Only the file tools record the text before a change: files that commands changed stay. A file that was changed since is left as it is.',
    )
    .action(
      inSession(async (session, { trajectory, yes }: Options, of: string) => {
        const { changes, unrecorded } = await session.withStore('readonly', (store) =>
          fileChangesOf(store, trajectory, of),
        );
        if (changes.length === 0)
          throw new CliError(
            'not_found',
            `The session ${of} has no recorded change of a file in ${trajectory}.`,
          );
        const files = restoredOf(changes, unrecorded);
        const ready = files.filter(({ conflict }) => conflict === undefined);
        if (!session.json) for (const file of files) session.out.line(line`${planText(file)}`);
        if (ready.length > 0 && yes !== true) {
          if (!canAsk())
            throw new CliError(
              'usage',
              'The command changes files. Pass --yes, or run it in a terminal.',
            );
          if (!(await asksYes(`Put ${counted(ready.length, 'file')} back?`, session.interruption)))
            return EXIT.negative;
        }
        for (const file of ready) restore(file);
        const left = files.filter(({ conflict }) => conflict !== undefined);
        if (session.json)
          session.out.document({
            restored: ready.map(({ path }) => path),
            left: left.map(({ path, conflict }) => ({ path, conflict })),
          });
        else session.out.line(line`${endText(ready, left.length)}`);
        return left.length === 0 ? EXIT.ok : EXIT.negative;
      }),
    );
}

/** The files of the changes, the newest change first. */
function restoredOf(
  changes: readonly RecordedChange[],
  unrecorded: ReadonlySet<string>,
): readonly Restored[] {
  const byPath = new Map<string, RecordedChange[]>();
  for (const change of changes)
    byPath.set(change.path, [...(byPath.get(change.path) ?? []), change]);
  return [...byPath].map(([path, all]) => {
    const oldest = all.at(-1) as RecordedChange;
    const conflict = unrecorded.has(path)
      ? 'the text before one of its changes is not recorded'
      : conflictOf(path, all);
    return {
      path,
      before: oldest.before,
      changes: all.length,
      ...(conflict !== undefined && { conflict }),
    };
  });
}

/** The reason why a file cannot be put back. */
function conflictOf(path: string, changes: readonly RecordedChange[]): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 'it is gone';
  if (!found.isFile()) return 'it is not a regular file';
  if (hashText(textOf(path)) !== changes[0]?.after) return 'it was changed since';
  const isWhole = changes.every(({ before }, i) => isSame(before, changes[i + 1]?.after));
  return isWhole ? undefined : 'it was also changed by something else';
}

/** Whether a change began with the text that the one before it left. */
function isSame(before: string | null, left: string | undefined): boolean {
  return left === undefined || (before !== null && hashText(before) === left);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable('The file', error, { path });
  }
}

function endText(ready: readonly Restored[], left: number): string {
  const removed = ready.filter(({ before }) => before === null).length;
  const back = ready.length - removed;
  const texts = [
    ...(back > 0 || removed === 0
      ? [`${counted(back, 'file')} ${back === 1 ? 'was' : 'were'} put back`]
      : []),
    ...(removed > 0
      ? [`${counted(removed, 'file')} ${removed === 1 ? 'was' : 'were'} removed`]
      : []),
  ];
  return `${texts.join(', ')}, ${left} ${left === 1 ? 'was' : 'were'} left.`;
}

function planText({ path, before, changes, conflict }: Restored): string {
  if (conflict !== undefined) return `leave   ${path}: ${conflict}`;
  return `${before === null ? 'remove ' : 'restore'} ${path} (${counted(changes, 'change')})`;
}

function restore({ path, before }: Restored): void {
  try {
    if (before === null) rmSync(path);
    else replaceFile(path, before);
  } catch (error) {
    throw unwritable(path, error);
  }
}
