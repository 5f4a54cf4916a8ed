/**
 * A process that runs one command after another, as long as its parent exists. So the command is
 * loaded once.
 */
import { Writable } from 'node:stream';
import { EXPERIMENTS } from '../../../labs/cli/program.ts';
import { run } from '../../../packages/cli/src/program.ts';
import { type CommandLine, type Ended, EXPERIMENTS_COMMAND } from './command.ts';

let last: Promise<unknown> = Promise.resolve();

process.on('message', (line: CommandLine) => {
  // One command at a time, because each needs the process alone: its folder, its environment, its
  // streams.
  last = last.then(async () => process.send?.(await ended(line)));
});
process.on('disconnect', () => process.exit());

async function ended({ folder, env, args }: CommandLine): Promise<Ended> {
  const [out, err] = [collector(), collector()];
  const before = { ...process.env };
  Object.assign(process.env, env);
  process.chdir(folder);
  const streams = { stdout: process.stdout, stderr: process.stderr };
  replace({ stdout: out.stream, stderr: err.stream });
  try {
    const code =
      args[0] === EXPERIMENTS_COMMAND ? await run(args.slice(1), EXPERIMENTS) : await run(args);
    return { code, out: out.text(), err: err.text() };
  } finally {
    replace(streams);
    // Each run listens for them, as it would in a process of its own.
    for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
    for (const name of Object.keys(env)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
    // Nothing of the test's folder may be held when it is removed.
    process.chdir('/');
  }
}

function replace(streams: Readonly<Record<'stdout' | 'stderr', Writable>>): void {
  for (const [name, value] of Object.entries(streams)) {
    Object.defineProperty(process, name, { value, configurable: true });
  }
}

/** Not a terminal, like the pipe that a process writes to. */
function collector(): { readonly stream: Writable; text(): string } {
  const pieces: Buffer[] = [];
  const stream = new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(pieces).toString() };
}
