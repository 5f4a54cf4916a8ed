// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expansions of the shell
/**
 * The law of `commandParts`, against the real bash: each program that bash starts for a command is
 * among the parts with its arguments, or the command has a dynamic or unparsed part.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { CallPart } from '#calls';
import { cases } from '../../../../../tests/support/cases.ts';
import { commandParts } from './shell-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-shell-'));
const [programs, work] = [join(folder, 'bin'), join(folder, 'work')];
// A command that bash left in the background may still write.
const EMPTIED = { recursive: true, force: true, maxRetries: 10 } as const;
afterAll(() => rmSync(folder, EMPTIED));

const SHIMS = ['bar', 'cat', 'cp', 'foo', 'git', 'ls', 'rm'];
const REAL = ['bash', 'env', 'find', 'nice', 'nohup', 'setsid', 'sh', 'stdbuf', 'timeout', 'xargs'];
/**
 * Writes its name and arguments to the log in one line, and fails if it has an even name. `cat`
 * copies its input.
 */
const SHIM = `#!/bin/bash
text="\${0##*/}"
for word in "$@"; do text+=$'\\x1f'"\${word//$'\\n'/$'\\x1d'}"; done
printf '%s\\n' "$text" >> "$SHIM_LOG"
[[ $# == 0 && "\${0##*/}" == cat ]] && /bin/cat
exit $((\${#1} % 2))
`;

mkdirSync(programs);
for (const name of SHIMS) {
  writeFileSync(join(programs, name), SHIM);
  chmodSync(join(programs, name), 0o755);
}
for (const name of REAL) {
  const found = ['/usr/bin', '/bin']
    .map((each) => join(each, name))
    .find((each) => existsSync(each));
  if (found !== undefined) symlinkSync(found, join(programs, name));
}

type Call = readonly [name: string, ...words: string[]];
let runs = 0;

