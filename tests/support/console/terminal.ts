import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A shell that keeps its functions from one command to the next. */
export interface Terminal {
  /** Runs commands, and returns all that they print. @throws Error if one of them fails */
  run(commands: string): Promise<string>;
  end(): Promise<void>;
}

export function startTerminal(folder: string, path: string): Terminal {
  const shell = spawn('sh', [], {
    cwd: folder,
    env: { ...process.env, PATH: path, NO_COLOR: '1' },
  });
  const ended = once(shell, 'exit');
  let printed = '';
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
  let runs = 0;
  return {
    run: async (commands) => {
      const mark = `end of run ${++runs}:`;
      printed = '';
      shell.stdin.write(`${commands}\necho "${mark} $?"\n`);
      const end = new RegExp(`${mark} (\\d+)\n`);
      while (!end.test(printed)) await once(shell.stdout, 'data');
      const [whole = '', code] = end.exec(printed) ?? [];
      if (code !== '0') throw new Error(`The command failed with ${code}: ${printed}`);
      return printed.replace(whole, '');
    },
    end: async () => {
      shell.stdin.end();
      await ended;
    },
  };
}
