import type { Json } from 'assize/internal/base';
import { type LedgerStore, Replayer, readRow } from 'assize/internal/ledger';
import { pages } from 'assize/internal/views';

/** A recorded change of a file by an agent. */
export interface RecordedChange {
  readonly call: string;
  readonly at: string;
  readonly path: string;
  /** Null: there was no file. */
  readonly before: string | null;
  /** The hash of the text after the change. */
  readonly after: string;
}

/** The changes of files in a session and in the sessions of its subagents. */
export interface SessionChanges {
  /** Newest first. */
  readonly changes: readonly RecordedChange[];
  /** Paths that a call may have changed without a record of the text before. */
  readonly unrecorded: ReadonlySet<string>;
}

/**
 * The changes of a session by the tools for files. The trajectory is verified before. Changes by
 * commands are not among them.
 *
 * @throws LedgerFault
 */
export async function fileChangesOf(
  store: LedgerStore,
  trajectory: string,
  session: string,
): Promise<SessionChanges> {
  const replayer = new Replayer(store);
  await replayer.replay(trajectory);
  const written = new Map<string, ReadonlySet<string>>();
  const changes: RecordedChange[] = [];
  for await (const rows of pages(store, trajectory, { from: 0, limit: Number.MAX_SAFE_INTEGER })) {
    for (const row of rows) {
      const { payload } = readRow(row);
      if (payload.kind !== 'commit' || !WANTED.has(payload.action.name)) continue;
      const read = await replayer.values.read(payload, payload.action.args);
      if (!('value' in read)) continue;
      const args = read.value as Args;
      if (payload.action.name === 'call') {
        if (isOf(args, session)) written.set(String(args['id']), pathsWritten(args));
        continue;
      }
      const call = String(args['call']);
      const file = changeIn(args['result']);
      // A report is the word of an agent. It counts for the files of its call alone.
      const isOfCall = file !== undefined && written.get(call)?.has(file.path) === true;
      if (isOfCall) changes.unshift({ call, at: payload.at, ...file });
      if (isOfCall || args['outcome'] === 'failed') written.delete(call);
    }
  }
  return { changes, unrecorded: new Set([...written.values()].flatMap((paths) => [...paths])) };
}

type Args = { readonly [name: string]: Json };

const WANTED: ReadonlySet<string> = new Set(['call', 'report']);
const WRITING: ReadonlySet<unknown> = new Set(['write', 'edit']);

function isOf({ session: of }: Args, session: string): boolean {
  return typeof of === 'string' && (of === session || of.startsWith(`${session}.`));
}

/** The paths that the parts of a call write. */
function pathsWritten({ parts = [] }: Args): ReadonlySet<string> {
  const writing = (parts as readonly Args[]).filter(
    ({ server, tool }) => server === 'files' && WRITING.has(tool),
  );
  return new Set(writing.map(({ args }) => String((args as Args)['path'])));
}

function changeIn(
  result: Json | undefined,
): Pick<RecordedChange, 'path' | 'before' | 'after'> | undefined {
  const { path, before, after } = ((result as { readonly file?: Json } | null)?.file ??
    {}) as Record<string, unknown>;
  if (typeof path !== 'string' || !path.startsWith('/') || typeof after !== 'string')
    return undefined;
  return before === null || typeof before === 'string' ? { path, before, after } : undefined;
}
