import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';

/** The program and its first arguments, which run this `assize`. */
export function ownProgram(): readonly string[] {
  const [node = process.execPath, main = ''] = process.argv;
  return [node, main];
}

/** The line of a shell that runs `assize` with some words. */
export function commandLine(program: readonly string[], words: readonly string[]): string {
  return [...program, ...words].map(shellWord).join(' ');
}

/**
 * A command behind a question. An agent program lets a call through when its hook is missing, is
 * killed, or says nothing: then the shell says no.
 */
export function refusing(line: string, agent: 'codex' | 'claude-code'): string {
  return `${line} || { echo 'Assize: the hook of this call failed. Run assize init ${agent} --check.' >&2; exit 2; }`;
}

/** The words of such a line. */
export function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(([, quoted, bare = '']) =>
    quoted === undefined ? bare : quoted.replaceAll("'\\''", "'"),
  );
}

/** The absolute paths of a program that are gone, as faults. */
export function goneFaults(program: readonly string[]): string[] {
  return program
    .filter((path) => isAbsolute(path) && !existsSync(path))
    .map((path) => `the program ${path} is gone`);
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
