// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expansions of the shell
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { commandParts } from './shell-command.ts';

const PLACE = { cwd: '/repo', home: '/home/ada' };

/** Parts as short texts: the tool with its words, then its paths. */
const partsOf = (command: string): readonly string[] =>
  commandParts(command, PLACE).map(({ server, tool, args }) => {
    const { argv, paths, env, path, url, text } = args;
    if (argv === undefined) return `${server}/${tool} ${path ?? url ?? text}`;
    const words = (argv as (string | null)[]).map((word) => (word === null ? '∅' : word));
    const named = (paths as string[]).length === 0 ? [] : [`→ ${(paths as string[]).join(' ')}`];
    const assigned = env === undefined ? [] : [`(${(env as string[]).join(' ')})`];
    return [`${tool}`, ...words, ...named, ...assigned].join(' ');
  });

/** The names of the tools, without what the words name. */
const toolsOf = (command: string): readonly string[] =>
  commandParts(command, PLACE).map(({ tool }) => tool);

describe('every command that could run is a part', () => {
  test.each<[string, readonly string[]]>([
    [
      'rm a; rm b\nrm c & rm d',
      ['rm a → /repo/a', 'rm b → /repo/b', 'rm c → /repo/c', 'rm d → /repo/d'],
    ],
    ['ls && rm a || rm b | wc', ['ls', 'rm a → /repo/a', 'rm b → /repo/b', 'wc']],
    ['(rm a); { rm b; }; ! rm c', ['rm a → /repo/a', 'rm b → /repo/b', 'rm c → /repo/c']],
    ['if a; then b; elif c; then d; else e; fi', ['a', 'b', 'c', 'd', 'e']],
    ['while a; do b; done; until c; do d; done', ['a', 'b', 'c', 'd']],
    ['for x in $(a); do b; done; select y in `c`; do d; done', ['a', 'b', 'c', 'd']],
    ['case $(a) in $(b)) c;; *) d;; esac', ['a', 'b', 'c', 'd']],
    ['x=$(a "$(b)") y=(`c`); [[ -n $(d) ]]', ['b', 'shell/dynamic "$(b)"', 'a ∅', 'c', 'd']],
    ['coproc a; cat < <(b)', ['a', 'b', 'shell/dynamic <(b)', 'cat']],
    ["cat <<E\n$(a)\nE\ncat <<'E'\n$(b)\nE\n", ['a', 'cat']],
    ['eval "a; b"', ['eval a; b → /repo/a; b', 'a', 'b']],
    ["bash -ec 'a' x", ['bash -ec a x → /repo/a /repo/x', 'a']],
    ["trap 'a' EXIT", ['trap a EXIT → /repo/a /repo/EXIT', 'a']],
    [
      'sudo -u root A=1 rm x',
      ['sudo -u root A=1 rm x → /repo/A=1 /repo/1 /repo/rm /repo/x', 'rm x → /repo/x (A)'],
    ],
    ['time -p rm; command -v rm', ['rm', 'command -v rm → /repo/rm']],
    ['f() { rm x; }; f', ['shell/dynamic rm x', 'rm x → /repo/x', 'f', 'shell/dynamic f']],
    ["find a -exec rm b ';'", ['find a -exec rm b ; → /repo/a /repo/;', 'rm b → /repo/b']],
    ['# rm\necho "; rm" \'; rm\' a#b', ['echo ; rm ; rm a#b']],
  ])('%j', (command, expected) => expect(partsOf(command)).toEqual(expected));
});

describe('a program that the table does not have', () => {
  test.each<[string, readonly string[]]>([
    ['taskset 1 rm x', ['taskset', 'rm']],
    ['runs --call="git push"', ['runs', 'git']],
    ["runs -c 'rm a; rm b'", ['runs', 'rm', 'rm']],
    ['npm exec -- git push', ['npm', 'git']],
    ['npm install git', ['npm']],
    ['gh issue view 12', ['gh']],
    ["runs 'sort (of'", ['runs']],
    ['grep git rm', ['grep']],
  ])('may run its words: %s', (command, tools) => expect(toolsOf(command)).toEqual(tools));

  test('goes below its operands with an option of recursion', () => {
    const below = (command: string) => commandParts(command, PLACE)[0]?.args['below'];
    expect(below('zip -qr a.zip .')).toEqual(['/repo/a.zip', '/repo']);
    expect(below('scp --recursive . b')).toEqual(['/repo', '/repo/b']);
    expect(below('zip -q a.zip .')).toBe(undefined);
  });
});

