import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const main = join(import.meta.dirname, '../../../packages/cli/src/main.ts');

/** A server as a process of its own. */
export interface ListeningServer {
  readonly url: string;
  readonly process: ChildProcess;
  /** The text that the command has printed so far. */
  printed(): string;
  /** Ends the process by the signal, and returns its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/**
 * Starts `assize serve` in a folder. Resolves when its text names the address, and contains `last`,
 * the end of the text. `program`: the built command in place of the sources.
 */
export async function startServer(
  folder: string,
  args: readonly string[],
  {
    env = {},
    last = 'Assize listens',
    program = main,
  }: {
    readonly env?: Readonly<Record<string, string>>;
    readonly last?: string;
    readonly program?: string;
  } = {},
): Promise<ListeningServer> {
  const { ASSIZE_STORE: _, ...rest } = process.env;
  const child = spawn(process.execPath, [program, 'serve', ...args], {
    cwd: folder,
    env: { ...rest, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const ended = once(child, 'exit');
  const urlIn = () => /^Assize listens on (http:\/\/[^\s/]+?)\.?(?:\s|$)/m.exec(out)?.[1];
  while (urlIn() === undefined || !out.includes(last) || !out.endsWith('\n')) {
    const gone = await Promise.race([
      ended.then(() => true),
      once(child.stdout, 'data').then(() => false),
    ]);
    if (gone) throw new Error(`The server ended with ${child.exitCode}: ${err}`);
  }
  return {
    url: urlIn() as string,
    process: child,
    printed: () => out,
    end: async (signal = 'SIGINT') => {
      child.kill(signal);
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
}
