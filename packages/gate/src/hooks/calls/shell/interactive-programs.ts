import { isShell } from './shell-programs.ts';
import type { ShellWord } from './shell-word.ts';

/**
 * Programs that run what a terminal or their standard input tells them. An agent can write to a
 * program that it started, and no hook is asked about that text.
 */

/** Programs that always ask for more: prompts, pagers, editors, and connections. */
const ALWAYS: ReadonlySet<string> = new Set(
  `bpython ed edit emacs emacsclient ex fdisk ftp ghci gnuplot htop iex ipython ipython3 irb jed jmacs joe jshell jupyter
  kak less lftp lynx man mc micro more most nano nc ncat netcat nvim octave pdb pdb3 pico pry ptpython ranger rvim sftp slrn
  socat sqlplus telnet top utop vi view vim vimdiff vimtutor w3m zellij byobu dtach abduco irssi mutt screen`.split(
    /\s+/,
  ),
);

/** How a program is given its whole text, so that it asks for no more. */
interface Interpreter {
  readonly names: RegExp;
  /** Options before the text that have no value of their own. */
  readonly flags?: RegExp;
  /** An option that gives the text, or that ends the program without one. */
  readonly texts: RegExp;
  /** Number of operands that the text takes. Default: one, which is its file. */
  readonly operands?: number;
  /** Whether the option can stand anywhere, and operands give no text. */
  readonly client?: boolean;
  /** Options of a client whose value is the rest of their word, or the next word. */
  readonly valued?: RegExp;
}

const ENDS = '-{1,2}version|-V|-{1,2}help|-h|-\\?';

function texts(options: string): RegExp {
  return new RegExp(`^(?:${options}|${ENDS})(?:=.*)?$`, 's');
}

/** Operands and modules that begin a prompt. */
const PROMPT_WORDS = /^(?:repl|console|inspect|debug|code|pdb|asyncio|IPython|bpython|ptpython)$/;

const INTERPRETERS: readonly Interpreter[] = [
  {
    names: /^(?:python|pypy)[\d.]*t?$/,
    flags: /^-[BEIOPRSbdqsuv]+$/,
    texts: /^-(?:c|m|V|VV|-version|h|-help)/,
  },
  {
    names: /^(?:node|nodejs|tsx|ts-node)$/,
    flags:
      /^--(?:enable-source-maps|no-warnings|no-deprecation|trace-[\w-]+|experimental-[\w-]+|watch)$/,
    texts: texts('-e|-p|-pe|--eval|--print|-c|--check|-v|--test|--run'),
  },
  { names: /^(?:bun|deno)$/, texts: texts('-e|-p|--eval|--print|-v') },
  {
    names: /^perl[\d.]*$/,
    flags: /^-[aclnpstTuUwWX]+$/,
    texts: /^-[aclnpstTuUwWX0]*[eEvV]|^-{1,2}(?:version|help|h)$/,
  },
  {
    names: /^ruby[\d.]*$/,
    flags: /^-[acdlnpswvWUST]+$/,
    texts: /^-[aclnpsw]*e|^-{1,2}(?:version|help|h)$/,
  },
  { names: /^php[\d.]*$/, flags: /^-[nqC]+$/, texts: texts('-r|-f|-v|-i|-m|-l|-S') },
  { names: /^(?:lua|luajit)[\d.]*$/, texts: texts('-e|-v') },
  { names: /^(?:R|r)$/, texts: texts('-e|-f.*|--file|CMD') },
  { names: /^(?:Rscript|littler)$/, texts: texts('-e') },
  { names: /^(?:tclsh|wish|expect)[\d.]*$/, texts: texts('-c') },
  {
    names:
      /^(?:julia|guile|racket|sbcl|clisp|ecl|gst|scala|groovy|kotlin|swift|raku|elixir|ocaml|erl|swipl|gp|maxima|sage|dc|lldb|jdb)$/,
    texts: texts('-e|-f|-c|-x|--eval|--file|--script|-eval'),
  },
  // Letters before the one that gives the text have no value of their own.
  {
    names: /^psql$/,
    texts: /^(?:-[1AEHLSXabeqnstwWxz0]*[cfl]|--(?:command|file|list|version|help)(?:$|=)|-V$|-\?$)/,
    valued:
      /^(?:-[1AEHSXabeqnstwWxz0]*[dhpUFPRTvoL]|--(?:dbname|host|port|username|set|variable|output|log-file))$/,
    client: true,
  },
  {
    names: /^(?:mysql|mariadb)$/,
    texts: /^(?:-[ABCEGHNLXbcfijnoqrstvwUI]*e|--(?:execute|version|help)(?:$|=)|-V$|-\?$)/,
    valued: /^(?:-[ABCEGHNLXbcfijnoqrstvwUI]*[uhPDS]|--(?:user|host|port|database|socket))$/,
    client: true,
  },
  {
    names: /^(?:mongo|mongosh)$/,
    texts: /^--(?:eval|file|version|help)(?:$|=)|^-f$/,
    client: true,
  },
  {
    names: /^(?:cqlsh|usql)$/,
    texts: /^(?:-[ef]|-c|--(?:execute|file|command|version|help)(?:$|=))/,
    client: true,
  },
  {
    names: /^(?:clickhouse-client)$/,
    texts: /^(?:-q|--(?:query|queries-file|version|help)(?:$|=))/,
    client: true,
  },
  {
    names: /^(?:mycli|pgcli)$/,
    texts: /^(?:-e|-l|--(?:execute|list|version|help)(?:$|=))/,
    client: true,
  },
  {
    names: /^(?:sqlcmd|snowsql)$/,
    texts: /^(?:-[Qq]|-[if]|--(?:query|filename|version|help)(?:$|=))/,
    client: true,
  },
  {
    names: /^(?:sqlite3?|duckdb|rqlite)$/,
    flags: /^-[a-z]+$/,
    texts: texts('-cmd|-c'),
    operands: 2,
  },
  { names: /^(?:redis-cli|valkey-cli|etcdctl)$/, texts: texts('-v|--eval') },
];

