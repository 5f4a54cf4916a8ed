import { plainWord, type ShellWord } from '../shell/shell-word.ts';
import { type ReadOptions, readOptions } from './options.ts';
import type { Program, Usage, Use } from './program.ts';

/** The pattern is an operand unless an option gives it. */
const patternFirst = ({ flags }: ReadOptions): number =>
  flags.has('--regexp') || flags.has('--file') || flags.has('--files') ? 0 : 1;

const GREP: Program = {
  options: `-E,--extended-regexp -F,--fixed-strings -G,--basic-regexp -P,--perl-regexp -e,--regexp=t -f,--file=
    -i,-y,--ignore-case --no-ignore-case -v,--invert-match -w,--word-regexp -x,--line-regexp -c,--count --color,--colour=?t
    -L,--files-without-match -l,--files-with-matches -m,--max-count=t -o,--only-matching -q,--quiet,--silent
    -s,--no-messages -b,--byte-offset -H,--with-filename -h,--no-filename --label=t -n,--line-number
    -T,--initial-tab -Z,--null -A,--after-context=t -B,--before-context=t -C,--context=t --group-separator=t
    --no-group-separator -a,--text --binary-files=t -D,--devices=t -d,--directories=t --exclude=t --exclude-from=
    --exclude-dir=t --include=t -I -r,--recursive+ -R,--dereference-recursive+ --line-buffered -U,--binary -z,--null-data`,
  class: 'reads',
  texts: patternFirst,
  use: (use) => ({
    ...(use.values.get('--directories')?.some((value) => value !== 'skip' && value !== 'read') && {
      below: orHere(use.files),
    }),
    // The last option that fits a name counts, so with `--include` no file is left out for sure.
    except: [
      ...(use.flags.has('--include') ? [] : valuesOf(use, '--exclude').filter(isName)),
      ...valuesOf(use, '--exclude-dir')
        .filter(isName)
        .map((name) => `${name}/`),
    ],
    ...(!use.flags.has('--exclude') && { include: valuesOf(use, '--include') }),
  }),
};

/** Options of `rg` that read. It leaves out hidden files unless an option says otherwise. */
const RIPGREP: Program = {
  options: `-e,--regexp=t -f,--file= -A,--after-context=t -B,--before-context=t -C,--context=t -c,--count --count-matches
    --color=t --colors=t --column --crlf --debug --trace -d,--max-depth,--maxdepth=t -E,--encoding=t --engine=t
    --field-context-separator=t --field-match-separator=t --files -l,--files-with-matches --files-without-match
    -F,--fixed-strings -L,--follow -g,--glob=t --glob-case-insensitive -H,--with-filename --heading --no-heading -.,--hidden
    --iglob=t -i,--ignore-case --ignore-file= -v,--invert-match --json --line-buffered -n,--line-number -N,--no-line-number
    -x,--line-regexp -M,--max-columns=t --max-columns-preview -m,--max-count=t --max-filesize=t --mmap --no-mmap
    -U,--multiline --multiline-dotall --no-config -I,--no-filename --no-ignore --no-ignore-vcs --no-ignore-dot
    --no-ignore-parent --no-ignore-global --no-ignore-files --no-ignore-exclude --no-messages --no-unicode -0,--null
    --null-data --one-file-system -o,--only-matching --passthru,--passthrough --path-separator=t -P,--pcre2 --pre-glob=t
    -p,--pretty -q,--quiet -r,--replace=t -z,--search-zip! --pre=! --hostname-bin=! -S,--smart-case -s,--case-sensitive
    --sort=t --sortr=t --stats --stop-on-nonmatch -a,--text -j,--threads=t --trim -t,--type=t --type-add=t --type-clear=t
    --type-list -T,--type-not=t -u,--unrestricted --vimgrep -w,--word-regexp --context-separator=t -V,--version -h,--help`,
  class: 'reads-if-known',
  texts: patternFirst,
  recurses: true,
  use: (use) => {
    const globs = valuesOf(use, '--glob', '--iglob');
    const isLess = (flag: string): boolean => /^--(?:no-ignore|unrestricted)/.test(flag);
    const below = namesOnly(use.flags) && { below: [] };
    // The last glob that fits counts. One without `!` also finds what is hidden or ignored.
    if (!globs.every((glob) => glob.startsWith('!')))
      return { ...below, ...(globs.every(isName) && { include: globs }) };
    const showsHidden = use.flags.has('--hidden') || use.flags.has('--unrestricted');
    return {
      ...below,
      except: namesOf([...(showsHidden ? [] : ['.*']), ...globs.map((glob) => glob.slice(1))]),
      ...(![...use.flags].some(isLess) && { only: 'unignored' }),
    };
  },
};

