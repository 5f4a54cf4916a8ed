import { plainWord, type ShellWord } from '../shell/shell-word.ts';
import type { Program } from './program.ts';
import { namesOf, orHere, valuesOf } from './search.ts';

/** Without a dash, the letters of the first word take their values from the next words in turn. */
function tarWords(words: readonly ShellWord[]): readonly ShellWord[] {
  const [first, ...rest] = words;
  if (first?.value == null || !/^[a-zA-Z]/.test(first.value)) return words;
  const letters = [...first.value];
  const valued = letters.filter((letter) => /[bCfFgHIKLNTVX]/.test(letter)).length;
  const values = rest.slice(0, valued);
  const bundled = letters.flatMap((letter) => [
    plainWord(`-${letter}`),
    ...(/[bCfFgHIKLNTVX]/.test(letter) ? values.splice(0, 1) : []),
  ]);
  return [...bundled, ...rest.slice(valued)];
}

const TAR: Program = {
  words: tarWords,
  options: `-A,--catenate,--concatenate> -c,--create> -d,--diff,--compare --delete> -r,--append> -t,--list -u,--update>
    -x,--extract,--get> -f,--file= -C,--directory= -z,--gzip -j,--bzip2 -J,--xz --zstd --lzma -a,--auto-compress
    -v,--verbose -p,--preserve-permissions,--same-permissions -k,--keep-old-files --strip-components=t --exclude=t
    -X,--exclude-from= --exclude-vcs --exclude-vcs-ignores -T,--files-from=! -I,--use-compress-program=! --to-command=!
    --checkpoint=?t --checkpoint-action=! -F,--info-script,--new-volume-script=! --rsh-command=! --rmt-command=! -O,--to-stdout
    -h,--dereference -P,--absolute-names -W,--verify -m,--touch --transform,--xform=! -b,--blocking-factor=t -g,--listed-incremental=>
    -H,--format=t -L,--tape-length=t -N,--newer,--after-date=t -V,--label=t -K,--starting-file=t --wildcards --no-recursion
    --owner=t --group=t --mode=t --mtime=t -S,--sparse --one-file-system -w,--interactive,--confirmation --remove-files> --totals`,
  class: 'reads-if-known',
  use: (use) => {
    if (use.flags.has('--list')) return { below: [] };
    // Each folder counts for the names after it, so all below it may be read or written.
    const folders = valuesOf(use, '--directory').map(plainWord);
    if (!use.flags.has('--create') && !use.flags.has('--append') && !use.flags.has('--update'))
      return { below: orHere(folders) };
    return {
      below: orHere([...use.files, ...folders]),
      except: namesOf(valuesOf(use, '--exclude')),
    };
  },
};

/** A use that does not unpack writes beside the file that it packs, or reads. */
const packing = (unpacks: boolean): Program => ({
  options: `-c,--to-stdout,--stdout -d,--uncompress,--decompress -f,--force -k,--keep -l,--list -n,--no-name -N,--name -q,--quiet
    -r,--recursive+ -S,--suffix=t -t,--test -v,--verbose -V,--version --fast --best -1 -2 -3 -4 -5 -6 -7 -8 -9`,
  use: ({ flags, unknown }) => {
    const reads =
      !unknown && ['--stdout', '--list', '--test', '--version'].some((flag) => flags.has(flag));
    return {
      class: reads ? 'read' : 'irreversible',
      dynamic: !reads && (unpacks || flags.has('--decompress')),
    };
  },
});

const UNZIP: Program = {
  options: '-l -v -t -Z -p -c -q -z -1 -2 -n -o -j -a -C -d= -x=t -P=t',
  use: (use) => {
    const reads =
      !use.unknown &&
      ['-l', '-v', '-t', '-Z', '-p', '-c', '-z'].some((flag) => use.flags.has(flag));
    return reads ? { class: 'read' } : { below: orHere(valuesOf(use, '-d').map(plainWord)) };
  },
};

export const ARCHIVES: Readonly<Record<string, Program>> = {
  gunzip: packing(true),
  gzip: packing(false),
  tar: TAR,
  unzip: UNZIP,
};