/** Whether the program runs text that its words do not have. */
export function readsTerminal(name: string, words: readonly ShellWord[]): boolean {
  if (ALWAYS.has(name)) return true;
  const values = words.map(({ value }) => value);
  if (values.some((value) => value !== null && INPUTS.test(value)) && readsTexts(name)) return true;
  if (CONTAINERS.has(name)) return entersContainer(name, values);
  if (name === 'make' || name === 'gmake') return makesFromInput(values);
  if (name === 'crontab')
    return values.length === 0 || values.some((value) => value === '-' || value === '-e');
  if (name === 'git') return opensEditor(values);
  const interpreter = interpreterOf(name);
  if (interpreter === undefined) return false;
  const known = values.filter((value) => value !== null);
  return known.length < values.length || lacksText(interpreter, known);
}

function interpreterOf(name: string): Interpreter | undefined {
  return INTERPRETERS.find(({ names }) => names.test(name));
}

/** Names of the standard input. Also the file of an option can have such a name. */
const INPUTS =
  /^(?:-[A-Za-z]|--[\w-]+=)?\/(?:dev\/(?:stdin|fd\/.*|tty)|proc\/(?:self|thread-self|\d+)\/fd\/.*)$/;

/** Whether a program runs the texts of the files that its words name. */
function readsTexts(name: string): boolean {
  return (
    isShell(name) ||
    /^(?:source|\.|make|gmake|crontab)$/.test(name) ||
    interpreterOf(name) !== undefined
  );
}

/** A makefile from the standard input is a text that no hook sees. */
function makesFromInput(values: readonly (string | null)[]): boolean {
  return values.some(
    (value, i) =>
      /^(?:-[a-zA-Z]*f-|--(?:file|makefile)=-)$/.test(value ?? '') ||
      (value === '-' && /^(?:-[a-zA-Z]*f|--(?:file|makefile))$/.test(values[i - 1] ?? '')),
  );
}

/** Programs that start a command in a container, with or without a terminal. */
const CONTAINERS: ReadonlySet<string> = new Set([
  'docker',
  'podman',
  'nerdctl',
  'kubectl',
  'oc',
  'docker-compose',
]);

