import { existsSync } from 'node:fs';
import type { WritChain } from 'assize/host';
import { parseWrit } from 'assize/internal/authority';
import type { Json } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';
import { CliError } from '../errors.ts';
import { parsedAt, readJson } from '../files/input-file.ts';
import { writeNewFile } from '../files/write-file.ts';
import type { Session } from '../store/session.ts';

/** Names standard input in place of a file. */
export const STDIN = '-';

/**
 * A writ with its ancestors, as `{"chain":[PARENT, …, ROOT],"writ":WRIT}`, or a root writ alone. A
 * proposal accepts this as `writ`, so a file can be passed unchanged. The function verifies
 * nothing.
 *
 * @throws CliError
 */
export function readWritFile(path: string): WritChain {
  const place = path === STDIN ? 'standard input' : path;
  const json = readJson(path === STDIN ? 0 : path, place);
  const isChain = typeof json === 'object' && json !== null && 'writ' in json;
  const { writ, chain = [] } = (isChain ? json : { writ: json }) as { writ: Json; chain?: Json };
  if (!Array.isArray(chain))
    throw new CliError('bad_input', `${place}: chain must be a list, the parent first.`);
  return parsedAt(place, () => ({
    writ: parseWrit(writ),
    chain: chain.map((link) => parseWrit(link)),
  }));
}

/**
 * Writes to a new file, or to standard output.
 * @throws CliError
 */
export function writeWritFile({ out }: Session, path: string | undefined, held: WritChain): void {
  const { writ, chain } = held;
  if (path === undefined) out.document({ chain, writ });
  else
    writeNewFile(
      path,
      `${canonicalize({ chain, writ })}\n`,
      0o644,
      'and a writ is never overwritten',
    );
}

/** Whether an argument names a file, and not an id. */
export function isWritFile(text: string): boolean {
  return text === STDIN || existsSync(text);
}
