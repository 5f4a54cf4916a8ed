import { isAssizeError } from '#base';
import { blobLine, erasedLine, type Hash } from '#ledger';
import { StoreError } from '../errors.ts';
import type { ArchiveAccess } from './access.ts';
import { type Member, type MemberLines, resealed, type SegmentFile } from './segment-file.ts';
import { removeFiles, writeFiles } from './write-files.ts';

/**
 * Removes erased texts from the files of segments. A file is written again without them, under
 * another name; then the old file is deleted. The database records both steps, so an interrupted
 * scrub continues later.
 *
 * @throws StoreError `store_not_scrubbed`
 */
export async function scrubArchive(access: ArchiveAccess): Promise<void> {
  try {
    for (let files = await withErased(access); files.length > 0; files = await withErased(access))
      for (const file of files) await rewrite(access, file);
    await removeFiles(access);
  } catch (cause) {
    if (!isAssizeError(cause)) throw cause;
    throw notScrubbed(cause.message, cause);
  }
}

async function withErased({ reads }: ArchiveAccess): Promise<SegmentFile[]> {
  return (await reads.filesDue()).flatMap(({ file, due }) => (due === 'rewrite' ? [file] : []));
}

export function notScrubbed(why: string, cause?: unknown): StoreError {
  return new StoreError(
    'store_not_scrubbed',
    `The erasure is committed, but files of the archive may still have erased texts: ${why} Then open the store for writing with the archive.`,
    { retryable: true, cause },
  );
}

async function rewrite(access: ArchiveAccess, file: SegmentFile): Promise<void> {
  const { level } = (await access.reads.archive())!;
  const texts = new Map<Member, string>();
  for (const member of file.members) texts.set(member, await withoutErased(access, file, member));
  const sealed = resealed(file, (member) => texts.get(member)!);
  const [fresh] = (await writeFiles(access, level, [sealed])) ?? [];
  if (fresh === undefined)
    throw new StoreError(
      'wrong_state',
      'The level of the archive has changed. Repeat the command.',
    );
  // If another value of the file was erased meanwhile, the file is due again.
  if (await access.writes.replaceFile({ old: file.n, fresh, erasures: file.erasures })) return;
  await access.writes.discardFiles([fresh]);
}

const LINE = /^\{"blob":(.*),"hash":"([0-9a-f]{64})"\}$/;

async function withoutErased(
  { store, reader }: ArchiveAccess,
  file: SegmentFile,
  member: Member,
): Promise<string> {
  let text = '';
  const lines: MemberLines = await reader.lines(file, member);
  for (const line of lines.texts()) {
    const [, blob, hash] = LINE.exec(line) ?? [];
    const by: Hash | undefined = hash === undefined ? undefined : await store.erasedBy(hash);
    if (by !== undefined) text += erasedLine({ hash: hash!, by });
    else text += blob === undefined ? `${line}\n` : blobLine({ hash: hash!, text: blob });
  }
  return text;
}
