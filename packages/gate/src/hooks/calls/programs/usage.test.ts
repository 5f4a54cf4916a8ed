import { expect, test } from 'vitest';
import { plainWord } from '../shell/shell-word.ts';
import { usageOf } from './index.ts';

/** One use in short: the command, the flags, the targets, the names at the remote. */
const usage = (command: string) => {
  const [program = '', ...words] = command.split(' ');
  const { below, except, texts, ...use } = usageOf(program, words.map(plainWord));
  return { ...use, below: below.map(({ value }) => value), except };
};

test.each<[string, string[], string[]]>([
  ['rm -r -f x', ['--force', '--recursive'], ['x']],
  ['rm -Rf x', ['--force', '--recursive'], ['x']],
  ['rm -vrf x', ['--force', '--recursive', '--verbose'], ['x']],
  ['rm --rec x --fo', ['--force', '--recursive'], ['x']],
  ['rm x -rf', ['--force', '--recursive'], ['x']],
  ['rm -- -rf', [], ['-rf']],
  ['git -C a branch -D b', ['--delete', '--force', '-C'], ['b']],
])('%s has its flags and targets', (command, flags, targets) => {
  expect(usage(command)).toMatchObject({ flags, targets });
});

test.each<[string, string[], string[]]>([
  ['grep -r KEY a b', ['a', 'b'], []],
  ['grep -R KEY', ['.'], []],
  ['grep KEY a', [], []],
  ['grep -r --exclude=.env --exclude-dir=a KEY', ['.'], ['.env', 'a/']],
  ['grep -r --exclude=.env --include=.env KEY', ['.'], []],
  ['rg KEY', ['.'], ['.*', '.*/']],
  ['rg --hidden -g !.env KEY', ['.'], ['.env', '.env/']],
  ['rg -g .env KEY', ['.'], []],
  ['cp -a a b', ['a', 'b'], []],
  ['mv a b', ['a', 'b'], []],
  ['rm -r a', ['a'], []],
  ['diff -r a b', ['a', 'b'], []],
  ['tar czf a.tgz b --exclude=.env', ['b'], ['.env', '.env/']],
  ['tar xf a.tar -C b', ['b'], []],
  ['tar tf a.tar', [], []],
  ['find a -name b', [], []],
  ['find a b -delete', ['a', 'b'], []],
  ['git diff', [':/'], []],
  ['git diff --stat', [], []],
  ['git diff -- a :!a/b :(glob)c/**/d', ['a', 'c/'], ['./a/b']],
  ['git diff --no-index a b', ['a', 'b'], []],
  ['git log', [], []],
  ['git log -p -- *env', ['.'], []],
  ['git show HEAD:a', [], []],
  ['git add .', ['.'], []],
  ['git add -A', [':/'], []],
  ['git commit -am x', [':/'], []],
  ['git commit -m x', [], []],
  ['git stash -a', [':/'], []],
  ['git status', [], []],
  ['git status -v', [':/'], []],
  ['git commit --dry-run -m x', [], []],
  ['git commit --dry-run -v', [':/'], []],
  ['git cat-file -t HEAD', [], []],
  ['git cat-file blob HEAD:a', [], []],
  ['git cat-file -p abc', [':/'], []],
  ['git cat-file --batch', [':/'], []],
  ['git grep --no-index KEY a', ['a'], []],
  ['git switch -c new', [], []],
  ['git checkout -b new', [], []],
])('%s goes below its folders', (command, below, except) => {
  expect(usage(command)).toMatchObject({ below, except });
});

test.each([
  ...['git reflog expire --expire=now --all', 'git reflog delete HEAD@{1}', 'git notes prune'],
  ...['git worktree prune', 'git worktree remove a', 'git gc', 'git prune', 'git stash drop'],
  ...['git stash clear', 'git remote prune origin', 'git branch -d a', 'git tag -d a'],
])('%s does not only read', (command) => {
  expect(usage(command).class).not.toBe('read');
});

test.each(['git reflog', 'git reflog show main', 'git reflog exists main', 'git worktree list'])(
  '%s only reads',
  (command) => {
    expect(usage(command).class).toBe('read');
  },
);

test.each<[string, string | undefined, string[] | undefined]>([
  ['git add .', 'changed', undefined],
  ['git add -u', 'modified', undefined],
  ['git add -f .', undefined, undefined],
  ['git add --chmod=+x .', 'unignored', undefined],
  ['git stash', 'modified', undefined],
  ['git stash pop', 'stashed', undefined],
  ['git stash pop stash@{2}', 'tracked', undefined],
  ['git switch main', 'modified', ['HEAD..main']],
  ['git switch -', 'modified', ['HEAD..@{-1}']],
  ['git switch --new main', 'tracked', undefined],
  ['git checkout a...b', 'tracked', undefined],
  ['git checkout -- a', 'modified', []],
  ['git merge main', 'modified', ['HEAD..main']],
  ['git merge -s ours main', 'tracked', undefined],
  ['git pull', 'modified', ['HEAD..@{upstream}']],
  ['git pull origin main', 'modified', ['HEAD..refs/remotes/origin/main']],
  ['git pull ../other main', 'tracked', undefined],
  ['git revert HEAD~2', 'modified', ['HEAD~2^..HEAD~2', 'HEAD..HEAD~2']],
  ['git cherry-pick a..b', 'tracked', undefined],
  ['git reset --hard', 'modified', []],
  ['git restore -s main a', 'modified', ['HEAD..main']],
  ['git grep --untracked KEY', 'unignored', undefined],
  ['git grep --no-index KEY', undefined, undefined],
])('%s is about files that git can tell', (command, only, revisions) => {
  const { only: kind, revisions: found } = usage(command);
  expect([kind, found]).toEqual([only, revisions]);
});
