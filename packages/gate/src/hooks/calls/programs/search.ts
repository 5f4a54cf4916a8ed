import { plainWord, type ShellWord, wordValues } from '../shell/shell-word.ts';
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
    const { include, except } = globbed(valuesOf(use, '--glob', '--iglob'));
    const isLess = (flag: string): boolean => /^--(?:no-ignore|unrestricted)/.test(flag);
    const below = namesOnly(use.flags) && { below: [] };
    if (include.length > 0) return { ...below, include };
    const showsHidden = use.flags.has('--hidden') || use.flags.has('--unrestricted');
    return {
      ...below,
      except: [...(showsHidden ? [] : namesOf(['.*'])), ...except],
      ...(![...use.flags].some(isLess) && { only: 'unignored' }),
    };
  },
};

/**
 * The names that the globs of `rg` search, or leave out. One without `!` also searches what is
 * hidden or ignored, and if it stands last, what others leave out.
 */
export function globbed(globs: readonly string[]): Required<Pick<Usage, 'include' | 'except'>> {
  const [include, not] = [
    globs.filter((each) => !each.startsWith('!')),
    globs.map((each) => each.slice(1)),
  ];
  const isSearch = include.length > 0;
  return isSearch
    ? { include: include.flatMap(alternatives), except: [] }
    : { include: [], except: namesOf(not.flatMap(alternatives)) };
}

/** The patterns of a glob with `{a,b}`. A sign that stands for one character counts as a star. */
function alternatives(glob: string): readonly string[] {
  const [whole, inner] = /\{([^{}]*)\}/.exec(glob) ?? [];
  if (whole === undefined || inner === undefined)
    return [glob.replace(/^\//, '').replace(/\[[^\]]*\]|\?/g, '*')];
  return inner.split(',').flatMap((each) => alternatives(glob.replace(whole, () => each)));
}

function namesOnly(flags: ReadonlySet<string>): boolean {
  return ['--files', '--type-list', '--version', '--help'].some((flag) => flags.has(flag));
}

/** The expression of `find`, after its options and the places where it starts. */
const TESTS = `-amin=t -anewer= -atime=t -cmin=t -cnewer= -context=t -ctime=t -fstype=t -gid=t -group=t -ilname=t -iname=t
  -inum=t -ipath=t -iregex=t -iwholename=t -links=t -lname=t -mmin=t -mtime=t -name=t -newer= -path=t -perm=t
  -regex=t -samefile= -size=t -type=t -uid=t -used=t -user=t -wholename=t -xtype=t -regextype=t -maxdepth=t -mindepth=t
  -printf=t -a -and -daystart -depth -d -empty -executable -false -follow -help -ignore_readdir_race -ls -mount -nogroup
  -nouser -noignore_readdir_race -noleaf -not -o -or -print -print0 -prune -quit -readable -true -version -warn -nowarn
  -writable -xdev -delete> -exec -execdir -ok -okdir -fprint=> -fprint0=> -fls=> -fprintf=> -files0-from=!`;

/** The words of `find`: where it starts, its expression, and the programs that it runs. */
export interface FindWords {
  readonly starts: readonly ShellWord[];
  readonly tests: readonly ShellWord[];
  readonly runs: readonly { readonly action: string; readonly words: readonly ShellWord[] }[];
}

export function findWords(words: readonly ShellWord[]): FindWords {
  const { operands } = readOptions(FIND_OPTIONS, withStart(words), true);
  const at = operands.findIndex(isTest);
  const [tests, runs]: [ShellWord[], FindWords['runs'][number][]] = [[], []];
  for (let i = at === -1 ? operands.length : at; i < operands.length; i++) {
    const word = operands[i] as ShellWord;
    tests.push(word);
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(word.value ?? '')) continue;
    const rest = operands.slice(i + 1);
    const isEnd = ({ value }: ShellWord, j: number) =>
      value === ';' || (value === '+' && rest[j - 1]?.value === '{}');
    const end = rest.findIndex(isEnd);
    runs.push({ action: word.value as string, words: rest.slice(0, end === -1 ? undefined : end) });
    i += end === -1 ? rest.length : end + 1;
  }
  return { starts: operands.slice(0, at === -1 ? undefined : at), tests, runs };
}

/** The files that `find` finds, as one word. Undefined if they can be elsewhere. */
export function foundBy(words: readonly ShellWord[]): ShellWord | undefined {
  const { flags, unknown } = readOptions(FIND_OPTIONS, withStart(words), true);
  const { starts, tests } = findWords(words);
  const places = orHere(starts).map(wordValues);
  const values = tests.map(({ value }) => value);
  const follows = flags.has('-L') || flags.has('-H') || values.includes('-follow');
  const oneOf = places
    .flatMap((each) => each ?? [])
    .map((each) => each.replace(/^(?=\.\.?$)/, './'));
  const isUnsure = values.includes(null) || values.includes('-files0-from');
  const isKnown = !unknown && !places.includes(undefined) && !isUnsure;
  if (!isKnown || follows || !oneOf.every((each) => /^[\w./]/.test(each))) return undefined;
  // Each name has to fit, unless there is a choice.
  const hasChoice = values.some((value) => /^(?:-or?|[(,])$/.test(value ?? ''));
  const isName = (i: number): boolean =>
    values[i - 1] === '-name' && !/^(?:!|-not)$/.test(values[i - 2] ?? '');
  const found = hasChoice ? [] : values.filter((value, i) => value !== null && isName(i));
  return { text: '{}', value: null, prefix: '', oneOf, found: found as string[] };
}

const FIND_OPTIONS = '-H -L -P -D=t -O=?t';

/** The words of `find` with the place where it starts: the folder if none is named. */
function withStart(words: readonly ShellWord[]): readonly ShellWord[] {
  // `-EXdsx` are options of BSD.
  const at = words.findIndex(
    ({ value }, i) =>
      !/^-(?:[EHLPXdsx]+|D|O.*|-)$/.test(value ?? '') && words[i - 1]?.value !== '-D',
  );
  const [before, rest] = at === -1 ? [words, []] : [words.slice(0, at), words.slice(at)];
  const { marks, unknown } = readOptions(TESTS, rest.slice(0, 1));
  const isPlace = !rest.slice(0, 1).every(isTest) || unknown || marks.includes('!');
  return isPlace ? words : [...before, plainWord('.'), ...rest];
}

/** Whether a word begins the expression of `find`. */
function isTest({ value }: ShellWord): boolean {
  return /^(?:-.|[(!)])/.test(value ?? '');
}

const FIND: Program = {
  options: FIND_OPTIONS,
  words: withStart,
  stops: true,
  use: (use): Partial<Usage> => {
    const { starts, tests, runs } = findWords(use.operands);
    const found = readOptions(TESTS, tests);
    const inner = runs.flatMap(({ words }) => words);
    for (const word of [...found.texts, ...found.operands.filter(isJoint), ...inner])
      use.texts.add(word);
    const isKnown = !use.unknown && !found.unknown && found.operands.every(isJoint);
    const writes = /[>!]/.test(found.marks);
    return {
      flags: [...found.flags].sort(),
      targets: starts.map(({ value }) => value ?? '*'),
      class: isKnown && !writes ? 'read' : 'irreversible',
      ...(writes && { below: orHere(starts), include: foundBy(use.operands)?.found ?? [] }),
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
