import {
  after,
  either,
  entered,
  type Folders,
  nowhere,
  type Outcome,
  same,
  unsure,
} from './folders.ts';
import type { Reading } from './reading.ts';
import { type ShellWord, wordValues } from './shell-word.ts';
import { changesWhatRuns, variableOf } from './variable-names.ts';

type Builtin = (
  words: readonly ShellWord[],
  reading: Reading,
  at: Folders,
  text: string,
) => Outcome;

/** The effect of a builtin on later commands, or undefined if the name is not a builtin. */
export function builtinOf(name: string): Builtin | undefined {
  return Object.hasOwn(BUILTINS, name) ? BUILTINS[name] : undefined;
}

/** Its words do not show its effect on later commands. */
const dynamic: Builtin = (_, reading, at, text) => {
  reading.parts.dynamic(text);
  return same(at);
};

const changeFolder: Builtin = (words, reading, at) => {
  const ok = folderAfter(words, reading, at);
  return { ok, failed: at };
};

/** Other words of `pushd` go round in the folders that were entered. */
const pushFolder: Builtin = (words, reading, at, text) =>
  words.length === 1 && !/^[-+]/.test(words[0]?.value ?? '-')
    ? changeFolder(words, reading, at, text)
    : unknownFolder(words, reading, at, text);

const unknownFolder: Builtin = (_words, _reading, at) => ({ ok: unsure(at), failed: at });

/** Options other than `-L` resolve links, or go back. */
function folderAfter(words: readonly ShellWord[], { home }: Reading, at: Folders): Folders {
  const rest = words.filter(({ value }, i) => !(value === '-L' && i === 0));
  const operands = rest[0]?.value === '--' ? rest.slice(1) : rest;
  if (operands.length === 0) return home?.startsWith('/') ? entered(at, home) : unsure(at);
  const folder = operands.length === 1 ? (operands[0]?.value ?? null) : null;
  if (folder === null || folder.startsWith('-')) return unsure(at);
  return folder === '' ? at : entered(at, folder);
}

const evaluate: Builtin = (words, reading, at, text) => {
  const values = words.map(({ value }) => value);
  const given = values[0] === '--' ? values.slice(1) : values;
  if (!given.includes(null)) return reading.text(given.join(' '), at, 'now');
  reading.parts.dynamic(text);
  return same(unsure(at));
};

/** A file runs in the shell itself, so it can change the meaning of each later command. */
const source: Builtin = (_, reading, at, text) => {
  reading.parts.dynamic(text);
  return same(unsure(at));
};

/** The text runs later, in any folder. */
const trap: Builtin = (words, reading, at, text) => {
  const given = words[0]?.value === '--' ? words.slice(1) : words;
  const action = given[0]?.value;
  if (action === null) reading.parts.dynamic(text);
  else if (action !== undefined && given.length > 1 && !/^(?:\d+|-[lpP]?|)$/.test(action))
    reading.text(action, unsure(at));
  return same(at);
};

const exit: Builtin = (words, _reading, at) =>
  words.length <= 1 ? { ok: nowhere(at), failed: nowhere(at) } : same(at);

/** Builtins that get names of variables: an index in a name is evaluated as code. */
const names: Builtin = (words, reading, at, text) => {
  const values = words.flatMap((word) => wordValues(word) ?? []);
  if (values.some((value) => isEvaluated(value) || isRisky(value))) reading.parts.dynamic(text);
  for (const value of values) reading.assigned.add(variableOf(value) ?? value);
  return same(at);
};

/** With `-i` and `-n` the shell evaluates values. */
const declare: Builtin = (words, reading, at, text) => {
  const evaluates = words.some(({ value }) => value !== null && /^[-+]\w*[in]/.test(value));
  if (evaluates) reading.parts.dynamic(text);
  return names(words, reading, at, text);
};

/** `test -v` and `test -R` get the name of a variable. */
const test: Builtin = (words, reading, at, text) =>
  words.some(({ value }) => value === '-v' || value === '-R')
    ? names(words, reading, at, text)
    : same(at);

/** `printf -v` gets the name of a variable. */
const format: Builtin = (words, reading, at, text) =>
  words[0]?.value?.startsWith('-v') ? names(words, reading, at, text) : same(at);

const readLines: Builtin = (words, reading, at, text) =>
  words.some(({ value }) => value?.startsWith('-'))
    ? dynamic(words, reading, at, text)
    : names(words, reading, at, text);

const HARMLESS_SET =
  /^(?:[-+][euxvfCn]*o?|--|errexit|nounset|xtrace|verbose|pipefail|noglob|noclobber)$/;

const set: Builtin = (words, reading, at, text) => {
  const values = words.map(({ value }) => value);
  const end = values.findIndex((value) => value === '--' || !/^[-+]|^[a-z]+$/.test(value ?? ''));
  const options = end === -1 ? values : values.slice(0, end);
  if (!options.every((value) => HARMLESS_SET.test(value ?? '-!'))) reading.parts.dynamic(text);
  return same(at);
};

const HARMLESS_SHOPT = /^(?:-[suqp]+|nullglob|globstar|failglob|nocasematch|inherit_errexit)$/;

/** Other names fit a pattern with `dotglob` and `nocaseglob`. */
const shopt: Builtin = (words, reading, at, text) => {
  if (!words.every(({ value }) => HARMLESS_SHOPT.test(value ?? ''))) reading.parts.dynamic(text);
  return same(at);
};

/** `hash -p` and `hash -d` bind names. Without words or with `-r` it only forgets. */
const hash: Builtin = (words, reading, at, text) =>
  words.every(({ value }) => value === '-r') ? same(at) : dynamic(words, reading, at, text);

/** `jobs -x` runs a program. */
const jobs: Builtin = (words, reading, at, text) =>
  words.every(({ value }) => value !== '-x') ? same(at) : dynamic(words, reading, at, text);

function isEvaluated(value: string): boolean {
  return /[[`]|\$[({[]/.test(value);
}

function isRisky(value: string): boolean {
  const name = variableOf(value);
  return name !== undefined && changesWhatRuns(name);
}

/** After a pipeline: its last command may have run in the shell itself. */
export function afterPipeline(at: Folders, last: Outcome): Outcome {
  const folders = either(at, after(last));
  return same(folders);
}

/** Builtins whose effect on later commands their words do not tell. */
const DYNAMIC =
  'alias autoload bind compctl compgen complete emulate enable fc history integer let r repeat sched setopt unsetopt zle zmodload zstyle';

const BUILTINS: Readonly<Record<string, Builtin>> = {
  ...Object.fromEntries(DYNAMIC.split(' ').map((name) => [name, dynamic])),
  '.': source,
  '[': test,
  cd: changeFolder,
  chdir: changeFolder,
  declare,
  eval: evaluate,
  exit,
  export: declare,
  getopts: names,
  hash,
  jobs,
  local: declare,
  mapfile: readLines,
  popd: unknownFolder,
  printf: format,
  pushd: pushFolder,
  read: names,
  readarray: readLines,
  readonly: declare,
  set,
  shopt,
  source,
  test,
  trap,
  typeset: declare,
  unset: names,
  wait: names,
};
