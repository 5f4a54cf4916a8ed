import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { bundled } from '../support/bundled.ts';

/** How a link fails: the other side is `silent`, or every connection is `closed`. */
export type LinkFault = 'silent' | 'closed';

/** A link to a server on loopback that can fail. A busy test does not delay it. */
export class Link {
  readonly #child: ChildProcess;
  readonly port: number;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  static async start(target: number): Promise<Link> {
    const child = fork(await bundled(join(import.meta.dirname, 'link-process.ts')), [
      String(target),
    ]);
    onTestFinished(() => void child.kill('SIGKILL'));
    const [port] = (await once(child, 'message')) as [number];
    return new Link(child, port);
  }

  fail(how: LinkFault): void {
    if (how === 'silent') this.#child.kill('SIGSTOP');
    else this.#child.send('cut');
  }

  mend(how: LinkFault): void {
    if (how === 'silent') this.#child.kill('SIGCONT');
    else this.#child.send('mend');
  }
}
