import type { CallPart } from '#calls';
import { namedPaths } from '#reach';
import { isPlainText } from '../calls/plain-text.ts';
import { fileParts, unparsed } from '../own-call.ts';

/** A file that a patch names, and what the patch does with it. */
type Change =
  | { readonly kind: 'write' | 'edit' | 'remove'; readonly path: string }
  | { readonly kind: 'move'; readonly path: string; readonly to: string };

const KINDS: Readonly<Record<string, 'write' | 'edit' | 'remove'>> = {
  Add: 'write',
  Update: 'edit',
  Delete: 'remove',
};

/** White space in Codex: one character more than in JavaScript. */
const MARGIN = /^[\s\u0085]+|[\s\u0085]+$/g;

/** Names that the system may resolve in another way than by their text. */
const UNCLEAR = /^~|(?:^|\/)(?!\.{0,2}\/)[^/]+\/(?:\.?\/)*\.\.(?:\/|$)/;

/**
 * The parts of a patch in the form of Codex: the files that it writes, edits and removes. A moved
 * file has its old and its new path. A patch that cannot be read safely is `shell/unparsed`.
 */
export async function patchParts(patch: unknown, cwd: string): Promise<readonly CallPart[]> {
  const changes = typeof patch === 'string' ? changesIn(patch) : undefined;
  if (changes === undefined || changes.length === 0) return [unparsed(patch)];
  return (await Promise.all(changes.map((change) => partsOf(change, cwd)))).flat();
}

async function partsOf(change: Change, cwd: string): Promise<readonly CallPart[]> {
  const { kind, path } = change;
  if (kind === 'remove') return [await program('rm', [path], cwd)];
  if (kind !== 'move') return fileParts(kind, path, cwd);
  const { to } = change;
  return [
    ...(await fileParts('edit', path, cwd)),
    ...(await fileParts('write', to, cwd)),
    await program('mv', [path, to], cwd),
  ];
}

/** The part of the program that does the same, so that rules about it hold. */
async function program(name: string, argv: readonly string[], cwd: string): Promise<CallPart> {
  const paths = (await Promise.all(argv.map((each) => namedPaths(each, cwd)))).flat();
  const args = { argv, paths: [...new Set(paths)], cwd, command: '', flags: [], targets: argv };
  return { server: 'shell', tool: name, args };
}

/**
 * The files that a patch names. A line of context that looks like the name of a file counts as one,
 * because Codex could read it so. Undefined: a line has no known form.
 */
function changesIn(patch: string): readonly Change[] | undefined {
  const lines = trimmed(patch).split('\n');
  if (lines.length < 2) return undefined;
  if (trimmed(lines[0] as string) !== '*** Begin Patch') return undefined;
  if (trimmed(lines.at(-1) as string) !== '*** End Patch') return undefined;
  const changes: Change[] = [];
  for (const line of lines.slice(1, -1)) {
    if (/^[+-]/.test(line)) continue;
    const text = trimmed(line);
    const isRead = changeIn(text, changes) || isContext(line, text);
    if (!isRead) return undefined;
  }
  const isClear = changes.every(
    (change) => isClearPath(change.path) && (change.kind !== 'move' || isClearPath(change.to)),
  );
  return isClear ? changes : undefined;
}

/** Adds the change that a line begins or goes on with. False: the line is not a header. */
function changeIn(text: string, changes: Change[]): boolean {
  const [, kind = '', path] = /^\*\*\* (Add|Update|Delete) File: (.*)$/s.exec(text) ?? [];
  if (path !== undefined) {
    changes.push({ kind: KINDS[kind] as 'write', path });
    return true;
  }
  const to = /^\*\*\* Move to: (.*)$/s.exec(text)?.[1];
  const last = changes.at(-1);
  if (to === undefined || last === undefined) return false;
  changes.push({ kind: 'move', path: last.path, to });
  return true;
}

function isContext(line: string, text: string): boolean {
  if (text === '' || text === '*** End of File') return true;
  return /^@@(?: |$)/.test(text) || (/^[ \t]/.test(line) && !text.startsWith('***'));
}

function isClearPath(path: string): boolean {
  return path !== '' && trimmed(path) === path && isPlainText(path) && !UNCLEAR.test(path);
}

function trimmed(text: string): string {
  return text.replace(MARGIN, '');
}

/** The only form of a command that counts as a patch: the text of the patch stands as it is. */
const COMMAND =
  /^[ \t\n]*(?:apply_patch|applypatch)[ \t]+<<[ \t]*(['"])(\w+)\1[ \t]*\n([\s\S]*?)\n\2[ \t\n]*$/;

/** The patch of a command that only applies one. Undefined: it is another command. */
export function patchOf(command: unknown): string | undefined {
  const [, , end = '', patch] = (typeof command === 'string' ? COMMAND.exec(command) : null) ?? [];
  return patch?.split('\n').includes(end) ? undefined : patch;
}