/** The programs that bash starts for a command. */
function started(command: string): readonly Call[] {
  const log = join(folder, `log${++runs}`);
  rmSync(work, EMPTIED);
  mkdirSync(work);
  spawnSync('/bin/bash', ['-c', command], {
    cwd: work,
    env: { PATH: programs, HOME: folder, SHIM_LOG: log },
    timeout: 3_000,
    killSignal: 'SIGKILL',
    input: '',
    // Programs in the background hold this pipe open, so the run ends after them.
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  if (!existsSync(log)) return [];
  // A program that was killed may leave an incomplete line.
  const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => line.replaceAll('\x1d', '\n').split('\x1f') as unknown as Call);
}

const partsOf = (command: string): readonly CallPart[] =>
  commandParts(command, { cwd: work, home: folder });

function isOpen(parts: readonly CallPart[]): boolean {
  return parts.some(
    ({ server, tool }) => server === 'shell' && (tool === 'dynamic' || tool === 'unparsed'),
  );
}

/** The programs that bash starts and that no part tells of. */
function missing(command: string, parts: readonly CallPart[]): readonly Call[] {
  const told = new Set(parts.filter((part) => part.server === 'shell').map(keyOf));
  return started(command).filter(([name, ...words]) => !told.has(JSON.stringify([name, words])));
}

function keyOf({ tool, args }: CallPart): string {
  return JSON.stringify([tool, args['argv'] ?? null]);
}

/** Commands whose text hides a program. */
const ADVERSARIAL: readonly string[] = [
  'r"m" x',
  "'r'm x",
  '\\rm x',
  'r\\\nm x',
  "$'\\x72m' x",
  "$'r\\155' x",
  "$'\\u0072m' x",
  "$'rm\\0x' y",
  '$"rm" x',
  '""rm x',
  '{rm,x}',
  '{r,}m x',
  'r?m; ls *; [r]m x',
  'a=rm; $a x',
  'a=rm\n$a x',
  '$EMPTY rm x',
  '$(echo rm) x',
  '`echo rm` x',
  '${a:-rm} x',
  ': ${a:=rm}; $a x',
  'x() { rm y; }; x',
  'ls() { rm y; }; ls',
  'function ls { rm y; }; (ls z)',
  'cd() { rm y; }; cd /',
  'f() { rm; }; export -f f; bash -c f',
  'command_not_found_handle() { rm "$1"; }; nothing',
  'echo \'; rm x\'; echo "; rm x"; # rm x',
  "echo a#b; rm x # it's\ncp y",
  'echo \\# rm; rm "#"',
  'ls & rm x & wait',
  '! rm x',
  '!rm x',
  '!(rm x)',
  '[[ -n $(rm x) ]]',
  "[[ 0 -eq 'a[$(rm x)]' ]]",
  "[[ -v 'a[$(rm x)]' ]]",
  "test -v 'a[$(rm x)]'",
  "x='a[$(rm x)]'; ((x)); echo $((x)) ${b:x}",
  "x='a[$(rm x)]'; [[ $x -gt 1 ]]",
  "printf -v 'a[$(rm x)]' y",
  "read 'a[$(rm x)]' <<< 1",
  "declare -i y='a[$(rm x)]'",
  "declare -n y='a[$(rm x)]'; y=1",
  "unset 'a[$(rm x)]'; let 'a[$(rm x)]'",
  'x=\'$(rm x)\'; echo "${x@P}"',
  "PS4='$(rm x)'; set -x; ls",
  "x='a[$(rm x)]'; echo ${!x}",
  'a[$(rm x)]=1; b=([$(cp y)]=2)',
  'for ((i = $(rm x)0; i < 1; i++)); do ls; done',
  'cat <<E\n$(rm x) `cp y`\nE\n',
  "cat <<'E'\n$(rm x)\nE\nls z",
  'cat <<A <<-B; ls\n$(rm a)\nA\n\t$(cp b)\n\tB\nfoo c',
  'x=$(cat <<E\n)\nE\n); rm y',
  'git commit -m "$(cat <<\'E\'\na `b` $(rm x) \\ \'c\' "d"\n\n\nE\n)"',
  'git "a$(cat <<\\E\nb\nE\n)c"; git $(cat <<\'E\'\nb c\nE\n) "$(cat <<\'E\' | ls\nb\nE\n)"',
  'cat() { rm x; }; git "$(cat <<\'E\'\nb\nE\n)"',
  'foo <<< "$(rm x)"',
  'cat <(rm x) > >(cp y)',
  'x=$(case a in a) rm x;; esac)',
  "x=$( # it's\nrm x)",
  'x="$(echo "$(rm "a b")")"',
  'echo "`rm \\`cp a\\``"',
  'case $(rm a) in *) cp b;;& x) ls;; esac',
  'if rm a; then cp b; elif ls c; then foo; else bar; fi',
  'until rm a; do cp b; break; done; while ! ls aa; do foo; break; done',
  'for x in $(rm a); do cp b; done; select y in; do ls; done',
  'coproc rm x; wait',
  'coproc N { rm x; }; wait',
  'time -p rm x; time ! cp y',
  '> out rm x; < /dev/null cp y; 2>&1 ls z',
  'A=1 B=$(cp z) rm x',
  'eval r"m" x; eval \'eval "r""m y"\'',
  "trap 'rm x' EXIT",
  "trap -- 'rm x' EXIT",
  'exec rm x',
  'exec -a foo rm x',
  'command rm x; command -p -- cp y; command -v ls',
  'builtin eval rm x',
  'env rm x; env A=1 -- cp y; env -u A ls z',
  "env -S 'rm x'",
  'nice rm a; nice -n 5 cp b; nice -5 ls c; nohup foo d; setsid -w bar e',
  'timeout 5 rm a; timeout -k 1 5 cp b; timeout -s KILL --foreground 5 ls c',
  'stdbuf -oL rm a; stdbuf --output=0 cp b',
  'echo x | xargs rm; echo y | xargs -n 1 -I{} cp {}',
  "find . -maxdepth 0 -exec rm {} +; find . -maxdepth 0 -exec cp a b ';'; find . -maxdepth 0 -execdir ls {} \\;",
  "bash -c 'rm x; cp y'; sh -ec 'ls z'; bash -o pipefail -c 'foo a' b",
  "bash -c -e 'rm x'",
  'bash -c \'rm "$0"\' x',
  'echo rm x | sh',
  'sh <<< "rm x"',
  'bash <<E\nrm x\nE\n',
  'source <(echo rm x)',
  '. /dev/stdin <<< "rm x"',
  'echo rm x > s; . ./s; bash s; BASH_ENV=s bash -c ls',
  'alias ls=rm\nshopt -s expand_aliases\nalias ls=rm\nls x',
  'hash -p "$(command -v rm)" ls; ls x',
  'mkdir() { rm x; }; PATH=. mkdir',
  "compgen -C 'rm x'; compgen -W '$(rm y)'",
  "mapfile -C 'rm x' -c 1 <<< y",
  'set -- a; rm $1; rm "$@"; rm "$#"',
  'set -k; rm a A=1',
  'x={rm,y}; rm {1..2} "{a,b}" \\{a,b\\}',
  'rm ~ ~/a "~" \\~ ~nobody $HOME "$HOME/b" ${HOME} $PWD',
  'IFS=/; rm $HOME',
  'HOME=/x; rm ~/y',
  'rm a=~/b --c=~/d',
  'rm \u00a0x; rm\u00a0 x; rm \u3000x',
  'rm x\r\ncp y\r\n',
  'rm \u200bx\u202e',
  'rm "\u{1f600}" é "日本"',
  'rm "a\\b\\"c\\$d\\`e\\\nf" \'g\\h\' i\\ j',
  "rm $'a\\tb\\'c' $'\\\\' $'\\e' $'\\cA' $'\\xe9'",
  'rm "$" a$ "a$b" $',
  'rm [ ] [] {} { } @{u} a@{1} !',
  'rm -- -x; rm a  \t b',
  'rm a;;cp b',
  'rm a)\ncp b',
  'ls a\nrm $(\ncp b',
  '{ rm a; } 2> /dev/null | cp b |& ls c && foo || bar',
  'cd / && rm x; (cd /tmp; cp y); pushd / ; ls z; popd',
  '. /dev/null; rm x',
  'shopt -s lastpipe; ls | cd /; rm x',
  'repeat 2 rm x',
  'x=1; rm "$x"',
  'rm \'a\nb\' "c\nd"',
  'f() for x in a; do rm y; done; f',
  'f() [[ $(rm x) ]]; f',
  'a=(1 $(rm x) "`cp y`"); a+=($(ls z))',
  'echo ${x:+$(rm a)} ${x:-`cp b`} ${x/$(ls c)/} ${#x} ${x:$(foo 0)}',
  'printf %s "$(<s)"; rm x',
  'rm >&-rf x',
  'rm 3>& -z',
  'rm 3>&2- 4>&\\\n-z',
  'cp <& -a b',
  'disown; jobs -x rm x',
  'bash rm x; sh -e cp y; bash -- ls z',
  'x="`x=\\"\\`foo \\\\\\\\\\\n rm\n\\`\\"\n`"',
];

test.each(ADVERSARIAL)('bash starts no more than the parts of %j', (command) => {
  const parts = partsOf(command);
  if (!isOpen(parts)) expect(missing(command, parts)).toEqual([]);
});

const SIMPLE = [
  ...[
    'rm x',
    'cp a "b c"',
    'ls',
    "git 'a;b' # c",
    'foo <<< a',
    'bar > out',
    'r"m" q',
    '\\cp a',
    "$'\\x72m' q",
    '! rm',
  ],
  ...[
    'time rm x',
    'nice -n 5 rm x',
    'timeout 5 cp q',
    'env A=b rm x',
    'command rm x',
    'true',
    'false',
    'echo a',
  ],
  ...[
    'x=$(rm x)',
    'x="`cp \\`ls\\``"',
    'x=${y:-$(rm k)}',
    '[[ a == $(rm x) ]]',
    'exec 3> /dev/null',
    'rm &',
    'cd /tmp',
  ],
  ...[
    "cat <<'E'\n$(rm)\nE\n",
    'cat <<E\n$(cp y)\nE\n',
    'cat <<-E\n\tx `ls`\n\tE\n',
    'foo \\\n rm',
    '(rm x)',
    '{ cp; }',
  ],
  ...[
    'for x in a b; do rm q; done',
    'case a in a) rm;; b) cp;; esac',
    'if ls; then rm x; else cp; fi',
    'eval "rm e"',
  ],
];
const JOINTS = [';', '\n', ' && ', ' || ', ' | ', ' & ', ' |& '];
const NOISE = [
  ' ',
  '\n',
  ';',
  '&',
  '|',
  '(',
  ')',
  '{ ',
  '; }',
  '$(',
  '`',
  '"',
  "'",
  '\\',
  '#',
  ' #',
  '!',
  '<<E\n',
  '\nE\n',
  '<',
  '>',
  '-',
  'rm',
  'x=',
  '$',
  'é',
];

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const WRAPS: readonly ((inner: string) => string)[] = [
  (inner) => `(${inner}\n)`,
  (inner) => `{ ${inner}\n}`,
  (inner) => `x=$(${inner}\n)`,
  (inner) => `eval ${quoted(inner)}`,
  (inner) => `bash -c ${quoted(inner)}`,
  (inner) => `if ${inner}\nthen ls; fi`,
  (inner) => `while ${inner}\ndo break; done`,
  (inner) => `x="\`${inner.replaceAll(/[\\`$"]/g, '\\$&')}\n\`"`,
];

const joined = (texts: readonly string[]): fc.Arbitrary<string> =>
  fc
    .array(fc.tuple(fc.constantFrom(...texts), fc.constantFrom(...JOINTS)), {
      minLength: 1,
      maxLength: 4,
    })
    .map((parts) => parts.map(([text, joint], i) => (i === 0 ? text : joint + text)).join(''));
const wrapped = (texts: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(joined(texts), fc.array(fc.constantFrom(...WRAPS), { maxLength: 2 }))
    .map(([text, wraps]) => wraps.reduce((inner, wrap) => wrap(inner), text));
/** Texts with one or two damages. Many are not valid commands. */
const damaged = fc
  .tuple(
    wrapped(SIMPLE),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 2 }), fc.constantFrom(...NOISE)), { maxLength: 2 }),
  )
  .map(([text, damages]) =>
    damages.reduce((now, [at, cut, noise]) => {
      const place = at % (now.length + 1);
      return now.slice(0, place) + noise + now.slice(place + cut);
    }, text),
  );

test('bash starts no more than the parts of generated commands', () => {
  let [told, ran] = [0, 0];
  fc.assert(
    fc.property(damaged, (command) => {
      const parts = partsOf(command);
      if (isOpen(parts)) return;
      told += 1;
      const calls = missing(command, parts);
      ran += parts.length > 0 ? 1 : 0;
      expect(calls, JSON.stringify({ command, parts })).toEqual([]);
    }),
    { numRuns: cases(2_000) * 5 },
  );
  expect(ran).toBeGreaterThan(told / 2);
});

test('most commands without variables are read to the end', () => {
  let open = 0;
  const count = cases(2_000);
  // Without commands that are dynamic in another one, or that no joint may follow or precede.
  const texts = SIMPLE.filter((text) => !/<<|&$|#|^!|^time|`|^cd/.test(text));
  fc.assert(
    fc.property(wrapped(texts), (command) => {
      open += isOpen(partsOf(command)) ? 1 : 0;
    }),
    { numRuns: count },
  );
  expect(open).toBeLessThan(count / 20);
});