test.each(['-delete', '-L -- -type f -exec cat {} +', '-D tree ! -name a -print'])(
  'find %s begins in the folder of the command',
  (words) => {
    const partsWithout = (command: string) =>
      commandParts(command, PLACE).map(({ tool, args: { argv: _, paths: _paths, ...args } }) => ({
        ...{ tool, args: tool === 'dynamic' ? {} : args },
      }));
    const at = words.search(/-(?:delete|type)|!/);
    expect(partsWithout(`find ${words}`)).toEqual(
      partsWithout(`find ${words.slice(0, at)}. ${words.slice(at)}`),
    );
  },
);

test.each(['-E /etc', '-X -d /etc', '-dsx /etc', '-- /etc', '-L -- /etc', '-f /etc'])(
  'find %s -delete begins in the folder that it names',
  (words) => {
    expect(commandParts(`find ${words} -delete`, PLACE)[0]?.args['below']).toEqual(['/etc']);
  },
);

describe('the name of a program', () => {
  test.each<[string, string]>([
    ['/bin/rm', 'rm'],
    ['/usr/bin/rm', 'rm'],
    ['/usr/local/bin/rm', 'rm'],
    ['/opt/bin/rm', 'file'],
    ['/bin/../tmp/rm', 'file'],
    ['./rm', 'file'],
    ['~/rm', 'file'],
    ['file', 'program:file'],
    ['/bin/read', 'program:read'],
    ['dynamic', 'program:dynamic'],
    ['[', 'test'],
    [':', 'true'],
    ['.', 'source'],
    ['program:file', 'dynamic'],
    ['rém', 'dynamic'],
    ["''", 'dynamic'],
    ['-rm', 'dynamic'],
  ])('%s is %s', (name, tool) => expect(toolsOf(name)).toContain(tool));

  test('a program at its own path has this path first', () => {
    expect(partsOf('./a.sh b /c')).toEqual(['file b /c → /repo/a.sh /repo/b /c']);
    expect(partsOf('../a.sh')).toEqual(['file → /a.sh']);
  });

  test('a program at its own path may do more than the one of its name', () => {
    const classOf = (command: string) => commandParts(command, PLACE)[0]?.args['class'];
    expect([classOf('./a.sh'), classOf('./ls'), classOf('ls')]).toEqual([
      ...['irreversible', 'irreversible', 'read'],
    ]);
  });
});

describe('words', () => {
  test.each<[string, readonly string[]]>([
    ["rm \"a b\"'c'\\d$'\\x65'", ['rm a bcde → /repo/a bcde']],
    [
      'rm ~ ~/a $HOME "$HOME/b" ${PWD}',
      [
        'rm /home/ada /home/ada/a /home/ada /home/ada/b /repo → /home/ada /home/ada/a /home/ada/b /repo',
      ],
    ],
    ['rm $x', ['shell/dynamic $x', 'rm ∅']],
    ['rm /a/b/*', ['rm /a/b/* → /a/b']],
    [
      'rm {a,b} ~bob a=~',
      ['shell/dynamic {a,b}', 'shell/dynamic ~bob', 'shell/dynamic a=~', 'rm ∅ ∅ ∅'],
    ],
    ['$x rm', ['shell/dynamic $x rm']],
    ['rm "{a,b}" \'*\' \\~', ['rm {a,b} * ~ → /repo/{a,b} /repo /repo/~']],
    [
      'tar -xzf/a -C../b --file=c -v --xz',
      ['tar -xzf/a -C../b --file=c -v --xz → /repo/zf/a /a /b /repo/c'],
    ],
    ['rm -r -- -x -', ['rm -r -- -x - → /repo/-x']],
    ['dd if=a of=/b', ['dd if=a of=/b → /repo/if=a /repo/a /repo/of=/b /b']],
    ['docker run -v /a:/b', ['docker run -v /a:/b → / /b /a']],
    ['git commit -m "Fix it."', ['git commit -m Fix it.']],
  ])('%j', (command, expected) => {
    const sorted = (texts: readonly string[]) =>
      texts.map((text) =>
        text
          .split(' → ')
          .map((part, i) => (i === 0 ? part : part.split(' ').sort().join(' ')))
          .join(' → '),
      );
    expect(sorted(partsOf(command))).toEqual(sorted(expected));
  });

  test('variables that are set for a command are named', () => {
    expect(partsOf('A=1 B= rm x')).toEqual(['rm x → /repo/x (A B)']);
    for (const name of [
      'PATH',
      'LD_PRELOAD',
      'BASH_ENV',
      'IFS',
      'NODE_OPTIONS',
      'GIT_SSH_COMMAND',
      'PYTHONPATH',
    ])
      for (const command of [
        `${name}=x ls`,
        `${name}=x`,
        `export ${name}=x`,
        `env ${name}=x ls`,
        `read ${name}`,
      ])
        expect(toolsOf(command), command).toContain('dynamic');
  });
});

