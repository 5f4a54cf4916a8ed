import type { OptionsText } from './options.ts';
import type { Program, Use } from './program.ts';
import { valuesOf } from './search.ts';

/**
 * Programs that run a text: of an option, of a file, or of a terminal. An agent can write to
 * a program that it started, and no hook is asked about that text.
 */

/** Programs that always ask for more, or run what other words tell them here or elsewhere. */
const OPEN = `at batch bpython busybox byobu caffeinate chpst chroot csh dbus-run-session dtach abduco ed edit elvish emacs
  emacsclient entr ex expect fakechroot fakeroot faketime fdisk fish flock ftp gdb ghci gnuplot htop iex ipython ipython3 irb irssi
  jed jmacs joe jshell jupyter kak less lftp ltrace lynx man mc micro more mosh most mutt nano nc ncat netcat nsenter nu nvim octave
  parallel pdb pdb3 pico pkexec proot pry ptpython pwsh ranger rlogin rsh run-parts runuser rvim screen script setpriv sftp slrn
  socat sqlplus ssh start-stop-daemon strace su sudoedit systemd-run tcsh telnet tmux top toybox unbuffer unshare utop vi view vim
  vimdiff vimtutor w3m xonsh xvfb-run zellij`;

const VERSION = '-v,--version. -h,--help.';

/** Interpreters by their names without a version: the options that give a text, or end the use. */
const SCRIPTS: Readonly<Record<string, OptionsText>> = {
  'python pypy': '-c=t!| -m=t.| -W=t -X=t --check-hash-based-pycs=t -V,--version. -h,--help. -i!',
  'node nodejs tsx ts-node': `-e,--eval=t! -p,--print=t! -pe=t! -c,--check. --test. --run=t. -r,--require= --import=
    -C,--conditions=t -i,--interactive! ${VERSION}`,
  perl: `-e=t! -E=t! -i=?t -I= -M=?t -m=?t -F=?t -d! -V. ${VERSION}`,
  ruby: `-e=t! -r=t -I= -i=?t ${VERSION}`,
  php: `-r=t! -f=. -i. -m. -l. -S=t. -d=t -c= -a! ${VERSION}`,
  'lua luajit': `-e=t! -l=t -i! ${VERSION}`,
  'R r': `-e=t! -f,--file=. ${VERSION}`,
  'Rscript littler': `-e=t! ${VERSION}`,
  'tclsh wish': `-c=t! ${VERSION}`,
  'julia guile racket sbcl clisp ecl gst scala groovy kotlin swift raku elixir ocaml erl swipl gp maxima sage dc lldb jdb': `
    -e,-x,-eval,--eval=t! -c=t! -f,--file,--script=. ${VERSION}`,
  'redis-cli valkey-cli etcdctl': `--eval=. ${VERSION}`,
  crontab: '-u=t -l. -r. -e!',
};

/** Programs that get a text by an option alone. Each operand is something else. */
const CLIENTS: Readonly<Record<string, OptionsText>> = {
  psql: `-c,--command=t. -f,--file=. -l,--list. -V,--version. -?,--help. -d,--dbname=t -h,--host=t -p,--port=t -U,--username=t
    -P,--pset=t -F=t -R=t -T=t -v,--set,--variable=t -o,--output= -L,--log-file= -a -b -e -E -n -q -s -S -A -H -t -x -z -0 -1 -X`,
  'mysql mariadb': `-e,--execute=t. -V,--version. -?,--help. -u,--user=t -h,--host=t -P,--port=t -D,--database=t -S,--socket=t -p=?t
    -A -B -C -E -G -H -I -L -N -U -X -b -c -f -i -j -n -o -q -r -s -t -v -w`,
  'mongo mongosh': '--eval=t. --file,-f=. --version. --help.',
  'cqlsh usql': '-e,--execute=t. -c,--command=t. -f,--file=. --version. --help.',
  'clickhouse-client': '-q,--query=t. --queries-file=. --version. --help.',
  'mycli pgcli': '-e,--execute=t. -l,--list. --version. --help.',
  'sqlcmd snowsql': '-Q=t. -q,--query=t. -i=. -f,--filename=. --version. --help.',
};

