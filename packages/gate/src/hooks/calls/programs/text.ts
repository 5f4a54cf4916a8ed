import type { Program, Use } from './program.ts';
import { valuesOf } from './search.ts';

const reads = (options: string, more: Omit<Program, 'options' | 'class'> = {}): Program => ({
  options,
  class: 'reads-if-known',
  ...more,
});

/** A use that reads only with words of one form. */
const readsIf = (options: string, holds: (use: Use) => boolean, texts: number = 0): Program => ({
  options,
  texts,
  use: (use) => ({ class: isPlain(use) && holds(use) ? 'read' : 'irreversible' }),
});

function isPlain({ marks, unknown }: Use): boolean {
  return !unknown && !/[>!]/.test(marks);
}

/** The values of the operands, or undefined where only the shell knows one. */
function operandsOf({ operands }: Use): readonly string[] | undefined {
  const values = operands.map(({ value }) => value);
  return values.every((value) => value !== null) ? values : undefined;
}

/** Programs without an option that writes, changes a setting or runs a program. */
const PLAIN = `basename break cal cat cd cksum cmp column comm continue df dirname dirs du exit expand expr factor false
  fmt fold free getconf groups head hexdump id join locale look ls lsblk lscpu md5sum nl nproc numfmt od paste pathchk
  pgrep popd pushd pwd read readlink realpath return rev seq sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shift
  sleep stat sum tac tail test tr true tsort tty type uname unexpand uptime wait wc whereis which whoami zcat`;

/** Their operands are texts that they print. */
const PRINTS = 'echo printf';