describe('folders', () => {
  test.each<[string, readonly string[]]>([
    ['cd a && rm x', ['cd a → /repo/a', 'rm x → /repo/a/x']],
    ['cd a; rm x', ['cd a → /repo/a', 'rm x → /repo/a/x /repo/x']],
    ['cd a || exit; rm x', ['cd a → /repo/a', 'exit', 'rm x → /repo/a/x']],
    ['(cd /a && rm x); rm y', ['cd /a → /a', 'rm x → /a/x', 'rm y → /repo/y']],
    ['cd /a & rm y', ['cd /a → /a', 'rm y → /repo/y']],
    ['cd && rm x', ['cd', 'rm x → /home/ada/x']],
    ['if cd a; then rm x; else rm y; fi', ['cd a → /repo/a', 'rm x → /repo/a/x', 'rm y → /repo/y']],
    ['cd $x && rm y', ['shell/dynamic $x', 'cd ∅', 'shell/dynamic rm y', 'rm y → /repo/y']],
    ['cd $x && rm /y', ['shell/dynamic $x', 'cd ∅', 'rm /y → /y']],
    ['pushd a && rm y', ['pushd a → /repo/a', 'rm y → /repo/a/y']],
    ['popd && rm y', ['popd', 'shell/dynamic rm y', 'rm y → /repo/y']],
    [
      'cd a && cd .. && rm x',
      ['cd a → /repo/a', 'shell/dynamic cd ..', 'cd .. → /repo', 'rm x → /repo/x'],
    ],
    ['rm ../x', ['rm ../x → /x']],
    ['rm a/../x', ['shell/dynamic rm a/../x', 'rm a/../x → /repo/x']],
  ])('%j', (command, expected) => expect(partsOf(command)).toEqual(expected));

  test('a loop runs in each folder that its body enters, or anywhere', () => {
    const parts = partsOf('for i in 1 2; do rm x; cd /a; done');
    expect(parts).toContain('rm x → /repo/x /a/x');
    expect(parts).not.toContain('shell/dynamic rm x');
    expect(partsOf('for i in 1 2; do rm x; cd a; done')).toContain('shell/dynamic rm x');
  });

  test('without a known folder each relative path is dynamic', () => {
    const parts = commandParts('rm x', { cwd: 'repo' });
    expect(parts.map(({ tool }) => tool)).toEqual(['dynamic', 'rm']);
  });
});

describe('redirections', () => {
  test.each<[string, readonly string[]]>([
    [
      'a > b >> /c 2>| d &> e',
      ['shell/write /repo/b', 'shell/write /c', 'shell/write /repo/d', 'shell/write /repo/e', 'a'],
    ],
    [
      'a <> b >& c &>> d',
      ['shell/write /repo/b', 'shell/write /repo/c', 'shell/write /repo/d', 'a'],
    ],
    ['a < b', ['shell/read /repo/b', 'a']],
    ['a 2>&1 >&2 <&3 3>&- > /dev/null 2> /dev/stderr', ['a']],
    ['a <<< b', ['a']],
    ['> b', ['shell/write /repo/b']],
    ['a > $x', ['shell/dynamic $x', 'a']],
    ['a > /dev/tcp/b/1', ['shell/dynamic /dev/tcp/b/1', 'a']],
    ['{ a; } > b', ['shell/write /repo/b', 'a']],
    ['f() { a; } > b', ['shell/dynamic b', 'shell/write /repo/b', 'a']],
  ])('%j', (command, expected) => expect(partsOf(command)).toEqual(expected));
});

