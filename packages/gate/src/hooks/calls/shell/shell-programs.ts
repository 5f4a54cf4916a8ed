import type { Inner } from '../programs/wrappers.ts';
import { type Folders, unsure } from './folders.ts';
import type { Reading } from './reading.ts';
import type { ShellWord } from './shell-word.ts';

/** Shells whose texts are read as texts of bash. */
const SHELLS: ReadonlySet<string> = new Set([
  'ash',
  'bash',
  'dash',
  'ksh',
  'mksh',
  'rbash',
  'sh',
  'zsh',
]);

/** Programs that run what other words or a terminal tell them, on this machine or another one. */
const LAUNCHERS: ReadonlySet<string> = new Set(
  `at batch busybox caffeinate chpst chroot csh dbus-run-session elvish entr expect fakechroot fakeroot faketime fish
  flock gdb ltrace mosh nsenter nu parallel pkexec proot pwsh rlogin rsh run-parts runuser screen script setpriv ssh
  start-stop-daemon strace su sudoedit systemd-run tcsh tmux toybox unbuffer unshare xonsh xvfb-run`.split(
    /\s+/,
  ),
);

export function isShell(name: string): boolean {
  return SHELLS.has(name);
}

export function isLauncher(name: string): boolean {
  return LAUNCHERS.has(name);
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
  if (given === undefined || (hasText && given === null)) reading.parts.dynamic(text);
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
  for (let i = 0; i < words.length; i++) {
    const value = words[i]?.value ?? '';
    if (value === '-delete') removeFound(words, text, reading, at);
    if (/^-f(?:print0?|printf|ls)$/.test(value)) reading.parts.dynamic(text);
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(value)) continue;
    const rest = words.slice(i + 1);
    const end = rest.findIndex(
      (word, j) => word.value === ';' || (word.value === '+' && rest[j - 1]?.value === '{}'),
    );
    const inner = end === -1 ? rest : rest.slice(0, end);
    if (end === -1 || inner.some((word) => word.value?.includes('{}'))) reading.parts.dynamic(text);
    if (inner.length > 0) reading.program(inner, [], value.endsWith('dir') ? unsure(at) : at);
    i += inner.length;
  }
}

/** The removed names are only known while it runs. They are below the places where it starts. */
function removeFound(
  words: readonly ShellWord[],
  text: string,
  reading: Reading,
  at: Folders,
): void {
  const end = words.findIndex(
    ({ value }) => value !== null && /^[-(!]/.test(value) && !/^-[HLPDO]/.test(value),
  );
  reading.program(
    [{ text: 'rm', value: 'rm', prefix: '' }, ...words.slice(0, end === -1 ? undefined : end)],
    [],
    at,
  );
  reading.parts.dynamic(text);
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
  // Words from standard input follow the written ones.
  if (!sure || name === 'xargs') reading.parts.dynamic(text);
  if (name === 'watch' && !flags.has('--exec')) {
    const values = words.map(({ value }) => value);
    if (values.includes(null)) reading.parts.dynamic(text);
    else if (values.length > 0) reading.text(values.join(' '), at);
    return true;
  }
  // `command -v` only tells where a program is.
  return name === 'command' && (flags.has('-v') || flags.has('-V'));
}
