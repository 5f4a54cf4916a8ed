import { posix } from 'node:path';
import { plainWord } from '../shell/shell-word.ts';
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

/** A symbolic link gives all below its target another name. The target is seen from the link. */
const LINK: Program = {
  options: `-s,--symbolic -f,--force -n,--no-dereference -i,--interactive -v,--verbose -r,--relative -b,--backup=?t -S,--suffix=t
    -t,--target-directory= -T,--no-target-directory -L,--logical -P,--physical`,
  use: ({ flags, operands, texts, values, unknown }) => {
    const given = operands.map(({ value }) => value);
    const into = values.get('--target-directory')?.[0];
    const place = into ?? (given.length > 1 ? given.at(-1) : '.');
    const targets = into == null && given.length > 1 ? given.slice(0, -1) : given;
    if (unknown || place == null || targets.includes(null)) return { below: operands };
    if (!flags.has('--symbolic') || flags.has('--relative')) return { below: operands };
    for (const word of operands.slice(0, targets.length)) texts.add(word);
    // The last name can be the link, or the folder that it is in.
    const names = targets.flatMap((target) =>
      [place, posix.dirname(place)].map((from) => {
        const name = target as string;
        return plainWord(name.startsWith('/') ? name : posix.join(from, name));
      }),
    );
    return { below: names, names };
  },
};

const MODE: Program = {
  options: `-R,--recursive+ -c,--changes -f,--silent,--quiet -v,--verbose --reference= --preserve-root --no-preserve-root
    -h,--no-dereference`,
  texts: ({ flags, unknown }) => (unknown || flags.has('--reference') ? 0 : 1),
};

/** The patch names the files, and may come from anywhere. */
const PATCH: Program = { use: () => ({ below: [plainWord('.')] }) };

/** Options with `!` send to another host than the addresses among the words. */
const CURL: Program = {
  options: `-o,--output= -H,--header= -d,--data= -X,--request= -u,--user= -A,--user-agent= -e,--referer= -b,--cookie=
    -c,--cookie-jar= -F,--form= -T,--upload-file= -m,--max-time= -w,--write-out= -D,--dump-header= -r,--range=
    -C,--continue-at= -E,--cert= -t,--telnet-option= -y,--speed-time= -z,--time-cond= -Y,--speed-limit= -Q,--quote=
    -P,--ftp-port= -U,--proxy-user= --output-dir= --data-raw= --data-binary= --data-ascii= --data-urlencode= --json=
    --form-string= --connect-timeout= --retry= --retry-delay= --retry-max-time= --key= --cacert= --capath= --limit-rate=
    --max-redirs= --oauth2-bearer= --stderr= --tls-max= --ciphers= --proto= --url-query= -x,--proxy=! -K,--config=!
    --preproxy=! --socks4=! --socks4a=! --socks5=! --socks5-hostname=! --connect-to=! --resolve=! --doh-url=!
    --interface=! --unix-socket=! --abstract-unix-socket=!`,
};

const WGET: Program = {
  options: `-O,--output-document= -o,--output-file= -a,--append-output= -P,--directory-prefix= -U,--user-agent= --header=
    -t,--tries= -T,--timeout= -w,--wait= -Q,--quota= -l,--level= -A,--accept= -R,--reject= -D,--domains=
    -I,--include-directories= -X,--exclude-directories= -B,--base= --user= --password= --post-data= --post-file=
    --method= --body-data= --body-file= --certificate= --private-key= --ca-certificate= --load-cookies=
    --save-cookies= --referer= --limit-rate= -e,--execute=! -i,--input-file=! --config=! --use-askpass=!
    --bind-address=!`,
};

export const FILES: Readonly<Record<string, Program>> = {
  chgrp: MODE,
  chmod: MODE,
  chown: MODE,
  cp: COPY,
  curl: CURL,
  diff: DIFF,
  ln: LINK,
  mv: MOVE,
  patch: PATCH,
  rm: REMOVE,
  wget: WGET,
};