const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/(?:\\.|[^/\\\n])+/I?)`;
const SED_COMMAND = new RegExp(
  String.raw`\s*(?:${ADDRESS}(?:\s*,\s*(?:${ADDRESS}|[+~]\d+))?)?\s*!?\s*` +
    String.raw`(?:[{}]|[pPdDnNgGhHxzlF=]|[qQ]\d*|[:btT][ \t]*\w*|[aic][ \t]*\\?[^\n\\]+(?=\n|$)|[sy]([^\w\s\\])(?:\\[\s\S]|(?!\1)[^\\\n])*\1(?:\\[\s\S]|(?!\1)[^\\\n])*\1[gpiIM\d]*)?` +
    String.raw`[ \t]*(?:[;\n]|$|(?=[{}])|(?<=\{))`,
  'y',
);

/** Whether a script of `sed` neither writes a file nor runs a command. */
function isReadingSed(script: string): boolean {
  SED_COMMAND.lastIndex = 0;
  for (let at = 0; at < script.length; at = SED_COMMAND.lastIndex) {
    SED_COMMAND.lastIndex = at;
    if (!SED_COMMAND.test(script) || SED_COMMAND.lastIndex === at) return false;
  }
  return true;
}

const SED: Program = {
  options: `-n,--quiet,--silent -e,--expression=t -f,--file=! -E,-r,--regexp-extended -i,--in-place=?t> -l,--line-length=t
    -s,--separate -u,--unbuffered -z,--null-data --posix --debug --sandbox --follow-symlinks -b,--binary --version --help`,
  texts: ({ flags }) => (flags.has('--expression') || flags.has('--file') ? 0 : 1),
  use: (use) => {
    const isGiven = use.flags.has('--expression');
    const first = isGiven ? [] : use.operands.slice(0, 1).map(({ value }) => value);
    const scripts = [...(use.values.get('--expression') ?? []), ...first];
    const isKnown = scripts.every((script) => script !== null && isReadingSed(script));
    // Another script can write files and run commands that its words do not name.
    return {
      class: isPlain(use) && isKnown ? 'read' : 'irreversible',
      dynamic: !isKnown || use.marks.includes('!'),
    };
  },
};

/** Names and signs of `awk` with which a program runs, writes, reads other files or secrets. */
const AWK_MORE =
  /system|getline|close|fflush|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|ARGV|ARGC|ARGIND|[@|]/;

function isReadingAwk(program: string): boolean {
  const text = program.replaceAll('||', ' ');
  const actions = text.slice(text.includes('{') ? text.indexOf('{') : text.length);
  return !AWK_MORE.test(text) && !actions.includes('>');
}

const READING_AWK = readsIf(
  '-F,--field-separator=t -v,--assign=t -f,--file=! -V,--version',
  (use) => {
    const [first] = use.operands;
    if (first === undefined) return use.flags.has('--version');
    return first.value !== null && isReadingAwk(first.value);
  },
  1,
);

/** Another program can write files and run commands that its words do not name. */
const AWK: Program = {
  ...READING_AWK,
  use: (use) => {
    const usage = READING_AWK.use?.(use);
    return { ...usage, dynamic: usage?.class !== 'read' };
  },
};

/** With an `e` among its letters without a dash, `ps` shows environments and their secrets. */
const PS = readsIf(
  `-A -a -d -e -f -F -j -l -L -N -T -x -y -H --forest --headers,--header --no-headers,--no-header -M -c -w -m -q=t
    -o,-O,--format=t -p,--pid=t -C=t -u,-U,--user=t -g,-G,--group=t -s,--sid=t -t,--tty=t --ppid=t --sort=t --cols,--columns=t`,
  (use) =>
    operandsOf(use)?.every((word) => !/[eE]/.test(word)) === true &&
    !valuesOf(use, '--user').some((value) => value.includes('x') && value.includes('e')),
  Number.POSITIVE_INFINITY,
);

const JQ_MORE = /\benv\b|\$ENV|\$__prog|\b(?:include|import)\b|\binput_filename\b/;
const JQ_OPTIONS = `-n,--null-input -R,--raw-input -s,--slurp -c,--compact-output -r,--raw-output -j,--join-output -a,--ascii-output
  -S,--sort-keys -C,--color-output -M,--monochrome-output --tab --indent=t -e,--exit-status --stream --seq -V,--version
  -h,--help --unbuffered`;
/** Options with a name and a value or a file after it are not read here. */
const JQ = readsIf(JQ_OPTIONS, (use) => !JQ_MORE.test(use.operands[0]?.value ?? 'env'), 1);

export const TEXT: Readonly<Record<string, Program>> = {
  ...Object.fromEntries(PLAIN.split(/\s+/).map((name) => [name, { class: 'reads' } as const])),
  ...Object.fromEntries(
    PRINTS.split(' ').map((name) => [
      name,
      { class: 'reads', stops: true, texts: Number.POSITIVE_INFINITY } as const,
    ]),
  ),
  awk: AWK,
  base64: reads('-d,-D,--decode -w,--wrap=t'),
  cut: reads(`-b,--bytes=t -c,--characters=t -d,--delimiter=t -f,--fields=t -n -s,--only-delimited --complement
    -z,--zero-terminated --output-delimiter=t`),
  date: readsIf(
    '-d,--date=t -u,--utc,--universal -R,--rfc-email -I,--iso-8601=?t --rfc-3339=t -r,--reference= -s,--set=t>',
    (use) => operandsOf(use)?.every((word) => word.startsWith('+')) === true,
    1,
  ),
  file: reads(
    '-b,--brief -i,--mime -I --mime-type --mime-encoding -L,--dereference -h,--no-dereference -k -0,--print0 -F=t',
  ),
  gawk: AWK,
  hostname: readsIf('-f,--fqdn -s,--short -i -I -d', ({ operands }) => operands.length === 0),
  jq: JQ,
  lsof: reads('-i=t -n -P -p=t -u=t -t -c=t -a -l -R'),
  mawk: AWK,
  ps: PS,
  sed: SED,
  sort: reads(`-b -d -f -g -h -i -M -n -R -r -V -c -C -m -s -u -z -k,--key=t -t,--field-separator=t -S,--buffer-size=t
    -o,--output=> --compress-program=! --files0-from=! -T,--temporary-directory=> --parallel=t --debug --reverse --unique
    --numeric-sort --human-numeric-sort --version-sort --ignore-case --stable --check=?t --sort=t --random-source=`),
  tree: reads(
    '-a -d -f -l -x -L=t -P=t -I=t -i -q -N -Q -p -u -g -s -h -D -F -r -t -C -n -J -X -S -A --noreport --dirsfirst --prune --du --gitignore',
  ),
  uniq: readsIf(
    '-c,--count -d,--repeated -D -u,--unique -i,--ignore-case -f,--skip-fields=t -s,--skip-chars=t -w,--check-chars=t -z',
    ({ operands }) => operands.length <= 1,
  ),
  xxd: readsIf('-b -e -p -i -u -c=t -g=t -l=t -s=t', ({ operands }) => operands.length <= 1),
};

/** Programs whose version is printed without running anything of the folder. */
const VERSIONED = 'bash dash ksh sh zsh npm npx tsc pip pip3 gcc g++ clang cc cmake java';

/** Programs whose first operand is a subcommand. */
const WITH_COMMANDS = `apt apt-get aws az brew cargo composer conda dotnet gcloud gem gh glab go gradle helm npm pip pip3 pnpm
  poetry rustup systemctl terraform uv yarn`;

const NPM_LIST = reads(
  '-a,--all --depth=t --json -l,--long -p,--parseable -g,--global --omit=t --include=t',
);
const NPM: Readonly<Record<string, Program>> = {
  list: NPM_LIST,
  ls: NPM_LIST,
  pkg: { commands: { get: reads('--json') } },
  prefix: reads('-g,--global'),
  root: reads('-g,--global'),
};

/** Their options before the subcommand that have a value. */
const BEFORE_COMMAND = `--prefix= -C= --dir= -w,--workspace=t --filter=t --loglevel=t -R,--repo=t -n,--namespace=t
  --context=t --kubeconfig= --profile=t --region=t --manifest-path= --cwd=`;

export const OTHERS: Readonly<Record<string, Program>> = Object.fromEntries(
  [...new Set(`${VERSIONED} ${WITH_COMMANDS}`.split(/\s+/))].map((name) => [
    name,
    {
      ...(WITH_COMMANDS.split(/\s+/).includes(name) && { options: BEFORE_COMMAND, commands: {} }),
      ...(name === 'npm' && { commands: NPM }),
      use: (use: Use) => ({
        class: isVersion(name, use) || isCheck(name, use) ? 'read' : 'irreversible',
      }),
    },
  ]),
);

/** With this option a shell only looks for errors in a script. */
function isCheck(name: string, { flags, operands }: Use): boolean {
  return /sh$/.test(name) && operands.length === 1 && flags.size === 1 && flags.has('-n');
}

function isVersion(name: string, { flags, operands }: Use): boolean {
  const [flag = ''] = flags;
  const short = /sh$/.test(name) ? '' : '-v';
  const isOnly = flags.size === 1 && operands.length === 0 && VERSIONED.split(' ').includes(name);
  return isOnly && (flag === '--version' || flag === short);
}
