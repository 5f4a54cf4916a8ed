import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { visible } from 'assize/internal/views';

/** Whether a person can be asked: both the answers and the questions are of a terminal. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks a person on the terminal. Only `y` and `yes` agree. */
export async function asksYes(question: string, interruption: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    lines.setPrompt(`${visible(question)} [y/N] `);
    lines.prompt();
    const closed = once(lines, 'close').then(() => ['']);
    const [answer] = (await Promise.race([
      once(lines, 'line', { signal: interruption }),
      closed,
    ])) as [string];
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
