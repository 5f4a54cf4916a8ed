import { createReadStream, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import { type AssizeError, isAssizeError } from '#base';
import { readExport, splitLines } from '#ledger';
import { CliError } from '../errors.ts';
import { whileBlocked } from '../terminal/interrupt.ts';
import { isSystemFault, unreadable } from './file-faults.ts';

/**
 * The lines of an export, from a file or from standard input (`-`), checked up to the first entry.
 * The interruption also ends the wait for the next bytes of a pipe.
 *
 * @throws CliError for an unreadable file and for a file that is not an export; ExportError
 */
export async function openExport(
  file: string,
  interruption: AbortSignal,
  maxBlobs?: number,
): Promise<AsyncIterable<string>> {
  const bytes = file === '-' ? process.stdin : opened(file);
  return checkedBeginning(splitLines(watched(bytes, file, interruption)), file, maxBlobs);
}

async function* watched(bytes: Readable, file: string, interruption: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    // Also ends the wait for the next bytes of a pipe.
    for await (const chunk of addAbortSignal(interruption, bytes)) yield chunk;
  } catch (error) {
    interruption.throwIfAborted();
    throw asUnreadable(file, error);
  }
}

/**
 * Attached before the store is opened, which may take long: without a listener, a stream error in
 * the meantime would be lost.
 */
function opened(file: string): Readable {
  try {
    const fd = whileBlocked(() => openSync(file, 'r'));
    const stats = fstatSync(fd);
    // A read of a pipe would hold a thread, for which the end of the process waits.
    return stats.isFIFO() || stats.isSocket() ? new Socket({ fd, readable: true }) : createReadStream(file, { fd });
  } catch (error) {
    throw asUnreadable(file, error);
  }
}

function asUnreadable(file: string, error: unknown): unknown {
  return isSystemFault(error) ? unreadable(file, error) : error;
}

/**
 * The same lines, after checking that the lines up to the first entry are an export's.
 * @throws CliError for a file that does not start as an export; ExportError
 */
async function checkedBeginning(
  lines: AsyncIterable<string>,
  file: string,
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
  await readExport({ [Symbol.asyncIterator]: () => noted }, maxBlobs)
    .next()
    .catch((error: unknown) => {
      throw isAssizeError(error, 'bad_export') && error.evidence['line'] === 1 ? noExport(file, seen, error) : error;
    });
  return (async function* () {
    yield* seen;
    yield* { [Symbol.asyncIterator]: () => iterator };
  })();
}

/** The first line of an export names its format. */
function noExport(file: string, [first]: readonly string[], cause: AssizeError): CliError {
  const place = file === '-' ? 'Standard input' : file;
  if (first?.startsWith('{"format":"assize/export/'))
    return new CliError('bad_input', `${place} is an export of another version. Export the store again.`, { cause });
  return new CliError('bad_input', `${place} is not an export. Pass a file that assize export wrote.`, { cause });
}