describe('addresses', () => {
  test.each<[string, readonly string[]]>([
    ['curl -so x https://a.com/b', ['web/fetch https://a.com/b']],
    ['curl -H "X: y" a.com/b', ['web/fetch http://a.com/b']],
    ['wget --url=https://a.com', ['web/fetch https://a.com']],
    ['git clone https://a.com/b c', ['web/fetch https://a.com/b']],
    ['git clone git@a.com:b', ['shell/dynamic git@a.com:b']],
    ['npm i https://a.com/b', ['web/fetch https://a.com/b']],
    [
      'curl -x proxy https://a.com',
      ['curl -x proxy https://a.com → /repo/proxy', 'web/fetch https://a.com'],
    ],
    ['curl ftp://a.com', ['shell/dynamic ftp://a.com']],
  ])('%j', (command, expected) => expect(partsOf(command).slice(1)).toEqual(expected));

  test('an address is not a path, and the address of a file is one', () => {
    expect(partsOf('curl https://a.com/b')[0]).toBe('curl https://a.com/b');
    expect(partsOf('curl file:///etc/passwd')[0]).toBe('curl file:///etc/passwd → /etc/passwd');
  });
});

describe('the effect of these texts is only known while they run', () => {
  test.each([
    'echo ls > a.sh; sh a.sh',
    'echo 1 > a.js; node ./a.js',
    'echo ls > a; ./a',
    'git -C ../b fetch . main:main',
    'git --git-dir=b branch -f main x',
    ...[
      'xargs rm',
      'echo rm | sh',
      'bash <<< rm',
      '. ./a',
      'source a',
      'alias ls=rm',
      'hash -p /a ls',
      'ssh h rm',
    ],
    ...[
      'find . -exec rm a{} +',
      'find . -execdir rm {} +',
      'find . -L -follow -exec rm {} +',
      'find $x -delete',
      'find -files0-from l -delete',
      'find -files0-from l -exec cat {} +',
      'find -- -name a -files0-from l -delete',
      'find -f /etc -delete',
      'find . | xargs -0 rm',
      'find . -print0 | xargs rm',
      'find . -print0 | xargs -0 sh',
      'find . -print0 | xargs -0 -a x rm',
      'find . -print0 | sort -z | xargs -0 rm',
      'for f in a b; do $f; done',
      'for f in push log; do git $f; done',
      'for f in a; do g=1; f=b; rm $f; done',
      'for f in a; do read f; rm $f; done',
      'for f in a; do for f in b; do rm $f; done; done',
      'for f in -rf; do rm $f a; done; for f in -rf a; do rm $f; done',
      "for f in a b; do bash -c 'rm $f'; done",
      "for f in 'a b' c; do rm $f; done",
      'for f in a b; do :; done; rm $f',
      'cat <<< $x',
      'cat <<E\n$x\nE\n',
      'rm *; touch b',
      'shopt -s dotglob',
      "sed 'w a' b",
      'sed -n 1e b',
      'cat /proc/self/cwd/a',
      'sudo -s',
      'sudo -Z rm',
      'env -S "rm x"',
      'eval $x',
      'bash -c $x',
    ],
    ...[
      '((i++))',
      'echo $((i))',
      'echo ${x@P}',
      'echo ${!x}',
      '[[ $x -eq 1 ]]',
      'let x',
      'shopt -s lastpipe',
    ],
    ...[
      "test -v 'a[$(rm)]'",
      'set -k',
      'compgen -C rm',
      'jobs -x rm',
      'su -c rm',
      'parallel rm',
      'enable -f x y',
    ],
    ...[
      'x=rm; $x',
      'command_not_found_handle() { ls; }',
      'for PATH in x; do ls; done',
      'rm =ls',
      'r$x',
    ],
  ])('%j', (command) => expect(toolsOf(command)).toContain('dynamic'));
});

describe('a text that cannot be read safely is one part', () => {
  test.each([
    ...[
      'if a',
      'a (',
      '"a',
      "'a",
      'a `b',
      'a $(b',
      'a $(if)',
      'a `(`',
      'cat <<E\nx',
      'a ;; b',
      '&& a',
      'a | ',
      'a >',
    ],
    ...[
      'a\0b',
      'a\rb',
      'a\r\n',
      'a\x1bb',
      'a\u200bb',
      'a\u202eb',
      'a\ufeff',
      'a\u2028b',
      'a\u00adb',
      'a\ud800',
      'a\x7f',
    ],
    ...[
      'a '.repeat(40_000),
      'a;b;'.repeat(1).concat(Array.from({ length: 70 }, (_, i) => `a${i}`).join(';')),
    ],
    ...[
      'eval '.repeat(20) + 'a',
      '('.repeat(3_000) + 'a' + ')'.repeat(3_000),
      "eval '(a'",
      'f() ls',
    ],
  ])('%j', (command) => expect(toolsOf(command)).toEqual(['unparsed']));

  test('its text is cut, and is a well-formed text', () => {
    const text = commandParts(`a\ud800 ${'b'.repeat(100_000)}`, PLACE)[0]?.args['text'] as string;
    expect([text.length, text.isWellFormed(), text.startsWith('a\ufffd ')]).toEqual([
      4_001,
      true,
      true,
    ]);
  });

  test('pictures of several signs are plain text', () => {
    for (const picture of ['⚠️', '👨‍👩‍👧', '🏳️‍🌈', '👩🏽‍💻'])
      expect(toolsOf(`git commit -m '${picture}'`)).toEqual(['git']);
    for (const hidden of ['a\ufe0f', '\u200da', '⚠️\ufe0f'])
      expect(toolsOf(`echo '${hidden}'`)).toEqual(['unparsed']);
  });
});

