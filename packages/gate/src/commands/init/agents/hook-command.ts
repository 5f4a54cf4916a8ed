import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Agent } from '../../hook/agent-answer.ts';

/** The program and the first arguments that run this `assize`. */
export function ownProgram(): readonly string[] {
  const [node = process.execPath, main = ''] = process.argv;
  return [node, main];
}

/** How the command of a hook reaches the server, and how it answers. */
export interface HookTerms {
  /** The program and the first arguments that run `assize`. */
  readonly program: readonly string[];
  readonly url: string;
  readonly trajectory: string;
  /** Absent: the token is in `ASSIZE_TOKEN`. */
  readonly tokenFile?: string | undefined;
  /** The rules file of a server on this machine. */
  readonly rules?: string | undefined;
  /** Seconds that a question waits for a person. */
  readonly wait: number;
  readonly pending?: 'deny' | 'defer' | undefined;
  readonly confirm?: 'never' | 'irreversible' | 'changes' | 'always' | undefined;
  /** The settings file that turns on the sandbox of the program, and the digest of its rules. */
  readonly sandbox?: string | undefined;
  readonly sandboxDigest?: string | undefined;
}

/** The options of the command, in the order of the line. */
export const OPTIONS = [
  ...(['url', 'tokenFile', 'rules', 'trajectory', 'wait', 'pending', 'confirm'] as const),
  ...(['sandbox', 'sandboxDigest'] as const),
];

/** The line of a shell that runs the hook of an agent. */
export function hookLine(agent: Agent, terms: HookTerms): string {
  const options = OPTIONS.flatMap((name) => {
    const value = terms[name];
    return value === undefined ? [] : [optionOf(name), String(value)];
  });
  return commandLine(terms.program, ['hook', agent, ...options]);
}

/** The line of a shell that runs a program with some words. */
export function commandLine(program: readonly string[], words: readonly string[]): string {
  return [...program, ...words].map(shellWord).join(' ');
}

/** The terms of such a line, or of one that refuses behind it. Undefined: it has another form. */
export function hookTermsIn(line: string): HookTerms | undefined {
  const words = wordsOf(line);
  const at = words.indexOf('hook');
  const found = Object.fromEntries(
    OPTIONS.map((name) => [name, words.indexOf(optionOf(name), at)] as const)
      .filter(([, i]) => i !== -1)
      .map(([name, i]) => [name, words[i + 1]]),
  );
  if (at < 1 || found['url'] === undefined || found['wait'] === undefined) return undefined;
  const { wait, ...others } = found;
  return { ...others, program: words.slice(0, at), wait: Number(wait) } as unknown as HookTerms;
}

export function optionOf(name: string): string {
  return `--${name.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)}`;
}

/**
 * A command behind a question. Codex lets a call through when its hook is missing, is killed, or
 * says nothing: then the shell says no.
 */
export function refusing(line: string): string {
  return `${line} || { echo 'Assize: the hook of this call failed. Run assize init codex --check.' >&2; exit 2; }`;
}

/** The words of such a line. */
function wordsOf(line: string): readonly string[] {
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
