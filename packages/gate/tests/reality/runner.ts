import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Effects, Job } from './effects.ts';
import { writePrograms } from './programs.ts';

const REPOSITORY = join(import.meta.dirname, '../../../..');

/** Why calls cannot be run here, if they cannot. */
export function whyNoSandbox(): string | undefined {
  if (process.platform !== 'linux') return 'bubblewrap is for Linux';
  try {
    execFileSync('bwrap', ['--ro-bind', '/', '/', '--unshare-all', 'true'], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return `bubblewrap does not run: ${(error as Error).message.split('\n')[0]}`;
  }
}

/** Runs calls in copies of the worlds below a folder, in several sandboxes concurrently. */
export async function runJobs(
  base: string,
  jobs: readonly Job[],
  sandboxes: number = 2,
): Promise<ReadonlyMap<number, Effects>> {
  const own = `${base}.own`;
  writePrograms(join(own, 'bin'), '/run/node');
  writeFileSync(join(own, 'resolv.conf'), 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n');
  writeFileSync(join(own, 'hosts'), '127.0.0.1 localhost reality\n::1 localhost\n');
  const waiting = [...jobs];
  const found = new Map<number, Effects>();
  await Promise.all(
    Array.from({ length: Math.min(sandboxes, jobs.length) }, async () => {
      while (waiting.length > 0) await oneSandbox({ base, own }, waiting, found);
    }),
  );
  return found;
}

/** Runs what waits until nothing waits, or a call ends the sandbox. */
async function oneSandbox(
  { base, own }: { readonly base: string; readonly own: string },
  waiting: Job[],
  found: Map<number, Effects>,
): Promise<void> {
  const child = sandbox(
    base,
    own,
    waiting.some(({ wall }) => wall !== undefined),
  );
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const answers = lines[Symbol.asyncIterator]();
  let errors = '';
  child.stderr?.on('data', (chunk) => (errors = `${errors}${chunk}`.slice(-2_000)));
  try {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      child.stdin?.write(`${JSON.stringify(job)}\n`);
      const answer = await answers.next();
      if (answer.done === true)
        throw new Error(`The sandbox ended in ${JSON.stringify(job)}: ${errors}`);
      const { effects } = JSON.parse(answer.value) as { effects: Effects & { error?: string } };
      if (effects.error !== undefined)
        throw new Error(`${JSON.stringify(job.input)}: ${effects.error}`);
      found.set(job.id, effects);
    }
  } finally {
    child.stdin?.end();
    child.kill();
    await ended;
  }
}

/** `isOuter`: other sandboxes start in it, and need their own view of processes. */
function sandbox(base: string, own: string, isOuter: boolean): ChildProcess {
  const parts = ['/usr', '/lib', '/lib32', '/lib64', '/bin', '/sbin', '/etc/alternatives'];
  const words = [
    ...['--unshare-all', '--hostname', 'reality', '--die-with-parent', '--new-session'],
    ...parts.filter((path) => existsSync(path)).flatMap((path) => ['--ro-bind', path, path]),
    ...['/etc/passwd', '/etc/group', '/etc/nsswitch.conf', '/etc/os-release', '/etc/ssl']
      .filter((path) => existsSync(path))
      .flatMap((path) => ['--ro-bind', path, path]),
    ...['--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run', '--tmpfs', '/tmp'],
    ...['--tmpfs', '/var', '--dir', '/var/tmp', '--tmpfs', '/root'],
    ...['--ro-bind', REPOSITORY, '/run/repository'],
    ...['--tmpfs', base, '--ro-bind', base, '/run/templates'],
    ...['--ro-bind', join(own, 'bin'), '/run/bin'],
    ...['--ro-bind', process.execPath, '/run/node'],
    ...['--ro-bind', import.meta.dirname, '/run/reality'],
    ...['--ro-bind', join(own, 'resolv.conf'), '/etc/resolv.conf'],
    ...['--ro-bind', join(own, 'hosts'), '/etc/hosts'],
    ...['--uid', '0', '--gid', '0', '--clearenv', '--cap-add', 'CAP_NET_BIND_SERVICE'],
    ...(isOuter ? ['--cap-add', 'CAP_SYS_ADMIN'] : []),
    ...['--chdir', '/run', '/run/node', '/run/reality/supervisor.ts'],
    ...[base, '/run/templates', '/run/bin', '/run/repository'],
  ];
  const env = { PATH: process.env['PATH'] };
  return spawn('bwrap', words, { stdio: ['pipe', 'pipe', 'pipe'], env });
}
