import type { ChildProcess } from 'node:child_process';

/**
 * What a process has ended with, or why it could not be begun. From then on nothing that goes wrong with it is an error of the process that has
 * begun it, as a message would be that it can't be sent any more.
 */
export function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.on('error', ({ message }) => {
      if (child.pid === undefined) resolve(message);
    });
    child.once('exit', (code, signal) => resolve(`${signal ?? code}`));
  });
}

/** What it says next; never, where it ends before. */
export function nextFrom<Said>(child: ChildProcess): Promise<Said> {
  return new Promise((resolve) => child.once('message', (said) => resolve(said as Said)));
}
