import type { ShellWord } from '../shell/shell-word.ts';
import { readOptions } from './options.ts';
import type { Program } from './program.ts';

/** A program that runs the program that its operands name. */
interface Wrapper extends Program {
  /** The number of words between the options and the program. */
  readonly operands?: number;
  /** Whether `NAME=value` can stand before the program, and between the options. */
  readonly assigns?: boolean;
}

/** The program that a wrapper runs. Not sure: an option is unknown, so it may be another one. */
export interface Inner {
  readonly words: readonly ShellWord[];
  readonly env: readonly string[];
  readonly flags: ReadonlySet<string>;
  readonly sure: boolean;
}

const wrapper = (options: string, more: Omit<Wrapper, 'options'> = {}): Wrapper => ({
  ...{ options, stops: true },
  ...more,
});

/** Wrappers whose inner program the shell itself runs, so a builtin like `cd` counts. */
const SHELL: Readonly<Record<string, Wrapper>> = {
  builtin: wrapper(''),
  // With `-v` it only tells where a program is.
  command: wrapper('-p -v -V', {
    use: ({ flags }) => ({ class: flags.has('-v') || flags.has('-V') ? 'read' : 'irreversible' }),
  }),
  exec: wrapper('-c -l -a=t'),
  nocorrect: wrapper(''),
  noglob: wrapper(''),
};

export const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  ...SHELL,
  doas: wrapper('-n -C= -u=t'),
  env: wrapper(
    `-i,--ignore-environment -0,--null -v,--debug --list-signal-handling --block-signal=?t --default-signal=?t
      --ignore-signal=?t -u,--unset=t -a,--argv0=t`,
    { assigns: true },
  ),
  ionice: wrapper('-t,--ignore -c,--class=t -n,--classdata=t -p,--pid=t -P,--pgid=t -u,--uid=t'),
  nice: wrapper('-n,--adjustment=t'),
  nohup: wrapper(''),
  setsid: wrapper('-c,--ctty -f,--fork -w,--wait'),
  stdbuf: wrapper('-i,--input=t -o,--output=t -e,--error=t'),
  sudo: wrapper(
    `-A,--askpass -b,--background -B,--bell -E,--preserve-env=?t -H,--set-home -n,--non-interactive -P,--preserve-groups
      -S,--stdin -k,--reset-timestamp -K -N -v -V -u,--user=t -g,--group=t -h,--host=t -p,--prompt=t
      -C,--close-from=t -r,--role=t -t,--type=t -T,--command-timeout=t -U,--other-user=t`,
    { assigns: true },
  ),
  time: wrapper(
    '-a,--append -p,--portability -q,--quiet -v,--verbose -l -h -f,--format=t -o,--output=',
  ),
  timeout: wrapper(
    '-f,--foreground -p,--preserve-status -v,--verbose -k,--kill-after=t -s,--signal=t',
    { operands: 1 },
  ),
  watch: wrapper(
    `-b,--beep -c,--color --no-color -e,--errexit -g,--chgexit -d,--differences=?t -r,--no-rerun -t,--no-title
      -w,--no-wrap -p,--precise -x,--exec -n,--interval=t -q,--equexit=t -s,--shotsdir=`,
  ),
  xargs: wrapper(
    `-0,--null -o,--open-tty -p,--interactive -t,--verbose -r,--no-run-if-empty -x,--exit --show-limits -i,--replace=?t
      -e,--eof=?t -l,--max-lines=?t -a,--arg-file= -I=t -J=t -L=t -P,--max-procs=t -R=t -S=t -d,--delimiter=t -E=t
      -n,--max-args=t -s,--max-chars=t --process-slot-var=t`,
    { class: 'reads-if-known' },
  ),
};

export function isShellWrapper(name: string): boolean {
  return Object.hasOwn(SHELL, name);
}

/** The program that a wrapper of this name runs, or undefined if the name is not a wrapper. */
export function innerOf(name: string, given: readonly ShellWord[]): Inner | undefined {
  const found = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  if (found === undefined) return undefined;
  const { options = '', operands = 0, assigns = false } = found;
  const flags = new Set<string>();
  const env: string[] = [];
  let [words, sure, isDone] = [given, true, false];
  while (!isDone) {
    const read = readOptions(options, words, true);
    for (const flag of read.flags) flags.add(flag);
    sure &&= !read.unknown;
    words = read.operands;
    const isName = ({ value }: ShellWord) => assigns && /^(?:[^=-][^=]*=|-$)/.test(value ?? '');
    const end = words.findIndex((word) => !isName(word));
    const names = words.slice(0, end === -1 ? undefined : end);
    env.push(
      ...names
        .map(({ value }) => (value as string).split('=')[0] as string)
        .filter((name) => name !== '-'),
    );
    words = words.slice(names.length);
    isDone = names.length === 0;
  }
  return { words: words.slice(operands), env, flags, sure };
}
