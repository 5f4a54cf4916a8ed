import { arg, checkArgument } from 'assize/internal/base';
import { LINE_BYTES_MAX } from 'assize/internal/ledger';
import { ExportError } from './errors.ts';

/**
 * Splits a stream of bytes into lines. Only a newline ends a line, because JSON may contain every
 * other separator. The function fails as soon as an unfinished line exceeds the maximum length.
 *
 * @throws ExportError `bad_export`; ArgumentError `bad_argument`
 */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number = LINE_BYTES_MAX,
): AsyncGenerator<string> {
  checkArgument(arg.whole, bytesMax, 'bytesMax');
  let parts: Uint8Array[] = [];
  let length = 0;
  let line = 0;
  for await (const chunk of chunks) {
    if (!(chunk instanceof Uint8Array)) checkArgument(arg.bytes, chunk, 'chunk');
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      yield decoded([...parts, chunk.subarray(start, end)], ++line);
      parts = [];
      length = 0;
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.slice(start));
    length += chunk.length - start;
    if (length > bytesMax) throw tooLong(line + 1, bytesMax);
  }
  if (parts.length > 0) {
    throw new ExportError('bad_export', `Line ${line + 1} of the export is truncated.`, {
      evidence: { line: line + 1 },
    });
  }
}

function tooLong(line: number, bytesMax: number): ExportError {
  return new ExportError(
    'bad_export',
    `Line ${line} of the export is longer than ${bytesMax} bytes.`,
    {
      evidence: { line },
    },
  );
}

function decoded(parts: readonly Uint8Array[], line: number): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(parts));
  } catch (cause) {
    throw new ExportError('bad_export', `Line ${line} of the export is not UTF-8.`, {
      evidence: { line },
      cause,
    });
  }
}
