import { createReadStream, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import { readExport, splitLines } from '@assize/audit/internal/export';
import { CliError, isSystemFault, unreadable, whileBlocked } from '@assize/command';
import { type AssizeError, isAssizeError } from 'assize/internal/base';

/**
 * The lines of an export, from a file or from standard input (`-`), checked up to the first entry,
 * or up to the end of `first`.
 * The interruption also ends the wait for the next bytes of a pipe.
 *
 * @throws CliError for an unreadable file and for a file that is not an export; ExportError
 */
export async function openExport(
  file: string,
  interruption: AbortSignal,
  {
    maxBlobs,
    first = { entries: 1, units: Number.POSITIVE_INFINITY },
    onRead,
  }: {
    readonly maxBlobs?: number | undefined;
    readonly first?: Size;
    /** After each read: the bytes so far, of the size of a file. */
    readonly onRead?: (bytes: number, size?: number) => void;
  } = {},
): Promise<AsyncIterable<string>> {
  const { bytes, size } = file === '-' ? { bytes: process.stdin, size: undefined } : opened(file);
  const read = watched(bytes, file, interruption, (done) => onRead?.(done, size));
  return checkedBeginning(splitLines(read), file, first, maxBlobs);
}

interface Size {
  readonly entries: number;
  /** UTF-16 units of the entries and blobs. */
  readonly units: number;
}

async function* watched(
  bytes: Readable,
  file: string,
  interruption: AbortSignal,
  onRead: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let done = 0;
  try {
    // Also ends the wait for the next bytes of a pipe.
    for await (const chunk of addAbortSignal(interruption, bytes)) {
      yield chunk;
      done += (chunk as Uint8Array).length;
      onRead(done);
    }
  } catch (error) {
    interruption.throwIfAborted();
    throw asUnreadable(file, error);
  }
}

/**
 * Attached before the store is opened. Opening may take long, and without a listener a stream error
 * would be lost meanwhile.
 */
function opened(file: string): { readonly bytes: Readable; readonly size: number | undefined } {
  try {
    const fd = whileBlocked(() => openSync(file, 'r'));
    const stats = fstatSync(fd);
    // A read of a pipe would hold a thread, for which the end of the process waits.
    return stats.isFIFO() || stats.isSocket()
      ? { bytes: new Socket({ fd, readable: true }), size: undefined }
      : { bytes: createReadStream(file, { fd }), size: stats.isFile() ? stats.size : undefined };
  } catch (error) {
    throw asUnreadable(file, error);
  }
}

function asUnreadable(file: string, error: unknown): unknown {
  return isSystemFault(error) ? unreadable(file, error) : error;
}

/**
 * The same lines, after checking that its first lines are an export's.
 * @throws CliError for a file that does not start as an export; ExportError
 */
async function checkedBeginning(
  lines: AsyncIterable<string>,
  file: string,
  first: Size,
  maxBlobs?: number,
): Promise<AsyncIterable<string>> {
  const iterator = lines[Symbol.asyncIterator]();
  const seen: string[] = [];
  const noted = {
    next: async () => {
      const read = await iterator.next();
      if (read.done !== true) seen.push(read.value);
      return read;
    },
  };
  try {
    let entries = 0;
    let units = 0;
    // `noted` has no `return`, so the end of this loop leaves the lines open.
    for await (const { row, blobs } of readExport(
      { [Symbol.asyncIterator]: () => noted },
      maxBlobs,
    )) {
      entries++;
      units += row.payload.length + blobs.reduce((sum, { text }) => sum + text.length, 0);
      if (entries >= first.entries || units >= first.units) break;
    }
  } catch (error) {
    throw isAssizeError(error, 'bad_export') && error.evidence['line'] === 1
      ? noExport(file, seen, error)
      : error;
  }
  return (async function* () {
    yield* seen;
    yield* { [Symbol.asyncIterator]: () => iterator };
  })();
}

/** The first line of an export names its format. */
function noExport(file: string, [first]: readonly string[], cause: AssizeError): CliError {
  const place = file === '-' ? 'Standard input' : file;
  if (first?.startsWith('{"format":"assize/export/'))
    return new CliError(
      'bad_input',
      `${place} is an export of another version. Export the store again.`,
      { cause },
    );
  return new CliError(
    'bad_input',
    `${place} is not an export. Pass a file that assize export wrote.`,
    { cause },
  );
}