/** Texts in JavaScript, Python and Perl that only compute and print, and queries that only read. */
const HARMLESS =
  /^(?:[-\s\d+*/%(),;<>=!&|?:]|(["'])[\w\s.,:;!?-]*\1|\b(?:console\.log|print|process\.(?:version|platform|arch)|Math\.[a-z]+|len|str|int|sum|range|true|false|null|None|True|False)\b|\.(?=\d))*$|^(?:s|y|tr)([/|#,])[\w\s.:;<>"'=-]*\2[\w\s.:;<>"'=-]*\2[gimsx]*;?$/;
const HARMLESS_QUERY = /^select [\w\s,.*=<>'"]*(?:count\(\*\)[\w\s,.*=<>'"]*)?;?$/i;

/** Names of the standard input. */
export const INPUTS =
  /^(?:-|\/(?:dev\/(?:stdin|fd\/.*|tty)|proc\/(?:self|thread-self|\d+)\/fd\/.*))$/;

/** Operands and modules that begin a prompt. */
const PROMPTS = /^(?:repl|console|inspect|debug|code|pdb|asyncio|IPython|bpython|ptpython)$/;

/** Modules of Python that take everything below a folder. */
const PACKING = /^(?:zipfile|tarfile|zipapp|compileall)$/;

const TEXTS = ['-e', '-E', '-c', '-p', '-pe', '-r', '--eval', '--print', '-x', '-eval'];

/** Whether the text of a use can be any other than that of a file. */
function isOpen(use: Use, operands: number): boolean {
  const [first] = use.operands.map(({ value }) => value);
  if (use.operands.some(({ value }) => value === null)) return true;
  const given = [...use.values.values()].flat();
  if ([...given, first].some((value) => INPUTS.test(value ?? ''))) return true;
  if ([...valuesOf(use, '-m'), first].some((value) => PROMPTS.test(value ?? ''))) return true;
  const texts = TEXTS.flatMap((name) => use.values.get(name) ?? []);
  const opening = use.marks.split('!').length - 1;
  if (opening > 0)
    return opening > texts.length || !texts.every((text) => HARMLESS.test(text ?? '$'));
  return !use.marks.includes('.') && use.operands.length < operands;
}

/**
 * A version is printed, a script is checked, and a text that only computes runs, without running
 * anything of the folder.
 */
function onlyReads(use: Use): boolean {
  const { flags, operands } = use;
  if (flags.size !== 1) return false;
  if (operands.length > 0) return flags.has('--check');
  return flags.has('--version') || (TEXTS.some((name) => flags.has(name)) && !isOpen(use, 0));
}

/** Whether a program of this name runs the file that its first operand names. */
export function isInterpreter(name: string): boolean {
  return `${Object.keys(SCRIPTS).join(' ')} bun deno`.split(' ').includes(withoutVersion(name));
}

export function withoutVersion(name: string): string {
  return name.replace(/(?<=[a-z])[\d.]+t?$/, '');
}

const script = (options: OptionsText): Program => ({
  options,
  stops: true,
  use: (use) => ({
    class: onlyReads(use) ? 'read' : 'irreversible',
    dynamic: isOpen(use, 1),
    runs: 'files',
    ...(valuesOf(use, '-m').some((name) => PACKING.test(name)) && { below: use.files }),
  }),
});

const client = (options: OptionsText): Program => ({
  options,
  use: (use) => ({ dynamic: isOpen(use, Number.POSITIVE_INFINITY) }),
});

const DATABASE: Program = {
  options: '-version,--version. -help. -readonly -header -json -csv -line -column -box -batch',
  use: (use) => {
    const [, query = '', ...more] = use.operands.map(({ value }) => value ?? '');
    const isQuery = more.length === 0 && HARMLESS_QUERY.test(query);
    return { dynamic: !isQuery && !use.marks.includes('.') };
  },
};

/** `--eval` gives a text, and `-f -` reads one. */
const MAKE: Program = {
  options:
    '-f,--file,--makefile= -C,--directory= -E,--eval=t! -j,--jobs=?t -n -k -s -B -i -v,--version',
  use: (use) => ({
    class: onlyReads(use) ? 'read' : 'irreversible',
    dynamic:
      use.marks.includes('!') || valuesOf(use, '--makefile').some((name) => INPUTS.test(name)),
    runs: 'files',
  }),
};

const OPENED: Program = { marks: () => '!' };
/** A terminal can tell a program in a container what to do. Compose gives it one by default. */
const ENTERED: Program = { options: '-i,--interactive,--stdin! -t,--tty! -a,--attach!' };
const COMPOSED: Program = { marks: ({ flags }) => (flags.has('-T') ? '' : '!') };
const COMPOSE = { exec: COMPOSED, run: COMPOSED };

/** A program with subcommands: some run a text. */
const withCommands = (options: OptionsText, commands: Program['commands'] = {}): Program => ({
  options: `${options} ${VERSION}`,
  commands,
  use: (use) => ({ class: onlyReads(use) ? 'read' : 'irreversible' }),
});

const each = (names: string, program: Program): Readonly<Record<string, Program>> =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, program]));

const all = (table: Readonly<Record<string, OptionsText>>, row: typeof script) =>
  Object.entries(table).map(([names, options]) => each(names, row(options)));

export const INTERPRETERS: Readonly<Record<string, Program>> = Object.assign(
  {},
  each(OPEN, OPENED),
  ...all(SCRIPTS, script),
  ...all(CLIENTS, client),
  each('sqlite sqlite3 duckdb rqlite', DATABASE),
  each('make gmake', MAKE),
  each('bun deno', {
    ...withCommands('-e,--eval=t! -p,--print=t! --cwd=', { repl: OPENED }),
    use: (use) => ({
      class: onlyReads(use) ? 'read' : 'irreversible',
      dynamic: isOpen(use, 1),
    }),
  }),
  each(
    'docker podman nerdctl kubectl oc',
    withCommands('-n,--namespace=t --context=t --kubeconfig= -H,--host=t -c=t --config=', {
      ...{ exec: ENTERED, run: ENTERED, start: ENTERED, debug: ENTERED, attach: OPENED },
      compose: { commands: COMPOSE },
    }),
  ),
  each('docker-compose', withCommands('-f,--file= -p,--project-name=t', COMPOSE)),
);
