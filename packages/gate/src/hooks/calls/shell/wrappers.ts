import type { ShellWord } from './shell-word.ts';

/** How a program that runs another one reads its own options. Each letter is one option. */
interface Wrapper {
  readonly flags?: string;
  /** Letters with a value: the rest of the word, or the next word. */
  readonly values?: string;
  /** Letters with an optional value: only the rest of the word. */
  readonly attached?: string;
  readonly longFlags?: string;
  readonly longValues?: string;
  /** Number of words between the options and the program. */
  readonly operands?: number;
  readonly assigns?: 'between' | 'after';
}

/** The program that a wrapper runs. Not sure: an option is unknown, so it may be another one. */
export interface Inner {
  readonly words: readonly ShellWord[];
  readonly env: readonly string[];
  readonly options: readonly string[];
  readonly sure: boolean;
}

const PLAIN: Wrapper = {};

/** Wrappers whose inner program the shell itself runs, so a builtin like `cd` counts. */
const SHELL: Readonly<Record<string, Wrapper>> = {
  builtin: PLAIN,
  command: { flags: 'pvV' },
  exec: { flags: 'cl', values: 'a' },
  nocorrect: PLAIN,
  noglob: PLAIN,
};

const OTHERS: Readonly<Record<string, Wrapper>> = {
  doas: { flags: 'n', values: 'Cu' },
  env: {
    flags: 'i0v',
    values: 'ua',
    longFlags:
      'ignore-environment null debug list-signal-handling block-signal default-signal ignore-signal',
    longValues: 'unset argv0',
    assigns: 'after',
  },
  ionice: {
    flags: 't',
    values: 'cnpPu',
    longFlags: 'ignore',
    longValues: 'class classdata pid pgid uid',
  },
  nice: { flags: '0123456789', values: 'n', longValues: 'adjustment' },
  nohup: PLAIN,
  setsid: { flags: 'cfw', longFlags: 'ctty fork wait' },
  stdbuf: { values: 'ioe', longValues: 'input output error' },
  sudo: {
    flags: 'AbBEHnPSkKNvV',
    values: 'ughpCrtTU',
    longFlags:
      'askpass background bell non-interactive preserve-env set-home stdin reset-timestamp preserve-groups',
    longValues: 'user group host prompt close-from role type command-timeout other-user',
    assigns: 'between',
  },
  time: {
    flags: 'apqvlh',
    values: 'fo',
    longFlags: 'append portability quiet verbose',
    longValues: 'format output',
  },
  timeout: {
    flags: 'fpv',
    values: 'ks',
    longFlags: 'foreground preserve-status verbose',
    longValues: 'kill-after signal',
    operands: 1,
  },
  watch: {
    flags: 'bcegrtwx',
    values: 'nqs',
    attached: 'd',
    longFlags:
      'beep color no-color errexit chgexit differences no-rerun no-title no-wrap precise exec',
    longValues: 'interval equexit shotsdir',
  },
  xargs: {
    flags: '0optrx',
    values: 'aIJLPRSdEns',
    attached: 'eil',
    longFlags:
      'null no-run-if-empty verbose interactive exit open-tty show-limits replace max-lines eof',
    longValues: 'arg-file delimiter max-args max-procs max-chars process-slot-var',
  },
};

export function isShellWrapper(name: string): boolean {
  return Object.hasOwn(SHELL, name);
}

/** The program that a wrapper of this name runs, or undefined if the name is not a wrapper. */
export function innerOf(name: string, words: readonly ShellWord[]): Inner | undefined {
  const wrapper = Object.hasOwn(SHELL, name)
    ? SHELL[name]
    : Object.hasOwn(OTHERS, name)
      ? OTHERS[name]
      : undefined;
  return wrapper === undefined ? undefined : read(wrapper, words);
}

function read(wrapper: Wrapper, words: readonly ShellWord[]): Inner {
  const [env, options]: [string[], string[]] = [[], []];
  let [at, sure] = [0, true];
  const isAssigned = (value: string) => wrapper.assigns !== undefined && /^[^=]+=/.test(value);
  for (; at < words.length; at++) {
    const value = words[at]?.value ?? null;
    if (value === null) return { words: [], env, options, sure: false };
    if (value === '--') {
      at++;
      break;
    }
    if (wrapper.assigns === 'between' && !value.startsWith('-') && isAssigned(value))
      env.push(nameIn(value));
    else if (value === '-' && wrapper.assigns === 'after') options.push(value);
    else if (value.startsWith('-') && value.length > 1) {
      const option = value.startsWith('--') ? longOption(wrapper, value) : letters(wrapper, value);
      sure &&= option.known;
      at += option.next;
      options.push(value);
    } else break;
  }
  at += wrapper.operands ?? 0;
  for (; isAssigned(words[at]?.value ?? ''); at++) env.push(nameIn(words[at]?.value as string));
  return { words: words.slice(at), env, options, sure };
}

function nameIn(assignment: string): string {
  return assignment.slice(0, assignment.indexOf('='));
}

function longOption(
  { longFlags = '', longValues = '' }: Wrapper,
  word: string,
): { known: boolean; next: number } {
  const [name = '', value] = word.slice(2).split('=', 2);
  const takesValue = longValues.split(' ').includes(name);
  const known = takesValue || (name !== '' && longFlags.split(' ').includes(name));
  return { known, next: takesValue && value === undefined ? 1 : 0 };
}

function letters(
  { flags = '', values = '', attached = '' }: Wrapper,
  word: string,
): { known: boolean; next: number } {
  for (let i = 1; i < word.length; i++) {
    const letter = word.charAt(i);
    if (values.includes(letter)) return { known: true, next: i === word.length - 1 ? 1 : 0 };
    if (attached.includes(letter)) return { known: true, next: 0 };
    if (!flags.includes(letter)) return { known: false, next: 0 };
  }
  return { known: true, next: 0 };
}
