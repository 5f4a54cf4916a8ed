import type { ChildProcess } from 'node:child_process';

/**
 * The exit code or signal of a process, or the reason why it could not start. From then on, an
 * error of the child is not an error of its parent. An example is a message that can no longer be
 * sent.
 */
export function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.on('error', ({ message }) => {
      if (child.pid === undefined) resolve(message);
    });
    child.once('exit', (code, signal) => resolve(`${signal ?? code}`));
  });
}

/** The next message of the process. The promise never resolves if the process ends first. */
export function nextFrom<Said>(child: ChildProcess): Promise<Said> {
  return new Promise((resolve) => child.once('message', (said) => resolve(said as Said)));
}
