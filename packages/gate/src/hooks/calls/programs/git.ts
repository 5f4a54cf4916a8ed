import { plainWord, type ShellWord } from '../shell/shell-word.ts';
import type { Program, Usage, Use } from './program.ts';
import { namesOf, valuesOf } from './search.ts';

/** Stands in `below` for the top folder of the work tree. */
export const TOP: ShellWord = plainWord(':/');

/** The options of git itself. */
const GLOBAL = `-C=t -c=t --config-env=! --exec-path=! --git-dir=> --work-tree=> --namespace=> --super-prefix=> --attr-source=t
  -p,--paginate -P,--no-pager --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice --bare
  --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs -v,--version -h,--help
  --html-path --man-path --info-path --list-cmds=t`;

/** Settings that `-c` may set without an effect on what runs or is reached. */
const HARMLESS_SETTING =
  /^(?:user\.(?:name|email)|(?:color|advice|column)\.[\w.]+|core\.(?:quotepath|abbrev|autocrlf|eol|filemode|ignorecase|precomposeunicode)|(?:commit|tag)\.gpgsign|diff\.(?:algorithm|context|renames|noprefix|mnemonicprefix|colormoved)|log\.(?:date|decorate|abbrevcommit|showsignature)|status\.[\w.]+|init\.defaultbranch|pull\.(?:rebase|ff)|merge\.(?:ff|conflictstyle)|rebase\.autostash|safe\.directory|protocol\.version|gc\.auto)=/i;

/** Options of diffs. `--output` writes, and two of them run programs. */
const DIFF_OPTIONS = `-p,-u,--patch -s,--no-patch -U,--unified=t --output=> --output-indicator-new=t --output-indicator-old=t
  --output-indicator-context=t --raw --patch-with-raw --indent-heuristic --minimal --patience --histogram
  --anchored=t --diff-algorithm=t --stat=?t --compact-summary --numstat --shortstat -X,--dirstat=?t --cumulative --summary
  --patch-with-stat -z --name-only --name-status --submodule=?t --color=?t --no-color --color-moved=?t --word-diff=?t
  --word-diff-regex=t --color-words=?t --no-renames --check --ws-error-highlight=t --full-index --binary --abbrev=?t
  -B,--break-rewrites=?t -M,--find-renames=?t -C,--find-copies=?t --find-copies-harder -D,--irreversible-delete -l=t
  --diff-filter=t -S=t -G=t --find-object=t --pickaxe-all --pickaxe-regex -O= --skip-to=t --rotate-to=t -R
  --relative=? -a,--text --ignore-cr-at-eol --ignore-space-at-eol -b,--ignore-space-change -w,--ignore-all-space
  --ignore-blank-lines -I,--ignore-matching-lines=t --inter-hunk-context=t -W,--function-context --exit-code --quiet
  --ext-diff! --no-ext-diff --textconv! --no-textconv --ignore-submodules=?t --src-prefix=t --dst-prefix=t --no-prefix
  --line-prefix=t --cached --staged --merge-base --no-index`;

const LOG_OPTIONS = `${DIFF_OPTIONS} -n,--max-count=t --skip=t --since,--after=t --until,--before=t --author=t --committer=t --grep=t
  --grep-reflog=t --format,--pretty=?t --date=t --oneline --graph --decorate=?t --decorate-refs=t --decorate-refs-exclude=t
  --all --branches=?t --tags=?t --remotes=?t --glob=t --exclude=t --follow -L=t --no-merges --merges -i
  --first-parent --reverse --encoding=t --show-signature! -g,--walk-reflogs -c,--cc -m --remerge-diff --full-diff --no-walk=?t`;

/** The options with which a diff shows no contents. */
const NAMES_ONLY: readonly string[] =
  '--stat --numstat --shortstat --dirstat --compact-summary --name-only --name-status --summary --no-patch --quiet --raw'.split(
    ' ',
  );
const CONTENTS: readonly string[] = (
  '--patch --unified --patch-with-raw --patch-with-stat --binary --word-diff --word-diff-regex --color-words --function-context ' +
  '--cc --remerge-diff -L'
).split(' ');

const has = ({ flags }: Use, names: readonly string[]): boolean =>
  names.some((name) => flags.has(name));

