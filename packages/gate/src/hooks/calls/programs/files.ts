import type { Program } from './program.ts';
import { namesOf, valuesOf } from './search.ts';

const DIFF: Program = {
  options: `-q,--brief -s,--report-identical-files -c -C,--context=?t -u -U,--unified=t -e,--ed -n,--rcs -y,--side-by-side
    -W,--width=t --left-column --suppress-common-lines -p,--show-c-function -F,--show-function-line=t --label=t
    -t,--expand-tabs -T,--initial-tab --tabsize=t --suppress-blank-empty -l,--paginate! -r,--recursive+ --no-dereference
    -N,--new-file -P,--unidirectional-new-file --ignore-file-name-case --no-ignore-file-name-case -x,--exclude=t
    -X,--exclude-from= -S,--starting-file=t --from-file= --to-file= -i,--ignore-case -E,--ignore-tab-expansion
    -Z,--ignore-trailing-space -b,--ignore-space-change -w,--ignore-all-space -B,--ignore-blank-lines
    -I,--ignore-matching-lines=t -a,--text --strip-trailing-cr -D,--ifdef=t --line-format=t -d,--minimal --color=?t`,
  class: 'reads',
  use: (use) => ({ except: namesOf(valuesOf(use, '--exclude')) }),
};

const COPY: Program = {
  options: `-a,--archive+ --attributes-only -b,--backup=?t --copy-contents -d -f,--force -i,--interactive -H -l,--link
    -L,--dereference -n,--no-clobber -P,--no-dereference -p,--preserve=?t --no-preserve=t --parents -r,-R,--recursive+
    --reflink=?t --remove-destination --sparse=t --strip-trailing-slashes -s,--symbolic-link -S,--suffix=t
    -t,--target-directory= -T,--no-target-directory -u,--update=?t -v,--verbose -x,--one-file-system -Z,--context=?t`,
};

/** `mv` takes everything below a folder along. */
const MOVE: Program = {
  options: `-b,--backup=?t -f,--force -i,--interactive -n,--no-clobber --strip-trailing-slashes -S,--suffix=t
    -t,--target-directory= -T,--no-target-directory -u,--update=?t -v,--verbose -Z,--context`,
  recurses: true,
};

const REMOVE: Program = {
  options: `-f,--force -i -I --interactive=?t --one-file-system --no-preserve-root --preserve-root=?t -r,-R,--recursive+
    -d,--dir -v,--verbose -x -P -W`,
};

export const FILES: Readonly<Record<string, Program>> = {
  cp: COPY,
  diff: DIFF,
  mv: MOVE,
  rm: REMOVE,
};