function namesOnly(flags: ReadonlySet<string>): boolean {
  return ['--files', '--type-list', '--version', '--help'].some((flag) => flags.has(flag));
}

/** The expression of `find`, after its options and the places where it starts. */
const TESTS = `-amin=t -anewer= -atime=t -cmin=t -cnewer= -context=t -ctime=t -fstype=t -gid=t -group=t -ilname=t -iname=t
  -inum=t -ipath=t -iregex=t -iwholename=t -links=t -lname=t -mmin=t -mtime=t -name=t -newer= -path=t -perm=t
  -regex=t -samefile= -size=t -type=t -uid=t -used=t -user=t -wholename=t -xtype=t -regextype=t -maxdepth=t -mindepth=t
  -printf=t -a -and -daystart -depth -d -empty -executable -false -follow -help -ignore_readdir_race -ls -mount -nogroup
  -nouser -noignore_readdir_race -noleaf -not -o -or -print -print0 -prune -quit -readable -true -version -warn -nowarn
  -writable -xdev -delete> -exec! -execdir! -ok! -okdir! -fprint=> -fprint0=> -fls=> -fprintf=> -files0-from=!`;

const FIND: Program = {
  options: '-H -L -P -D=t -O=?t',
  stops: true,
  use: ({ operands, texts, unknown }): Partial<Usage> => {
    const at = operands.findIndex(({ value }) => /^(?:-.|[(!)])/.test(value ?? ''));
    const starts = at === -1 ? operands : operands.slice(0, at);
    const found = readOptions(TESTS, at === -1 ? [] : operands.slice(at));
    for (const word of found.texts) texts.add(word);
    const isKnown = !unknown && !found.unknown && found.operands.every(isJoint);
    for (const word of found.operands) if (isJoint(word)) texts.add(word);
    return {
      flags: [...found.flags].sort(),
      targets: starts.map(({ value }) => value ?? '*'),
      class: isKnown && !/[>!]/.test(found.marks) ? 'read' : 'irreversible',
      below: /[>!]/.test(found.marks) ? orHere(starts) : [],
    };
  },
};

function isJoint({ value }: ShellWord): boolean {
  return value !== null && /^[()!,]$/.test(value);
}

export function orHere(words: readonly ShellWord[]): readonly ShellWord[] {
  return words.length === 0 ? [plainWord('.')] : words;
}

/** Whether a pattern fits a name in every folder. */
function isName(pattern: string): boolean {
  return !pattern.includes('/');
}

/** The patterns that fit names of files and of folders. */
export function namesOf(patterns: readonly string[]): readonly string[] {
  return patterns.filter(isName).flatMap((pattern) => [pattern, `${pattern}/`]);
}

/** The known values of options. */
export function valuesOf({ values }: Pick<Use, 'values'>, ...names: readonly string[]): string[] {
  return names.flatMap((name) => values.get(name) ?? []).filter((value) => value !== null);
}

export const SEARCH: Readonly<Record<string, Program>> = {
  egrep: GREP,
  fgrep: GREP,
  find: FIND,
  grep: GREP,
  rg: RIPGREP,
};