/** The places of a use with pathspecs. They stand alone or after `--`. */
function places(words: readonly ShellWord[]): Pick<Usage, 'below' | 'except' | 'only'> {
  const [below, except]: [ShellWord[], string[]] = [[], []];
  for (const word of words) {
    const value = word.value ?? '';
    const [, magic = '', rest = ''] = /^:(\([^)]*\)|[!^/]*:?)(.*)$/s.exec(value) ?? ['', '', value];
    if (/[!^]|exclude/.test(magic)) except.push(...excepted(rest));
    else if (/top|\//.test(magic) || value === '') below.push(value === '' ? word : TOP);
    else below.push(rest === value && !/[*?[]/.test(rest) ? word : folderOf(rest));
  }
  // With an exclusion alone, all the rest is meant.
  return { below: below.length === 0 ? [TOP] : below, except, only: 'tracked' };
}

/** The same for a use about files of one kind. Without a kind, ignored ones count too. */
function ofKind(words: readonly ShellWord[], only: Usage['only']): Partial<Usage> {
  const { only: _, ...rest } = places(words);
  return { ...rest, ...(only !== undefined && { only }) };
}

/**
 * The same for a use that writes what differs between revisions, and may write over other changes.
 * Where its words do not tell the revisions, it may write every tracked file.
 */
function moved(
  use: Use,
  revisions: readonly string[],
  words: readonly ShellWord[] = use.afterDashes ?? [],
): Partial<Usage> {
  const isKnown = !use.unknown && revisions.every(areNames);
  return isKnown ? { ...ofKind(words, 'modified'), revisions } : places(words);
}

/** Whether both names of `FROM..TO` have no signs of other grammars than that of one commit. */
function areNames(revisions: string): boolean {
  const names = revisions.split('..');
  return names.length === 2 && names.every((name) => /^[\w@][\w@./{}~^+-]*$/.test(name));
}

const fromHere = (name: string): string => `HEAD..${name === '-' ? '@{-1}' : name}`;

/** The operands before `--`, `*` for those that only the shell knows. */
function revisionsOf({ operands, afterDashes = [] }: Use): readonly string[] {
  return operands.slice(0, operands.length - afterDashes.length).map(({ value }) => value ?? '*');
}

/** The effect of commits on other ones: what they change, and where their files are now. */
function applied(use: Use): Partial<Usage> {
  const commits = has(use, ['--mainline', '--strategy', '--strategy-option'])
    ? ['*']
    : revisionsOf(use);
  return moved(
    use,
    commits.flatMap((each) => [`${each}^..${each}`, fromHere(each)]),
  );
}

/** A pattern that has a slash and a sign of a pattern is left out, so that it excludes nothing. */
function excepted(pattern: string): readonly string[] {
  if (!/[*?[]/.test(pattern)) return [`./${pattern}`];
  return namesOf([pattern]);
}

/** The folder before the first sign of a pattern. */
function folderOf(pattern: string): ShellWord {
  const literal = pattern.slice(0, Math.max(0, pattern.search(/[*?[]|$/)));
  const isWhole = literal === pattern;
  return plainWord((isWhole ? literal : literal.slice(0, literal.lastIndexOf('/') + 1)) || '.');
}

const NOWHERE = { below: [], except: [] } as const;

/** Only `--` separates the names of revisions from those of paths. */
const contents =
  (isShown: (use: Use) => boolean): NonNullable<Program['use']> =>
  (use) =>
    isShown(use) ? places(use.afterDashes ?? []) : NOWHERE;

const DIFF: Program = {
  options: DIFF_OPTIONS,
  class: 'reads',
  use: (use) => {
    if (use.flags.has('--no-index')) return { below: use.files };
    return has(use, NAMES_ONLY) && !has(use, CONTENTS) ? NOWHERE : places(use.afterDashes ?? []);
  },
};
const LOG: Program = {
  options: LOG_OPTIONS,
  class: 'reads',
  use: contents((use) => has(use, CONTENTS)),
};
/** Whether all its words are `REVISION:PATH`: then only those files are shown. */
function showsFiles({ files }: Use): boolean {
  const names = files.filter(({ value }) => value !== 'blob');
  return names.length > 0 && names.every(({ value }) => value?.includes(':'));
}

const SHOW: Program = {
  options: LOG_OPTIONS,
  class: 'reads',
  use: contents((use) => !showsFiles(use) && (!has(use, NAMES_ONLY) || has(use, CONTENTS))),
};

const READS: Program = { class: 'reads' };
const atPathspecs = ({ afterDashes = [] }: Use): Partial<Usage> => places(afterDashes);
const WRITES_ALL: Program = { use: atPathspecs };

const PUSH_OPTIONS = `--all --branches --mirror --tags --follow-tags -d,--delete -f,--force --force-with-lease=?t --force-if-includes
  -n,--dry-run --porcelain -q,--quiet -v,--verbose --progress --no-progress --prune --repo=t -o,--push-option=t
  --receive-pack,--exec=! -u,--set-upstream --thin --no-thin --no-verify --verify --signed=?t --atomic --no-atomic
  --recurse-submodules=?t -4,--ipv4 -6,--ipv6 --stdin --stateless-rpc --helper-status --remote=t`;

/** The names that a push writes at the remote: `*` where the settings of git decide. */
function pushUse(use: Use): Partial<Usage> {
  const [repository, ...specs] = use.operands.map(({ value }) => value ?? '*');
  const isAny =
    has(use, ['--all', '--branches', '--mirror', '--prune', '--stdin', '*']) ||
    use.unknown ||
    setsMore(use);
  const tags = use.flags.has('--tags') ? ['refs/tags/*'] : [];
  const refs =
    isAny || (specs.length === 0 && tags.length === 0) ? ['*'] : [...refsIn(specs), ...tags];
  const remote = valuesOf(use, '--repo', '--remote').at(-1) ?? repository;
  for (const word of use.operands) use.texts.add(word);
  for (const word of use.operands.slice(0, 1))
    if (/[/.]/.test(word.value ?? '')) use.texts.delete(word);
  return { command: 'push', refs, ...(remote !== undefined && { remote }) };
}

function refsIn(specs: readonly string[]): string[] {
  return specs.flatMap((spec, i) => {
    if (specs[i - 1] === 'tag') return [`refs/tags/${spec}`];
    if (spec === 'tag' && i < specs.length - 1) return [];
    return [refName(spec.replace(/^\+/, '').replace(/^.*?:/s, ''))];
  });
}

/** A name as the remote has it. What only the repository tells, and patterns, are `*`. */
function refName(name: string): string {
  if (name === '' || /^(?:HEAD|@)$/.test(name) || /[*^]/.test(name)) return '*';
  return name.replace(/^(?:refs\/)?heads\//, '').replace(/^tags\//, 'refs/tags/');
}

/** Whether `-c` sets more than what is harmless. */
function setsMore(use: Pick<Use, 'values'>): boolean {
  return (use.values.get('-c') ?? []).some((value) => !HARMLESS_SETTING.test(`${value ?? ''}=`));
}

const MERGE_OPTIONS = `-m=t -F,--file= -s,--strategy=t -X,--strategy-option=t --into-name=t -S,--gpg-sign=?t
  -e,--edit! --no-edit --ff --no-ff --ff-only --squash --no-squash --commit --no-commit -n,--no-stat --stat -q,--quiet
  -v,--verbose --log=?t --no-log --signoff --no-signoff --no-verify --progress --no-progress --no-gpg-sign
  --autostash --no-autostash --allow-unrelated-histories --abort --continue --quit`;

/** Without a message, an editor asks for one, and runs commands that a terminal tells it. */
const MESSAGES =
  '-m --message --file --reuse-message --no-edit --fixup --dry-run --abort --quit --ff-only --squash --rebase'.split(
    ' ',
  );
const asksMessage: NonNullable<Program['marks']> = ({ flags }) =>
  MESSAGES.some((flag) => flags.has(flag)) ? '' : '!';

const isStrategic = (use: Use): boolean => has(use, ['--strategy', '--strategy-option']);

/** Without a name, the branch that the current one follows is merged. */
const MERGE: Program = {
  options: MERGE_OPTIONS,
  marks: asksMessage,
  use: (use) => {
    if (has(use, ['--abort', '--continue', '--quit'])) return moved(use, []);
    const names = revisionsOf(use);
    const merged = isStrategic(use) ? ['*'] : names.length === 0 ? ['@{upstream}'] : names;
    return moved(use, merged.map(fromHere));
  },
};

/** The commits that others made since the last fetch are not looked at. */
const PULL: Program = {
  options: `${MERGE_OPTIONS} --upload-pack=! -r,--rebase=?t --no-rebase --depth=t --all -t,--tags --no-tags -p,--prune -f,--force
    -k,--keep -4,--ipv4 -6,--ipv6 -j,--jobs=t -o,--server-option=t --dry-run`,
  marks: asksMessage,
  use: (use) => {
    const [remote, ...names] = revisionsOf(use);
    if (isStrategic(use)) return moved(use, ['*']);
    if (remote === undefined) return moved(use, [fromHere('@{upstream}')]);
    const isName = names.length > 0 && /^[\w-]+$/.test(remote);
    const there = names.map((each) => fromHere(`refs/remotes/${remote}/${each}`));
    return moved(use, isName ? there : ['*']);
  },
};

/** A new branch without another start changes no file. */
const SWITCH: Program = {
  options: `-b,-c,--create=t -B,-C,--force-create=t --orphan=t -f,--force,--discard-changes -d,--detach --guess --no-guess
    -m,--merge --conflict=t -q,--quiet --progress --no-progress -t,--track=?t --no-track -l --ours --theirs -p,--patch!
    --ignore-other-worktrees --ignore-skip-worktree-bits --overlay --no-overlay --pathspec-from-file=!`,
  use: (use) => {
    const names = revisionsOf(use);
    const isNew = has(use, ['--create', '--force-create']) && names.length === 0 && !use.unknown;
    if (isNew && use.afterDashes === undefined) return NOWHERE;
    return moved(use, has(use, ['--orphan']) ? ['*'] : names.map(fromHere));
  },
};

const PICK: Program = {
  options: `-n,--no-commit -x -e,--edit! --no-edit -s,--signoff -m,--mainline=t --ff -S,--gpg-sign=?t --strategy=t
    -X,--strategy-option=t --allow-empty --keep-redundant-commits --abort --continue --quit --skip`,
  use: applied,
};
const PUSH: Program = { options: PUSH_OPTIONS, use: pushUse };

/** A use that reads where it has no operand, or an option that says so. */
const lists = (options: string, listing: readonly string[], operands: number = 0): Program => ({
  options,
  use: (use) => {
    const isList = use.operands.length <= operands || has(use, listing);
    for (const word of use.operands) use.texts.add(word);
    if (use.unknown || /[>!]/.test(use.marks)) return {};
    return { class: isList ? 'read' : 'reversible' };
  },
});

const REF_LISTING = `-l,--list -v,--verbose --contains=t --no-contains=t --merged=?t --no-merged=?t --points-at=t --sort=t
  --format=t --column=?t --no-column --color=?t --no-color -i,--ignore-case`;

/** Puts the last stash back, or another one. Its content is not read. */
const UNSTASH: Program = {
  options: '--index -q,--quiet',
  use: (use) => {
    const isLast = revisionsOf(use).every((each) => /^(?:stash@\{0\}|0)$/.test(each));
    return isLast && !use.unknown ? ofKind([], 'stashed') : places([]);
  },
};

const COMMANDS: Readonly<Record<string, Program>> = {
  add: {
    options: `-n,--dry-run -v,--verbose -f,--force -i,--interactive! -p,--patch! -e,--edit! -u,--update -A,--all --no-all
      -N,--intent-to-add --refresh --ignore-errors --ignore-missing --renormalize --chmod=t --pathspec-from-file=! --sparse`,
    class: 'reversible',
    use: (use) => {
      if (use.flags.has('--force')) return ofKind(use.files, undefined);
      if (has(use, ['--renormalize', '--chmod'])) return ofKind(use.files, 'unignored');
      return ofKind(use.files, use.flags.has('--update') ? 'modified' : 'changed');
    },
  },
  annotate: READS,
  apply: WRITES_ALL,
  am: { options: '-i,--interactive!', use: atPathspecs },
  archive: {
    options: '-o,--output=> --remote=! --exec=! --prefix=t --format=t',
    class: 'reads',
    use: atPathspecs,
  },
  blame: { options: `${LOG_OPTIONS} --contents=`, class: 'reads' },
  branch: lists(
    `${REF_LISTING} -a,--all -r,--remotes --show-current --abbrev=?t -d,--delete> -D,--delete&--force> -m,--move> -M,--move&--force>
      -c,--copy> -C,--copy&--force> -f,--force> -t,--track=?> --no-track> -u,--set-upstream-to=t> --unset-upstream>
      --edit-description! -q,--quiet`,
    ['--list', '--contains', '--no-contains', '--merged', '--no-merged', '--points-at'],
  ),
  'cat-file': {
    options: `-t -s -e -p --batch=?t --batch-check=?t --batch-command=?t --batch-all-objects --buffer --unordered --textconv! --filters!
      --path= --follow-symlinks --allow-unknown-type -z`,
    class: 'reads',
    use: contents(
      (use) =>
        has(use, ['--batch', '--batch-command']) ||
        !(has(use, ['-t', '-s', '-e', '--batch-check']) || showsFiles(use)),
    ),
  },
  'check-ignore': READS,
  checkout: SWITCH,
  'cherry-pick': PICK,
  clone: {
    options: `-b,--branch=t --depth=t -o,--origin=t -u,--upload-pack=! -c,--config=! --template=! --recurse-submodules=?!
      --shallow-since=t -j,--jobs=t --filter=t --reference= --separate-git-dir= --server-option=t --single-branch
      --no-tags -n,--no-checkout --bare --mirror -q,--quiet -v,--verbose --progress -l,--local --no-hardlinks -s,--shared`,
  },
  clean: {
    options: '-f,--force -d -x -X -n,--dry-run -q,--quiet -i,--interactive! -e,--exclude=t',
    use: (use) => ofKind(use.files, has(use, ['-x', '-X']) ? undefined : 'changed'),
  },
  commit: {
    options: `-m,--message=t -F,--file= -C,--reuse-message=t -c,--reedit-message=t --fixup=t --squash=t --author=t --date=t
      -t,--template= -a,--all -p,--patch! -q,--quiet -v,--verbose --amend --no-edit -e,--edit! -n,--no-verify --allow-empty
      --allow-empty-message -s,--signoff -S,--gpg-sign=?t --no-gpg-sign --trailer=t --cleanup=t -i,--include -o,--only
      --pathspec-from-file=! -u,--untracked-files=?t --dry-run --short --porcelain --reset-author --status --no-status`,
    marks: asksMessage,
    use: (use) => {
      if (use.flags.has('--dry-run'))
        return { class: 'read', ...(use.flags.has('--verbose') ? places(use.files) : NOWHERE) };
      const isMore = use.flags.has('--all') || use.files.length > 0;
      return isMore ? ofKind(use.files, 'modified') : NOWHERE;
    },
  },
  config: lists(
    `--get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool -l,--list --global --system --local --worktree
      -f,--file= --blob=t -t,--type=t --bool --int --bool-or-int --path --expiry-date -z,--null --name-only --show-origin
      --show-scope --includes --no-includes --default=t -e,--edit! --unset> --unset-all> --add> --replace-all>
      --rename-section> --remove-section>`,
    ['--get', '--get-all', '--get-regexp', '--get-urlmatch', '--list'],
    1,
  ),
  describe: READS,
  diff: DIFF,
  fetch: {
    options:
      '--upload-pack=! --all --multiple --depth=t -o,--server-option=t --refmap=t --shallow-since=t -j,--jobs=t --filter=t --update-head-ok',
    // A refspec with a target moves a branch of this repository.
    marks: ({ operands }) =>
      operands.slice(1).some(({ value }) => /^\+|:/.test(value ?? ':')) ? '!' : '',
  },
  'for-each-ref': READS,
  grep: {
    options: `-O,--open-files-in-pager=?! -e=t -f= --textconv! -A=t -B=t -C=t --no-index --untracked --exclude-standard
      --no-exclude-standard`,
    class: 'reads',
    use: (use) => {
      const isFree = use.flags.has('--no-index');
      const given = has(use, ['-e', '-f']) ? use.files : use.files.slice(1);
      const words = isFree ? given : (use.afterDashes ?? []);
      const isAll = isFree
        ? !use.flags.has('--exclude-standard')
        : use.flags.has('--no-exclude-standard');
      const isNew = isFree || use.flags.has('--untracked');
      return isNew ? ofKind(words, isAll ? undefined : 'unignored') : places(words);
    },
  },
  log: LOG,
  init: {
    options: '--template=! --separate-git-dir= -b,--initial-branch=t -q,--quiet --bare',
    class: 'reversible',
  },
  'ls-files': READS,
  'ls-remote': { options: '--upload-pack,--exec=! -o,--server-option=t' },
  'ls-tree': READS,
  'merge-base': READS,
  merge: MERGE,
  mv: { use: ({ files }) => ({ below: files }) },
  'name-rev': READS,
  pull: PULL,
  push: PUSH,
  rebase: { marks: () => '!', use: atPathspecs },
  reflog: {
    without: 'show',
    commands: {
      show: LOG,
      list: READS,
      exists: READS,
      expire: {},
      delete: {},
      drop: {},
      write: {},
    },
  },
  remote: {
    options: '-v,--verbose',
    class: 'reads-if-known',
    commands: { 'get-url': READS },
  },
  reset: {
    options:
      '--soft --mixed --hard --merge --keep -N -p,--patch! -q,--quiet --refresh --no-refresh',
    use: (use) =>
      has(use, ['--hard', '--merge', '--keep']) ? moved(use, revisionsOf(use).map(fromHere)) : {},
  },
  restore: {
    options: `-s,--source=t -S,--staged -W,--worktree -p,--patch! -q,--quiet --progress --no-progress --ours --theirs -m,--merge
      --conflict=t --ignore-unmerged --overlay --no-overlay --pathspec-from-file=!`,
    use: (use) => moved(use, valuesOf(use, '--source').map(fromHere), use.files),
  },
  'rev-list': READS,
  'rev-parse': READS,
  revert: {
    ...PICK,
    marks: (use) => (use.flags.has('--no-commit') ? '' : asksMessage(use)),
  },
  rm: {
    options: '-r -f,--force -n,--dry-run --cached -q,--quiet',
    use: ({ files }) => places(files),
  },
  'send-pack': PUSH,
  'http-push': PUSH,
  shortlog: { ...LOG, use: () => NOWHERE },
  show: SHOW,
  'show-ref': READS,
  stash: {
    without: 'push',
    commands: {
      apply: UNSTASH,
      branch: WRITES_ALL,
      clear: {},
      drop: {},
      list: { ...LOG },
      pop: UNSTASH,
      push: {
        options:
          '-m,--message=t -k,--keep-index -u,--include-untracked -a,--all -p,--patch! -q,--quiet -S,--staged',
        class: 'reversible',
        use: (use) => {
          if (use.flags.has('--all')) return ofKind(use.files, undefined);
          return ofKind(use.files, use.flags.has('--include-untracked') ? 'changed' : 'modified');
        },
      },
      save: { options: '-p,--patch!', class: 'reversible', use: () => ({ below: [TOP] }) },
      show: { options: DIFF_OPTIONS, class: 'reads', use: contents((use) => has(use, CONTENTS)) },
    },
  },
  status: {
    options:
      '-v,--verbose -s,--short -b,--branch --porcelain=?t --long -u,--untracked-files=?t --ignored=?t -z',
    class: 'reads',
    use: (use) => (use.flags.has('--verbose') ? places(use.files) : NOWHERE),
  },
  subtree: { commands: { push: { ...PUSH, options: `${PUSH_OPTIONS} -P,--prefix=` } } },
  switch: SWITCH,
  tag: {
    ...lists(
      `${REF_LISTING} -n=?t -d,--delete> -a,--annotate> -s,--sign> -u,--local-user=t> -f,--force> -m,--message=t> -F,--file=>
      -v,--verify! -e,--edit!`,
      ['--list', '-n', '--contains', '--no-contains', '--merged', '--no-merged', '--points-at'],
    ),
    marks: (use) =>
      ['--annotate', '--sign', '--local-user'].some((flag) => use.flags.has(flag))
        ? asksMessage(use)
        : '',
  },
  worktree: { commands: { list: READS, add: { use: () => places([]) } } },
};

export const GIT: Program = {
  options: GLOBAL,
  commands: COMMANDS,
  isClosed: true,
  enters: '-C',
  marks: (use) => (setsMore(use) ? '!' : ''),
  class: 'reads-if-known',
};
