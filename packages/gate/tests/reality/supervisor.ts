import { execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import {
  cpSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import type { Sandbox, Started } from '../../src/commands/sandbox/runtime.ts';
import { CANARIES, canariesIn } from './canaries.ts';
import { madeBy } from './doubles.ts';
import type { Effects, Job } from './effects.ts';
import { worldAt } from './fixture.ts';

type Wall = typeof import('./wall.ts');

// Runs calls, one after the other, inside of a sandbox without a way out. The templates of the
// worlds are at TEMPLATES, and each call has a fresh copy below BASE. Stand-ins on loopback take
// what a call sends.

const [BASE = '', TEMPLATES = '', BIN = '', REPOSITORY = ''] = process.argv.slice(2);
const TIMEOUT_MS = 8_000;
const OUTPUT_MAX = 256 * 1024;

interface Sent {
  readonly host: string;
  bytes: Buffer;
}

let sent: Sent[] = [];
/** Where a program from the network tells that it ran. */
let ranFolder = '';

/** Every name leads to loopback, and is noted. */
function serveNames(): void {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    if (query.length < 17) {
      sent.push({ host: 'a packet', bytes: query });
      return;
    }
    const { name, end } = nameIn(query);
    sent.push({ host: name, bytes: Buffer.from(name) });
    const isAddress = query.readUInt16BE(end) === 1;
    const head = Buffer.from(query.subarray(0, end + 4));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(isAddress ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
    socket.send(isAddress ? Buffer.concat([head, answer]) : head, from.port, from.address);
  });
  socket.bind(53, '127.0.0.1');
}

function nameIn(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  while ((query[at] ?? 0) > 0) {
    const length = query[at] as number;
    labels.push(query.subarray(at + 1, at + 1 + length).toString('latin1'));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

/** Takes all bytes of a connection. A request of HTTP gets a program as its answer. */
function serve(port: number): void {
  createServer((socket: Socket) => {
    const entry: Sent = { host: 'loopback', bytes: Buffer.alloc(0) };
    sent.push(entry);
    socket.on('error', () => {});
    socket.on('data', (data: Buffer) => {
      entry.bytes = Buffer.concat([entry.bytes, data]).subarray(0, OUTPUT_MAX);
      if (!/^[A-Z]+ \S+ HTTP/.test(entry.bytes.toString('latin1'))) return;
      const body = `touch ${ranFolder}/remote\n`;
      socket.end(
        `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
    });
    setTimeout(() => socket.destroy(), 1_500).unref();
  })
    .on('error', () => {})
    .listen(port, '127.0.0.1');
}

/** Packets to addresses that nothing leads to. */
function unrouted(): number {
  const [names = '', values = ''] = readFileSync('/proc/net/snmp', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Ip:'));
  const at = names.split(' ').indexOf('OutNoRoutes');
  const six = /^Ip6OutNoRoutes\s+(\d+)/m.exec(readFileSync('/proc/net/snmp6', 'utf8'))?.[1] ?? '0';
  return Number(values.split(' ')[at]) + Number(six);
}

type Tree = ReadonlyMap<string, string>;

/** Every file with its kind, mode, size and time. */
function treeOf(top: string): Tree {
  const found = new Map<string, string>();
  const walk = (folder: string): void => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const stat = lstatSync(path, { bigint: true });
      const place = relative(top, path);
      if (stat.isDirectory()) {
        found.set(place, `folder ${stat.mode}`);
        walk(path);
      } else if (stat.isSymbolicLink()) found.set(place, `link ${readlinkSync(path)}`);
      else found.set(place, `file ${stat.mode} ${stat.size} ${stat.mtimeNs}`);
    }
  };
  walk(top);
  return found;
}

const templates = new Map<string, Tree>();

function templateOf(world: string): Tree {
  let tree = templates.get(world);
  if (tree === undefined) {
    tree = treeOf(join(TEMPLATES, world));
    templates.set(world, tree);
  }
  return tree;
}

function isSame(a: string, b: string): boolean {
  return readFileSync(a).equals(readFileSync(b));
}

/** Files that differ from the template. A new time alone does not count. */
function changedIn(world: string): string[] {
  const [before, root] = [templateOf(world), join(BASE, world)];
  const after = treeOf(root);
  const changed: string[] = [];
  for (const [place, now] of after) {
    const then = before.get(place);
    if (then === now) continue;
    const [kind, mode, size] = now.split(' ');
    const [oldKind, oldMode, oldSize] = (then ?? '').split(' ');
    const isAsBefore =
      kind === 'file' &&
      kind === oldKind &&
      mode === oldMode &&
      size === oldSize &&
      isSame(join(root, place), join(TEMPLATES, world, place));
    if (!isAsBefore) changed.push(place);
  }
  for (const place of before.keys()) if (!after.has(place)) changed.push(place);
  return changed;
}

const OTHER = ['/tmp', '/root', '/var/tmp'];

/** Files that the sandbox of rules has for itself. */
const OF_WALLS = /^(?:claude|srt)(?:-|$)/;

function changedOutside(): string[] {
  return OTHER.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => !`${BASE}/`.startsWith(`${folder}/${name}/`) && !OF_WALLS.test(name))
      .map((name) => join(folder, name)),
  );
}

const RUNNING =
  /^(?:core\.(?:hookspath|sshcommand|pager|editor|fsmonitor|attributesfile|excludesfile|gitproxy|askpass)|alias\.|filter\.|diff\.|difftool\.|merge(?:tool)?\.|pager\.|credential\.|remote\.[^=]*\.(?:url|pushurl|uploadpack|receivepack|vcs|proxy)|url\.|include|gpg\.|sequence\.|protocol\.|http|submodule\.|init\.template|interactive\.|browser\.|man\.|instaweb\.)/i;

/** Settings of git with which it runs or sends something, as lines of its own listing. */
function settingsOf(root: string): string[] {
  const { project, home } = worldAt(root);
  return [join(project, '.git/config'), join(home, '.gitconfig')].flatMap((path) => {
    let section = '';
    const found: string[] = [];
    try {
      for (const line of readFileSync(path, 'utf8').split('\n')) {
        const head = /^\s*\[\s*([^\s"\]]+)(?:\s+"([^"]*)")?\s*\]/.exec(line);
        if (head !== null) section = [head[1], head[2]].filter((each) => each).join('.');
        else if (line.trim() !== '')
          found.push(`${section}.${line.trim().replace(/\s*=\s*/, '=')}`);
      }
    } catch {
      // The call removed it. This counts as a change of a file.
    }
    return found.filter((line) => RUNNING.test(line));
  });
}

function refsOf(root: string): Map<string, string> {
  const top = join(root, 'remote.git/refs');
  const refs = new Map<string, string>();
  for (const [place, kind] of treeOf(top))
    if (kind.startsWith('file')) refs.set(place, readFileSync(join(top, place), 'utf8').trim());
  try {
    for (const line of readFileSync(join(root, 'remote.git/packed-refs'), 'utf8').split('\n')) {
      const [id, name] = line.split(' ');
      if (name?.startsWith('refs/') && !refs.has(name.slice(5)))
        refs.set(name.slice(5), id as string);
    }
  } catch {
    // Nothing is packed.
  }
  return refs;
}

async function run(job: Job): Promise<Effects> {
  const root = join(BASE, job.world);
  for (const name of readdirSync(BASE)) rmSync(join(BASE, name), { recursive: true, force: true });
  for (const path of changedOutside()) rmSync(path, { recursive: true, force: true });
  copy(job.world, root);
  ranFolder = join(root, 'ran');
  const [refs, settings, lost] = [refsOf(root), new Set(settingsOf(root)), unrouted()];
  sent = [];
  const { exit, output } = await made(job, root);
  end();
  const changed = changedIn(job.world).filter(
    (place) => job.wall === undefined || !open?.left.has(place),
  );
  const outside = changedOutside();
  const bytes = [
    Buffer.from(output, 'latin1'),
    ...changed.filter((place) => !OWN.has(place)).map((place) => contentOf(join(root, place))),
    ...outside.map(contentOf),
  ];
  const inFiles = bytes.map(canariesIn);
  const inSent = sent.map((each) => canariesIn(each.bytes));
  const refsAfter = refsOf(root);
  return {
    shown: [...new Set([...inFiles, ...inSent].flat())],
    sentCanaries: [...new Set(inSent.flat())],
    changed: [...changed.filter((place) => !place.startsWith('ran/')), ...outside],
    pushed: [...new Set([...refs.keys(), ...refsAfter.keys()])].filter(
      (name) => refs.get(name) !== refsAfter.get(name),
    ),
    sent: hostsOf(unrouted() - lost),
    ran: changed.filter((place) => place.startsWith('ran/')).map((place) => place.slice(4)),
    settings: settingsOf(root).filter((line) => !settings.has(line)),
    exit,
    output: output.slice(0, 2_000),
  };
}

/** Where the canaries are. */
const OWN: ReadonlySet<string> = new Set([
  'h2/proj/.env',
  'h2/proj/hard',
  'h2/proj/pkg/a/.env',
  'h2/proj/.claude/settings.local.json',
  'home/.ssh/id_rsa',
]);

function contentOf(path: string): Buffer {
  try {
    return lstatSync(path).isFile()
      ? readFileSync(path).subarray(0, 4 * OUTPUT_MAX)
      : Buffer.alloc(0);
  } catch {
    // It is gone.
    return Buffer.alloc(0);
  }
}

function hostsOf(lost: number): string[] {
  const named = sent.map(({ host }) => host).filter((host) => host !== 'loopback');
  return [...new Set(lost > 0 ? [...named, 'an address'] : named)];
}

/** A copy has no hard links, so the second name of the secret is linked again. */
function copy(world: string, root: string): void {
  cpSync(join(TEMPLATES, world), root, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
  });
  const { project } = worldAt(root);
  rmSync(join(project, 'hard'));
  linkSync(join(project, '.env'), join(project, 'hard'));
}

interface Made {
  readonly exit: string;
  readonly output: string;
}

async function made({ tool, input, cwd, wall, world }: Job, root: string): Promise<Made> {
  const what = madeBy(tool, input, cwd);
  if ('text' in what) return { exit: '0', output: what.text };
  const { project, home } = worldAt(root);
  const env = {
    HOME: home,
    PATH: `${BIN}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
    USER: 'ada',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    SHELL: '/bin/bash',
    PWD: cwd,
    CLAUDECODE: '1',
    SECRET: CANARIES.variable,
    GIT_TERMINAL_PROMPT: '0',
    npm_config_update_notifier: 'false',
    npm_config_logs_max: '0',
    npm_config_fetch_retries: '0',
    npm_config_cache: '/run/npm',
    NODE_DISABLE_COMPILE_CACHE: '1',
    PIP_RETRIES: '0',
    PYTHONDONTWRITEBYTECODE: '1',
    X: project,
  };
  const bare: Started = { program: '/bin/bash', args: what.argv, env };
  const { program, args, ...own } =
    wall === undefined || tool !== 'Bash' ? bare : await inWall(wall, what.argv, { world, env });
  return new Promise((done) => {
    const child = spawn(program, args, { cwd, env: own.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): void => {
      if (size < OUTPUT_MAX) chunks.push(chunk);
      size += chunk.length;
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    const timer = setTimeout(end, TIMEOUT_MS);
    child.on('error', (error) => done({ exit: error.message, output: '' }));
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      done({ exit: `${code ?? signal}`, output: Buffer.concat(chunks).toString('latin1') });
    });
  });
}

/** The sandbox of rules that is open, and the empty files that it leaves in a project. */
let open:
  | { readonly key: string; readonly sandbox: Sandbox; readonly left: ReadonlySet<string> }
  | undefined;

/** The program and its words in the sandbox of rules, as `assize run-in-sandbox` starts it. */
async function inWall(
  rules: string,
  argv: readonly string[],
  { world, env }: { readonly world: string; readonly env: Readonly<Record<string, string>> },
): Promise<Started> {
  const { project, home } = worldAt(join(BASE, world));
  const place = { project, home };
  const key = JSON.stringify([rules, place]);
  if (open?.key !== key) {
    if (open === undefined) execFileSync('mount', ['-t', 'proc', 'proc', '/proc']);
    await open?.sandbox.close();
    const { wallOf } = (await import(`${REPOSITORY}/packages/gate/tests/reality/wall.ts`)) as Wall;
    const sandbox = await wallOf(rules, place);
    const idle = await sandbox.wrap(['true']);
    execFileSync(idle.program, idle.args);
    open = { key, sandbox, left: new Set(changedIn(world)) };
  }
  // The command gets what it would get of this environment.
  Object.assign(process.env, env);
  return open.sandbox.wrap(['/bin/bash', ...argv]);
}

/** Ends every process of the sandbox but this one and its first. */
function end(): void {
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === 1 || pid === process.pid) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

serveNames();
for (const port of [
  22, 25, 53, 80, 443, 465, 587, 873, 3000, 4517, 4873, 5432, 6379, 8000, 8080, 9418,
])
  serve(port);
mkdirSync('/run/npm', { recursive: true });
for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line) as Job;
  let effects: Effects | { readonly error: string };
  try {
    const from = performance.now();
    effects = { ...(await run(job)), ms: Math.round(performance.now() - from) };
  } catch (error) {
    effects = { error: String((error as Error).stack) };
  }
  process.stdout.write(`${JSON.stringify({ id: job.id, effects })}\n`);
}
