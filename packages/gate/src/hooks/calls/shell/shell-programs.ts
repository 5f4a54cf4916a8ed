import { INPUTS } from '../programs/interpreters.ts';
import { findWords, foundBy } from '../programs/search.ts';
import type { Inner } from '../programs/wrappers.ts';
import { type Folders, unsure } from './folders.ts';
import type { Input, Reading } from './reading.ts';
import { plainWord, type ShellWord } from './shell-word.ts';

/** Whether it is a shell whose texts are read as texts of bash. */
export function isShell(name: string): boolean {
  return /^(?:ash|bash|dash|m?ksh|rbash|z?sh)$/.test(name);
}

/**
 * The commands of `sh -c TEXT`, and the program of `sh NAME`. A shell that reads its standard input
 * is dynamic.
 */
export function readShell(
  words: readonly ShellWord[],
  text: string,
  reading: Reading,
  at: Folders,
): void {
  // With this option alone it only looks for errors.
  if (words.length === 2 && words[0]?.value === '-n') return;
  let [i, hasText] = [0, false];
  for (; i < words.length; i++) {
    const value = words[i]?.value ?? null;
    if (value === null) {
      reading.parts.dynamic(text);
      return;
    }
    if (value === '--' || value === '-') {
      i++;
      break;
    }
    if (!/^[-+]./.test(value)) break;
    if (/^[-+][^-]*i|^[-+][^-]*s|^--(?:rcfile|init-file|emulate)/.test(value))
      reading.parts.dynamic(text);
    if (value.startsWith('--')) continue;
    hasText ||= /^-[^-]*c/.test(value);
    i += [...value].filter((letter) => letter === 'o' || letter === 'O').length;
  }
  const given = words[i]?.value;
  if (given === undefined && !hasText && words.length > 0 && words[0]?.value === '--version')
    return;
  const isInput = typeof given === 'string' && INPUTS.test(given);
  if (given === undefined || isInput || (hasText && given === null)) reading.parts.dynamic(text);
  else if (hasText && given !== null) reading.text(given, at);
  // A script that the folder does not have is the program of that name in `PATH`.
  else if (given !== null && !given.includes('/')) reading.program(words.slice(i), [], at);
}

/** The programs that `find` runs, and what it removes or writes. */
export function readFind(
  words: readonly ShellWord[],
  text: string,
  reading: Reading,
  at: Folders,
): void {
  const found = foundBy(words);
  const { tests, runs } = findWords(words);
  const values = tests.map(({ value }) => value ?? '');
  if (values.some((value) => /^-f(?:print0?|printf|ls)$/.test(value))) reading.parts.dynamic(text);
  const removes = values.includes('-delete') ? [plainWord('rm'), plainWord('{}')] : [];
  for (const { action, words } of [...runs, { action: '-exec', words: removes }]) {
    const inner = words.map((word) => (word.value === '{}' ? (found ?? word) : word));
    const isOpen = inner.some(({ value }) => value?.includes('{}'));
    // In the folder of each file, its name alone is not known.
    if (isOpen || (action.endsWith('dir') && inner.includes(found as ShellWord)))
      reading.parts.dynamic(text);
    if (inner.length > 0) reading.program(inner, [], action.endsWith('dir') ? unsure(at) : at);
  }
}

/** Programs that only show the words they get. */
const SHOWING = /^(?:echo|printf|basename|dirname)$/;

/** The program of `xargs`. The words from its input follow the written ones. */
export function withInput({ words, flags, ...inner }: Inner, input: Input): Inner {
  const isOther = ['--replace', '-I', '-J', '-R', '--arg-file'].some((flag) => flags.has(flag));
  if (input !== undefined && flags.has('--null') && !isOther)
    return { ...inner, flags, words: [...words, input] };
  const isShown = SHOWING.test(words[0]?.value ?? '') && !flags.has('--arg-file');
  return { ...inner, flags, words, sure: inner.sure && isShown };
}

/**
 * Reads the part of a wrapper's work that its options decide. Returns whether the wrapper runs no
 * further program.
 */
export function readWrapped(
  name: string,
  inner: Inner,
  text: string,
  reading: Reading,
  at: Folders,
): boolean {
  const { words, flags, sure } = inner;
  if (!sure) reading.parts.dynamic(text);
  if (name === 'watch' && !flags.has('--exec')) {
    const values = words.map(({ value }) => value);
    if (values.includes(null)) reading.parts.dynamic(text);
    else if (values.length > 0) reading.text(values.join(' '), at);
    return true;
  }
  // `command -v` only tells where a program is.
  return name === 'command' && (flags.has('-v') || flags.has('-V'));
}
