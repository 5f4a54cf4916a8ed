import { describe, expect, test } from 'vitest';
import { commandParts } from './shell-command.ts';

const isDynamic = (command: string): boolean =>
  commandParts(command, { cwd: '/repo' }).some(({ server, tool }) => server === 'shell' && tool === 'dynamic');

describe('a program that reads a terminal is dynamic', () => {
  test.each([
    ...['bash', 'sh', 'zsh', 'bash -i', 'bash -l', 'env bash', 'sudo -i', 'su', 'ssh host', 'tmux', 'screen'],
    ...['python3', 'python3 -i a.py', 'python3 -', 'python3 -q', 'python3 -m code', '/usr/bin/python3.12'],
    ...['node', 'node -i', 'node inspect a.js', 'deno repl', 'bun', 'perl', 'perl -de 1', 'ruby', 'php -a', 'irb'],
    ...['psql', 'psql shop', 'mysql -u root shop', 'sqlite3 a.db', 'redis-cli', 'gdb a.out', 'lua', 'R'],
    ...['less a', 'vi a', 'nano a', 'ed a', 'nc localhost 80', 'telnet host', 'time python3'],
    ...['git commit', 'git commit -a', 'git -C sub commit', 'git commit --amend', 'git add -p', 'git rebase -i HEAD~2'],
    ...[
      'psql -q shop',
      'psql -e shop',
      'psql -U c shop',
      'psql -d -c',
      'mysql -f shop',
      'mysql -c shop',
      'mysql -q shop',
    ],
    ...[
      'python3 -mcode',
      'python3 -mpdb a.py',
      'python3 -umcode',
      'python3 -Im code',
      'pdb3 a.py',
      'fdisk /dev/sda',
      'man ls',
    ],
    ...['bash /dev/stdin', 'bash /dev/fd/0', 'sh -e /proc/self/fd/0', 'python3 /dev/stdin', 'node /dev/stdin'],
    ...['psql -f /dev/stdin shop', 'psql -f/dev/stdin', 'psql --file=/dev/stdin', 'psql -f - shop', '. /dev/stdin'],
    ...[
      'make -f -',
      'make -f-',
      'make -f /dev/stdin',
      'crontab -',
      'crontab -u bob -',
      'crontab /dev/stdin',
      'crontab -e',
    ],
    ...['docker exec -i c sh', 'docker exec -it c psql', 'docker run --rm -i alpine', 'docker attach c'],
    ...[
      'kubectl exec -i p -- sh',
      'kubectl exec --stdin p -- sh',
      'kubectl -n x exec -ti p -- sh',
      'docker compose exec c sh',
    ],
    ...['git merge topic', 'git pull', 'git tag -a v1', 'git stash -p', 'git branch --edit-description'],
  ])('%s', (command) => expect(isDynamic(command)).toBe(true));

  test.each([
    ...["bash -c 'ls'", 'bash a.sh', 'sh -e a.sh'],
    ...['python3 a.py', 'python3 -c 1', 'python3 -u a.py', 'python3 -m pytest', 'python3 --version'],
    ...['node a.js', 'node -e 1', 'node --test', 'deno run a.ts', 'perl -ne 1 a', 'ruby -e 1', 'php a.php'],
    ...[
      "psql -qc 'select 1'",
      'psql -U ada -l',
      'psql --file=a.sql',
      "mysql -Ne 'select 1' shop",
      'psql -h h -f a.sql',
    ],
    ...[
      'python3 -mpytest',
      'python3 -m http.server',
      'make -f a.mk',
      'make -j 4',
      'crontab -l',
      'crontab a.txt',
      'docker compose start db',
    ],
    ...[
      'docker exec c ls',
      'docker run --rm alpine ls',
      'docker ps',
      'kubectl exec p -- ls',
      'kubectl get pods -o wide',
    ],
    ...["psql -c 'select 1'", 'psql shop -f a.sql', 'mysql -e 1 shop', "sqlite3 a.db 'select 1'", 'make', 'bc'],
    ...[
      'git commit -m x',
      'git commit -qam x',
      'git commit --amend --no-edit',
      'git add .',
      'git status',
      'git log -p',
    ],
    ...[
      'git merge --no-edit topic',
      'git pull --ff-only',
      'git tag v1',
      'git tag -a v1 -m x',
      'git -C sub status',
      'git stash',
    ],
  ])('not %s', (command) => expect(isDynamic(command)).toBe(false));
});
