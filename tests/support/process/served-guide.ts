import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { blocksOf, stepsOf, writeFiles } from './guide-files.ts';
import { type ListeningServer, startServer } from './listening-server.ts';

const root = join(import.meta.dirname, '../../..');
/** The ports that the guides name: of the server, and of a provider. */
const SHOWN_PORTS = ['4517', '4518'] as const;

/** A command of a page with the output that the page shows below it. */
export interface ShownStep {
  readonly command: string;
  readonly shown: string;
  readonly printed: string;
}

/**
 * The folder of a reader who follows guides of the server: the files of the pages, the command
 * `assize`, and a server. A block `sh serve` starts the server, and every later block runs while it
 * does.
 */
export class ServedGuide {
  readonly folder: string;
  readonly steps: ShownStep[] = [];
  #settings = '';
  #server: ListeningServer | undefined;
  readonly #ports: ReadonlyMap<string, string>;
  #provider: ChildProcess | undefined;
  readonly #env: Readonly<Record<string, string>>;

  private constructor(
    folder: string,
    ports: ReadonlyMap<string, string>,
    env: Readonly<Record<string, string>>,
  ) {
    this.folder = folder;
    this.#ports = ports;
    this.#env = env;
  }

  /** Makes the folder inside the repository, so that `assize` is this package. */
  static async begin(env: Readonly<Record<string, string>> = {}): Promise<ServedGuide> {
    const folder = mkdtempSync(join(root, 'dist-guide-'));
    mkdirSync(join(folder, 'bin'));
    const command = join(folder, 'bin/assize');
    writeFileSync(
      command,
      `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'packages/cli/src/main.ts')}" "$@"\n`,
    );
    chmodSync(command, 0o755);
    return new ServedGuide(folder, new Map(await Promise.all(SHOWN_PORTS.map(portFor))), env);
  }

  /** Follows a page from its first block to its last. Blocks of `skipped` are not run. */
  async follow(page: string, skipped: readonly string[] = []): Promise<void> {
    this.write(page);
    for (const { says, code } of blocksOf(page)) {
      if (skipped.includes(says)) continue;
      if (says === 'sh serve') await this.#serve(code);
      else if (says === 'sh provider') await this.#provide(code);
      else if (says.split(' ')[0] === 'sh') this.sh(code);
      else if (says === 'console') this.#type(code);
    }
  }

  /** Starts the server of another page, without the rest of that page. */
  async beginWith(page: string): Promise<void> {
    this.write(page);
    for (const { says, code } of blocksOf(page)) if (says === 'sh serve') await this.#serve(code);
  }

  /** Runs shell commands, and returns their output. Exported variables stay for later commands. */
  sh(code: string): string {
    const script = this.#placed(code);
    this.#settings += (script.match(/^export .*$/gm) ?? []).map((line) => `${line}\n`).join('');
    const printed = execFileSync('sh', ['-eu', '-c', `${this.#settings}${script}`], {
      cwd: this.folder,
      env: this.environment,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return replacedAtOnce(printed, new Map([...this.#ports].map(([shown, port]) => [port, shown])));
  }

  /** Stops the server. */
  async stop(): Promise<number | null | undefined> {
    const code = await this.#server?.end('SIGTERM');
    this.#server = undefined;
    return code;
  }

  /** Stops the server, and removes the folder. */
  async end(): Promise<number | null | undefined> {
    const code = await this.stop();
    this.#provider?.kill();
    rmSync(this.folder, { recursive: true, force: true });
    return code;
  }

  /** The address of the server. */
  get url(): string {
    return `http://127.0.0.1:${this.#ports.get('4517')}`;
  }

  /** The address of the provider. */
  get issuer(): string {
    return `http://127.0.0.1:${this.#ports.get('4518')}`;
  }

  /** Writes the files of a page, and runs nothing. */
  write(page: string): void {
    writeFiles(page, this.folder);
    for (const { says } of blocksOf(page)) {
      const [language, name] = says.split(' ');
      if (name === undefined || language === 'sh' || language === 'text') continue;
      const path = join(this.folder, name);
      writeFileSync(path, this.#placed(readFileSync(path, 'utf8')));
    }
  }

  /** The text with free ports in place of the shown ones. */
  #placed(text: string): string {
    return replacedAtOnce(text, this.#ports);
  }

  async #provide(code: string): Promise<void> {
    const env = { ...this.environment, ...this.#variables() };
    this.#provider = spawn('sh', ['-c', `exec ${code}`], {
      cwd: this.folder,
      env,
      stdio: 'ignore',
    });
    while (
      !(await fetch(this.issuer)
        .then(() => true)
        .catch(() => false))
    )
      await sleep(100);
  }

  async #serve(code: string): Promise<void> {
    const [, typed = ''] = /^assize serve(.*)$/m.exec(code) ?? [];
    await this.#server?.end('SIGTERM');
    const home = this.environment['HOME'] ?? '';
    const args = this.#placed(typed).replaceAll(' ~/', ` ${home}/`).trim().split(/\s+/);
    this.#server = await startServer(
      this.folder,
      args.filter((arg) => arg !== ''),
      { env: this.#variables() },
    );
  }

  #type(code: string): void {
    for (const { command, below } of stepsOf(code)) {
      const printed = this.sh(`{\n${command}\n} 2>&1 || true`);
      this.steps.push({
        command,
        shown: constantOf(below),
        printed: constantOf(printed.trimEnd()),
      });
    }
  }

  /** The exported variables, for the server. */
  #variables(): Record<string, string> {
    const given = [...this.#settings.matchAll(/^export (\w+)=(\S*)$/gm)];
    return {
      ...this.#env,
      ...Object.fromEntries(given.map(([, name = '', value = '']) => [name, value])),
    };
  }

  /** The environment of commands. */
  get environment(): NodeJS.ProcessEnv {
    const { ASSIZE_STORE: _, ...rest } = process.env;
    const nodes = join(process.execPath, '..');
    return {
      ...rest,
      PATH: [join(this.folder, 'bin'), nodes, rest['PATH']].join(delimiter),
      NO_COLOR: '1',
      ...this.#env,
    };
  }
}

/** The text without spaces at line ends, and parts that differ: progress, hashes, instants. */
function constantOf(text: string): string {
  return text
    .replaceAll(/ +$/gm, '')
    .replaceAll(/^[a-z ]+: \d+\/\d+ \(\d+ %\).*(?:\n|$)/gm, '')
    .replaceAll(/asz_[0-9a-f]{16}_[0-9a-f]{64}/g, '…')
    .replaceAll(/\b[0-9a-f]{64}\b/g, '…')
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '…')
    .replaceAll(/\b(?:[0-9a-f]{16}|[0-9a-f]{12})\b/g, '…')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '…');
}

async function portFor(shown: string): Promise<[string, string]> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, 'close');
  return [shown, String(port)];
}

/** In one pass: a port that is put in may contain the digits of another shown one. */
function replacedAtOnce(text: string, by: ReadonlyMap<string, string>): string {
  return text.replaceAll(
    new RegExp([...by.keys()].join('|'), 'g'),
    (found) => by.get(found) as string,
  );
}
