import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const folder = join(import.meta.dirname, '../../../verifiers/python');

/**
 * Verifies one file after the other, each as the program does: its start takes longer than a
 * verification.
 */
const RESIDENT = `
import contextlib, io, json, sys, verify
for line in sys.stdin:
    err = io.StringIO()
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = verify.main(json.loads(line))
    out.seek(0)
    print(json.dumps([code, out.read(), err.getvalue()]), flush=True)
`;

export const hasPython = spawnSync('python3', ['--version']).status === 0;

/** A Python that builds wheels: that of the system, or the first one on the path. */
export const pythonWithWheel = ['/usr/bin/python3', 'python3'].find(
  (each) => spawnSync(each, ['-c', 'import setuptools, wheel']).status === 0,
);

/** A process that runs the verifier in Python many times. It starts with the first request. */
export class PythonVerifier {
  #process: ChildProcess | undefined;
  #answers: AsyncIterator<string> | undefined;

  /** The exit code and the output for a command line. One request at a time. */
  async verify(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    this.#answers ??= this.#start();
    this.#process!.stdin!.write(`${JSON.stringify(args)}\n`);
    const { value, done } = await this.#answers.next();
    if (done) throw new Error(`the verifier ended, asked for ${args}`);
    const [code, out, err] = JSON.parse(value) as [number, string, string];
    return { code, out, err };
  }

  end(): void {
    this.#process?.stdin?.end();
  }

  #start(): AsyncIterator<string> {
    this.#process = spawn('python3', ['-B', '-c', RESIDENT], {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    return createInterface({ input: this.#process.stdout! })[Symbol.asyncIterator]();
  }
}