test('a command without programs has no parts', () => {
  for (const command of ['', ' ', '\n', '# rm', 'x=1', '[[ a == b ]]'])
    expect(partsOf(command)).toEqual([]);
});

describe('words become known', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-words-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'src/deep'), { recursive: true });
  for (const name of ['src/a.js', 'src/b.js', 'src/.c.js', 'src/deep/d.js', '--pre=x', '.env'])
    writeFileSync(join(folder, name), '');
  symlinkSync('../.env', join(folder, 'src/link.ts'));
  const parts = (command: string) => commandParts(command, { cwd: folder });
  const named = (command: string): readonly string[] =>
    parts(command).flatMap(({ tool, args }) =>
      tool === 'dynamic'
        ? ['dynamic']
        : ((args['paths'] ?? []) as string[]).map((path) => path.slice(folder.length + 1)),
    );

  test.each<[string, readonly string[]]>([
    ['cat src/*.js', ['src/a.js', 'src/b.js']],
    ['cat src/.*.js', ['src/.c.js']],
    ['cat src/**/*.js', ['src/a.js', 'src/b.js', 'src/deep/d.js']],
    ['cat src/[!b].js src/?.js', ['src/a.js', 'src/b.js']],
    ['cat "src"/*.j"s"', ['src/a.js', 'src/b.js']],
    ['cat s*/*/d.js', ['src/deep/d.js']],
    ['cat src/*.ts', ['src/link.ts']],
    ['cat src/none*', ['src']],
    ['cat src/@(a|b).js', ['dynamic', 'src']],
    ['cat .e*', ['.env']],
    ['cat src/*/../a.js', ['dynamic', 'src/a.js']],
    ['rg x *', ['dynamic', 'x', 'src']],
    ['for f in src/*.js; do wc $f; done', ['src/a.js', 'src/b.js']],
    ['for f in a b; do cat "src/$f.js"; done', ['src/a.js', 'src/b.js']],
    ['for f in a b; do echo "== $f"; done', []],
    ['cd src && cat *.js', ['src', 'src/a.js', 'src/b.js']],
    ['pushd src && cat a.js', ['src', 'src/a.js']],
    ['ln -s ../.env src/x', ['src/x', 'src/.env', '.env']],
  ])('%s', (command, expected) => expect(named(command)).toEqual(expected));

  test.each<[string, string, object]>([
    ["find src -name '*.js' -exec cat {} +", 'cat', { below: ['src'], include: ['*.js'] }],
    ["find src -name '*.js' -o -name b -exec cat {} +", 'cat', { below: ['src'] }],
    ["find src ! -name '*.js' -exec cat {} +", 'cat', { below: ['src'] }],
    ["find . -name '*.js' -exec grep -r x {} +", 'grep', { below: [''] }],
    ["find src -name '*.js' -print0 | xargs -0 cat", 'cat', { below: ['src'], include: ['*.js'] }],
    ['find src -type f -delete', 'rm', { below: ['src'] }],
    ["rg -g '*.{js,ts}' x", 'rg', { below: [''], include: ['*.js', '*.ts'] }],
  ])('%s goes below', (command, program, expected) => {
    expect(named(command)).not.toContain('dynamic');
    const { below, include } = parts(command).find(({ tool }) => tool === program)?.args ?? {};
    const names = (below as string[]).map((path) => path.slice(folder.length + 1));
    expect({ below: names, ...(include !== undefined && { include }) }).toEqual(expected);
  });

  test('a folder with too many names is not looked through', () => {
    mkdirSync(join(folder, 'many'));
    for (let i = 0; i < 200; i++) writeFileSync(join(folder, `many/${i}`), '');
    expect(named('cat many/1*')).not.toContain('dynamic');
    expect(named('cat many/*')).toEqual(['dynamic', 'many']);
  });
});