/** Whether the text of a program in a container can come from the terminal or the input. */
function entersContainer(name: string, values: readonly (string | null)[]): boolean {
  const at = values.findIndex((value) => /^(?:exec|run|attach|start|debug)$/.test(value ?? ''));
  if (at === -1) return false;
  if (values[at] === 'attach') return true;
  // Compose gives a terminal without being asked.
  if (name.endsWith('-compose') || values.slice(0, at).includes('compose'))
    return values[at] !== 'start' && !values.includes('-T');
  return values
    .slice(at)
    .some((value) =>
      /^(?:-[a-zA-Z]*[it][a-zA-Z]*|--(?:interactive|tty|stdin|attach))$/.test(optionOf(value)),
    );
}

function optionOf(value: string | null): string {
  return (value ?? '').replace(/=(?:true|1)$/, '');
}

function lacksText(
  { flags, texts: given, operands = 1, client = false, valued }: Interpreter,
  words: readonly string[],
): boolean {
  if (words.some((word) => word === '-i' || word === '--interactive' || word === '-')) return true;
  if (client)
    return !words.some((word, i) => given.test(word) && valued?.test(words[i - 1] ?? '') !== true);
  const first = words.findIndex((word) => flags?.test(word) !== true || given.test(word));
  const rest = first === -1 ? [] : words.slice(first);
  const [word] = rest;
  if (word === undefined) return true;
  if (PROMPT_WORDS.test(word) || PROMPT_WORDS.test(moduleIn(rest))) return true;
  return word.startsWith('-')
    ? !given.test(word)
    : rest.filter((each) => !each.startsWith('-')).length < operands;
}

/** The module of Python that the words run: `-m MODULE` or `-mMODULE`. */
function moduleIn([word = '', next = '']: readonly string[]): string {
  const [, attached] = /^-[a-zA-Z]*?m(.*)$/s.exec(word) ?? [];
  return attached === undefined ? '' : attached || next;
}

/** Commands of git that open an editor for a message without one. */
const MESSAGES: ReadonlySet<string> = new Set(['commit', 'merge', 'pull', 'revert']);

/** Commands of git with a prompt of their own. */
const PROMPTS: ReadonlySet<string> = new Set(
  'bisect citool difftool gui instaweb mergetool rebase send-email shell web--browse'.split(' '),
);

const PROMPT_OPTION = /^(?:-[a-z]*[ip]|-e|--(?:interac|patc|ed)\S*)$/;
const PROMPTING: ReadonlySet<string> = new Set(
  'add am branch checkout clean cherry-pick config notes replace reset restore stash tag commit merge revert'.split(
    ' ',
  ),
);

/** Options of git itself with a value in the next word. */
const VALUED =
  /^(?:-[cC]|--(?:git-dir|work-tree|namespace|exec-path|super-prefix|config-env|attr-source))$/;

function isOption(value: string | null): boolean {
  return value?.startsWith('-') === true;
}

/** Editors and prompts of git run commands that a terminal tells them. */
function opensEditor(values: readonly (string | null)[]): boolean {
  const at = values.findIndex((value, i) => !isOption(value) && !VALUED.test(values[i - 1] ?? ''));
  const command = values[at];
  if (typeof command !== 'string') return false;
  const rest = values.slice(at + 1).map((value) => value ?? '');
  if (PROMPTS.has(command)) return true;
  if (PROMPTING.has(command) && rest.some((word) => PROMPT_OPTION.test(word))) return true;
  if (command === 'tag') return rest.some((word) => /^-[asu]/.test(word)) && !hasMessage(rest);
  return MESSAGES.has(command) && !hasMessage(rest);
}

function hasMessage(words: readonly string[]): boolean {
  return words.some((word) =>
    /^(?:-[a-zA-Z]*[mFC].*|--(?:message|file|reuse-message|no-edit|fixup|dry-run|abort|quit|ff-only|squash|rebase)(?:=.*)?)$/s.test(
      word,
    ),
  );
}
